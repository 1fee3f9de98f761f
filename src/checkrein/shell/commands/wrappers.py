"""Programs that run another command given in their own words. Each has an option grammar; what it runs is judged as itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from checkrein.shell.spec import Family, Feed, Run, Walk, Word
from checkrein.vocab.acts import Act

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a wrapper's own words end and the command begins.

    `values` are short options that take a value, `long` those long ones that take the next word. `operands` words stand between
    options and command. `assigns`: `NAME=value` words may stand before it. `plus`: words that begin with `+` are options too.
    `pairs` are long options that take two words. `lone`: options begin with one dash even when long.
    """

    values: str = ""
    long: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False
    pairs: frozenset[str] = frozenset()
    lone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Split:
    """A wrapper's words taken apart."""

    options: dict[str, Word | None]
    operands: tuple[Word, ...]
    env: dict[str, Word]
    command: tuple[Word, ...]


def split(args: Sequence[Word], grammar: Grammar) -> Split:
    """Options, operands, assignments, and the command that is left."""
    options: dict[str, Word | None] = {}
    operands: list[Word] = []
    env: dict[str, Word] = {}
    i, n = 0, len(args)
    while i < n:
        word = args[i]
        text = word.text
        if text == "--":
            i += 1
            break
        if text.startswith("--"):
            name, found, value = text[2:].partition("=")
            i += 1
            if found:
                options[name] = Word(value, word.span, word.resolved, feed=word.feed)
            elif name in grammar.pairs:
                options[name] = args[i + 1] if i + 1 < n else None
                i += 2
            elif name in grammar.long:
                options[name] = args[i] if i < n else None
                i += 1
            else:
                options[name] = None
            continue
        if text.startswith("-") and len(text) > 1:
            i += 1
            if text[1:] in grammar.lone:
                options[text[1:]] = args[i] if i < n else None
                i += 1
                continue
            for at, letter in enumerate(text[1:], 1):
                if letter in grammar.values:
                    rest = text[at + 1 :]
                    if rest:
                        options[letter] = Word(rest, word.span, word.resolved)
                    else:
                        options[letter] = args[i] if i < n else None
                        i += 1
                    break
                options[letter] = None
            continue
        m = ASSIGNMENT.match(text) if grammar.assigns else None
        if m is not None:
            env[m.group(1)] = Word(m.group(2), word.span, "\0" not in m.group(2), feed=word.feed)
            i += 1
            continue
        if len(operands) < grammar.operands:
            operands.append(word)
            i += 1
            continue
        break
    while i < n and len(operands) < grammar.operands:
        operands.append(args[i])
        i += 1
    return Split(options, tuple(operands), env, tuple(args[i:]))


def joined(words: Sequence[Word]) -> Word:
    """Words that a wrapper joins into one shell text."""
    text = " ".join(word.text for word in words)
    feed = next((word.feed for word in words if word.feed is not None and not word.resolved), None)
    span = (words[0].span[0], words[-1].span[1]) if words else (0, 0)
    return Word(text, span, all(word.resolved for word in words), feed=feed)


def wrap(grammar: Grammar) -> Family:
    """A plain wrapper."""

    def family(run: Run, walk: Walk) -> None:
        parts = split(run.args, grammar)
        if parts.command:
            walk.command(parts.command, with_env(run, parts.env, walk))

    return family


def with_env(run: Run, env: dict[str, Word], walk: Walk) -> Run:
    if not env:
        return run
    for name, word in env.items():
        walk.variable(name, word, run)
    return replace(run, env={**run.env, **env})


def subcommands(**grammars: Grammar) -> Family:
    """A program whose verb says that a command follows (`poetry run`, `bundle exec`). `_` in a name stands for `-`."""
    verbs = {name.replace("_", "-").strip("-"): grammar for name, grammar in grammars.items()}

    def family(run: Run, walk: Walk) -> None:
        args = run.args
        for number, word in enumerate(args):
            if word.text in verbs:
                parts = split(args[number + 1 :], verbs[word.text])
                if parts.command:
                    walk.command(parts.command, with_env(run, parts.env, walk))
                return
            if not word.text.startswith("-") and number and not args[number - 1].text.startswith("-"):
                return

    return family


