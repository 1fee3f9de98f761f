"""Shells and interpreters: where their code comes from. What the code does is read by `shell` itself and `scripts/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from checkrein.shell.commands.wrappers import Grammar, split
from checkrein.shell.spec import Family, Run, Walk, Word
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import Flag

# shells


def shell(run: Run, walk: Walk) -> None:
    """`sh`, `bash`, ...: `-c text name args`, `-s args`, a script file, or standard input."""
    args = run.args
    i = 0
    command = stdin = False
    dialect = "posix"
    while i < len(args):
        word = args[i]
        text = word.text
        if not word.resolved or text in ("-", "--"):
            i += text in ("-", "--")
            break
        if text.startswith("--"):
            name, _, value = text[2:].partition("=")
            i += 1
            if name in ("rcfile", "init-file", "init-command"):
                target = Word(value, word.span) if value else args[i] if i < len(args) else None
                i += not value
                if target is not None and name == "init-command":
                    walk.shell(target, run)
                elif target is not None:
                    walk.file(target, run)
            elif name == "command":
                if value:
                    walk.shell(Word(value, word.span), run)
                    return
                command = True
            elif name in ("help", "version"):
                return
            continue
        if text[:1] not in ("-", "+") or len(text) < 2:
            break
        i += 1
        if text[0] == "-":
            command = command or "c" in text
            stdin = stdin or "s" in text
        if text[-1] in "oO" or (run.program == "fish" and text in ("-C", "-d", "-D")):
            if run.program == "fish" and text == "-C" and i < len(args):
                walk.shell(args[i], run)
            i += 1
    rest = args[i:]
    if command:
        if rest:
            walk.shell(rest[0], run, dialect=dialect, params=rest[1:])
        return
    if rest and not stdin:
        walk.file(rest[0], replace(run, argv=(run.argv[0], *rest[1:])))
        return
    if run.stdin is not None:
        walk.input(run)


def stdin_shell(run: Run, walk: Walk) -> None:
    """`pwsh`, `cmd`: other shells, other dialects."""
    args = run.args
    windows = run.program in ("cmd", "cmd.exe")
    for number, word in enumerate(args):
        text = word.text.lower()
        if windows:
            if re.match(r"/[a-z:]*[ckr]$", text) or text in ("/c", "/k", "/r"):
                walk.shell(_joined(args[number + 1 :], run), run, dialect="cmd")
                return
            continue
        if re.match(r"[-/](?:c|co|com|comm|comma|comman|command|commandwithargs|cwa)$", text):
            if args[number + 1 :] and args[number + 1].text == "-":
                walk.input(run, "powershell")
            else:
                walk.shell(_joined(args[number + 1 :], run), run, dialect="powershell")
            return
        if re.match(r"[-/]e(?:c|n[a-z]*)?$", text) and number + 1 < len(args):
            walk.shell(decoded(args[number + 1]), run, dialect="powershell")
            return
        if re.match(r"[-/]f(?:i|il|ile)?$", text) and number + 1 < len(args):
            walk.file(args[number + 1], run, "powershell")
            return
        if not text.startswith(("-", "/")) and (
            number == 0 or not re.match(r"[-/](?:ex|ep|w|o|i|v|set)", args[number - 1].text.lower())
        ):
            if text.endswith(".ps1"):
                walk.file(word, run, "powershell")
            else:
                walk.shell(_joined(args[number:], run), run, dialect="powershell")
            return
    if run.stdin is not None:
        walk.input(run, "cmd" if windows else "powershell")


def decoded(word: Word) -> Word:
    """The text of `-EncodedCommand`."""
    import base64
    import binascii

    try:
        text = base64.b64decode(word.text, validate=True).decode("utf-16-le")
    except (binascii.Error, ValueError):
        return replace(word, text="\0", resolved=False)
    return replace(word, text=text)


def _joined(words: Sequence[Word], run: Run) -> Word:
    if not words:
        return Word("", run.span)
    return replace(words[0], text=" ".join(word.text for word in words), resolved=all(word.resolved for word in words))


# interpreters


@dataclass(frozen=True, slots=True)
class Interpreter:
    """How an interpreter takes code. `code` are options whose value is code, `values` other options with a value; `ended` says
    that the code option ends the options; `clustered` that short options may stand together (`perl -lane`). `loads` are
    options whose value is a file or module that runs first.
    """

    language: str
    code: frozenset[str]
    values: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()
    ended: bool = False
    clustered: str = ""
    operand: bool = False  # the first operand is code (`awk`)
    reads_stdin: bool = True
    joined: bool = False  # all words after the code option are code
    verbs: frozenset[str] = field(default_factory=frozenset)  # first words that are subcommands with code after them


def interpreter(rule: Interpreter) -> Family:
    def family(run: Run, walk: Walk) -> None:
        args = run.args
        i = 0
        found = False
        if rule.verbs and args and args[0].text in rule.verbs:
            if len(args) > 1:
                rest = [word for word in args[1:] if not word.text.startswith("-")]
                for word in rest[:1]:
                    walk.script(rule.language, word, run)
            return
        while i < len(args):
            word = args[i]
            text = word.text
            i += 1
            if text == "--":
                break
            if not text.startswith("-") or text == "-":
                i -= 1
                break
            name, equals, value = text.partition("=")
            if name in rule.code or text in rule.code:
                target = (
                    Word(value, word.span, word.resolved, feed=word.feed)
                    if equals and name.startswith("--")
                    else args[i]
                    if i < len(args)
                    else None
                )
                i += target is not None and not (equals and name.startswith("--"))
                if target is not None:
                    walk.script(rule.language, target, run)
                    found = True
                if rule.ended:
                    return
                continue
            if name in rule.loads:
                target = Word(value, word.span) if equals else args[i] if i < len(args) else None
                i += not equals
                if target is not None:
                    loaded(target, run, walk, rule.language)
                continue
            if text in rule.values:
                i += 1
                continue
            if rule.clustered and not text.startswith("--"):
                cut = next((at for at, letter in enumerate(text[1:], 1) if letter in rule.clustered), None)
                if cut is not None and not re.match(r"-[iIxMm0FCvWrKT]", text):
                    tail = text[cut + 1 :]
                    target = (
                        Word(tail, word.span, word.resolved, feed=word.feed) if tail else args[i] if i < len(args) else None
                    )
                    i += not tail
                    if target is not None:
                        walk.script(rule.language, target, run)
                        found = True
                    if rule.ended:
                        return
        rest = args[i:]
        if found:
            return
        if rule.operand:
            if rest:
                walk.script(rule.language, rest[0], run)
            return
        if rest and rest[0].text != "-":
            walk.file(rest[0], replace(run, argv=(run.argv[0], *rest[1:])), rule.language)
        elif run.stdin is not None and rule.reads_stdin:
            walk.input(run, rule.language)

    return family


def loaded(word: Word, run: Run, walk: Walk, language: str) -> None:
    """A file or module that an interpreter loads first."""
    if word.text.startswith("data:"):
        walk.opaque("code stands in a data URL", run, word)
    elif word.text.startswith(("http:", "https:")):
        walk.fetch(word, run)
        walk.act(Act.DOWNLOAD_RUN, run, "loads code from the network", word, Flag.FETCHED)
    elif "/" in word.text or word.text.startswith("."):
        walk.file(word, run, language)


PYTHON = Interpreter("python", frozenset(["-c"]), frozenset(["-W", "-X", "--check-hash-based-pycs"]), ended=True, clustered="c")
RUNNERS = frozenset(
    ["timeit", "trace", "cProfile", "profile", "pdb", "coverage", "runpy", "debugpy", "memory_profiler", "line_profiler"]
)


def python(run: Run, walk: Walk) -> None:
    """`python`: with `-m` a module stands for a program of that name."""
    args = run.args
    i = 0
    while i < len(args):
        text = args[i].text
        if text in ("-W", "-X"):
            i += 2
            continue
        m = re.match(r"-[bBdEhiIOPqRsSuvVx?]*m(.*)$", text)
        if m is not None and not text.startswith("--"):
            name = Word(m.group(1), args[i].span) if m.group(1) else args[i + 1] if i + 1 < len(args) else None
            rest = args[i + (1 if m.group(1) else 2) :]
            if name is not None:
                module(name, rest, run, walk)
            return
        if not text.startswith("-") or text in ("-", "--") or re.match(r"-[bBdEhiIOPqRsSuvVx?]*c", text):
            break
        i += 1
    interpreter(PYTHON)(run, walk)


def module(name: Word, rest: Sequence[Word], run: Run, walk: Walk) -> None:
    """`python -m module args`."""
    text = name.text
    if not name.resolved:
        walk.opaque("the module to run is not a constant word", run, name)
        return
    if text == "timeit":
        parts = split(rest, Grammar("nrsu", frozenset(["number", "repeat", "setup", "unit"])))
        for word in [*parts.command, parts.options.get("s"), parts.options.get("setup")]:
            if word is not None:
                walk.script("python", word, run)
        return
    if text in RUNNERS:
        words = [word for word in rest if not word.text.startswith("-")]
        if "-c" in [word.text for word in rest] and words:
            walk.script("python", words[0], run)
        elif words and words[0].text != "run":
            walk.file(words[0], run, "python")
        elif len(words) > 1:
            walk.file(words[1], run, "python")
        return
    program = {"pip": "pip", "http.server": "python-http-server"}.get(
        text, text.replace("_", "-") if text == "pre_commit" else text
    )
    walk.command([replace(name, text=program), *rest], run)


NODE = Interpreter(
    "javascript",
    frozenset(["-e", "--eval", "-p", "--print", "-pe"]),
    frozenset(
        ["-C", "--conditions", "--input-type", "--env-file", "--inspect-port", "--test-name-pattern", "--watch-path", "--title"]
    ),
    frozenset(["-r", "--require", "--import", "--loader", "--experimental-loader"]),
)
DENO_FILES = re.compile(r"https?://|jsr:|npm:")


def node(run: Run, walk: Walk) -> None:
    interpreter(NODE)(run, walk)


def deno(run: Run, walk: Walk) -> None:
    args = run.args
    if not args:
        if run.stdin is not None:
            walk.input(run, "javascript")
        return
    verb = args[0].text
    operands = [word for word in args[1:] if not word.text.startswith("-")]
    if verb == "eval":
        for word in operands[:1]:
            walk.script("javascript", word, run)
    elif verb in ("run", "serve", "test", "bench", "install") or DENO_FILES.match(verb):
        target = operands[0] if verb in ("run", "serve", "test", "bench", "install") and operands else args[0]
        if target.text == "-":
            walk.input(run, "javascript")
        elif target.text.startswith(("http:", "https:")):
            walk.fetch(target, run)
            walk.act(Act.DOWNLOAD_RUN, run, "runs code from the network", target, Flag.FETCHED)
        elif verb == "run" and target is not args[0]:
            walk.file(target, run, "javascript")


def bun(run: Run, walk: Walk) -> None:
    args = run.args
    verb = args[0].text if args else ""
    if verb == "x":
        return  # `launchers`
    if verb == "run":
        for word in [word for word in args[1:] if not word.text.startswith("-")][:1]:
            if re.search(r"\.[cm]?[jt]sx?$", word.text):
                walk.file(word, run, "javascript")
        return
    if verb in (
        "install",
        "i",
        "add",
        "remove",
        "test",
        "build",
        "init",
        "create",
        "update",
        "link",
        "pm",
        "outdated",
        "upgrade",
        "publish",
        "exec",
    ):
        if verb == "exec":
            for word in args[1:2]:
                walk.shell(word, run)
        return
    interpreter(NODE)(run, walk)


AWK = Interpreter(
    "awk",
    frozenset(["-e", "--source"]),
    frozenset(["-F", "-v", "--assign", "--field-separator", "-E", "-l", "-i"]),
    operand=True,
)


def awk(run: Run, walk: Walk) -> None:
    """`awk`: `-f file`, else the first operand is the program."""
    args = run.args
    for number, word in enumerate(args):
        text = word.text
        if text in ("-f", "--file", "-E", "--exec") and number + 1 < len(args):
            walk.file(args[number + 1], run, "awk")
            return
        m = re.match(r"(?:-f|--file=)(.+)", text)
        if m is not None:
            walk.file(Word(m.group(1), word.span), run, "awk")
            return
        if not text.startswith("-") and (
            number == 0 or args[number - 1].text not in ("-F", "-v", "--assign", "--field-separator")
        ):
            break
    interpreter(AWK)(run, walk)


def sed(run: Run, walk: Walk) -> None:
    """GNU `sed`: the `e` command and flag run programs, `w` writes files."""
    args = run.args
    codes: list[Word] = []
    first = True
    i = 0
    while i < len(args):
        word = args[i]
        text = word.text
        i += 1
        if text in ("-e", "--expression"):
            codes.extend(args[i : i + 1])
            i += 1
            first = False
        elif text in ("-f", "--file"):
            for target in args[i : i + 1]:
                walk.file(target, run, "sed")
            i += 1
            first = False
        elif text.startswith("--expression="):
            codes.append(replace(word, text=text.partition("=")[2]))
            first = False
        elif re.match(r"-[nrEsuz]*e(.+)", text) and not text.startswith("--"):
            codes.append(replace(word, text=text.partition("e")[2]))
            first = False
        elif re.match(r"-[nrEsuz]*e$", text):
            codes.extend(args[i : i + 1])
            i += 1
            first = False
        elif text in ("-l", "--line-length"):
            i += 1
        elif not text.startswith("-") and first:
            codes.append(word)
            first = False
    for code in codes:
        walk.script("sed", code, run)


def applescript(run: Run, walk: Walk) -> None:
    args = run.args
    language = "applescript"
    for number, word in enumerate(args):
        if word.text == "-l" and number + 1 < len(args) and args[number + 1].text.lower().startswith("java"):
            language = "javascript"
        if word.text == "-e" and number + 1 < len(args):
            walk.script(language, args[number + 1], run)
    if not args and run.stdin is not None:
        walk.input(run, language)


def php(run: Run, walk: Walk) -> None:
    args = run.args
    if any(word.text in ("-S", "-s", "-l", "-v", "-i", "-m") for word in args[:1]):
        return
    interpreter(
        Interpreter(
            "php", frozenset(["-r", "-B", "-R", "-E", "--run", "--process-code"]), frozenset(["-d", "-c", "-F", "-f", "--file"])
        )
    )(run, walk)
    for number, word in enumerate(args[:-1]):
        if word.text in ("-f", "-F", "--file"):
            walk.file(args[number + 1], run, "php")


def ssh_like(language: str, code: Sequence[str], values: Sequence[str] = (), *, clustered: str = "") -> Family:
    return interpreter(Interpreter(language, frozenset(code), frozenset(values), clustered=clustered))


SHELL_NAMES = (
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ksh93",
    "mksh",
    "ash",
    "rbash",
    "fish",
    "csh",
    "tcsh",
    "yash",
    "bash5",
    "hush",
)
PYTHON_NAMES = (
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "ipython",
    "ipython3",
    *(f"python3.{n}" for n in range(6, 16)),
    "python2.7",
)
SPECS: dict[str, Family] = {
    **dict.fromkeys(SHELL_NAMES, shell),
    "pwsh": stdin_shell,
    "powershell": stdin_shell,
    "powershell.exe": stdin_shell,
    "pwsh.exe": stdin_shell,
    "cmd": stdin_shell,
    "cmd.exe": stdin_shell,
    **dict.fromkeys(PYTHON_NAMES, python),
    "node": node,
    "nodejs": node,
    "tsx": node,
    "ts-node": node,
    "bun": bun,
    "deno": deno,
    "perl": interpreter(
        Interpreter("perl", frozenset(["-e", "-E"]), frozenset(["-I"]), clustered="eE"),
    ),
    "perl5": interpreter(Interpreter("perl", frozenset(["-e", "-E"]), frozenset(["-I"]), clustered="eE")),
    "ruby": interpreter(Interpreter("ruby", frozenset(["-e"]), frozenset(["-I", "-r", "-C", "-F"]), clustered="e")),
    "jruby": interpreter(Interpreter("ruby", frozenset(["-e"]), frozenset(["-I", "-r"]), clustered="e")),
    "irb": ssh_like("ruby", []),
    "php": php,
    "lua": ssh_like("lua", ["-e"], ["-l"]),
    "luajit": ssh_like("lua", ["-e"], ["-l"]),
    "tclsh": ssh_like("tcl", []),
    "wish": ssh_like("tcl", []),
    "R": ssh_like("r", ["-e"], ["-f", "--file"]),
    "Rscript": ssh_like("r", ["-e"]),
    "r": ssh_like("r", ["-e"]),
    "julia": ssh_like("julia", ["-e", "-E", "--eval", "--print"], ["-L", "-J", "-p", "-t"]),
    "osascript": applescript,
    "awk": awk,
    "gawk": awk,
    "mawk": awk,
    "nawk": awk,
    "goawk": awk,
    "sed": sed,
    "gsed": sed,
    "elixir": ssh_like("elixir", ["-e", "--eval", "--rpc-eval"], ["-r", "-S"]),
    "iex": ssh_like("elixir", ["-e", "--eval"]),
    "erl": ssh_like("erlang", ["-eval"], ["-s", "-pa", "-name", "-sname"]),
    "escript": ssh_like("erlang", []),
    "ghc": ssh_like("haskell", ["-e"]),
    "runghc": ssh_like("haskell", ["-e"]),
    "groovy": ssh_like("groovy", ["-e"]),
    "scala": ssh_like("scala", ["-e"]),
    "clojure": ssh_like("clojure", ["-e", "--eval", "-M", "-X"]),
    "clj": ssh_like("clojure", ["-e", "--eval"]),
    "bb": ssh_like("clojure", ["-e", "--eval"]),
    "guile": ssh_like("scheme", ["-c"]),
    "racket": ssh_like("scheme", ["-e", "--eval"]),
    "sbcl": ssh_like("lisp", ["--eval"]),
    "emacs": ssh_like("elisp", ["--eval", "-eval", "--execute"], ["-l", "--load", "-f"]),
    "octave": ssh_like("octave", ["--eval"]),
    "gnuplot": ssh_like("gnuplot", ["-e"]),
    "raku": ssh_like("raku", ["-e"]),
    "crystal": interpreter(Interpreter("crystal", frozenset(), verbs=frozenset(["eval"]))),
    "nim": interpreter(Interpreter("nim", frozenset(["--eval"]), reads_stdin=False)),
    "swift": interpreter(Interpreter("swift", frozenset(["-e"]), reads_stdin=True)),
    "jshell": ssh_like("java", []),
    "ocaml": ssh_like("ocaml", ["-e"]),
    "m4": ssh_like("m4", []),
}