def text_option(*names: str, grammar: Grammar | None = None) -> Family:
    """A program that runs the value of an option as shell text (`script -c`, `nix-shell --run`); else its operands."""
    rule = grammar or Grammar(
        values="".join(name for name in names if len(name) == 1), long=frozenset(n for n in names if len(n) > 1)
    )

    def family(run: Run, walk: Walk) -> None:
        parts = split(run.args, rule)
        for name in names:
            word = parts.options.get(name)
            if word is not None:
                walk.shell(word, run)

    return family


def each_text(grammar: Grammar) -> Family:
    """A program whose every operand is shell text (`hyperfine`, `concurrently`)."""

    def family(run: Run, walk: Walk) -> None:
        parts = split(run.args, grammar)
        for word in parts.command:
            walk.shell(word, run)
        for name in ("prepare", "setup", "cleanup", "conclude", "p", "s", "c"):
            word = parts.options.get(name)
            if word is not None:
                walk.shell(word, run)

    return family


# single programs

SUDO = Grammar(
    "ugpCDhRrTtU",
    frozenset(
        ["user", "group", "prompt", "host", "chdir", "chroot", "role", "type", "command-timeout", "other-user", "close-from"]
    ),
    assigns=True,
)


def sudo(run: Run, walk: Walk) -> None:
    walk.act(Act.PRIVILEGE, run, f"`{run.program}` gains another user's rights")
    parts = split(run.args, SUDO)
    if not parts.command:
        if run.stdin is not None and {"s", "i", "shell", "login"} & parts.options.keys():
            walk.input(run)
        return
    if {"e", "edit"} & parts.options.keys() or ({"l", "list", "v"} & parts.options.keys() and not parts.command):
        return
    inner = with_env(run, parts.env, walk)
    if {"s", "i", "shell", "login"} & parts.options.keys():
        walk.shell(joined(parts.command), inner)
    walk.command(parts.command, inner)


def su(run: Run, walk: Walk) -> None:
    """`su`, `runuser`: `-c` text, or with `-u` a command."""
    if run.program == "su":
        walk.act(Act.PRIVILEGE, run, "`su` gains another user's rights")
    parts = split(
        run.args, Grammar("cCugGsTw", frozenset(["command", "session-command", "shell", "user", "group", "supp-group"]))
    )
    for name in ("c", "command", "C", "session-command"):
        word = parts.options.get(name)
        if word is not None:
            walk.shell(word, run)
    if run.program == "runuser" and {"u", "user"} & parts.options.keys():
        walk.command(parts.command, run)
        return
    rest = parts.command
    for number, word in enumerate(rest[:-1]):
        if word.text in ("-c", "--command"):
            walk.shell(rest[number + 1], run)
    if not rest and run.stdin is not None:
        walk.input(run)


ENV = Grammar("uCP", frozenset(["unset", "chdir", "block-signal", "default-signal", "ignore-signal"]), assigns=True)


def env(run: Run, walk: Walk) -> None:
    """`env`, with its split-string option."""
    args: list[Word] = []
    for number, word in enumerate(run.args):
        text = word.text
        m = re.match(r"-[iv0]*S(.*)$|--split-string(?:=(.*))?$", text, re.DOTALL)
        if m is not None and not args:
            value = m.group(1) or m.group(2)
            rest = run.args[number + 1 :]
            if not value and rest:
                value, rest = rest[0].text, rest[1:]
            walk.shell(Word(value + "".join(f" {w.text}" for w in rest), word.span, word.resolved, feed=word.feed), run)
            return
        if not text.startswith("-") and not ASSIGNMENT.match(text):
            args.extend(run.args[number:])
            break
        args.append(word)
    exports = [word for word in args if word.text.startswith("BASH_FUNC_")]
    for word in exports:
        walk.act(Act.ENV_HIJACK, run, "exports a shell function to other programs", word)
    parts = split([word for word in args if word not in exports], ENV)
    directory = parts.options.get("C") or parts.options.get("chdir")
    inner = with_env(run, parts.env, walk)
    if directory is not None:
        inner = replace(inner, cwd=walk.place(directory, run))
    if parts.command:
        walk.command(parts.command, inner)


def nice(run: Run, walk: Walk) -> None:
    args = run.args
    if args and re.fullmatch(r"-{1,2}\+?\d+", args[0].text):
        args = args[1:]
    parts = split(args, Grammar("n", frozenset(["adjustment"])))
    walk.command(parts.command, run)


def watch(run: Run, walk: Walk) -> None:
    parts = split(run.args, Grammar("nqs", frozenset(["interval", "equexit"])))
    if {"x", "exec"} & parts.options.keys():
        walk.command(parts.command, run)
    elif parts.command:
        walk.shell(joined(parts.command), run)


def flock(run: Run, walk: Walk) -> None:
    parts = split(run.args, Grammar("wE", frozenset(["timeout", "wait", "conflict-exit-code", "fd"]), operands=1))
    rest = parts.command
    if rest and rest[0].text in ("-c", "--command"):
        if len(rest) > 1:
            walk.shell(rest[1], run)
    elif "c" in parts.options and rest:
        walk.shell(rest[0], run)
    else:
        walk.command(rest, run)


def script(run: Run, walk: Walk) -> None:
    parts = split(
        run.args, Grammar("cIOBTEmot", frozenset(["command", "log-in", "log-out", "log-io", "log-timing", "echo"]), operands=1)
    )
    for name in ("c", "command"):
        word = parts.options.get(name)
        if word is not None:
            walk.shell(word, run)
    walk.command(parts.command, run)


def applets(run: Run, walk: Walk) -> None:
    """`busybox`, `toybox`: the first word is the program."""
    if run.args and not run.args[0].text.startswith("-"):
        walk.command(run.args, run)


def tracer(run: Run, walk: Walk) -> None:
    parts = split(
        run.args,
        Grammar("aAbeEIoOpPsSuUXnlxDF", frozenset(["output", "attach", "trace", "user", "string-limit", "columns", "env"])),
    )
    word = parts.options.get("o") or parts.options.get("output")
    if word is not None and word.text.startswith(("|", "!")):
        walk.shell(Word(word.text[1:], word.span, word.resolved), run)
    walk.command(parts.command, run)


def terminal(run: Run, walk: Walk) -> None:
    """`tmux` and `screen`: commands for a new window, and keys sent to an existing one."""
    args = run.args
    if run.program == "screen":
        parts = split(args, Grammar("SteLhpTsc"))
        if "X" in parts.options:
            if parts.command and parts.command[0].text in ("stuff", "exec"):
                walk.shell(typed(parts.command[1:]), run)
            return
        walk.command(parts.command, run)
        return
    for group in statements(args):
        tmux(group, run, walk)


def statements(args: Sequence[Word]) -> list[list[Word]]:
    """Tmux commands, separated by `;` words."""
    groups: list[list[Word]] = [[]]
    for word in args:
        if word.text == ";":
            groups.append([])
        elif word.text.endswith(";") and not word.text.endswith("\\;"):
            groups[-1].append(replace(word, text=word.text[:-1]))
            groups.append([])
        else:
            groups[-1].append(word)
    return groups


def tmux(args: Sequence[Word], run: Run, walk: Walk) -> None:
    parts = split(args, Grammar("cfLSTt"))
    if not parts.command:
        return
    verb, rest = parts.command[0].text, parts.command[1:]
    if verb in ("send-keys", "send", "set-buffer", "setb", "send-prefix"):
        inner = split(rest, Grammar("tNbn"))
        if inner.command:
            walk.shell(typed(inner.command), run)
    elif verb in (
        "new",
        "new-session",
        "neww",
        "new-window",
        "split-window",
        "splitw",
        "respawn-pane",
        "respawn-window",
        "popup",
        "display-popup",
    ):
        inner = split(rest, Grammar("cnsteFxylpSTwhdbB"))
        if len(inner.command) == 1:
            walk.shell(inner.command[0], run)
        else:
            walk.command(inner.command, run)
    elif verb in ("run", "run-shell", "if", "if-shell", "pipe-pane", "pipep"):
        for word in split(rest, Grammar("tdF")).command:
            walk.shell(word, run)


KEYS = re.compile(r"(?:C-m|Enter|KPEnter)$")


def typed(words: Sequence[Word]) -> Word:
    """Keys as a multiplexer is given them: `Enter` ends a line."""
    text = ""
    for word in words:
        if KEYS.match(word.text):
            text += "\n"
        elif not re.fullmatch(r"C-[a-z]|Escape|Up|Down|Left|Right|Tab|Space|BSpace", word.text):
            text += word.text.replace("\\n", "\n").replace("^M", "\n")
        elif word.text == "Space":
            text += " "
    whole = joined(words)
    return replace(whole, text=text)


def later(run: Run, walk: Walk) -> None:
    """`at`, `batch`: shell text from standard input or a file, at another time."""
    words = [word.text for word in run.args]
    if run.program == "atq" or ({"-l", "-q", "-c"} & set(words) and run.stdin is None):
        return
    walk.schedule(" ".join(words), run)
    if run.stdin is not None:
        walk.input(run)
    for number, word in enumerate(run.args[:-1]):
        if word.text == "-f":
            walk.file(run.args[number + 1], run)


def debugger(run: Run, walk: Walk) -> None:
    """`gdb --args program`, `-ex 'shell ...'`."""
    args = run.args
    for number, word in enumerate(args):
        if word.text in ("--args", "-args"):
            walk.command(args[number + 1 :], run)
            break
        if word.text in ("-ex", "--eval-command", "-iex", "-o", "--one-line") and number + 1 < len(args):
            m = re.match(r"\s*(?:shell|!|platform shell|pipe)\s*(.*)", args[number + 1].text, re.DOTALL)
            if m is not None:
                walk.shell(replace(args[number + 1], text=m.group(1)), run)
            elif re.match(r"\s*(?:python|py|script)\b(.*)", args[number + 1].text, re.DOTALL):
                walk.script("python", replace(args[number + 1], text=args[number + 1].text.split(None, 1)[-1]), run)


def perf(run: Run, walk: Walk) -> None:
    args = run.args
    if args and args[0].text in ("stat", "record", "trace", "bench", "sched", "mem", "c2c"):
        parts = split(
            args[1:],
            Grammar("epctoFCGrDIMGjNW", frozenset(["event", "output", "pid", "repeat", "delay", "call-graph", "freq"])),
        )
        walk.command(parts.command, run)


def expect(run: Run, walk: Walk) -> None:
    """`expect`: Tcl code that spawns."""
    for number, word in enumerate(run.args[:-1]):
        if word.text == "-c":
            walk.script("expect", run.args[number + 1], run)
            return
    files = [word for word in run.args if not word.text.startswith("-")]
    if files:
        walk.file(files[0], run, "expect")
    elif run.stdin is not None:
        walk.input(run, "expect")


def sandbox(run: Run, walk: Walk) -> None:
    """`bwrap`: options with one or two words each."""
    two = {
        "bind",
        "ro-bind",
        "dev-bind",
        "bind-try",
        "ro-bind-try",
        "dev-bind-try",
        "symlink",
        "setenv",
        "file",
        "bind-data",
        "ro-bind-data",
        "chmod",
    }
    one = {
        "dev",
        "proc",
        "tmpfs",
        "mqueue",
        "dir",
        "chdir",
        "unsetenv",
        "hostname",
        "uid",
        "gid",
        "lock-file",
        "sync-fd",
        "exec-label",
    }
    parts = split(
        run.args,
        Grammar(
            "",
            frozenset(one | {"info-fd", "seccomp", "args", "perms", "size", "userns", "cap-add", "cap-drop"}),
            pairs=frozenset(two),
        ),
    )
    walk.command(parts.command, run)


def make(run: Run, walk: Walk) -> None:
    """`make -f -` runs what comes in; `SHELL=` and `--eval` change what runs."""
    parts = split(
        run.args,
        Grammar("fCIoWjl", frozenset(["file", "makefile", "directory", "include-dir", "eval", "old-file", "new-file"])),
    )
    for name in ("f", "file", "makefile"):
        word = parts.options.get(name)
        if word is not None and word.text in ("-", "/dev/stdin"):
            if run.stdin is None or run.stdin.text is None:
                walk.input(run)
            else:
                recipes(run.stdin.text, word, run, walk)
        elif word is not None:
            walk.file(word, run, "make")
    text = parts.options.get("eval") or parts.options.get("E")
    if text is not None:
        recipes(text.text, text, run, walk)
    for word in run.args:
        if word.text.startswith("SHELL="):
            walk.act(Act.ENV_HIJACK, run, "makes `make` run its recipes with another program", word)


def recipes(text: str, word: Word, run: Run, walk: Walk) -> None:
    """The recipe lines of a makefile, and its shell functions."""
    for line in text.replace("\\\n", " ").split("\n"):
        m = re.match(r"\t[@+-]*(.+)", line) or re.match(r"[^#=\t]*:[^=#;]*;\s*[@+-]*(.+)", line)
        if m is not None:
            walk.shell(Word(m.group(1).replace("$$", "$"), word.span, word.resolved), run)
        for inner in re.findall(r"\$[({]shell\s+([^)}]*)[)}]|!=\s*(.+)", line):
            walk.shell(Word(inner[0] or inner[1], word.span, word.resolved), run)


def nix(run: Run, walk: Walk) -> None:
    args = run.args
    for number, word in enumerate(args):
        text = word.text
        if text in ("--run", "--command") and number + 1 < len(args) and run.program == "nix-shell":
            walk.shell(args[number + 1], run)
            return
        if run.program == "nix" and text in ("-c", "--command", "--"):
            walk.command(args[number + 1 :], run)
            return


def sops(run: Run, walk: Walk) -> None:
    args = run.args
    if args and args[0].text in ("exec-env", "exec-file") and len(args) >= 3:
        walk.shell(args[-1], run)


def nodemon(run: Run, walk: Walk) -> None:
    parts = split(
        run.args, Grammar("xewide", frozenset(["exec", "ext", "watch", "ignore", "delay", "signal", "config", "cwd"]))
    )
    word = parts.options.get("x") or parts.options.get("exec")
    if word is not None:
        walk.shell(word, run)


def watcher(run: Run, walk: Walk) -> None:
    """`watchexec`, `reflex`, `entr`, `inotifyrun`: the rest is a command, one word is shell text."""
    values = {"watchexec": "wefidsWoE", "reflex": "rRgGs", "entr": ""}.get(run.program, "")
    if run.program == "entr" and any("s" in word.text for word in run.args if re.match(r"-[a-z]+$", word.text)):
        rest = [word for word in run.args if not re.match(r"-[a-z]+$", word.text)]
        if rest:
            walk.shell(joined(rest), run)
        return
    parts = split(
        run.args,
        Grammar(
            values,
            frozenset(
                ["watch", "exts", "filter", "ignore", "delay-run", "signal", "debounce", "workdir", "shell", "regex", "glob"]
            ),
        ),
    )
    if len(parts.command) == 1 and " " in parts.command[0].text:
        walk.shell(parts.command[0], run)
    else:
        walk.command(parts.command, run)


def cross_env(run: Run, walk: Walk) -> None:
    parts = split(run.args, Grammar(assigns=True))
    inner = with_env(run, parts.env, walk)
    if run.program == "cross-env-shell" and parts.command:
        walk.shell(joined(parts.command), inner)
    else:
        walk.command(parts.command, inner)


def systemd_run(run: Run, walk: Walk) -> None:
    parts = split(
        run.args,
        Grammar(
            "pEtuHMC",
            frozenset(
                ["property", "setenv", "unit", "slice", "description", "uid", "gid", "nice", "working-directory", "on-active"]
            )
            | frozenset(
                ["on-boot", "on-startup", "on-unit-active", "on-calendar", "timer-property", "host", "machine", "service-type"]
            ),
        ),
    )
    if any(name.startswith("on-") for name in parts.options):
        walk.schedule(joined(run.args).text, run)
    walk.command(parts.command, run)


def start_daemon(run: Run, walk: Walk) -> None:
    parts = split(
        run.args,
        Grammar("xapcgknsN", frozenset(["exec", "startas", "pidfile", "chuid", "group", "name", "user", "chdir", "signal"])),
    )
    program = parts.options.get("x") or parts.options.get("exec") or parts.options.get("a") or parts.options.get("startas")
    if program is not None:
        walk.command((program, *parts.command), run)


def detached(run: Run, walk: Walk) -> None:
    """`xdotool type`, `osascript`-like typing into another window is not followed."""
    if run.args and run.args[0].text in ("type", "key"):
        walk.opaque("it types into another window", run)


def feed_of(run: Run) -> Feed:
    return run.stdin if run.stdin is not None else Feed()


PLAIN = wrap(Grammar())
ENV_RUN = wrap(Grammar("ef", frozenset(["env", "file", "environments"])))
RUN = Grammar(
    "npCeEP",
    frozenset(
        [
            "name",
            "prefix",
            "cwd",
            "env",
            "project",
            "directory",
            "python",
            "with",
            "env-file",
            "config",
            "profile",
            "group",
            "extra",
        ]
    ),
)
ONE = Grammar(operands=1)
SPECS: dict[str, Family] = {
    "sudo": sudo,
    "doas": sudo,
    "pkexec": sudo,
    "run0": sudo,
    "gsudo": sudo,
    "su": su,
    "runuser": su,
    "env": env,
    "genv": env,
    "nice": nice,
    "gnice": nice,
    "nohup": PLAIN,
    "gnohup": PLAIN,
    "setsid": PLAIN,
    "time": wrap(Grammar("fo", frozenset(["format", "output"]))),
    "gtime": wrap(Grammar("fo", frozenset(["format", "output"]))),
    "ionice": wrap(Grammar("cnpPu", frozenset(["class", "classdata", "pid", "uid"]))),
    "timeout": wrap(Grammar("ks", frozenset(["kill-after", "signal"]), operands=1)),
    "gtimeout": wrap(Grammar("ks", frozenset(["kill-after", "signal"]), operands=1)),
    "stdbuf": wrap(Grammar("ioe", frozenset(["input", "output", "error"]))),
    "chrt": wrap(Grammar("TPDp", operands=1)),
    "taskset": wrap(Grammar("p", operands=1)),
    "numactl": wrap(Grammar("CNimpPl", frozenset(["cpunodebind", "physcpubind", "membind", "interleave", "preferred"]))),
    "caffeinate": wrap(Grammar("tw")),
    "chronic": PLAIN,
    "unbuffer": PLAIN,
    "ts": wrap(Grammar("")),
    "rlwrap": wrap(Grammar("abCDfghHlLMOpPqsSwz")),
    "ltrace": tracer,
    "strace": tracer,
    "dtruss": tracer,
    "valgrind": PLAIN,
    "perf": perf,
    "gdb": debugger,
    "lldb": debugger,
    "watch": watch,
    "flock": flock,
    "script": script,
    "unshare": wrap(Grammar("RwSG", frozenset(["root", "wd", "setuid", "setgid", "propagation"]))),
    "chroot": wrap(Grammar("", frozenset(["userspec", "groups"]), operands=1)),
    "nsenter": wrap(Grammar("tSG", frozenset(["target", "setuid", "setgid"]))),
    "proot": wrap(Grammar("rbmqwvki", frozenset(["rootfs", "bind", "cwd", "qemu"]))),
    "fakeroot": wrap(Grammar("lsbi", frozenset(["lib", "faked"]))),
    "fakechroot": wrap(Grammar("")),
    "faketime": wrap(Grammar("f", operands=1)),
    "firejail": PLAIN,
    "bwrap": sandbox,
    "setpriv": wrap(Grammar("", frozenset(["reuid", "regid", "groups", "securebits", "inh-caps", "bounding-set"]))),
    "capsh": wrap(Grammar("")),
    "gosu": wrap(ONE),
    "su-exec": wrap(ONE),
    "setuidgid": wrap(ONE),
    "chpst": wrap(Grammar("ueCnmdofpcrtUb/")),
    "softlimit": wrap(Grammar("acdflmoprst")),
    "prlimit": wrap(Grammar("po", frozenset(["pid", "output"]))),
    "cpulimit": wrap(Grammar("pelP", frozenset(["limit", "pid", "exe", "path"]))),
    "cgexec": wrap(Grammar("g")),
    "systemd-run": systemd_run,
    "systemd-inhibit": wrap(Grammar("", frozenset(["what", "who", "why", "mode"]))),
    "start-stop-daemon": start_daemon,
    "daemonize": wrap(Grammar("acepluEo")),
    "dbus-run-session": wrap(Grammar("", frozenset(["config-file", "dbus-daemon"]))),
    "dbus-launch": PLAIN,
    "xvfb-run": wrap(
        Grammar("nefspw", frozenset(["server-num", "error-file", "auth-file", "server-args", "xauth-protocol", "wait"]))
    ),
    "xpra": wrap(Grammar("")),
    "ssh-agent": wrap(Grammar("aEtPO")),
    "dumb-init": wrap(Grammar("r", frozenset(["rewrite"]))),
    "tini": wrap(Grammar("ep")),
    "catchsegv": PLAIN,
    "linux32": PLAIN,
    "linux64": PLAIN,
    "setarch": wrap(Grammar("")),
    "arch": wrap(Grammar("de")),
    "eatmydata": PLAIN,
    "torsocks": PLAIN,
    "torify": PLAIN,
    "proxychains": wrap(Grammar("f")),
    "proxychains4": wrap(Grammar("f")),
    "tsocks": PLAIN,
    "retry": wrap(Grammar("tdmx", frozenset(["times", "delay", "until", "max"]))),
    "busybox": applets,
    "toybox": applets,
    "sbase-box": applets,
    "tmux": terminal,
    "screen": terminal,
    "at": later,
    "batch": later,
    "expect": expect,
    "make": make,
    "gmake": make,
    "nix": nix,
    "nix-shell": nix,
    "direnv": subcommands(exec=ONE),
    "dotenv": ENV_RUN,
    "dotenvx": subcommands(run=Grammar("f", frozenset(["env-file", "env"]))),
    "env-cmd": ENV_RUN,
    "cross-env": cross_env,
    "cross-env-shell": cross_env,
    "hyperfine": each_text(
        Grammar(
            "wmrspncPDLSiM",
            frozenset(["warmup", "min-runs", "max-runs", "runs", "setup", "prepare", "cleanup", "conclude"])
            | frozenset(
                [
                    "command-name",
                    "export-json",
                    "export-markdown",
                    "export-csv",
                    "parameter-scan",
                    "parameter-list",
                    "shell",
                    "style",
                ]
            ),
        )
    ),
    "concurrently": each_text(
        Grammar("nclpsm", frozenset(["names", "prefix-colors", "prefix", "success", "max-processes", "kill-others-on-fail"]))
    ),
    "nodemon": nodemon,
    "watchexec": watcher,
    "reflex": watcher,
    "entr": watcher,
    "xdotool": detached,
    "sops": sops,
    "poetry": subcommands(run=Grammar()),
    "pdm": subcommands(run=Grammar("p", frozenset(["project", "venv"]))),
    "hatch": subcommands(run=Grammar("e", frozenset(["env"])), env=Grammar("", operands=1)),
    "rye": subcommands(run=Grammar()),
    "pipenv": subcommands(run=Grammar()),
    "pixi": subcommands(run=RUN, exec=Grammar("sc", frozenset(["spec", "channel"]))),
    "conda": subcommands(run=RUN),
    "mamba": subcommands(run=RUN),
    "micromamba": subcommands(run=RUN),
    "pyenv": subcommands(exec=Grammar()),
    "rbenv": subcommands(exec=Grammar()),
    "nodenv": subcommands(exec=Grammar()),
    "asdf": subcommands(exec=Grammar()),
    "mise": subcommands(exec=Grammar("Cc", frozenset(["cd", "command"])), x=Grammar("Cc", frozenset(["cd", "command"]))),
    "nvm": subcommands(exec=ONE, run=ONE),
    "fnm": subcommands(exec=Grammar("", frozenset(["using"]))),
    "volta": subcommands(run=Grammar("", frozenset(["node", "npm", "yarn"]))),
    "rustup": subcommands(run=ONE),
    "bundle": subcommands(exec=Grammar()),
    "bundler": subcommands(exec=Grammar()),
    "doppler": subcommands(run=Grammar("pc", frozenset(["project", "config", "token"]))),
    "op": subcommands(run=Grammar("", frozenset(["env-file", "account"]))),
    "aws-vault": subcommands(exec=Grammar("dj", frozenset(["duration", "region"]), operands=1)),
    "chamber": subcommands(exec=Grammar("", operands=1)),
    "infisical": subcommands(run=Grammar("", frozenset(["env", "path", "projectId", "token"]))),
    "railway": subcommands(run=Grammar("se", frozenset(["service", "environment"]))),
    "opam": subcommands(exec=Grammar("", frozenset(["switch"]))),
    "stack": subcommands(exec=Grammar(), runghc=Grammar()),
    "cabal": subcommands(exec=Grammar()),
    "distrobox": subcommands(enter=Grammar("n", frozenset(["name"]), operands=1)),
    "toolbox": subcommands(run=Grammar("cdr", frozenset(["container", "distro", "release"]))),
    "flatpak": subcommands(run=ONE),
    "lerna": subcommands(exec=Grammar("", frozenset(["scope", "ignore", "concurrency"]))),
    "jj": subcommands(util=Grammar("", operands=1)),
}
Handler = Callable[[Run, Walk], None]
