"""Code inside code: what families hand back to the walker. Commands in words, shell text, scripts, files that run."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from checkrein.shell.commands import FAMILIES
from checkrein.shell.environment import check_variable
from checkrein.shell.expand import Expansion
from checkrein.shell.parse import read
from checkrein.shell.patterns import glob_root, narrows
from checkrein.shell.report import line
from checkrein.shell.scripts import LANGUAGES, language_of
from checkrein.shell.spec import Feed, Run, Span, Word
from checkrein.shell.state import UNKNOWN, Binding, State, Value, combine
from checkrein.shell.syntax import Function, Item
from checkrein.shell.words import TooMuchError, UnreadableError
from checkrein.vocab.acts import Act
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.effects import Effect, EffectKind, Flag
from checkrein.vocab.site import Site

MAX_NESTING = 12
MAX_LEVEL = 60
MAX_VALUE = 2_000  # characters of code shown in an effect
DANGEROUS = frozenset(
    [
        "rm",
        "dd",
        "shred",
        "wipefs",
        "mkfs",
        "sudo",
        "doas",
        "su",
        "pkexec",
        "sh",
        "bash",
        "zsh",
        "dash",
        "chmod",
        "chown",
        "eval",
        "find",
        "xargs",
        "git",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "curl",
        "wget",
        "nc",
        "ncat",
        "env",
        "kill",
        "killall",
        "mv",
        "truncate",
        "reboot",
        "shutdown",
        "crontab",
        "systemctl",
        "busybox",
        "nohup",
        "timeout",
        "terraform",
        "kubectl",
    ]
)


class Nested(Expansion):
    """The part of `Walk` that runs things."""

    def __init__(self, site: Site, state: State, dialect: str = "posix") -> None:
        super().__init__(site)
        self.state = state
        self.stdin: Feed | None = None
        self.sink: list[Feed] | None = None
        self.remote = False
        self.depth = 0
        self.level = 0
        self.background = 0
        self.pipeline: tuple[tuple[str, ...], ...] = ()
        self.frames: list[tuple[tuple[str, tuple[str, ...]], int, int]] = []
        self.locals: dict[str, Binding | None] = {}
        self.defined: dict[str, tuple[Function, Span | None]] = {}
        self.called: set[str] = set()
        self.repeated = False
        self.unpacked: set[str] = set()
        self.dirs: list[tuple[str, ...]] = []
        self.mark = 0
        self.reset_choices()

    # what the walker provides

    def items(self, items: Sequence[Item]) -> None:
        raise NotImplementedError

    def invoke(
        self,
        argv: tuple[Word, ...],
        span: Span,
        *,
        env: Mapping[str, Word] = NOTHING,
        functions: bool = True,
        builtins: bool = True,
    ) -> None:
        raise NotImplementedError

    def cwd(self) -> str | None:
        raise NotImplementedError

    # bounds

    def check_level(self) -> None:
        if self.level > MAX_LEVEL:
            raise TooMuchError(f"it is nested more than {MAX_LEVEL} levels deep")

    def in_temp(self, text: str) -> bool:
        place = posixpath.normpath(text) if text.startswith("/") else ""
        return any(place == temp or place.startswith(temp + "/") for temp in self.site.temps)

    # listings

    def roots_of(self, words: Sequence[Word], run: Run) -> tuple[str, ...]:
        """The places that path operands name, as far as they are known."""
        roots: list[str] = []
        for word in words:
            if word.roots:
                roots.extend(word.roots)
            elif word.resolved:
                place = self.resolve(glob_root(word.text)[0] if word.glob else word.text, run)
                if place is not None:
                    roots.append(place)
        return tuple(dict.fromkeys(roots))

    @staticmethod
    def narrow(word: Word) -> bool:
        """Whether a path operand names only some entries of its root."""
        return word.filtered or (word.glob and narrows(glob_root(word.text)[1]))

    # output

    def capture(self, items: list[Item], base: Span | None) -> Feed:
        """What the items write to standard output, run in a copy of the state."""
        kept = (self.state, self.sink, self.base, self.pick, self.choices, self.outs, self.said)
        self.state = kept[0].copy()
        self.sink = collected = []
        self.base = base
        self.level += 1
        self.check_level()
        self.items(items)
        self.level -= 1
        self.state, self.sink, self.base, self.pick, self.choices, self.outs, self.said = kept
        return combine(collected) if collected else Feed(text="")

    def blur(self, mark: int) -> None:
        """What was written since `mark` may or may not have been: its text is no longer known."""
        sink = self.sink
        if sink is not None and any(feed.text != "" for feed in sink[mark:]):
            sink[mark:] = [combine(sink[mark:], text=None)]

    # commands in words

    def command(self, words: Sequence[Word], run: Run, *, remote: bool = False, stdin: Feed | None = None) -> None:
        """Words that are a command."""
        if not words:
            return
        kept = (self.remote, self.stdin, self.depth)
        self.remote = self.remote or remote or run.remote
        self.stdin = stdin if stdin is not None else run.stdin
        self.enter()
        span = words[0].span if words[0].span != (0, 0) else run.span
        if words[-1].span != (0, 0) and span != run.span:
            span = (span[0], max(span[1], words[-1].span[1]))
        saved = self.state
        if remote or run.cwd not in saved.cwds:
            self.state = saved.copy()
            self.state.cwds = () if remote or run.cwd is None else (run.cwd,)
        self.invoke(tuple(words), span, env=run.env, functions=False, builtins=False)
        self.state = saved
        self.remote, self.stdin, self.depth = kept

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise TooMuchError(f"commands are nested more than {MAX_NESTING} deep")

    # text that runs

    def hidden(self, feed: Feed | None, run: Run, word: Word | None, what: str) -> bool:
        """Report that code is not constant; True when nothing of it should be judged."""
        if feed is None:
            return False
        if feed.fetched:
            self.act(Act.DOWNLOAD_RUN, run, "runs what was downloaded by this command", word)
        elif feed.decoded:
            self.act(Act.DECODE_RUN, run, "runs what was decoded by this command", word)
        elif feed.plain or feed.roots:
            return False
        else:
            self.opaque(f"{what} is not constant", run, word)
        return True

    def shell(self, word: Word, run: Run, *, dialect: str = "posix", remote: bool = False, params: Sequence[Word] = ()) -> None:
        """A new shell with this text."""
        if UNKNOWN in word.text and self.hidden(word.feed, run, word, "the text of the shell code"):
            return
        if dialect != "posix":
            self.foreign(word, run, dialect, remote=remote)
            return
        old = self.state
        exported = {name: value for name, value in old.vars.items() if name in old.exported}
        for name, value in run.env.items():
            exported[name] = Value((value.text,), value.feed)
        cwds = () if remote or run.cwd is None else (run.cwd,)
        functions = {name: body for name, body in old.functions.items() if f"{name}()" in old.exported}
        state = State(
            cwds, {} if remote else exported, functions, {}, tuple(params), old.exported, old.path_dirs, name=run.program
        )
        kept = (self.remote, self.stdin, self.frames)
        self.remote = self.remote or remote or run.remote
        self.stdin = run.stdin
        self.frames = []
        self.state = state
        self.text_runs(word.text, word.span if word.span != (0, 0) else run.span)
        self.state = old
        self.remote, self.stdin, self.frames = kept

    def text_runs(self, text: str, span: Span) -> None:
        """Shell text in the current state."""
        depth, base = self.depth, self.base
        self.enter()
        self.base = base if base is not None else span
        kept = (self.pick, self.choices, self.outs)
        self.level += 1
        self.check_level()
        try:
            script = read(text, self.base)
        except UnreadableError as error:
            self.unknown(f"nested shell code is not read: {error.why}", self.base, text[:MAX_VALUE])
        else:
            self.items(script.items)
        self.level -= 1
        self.pick, self.choices, self.outs = kept
        self.base, self.depth = base, depth

    def substituted(self) -> list[str]:
        """The command lines that ran in substitutions of the current command's words."""
        return [e.value for e in self.effects[self.mark :] if e.kind is EffectKind.EXEC and e.act is None]

    def source_text(self, text: str, args: Sequence[Word], run: Run) -> None:
        """`source` of known text: in the current state, with its own parameters when it is given some."""
        params = self.state.params
        if len(args) > 1:
            self.state.params = (Word(self.state.name), *args[1:])
        self.text_runs(text, args[0].span)
        self.state.params = params
        self.state.dead = False

    def aliased(self, argv: tuple[Word, ...], span: Span) -> bool:
        """An alias: its text in front of the other words, read again as shell text. The bare program runs as well, since
        whether aliases are expanded depends on the shell.
        """
        name = argv[0].text
        key = (f"alias {name}", ())
        if any(frame[0] == key for frame in self.frames):
            return False
        text = self.state.aliases[name]
        self.frames.append((key, self.background, len(self.pipeline)))
        self.text_runs(f"{text} {line(argv[1:])}" if all(word.resolved for word in argv) else f"{text} {UNKNOWN}", span)
        self.frames.pop()
        return False

    def variable_command(self, word: Word, run: Run, *, prompt: bool = False) -> None:
        """The value of a variable that some program runs as a command. What it adds is not known, so it stays a prefix."""
        if not word.resolved:
            if word.feed is not None and not word.feed.plain:
                self.act(Act.ENV_HIJACK, run, "sets a variable that holds a command to something unknown", word)
            return
        head = word.text.split()[0] if word.text.split() else ""
        if head.startswith("/") and self.in_temp(head):
            self.act(Act.ENV_HIJACK, run, "sets a variable so that a program in a temporary directory runs", word)
        saved, sink, stdin = self.state, self.sink, self.stdin
        self.state, self.sink, self.stdin = saved.copy(), None, Feed(plain=True)
        text = "".join(f": {part}\n" for part in prompts(word.text)) if prompt else word.text
        self.text_runs(text, word.span)
        self.state, self.sink, self.stdin = saved, sink, stdin

    def foreign(self, word: Word, run: Run, dialect: str, *, remote: bool) -> None:
        """PowerShell and cmd."""
        from checkrein.shell import dialects

        dialects.analyse(dialect, word, run, self, remote=remote or run.remote)

    def input(self, run: Run, language: str = "posix") -> None:
        """Code from standard input."""
        self.feed_runs(run.stdin, run, language)

    def variable(self, name: str, word: Word, run: Run) -> None:
        """An environment variable for another program."""
        check_variable(self, name, word, word.span if word.span != (0, 0) else run.span)

    def place(self, word: Word, run: Run) -> str | None:
        """The absolute path that a word names."""
        return self.resolve(word.text, run) if word.resolved and word.text else None

    def written(self, word: Word, run: Run, feed: Feed, *, append: bool = False) -> None:
        """The content of a file, for when it runs."""
        place = self.resolve(word.text, run) if word.resolved and word.text and not run.remote else None
        if place is not None:
            self.wrote(place, feed.text if feed.text is not None and UNKNOWN not in feed.text else None, append=append)
            if feed.fetched:
                self.fetched.add(place)

    def feed_runs(self, feed: Feed | None, run: Run, language: str = "posix") -> None:
        """An interpreter reads its code from standard input."""
        if feed is None:
            return
        if feed.text is not None and not (UNKNOWN in feed.text and self.hidden(feed, run, None, "the code on standard input")):
            word = Word(feed.text, feed.span, UNKNOWN not in feed.text, feed=feed)
            inner = replace(run, stdin=None)
            if language == "posix":
                self.shell(word, inner)
            else:
                self.script(language, word, inner)
        elif feed.text is not None:
            return
        elif feed.fetched or feed.decoded:
            self.hidden(feed, run, None, "")
        elif feed.path is not None:
            self.file(Word(feed.path, feed.span), replace(run, stdin=None), language)
        else:
            self.opaque("code comes from a pipe and is not constant", run)

    def script(self, language: str, word: Word, run: Run) -> None:
        """Inline code of an interpreter."""
        self.count()
        self.repeated = True
        self.emit(
            Effect(
                EffectKind.SCRIPT,
                word.text[:MAX_VALUE].replace("\0", "\N{HORIZONTAL ELLIPSIS}"),
                "",
                self.base or (word.span if word.span != (0, 0) else run.span),
                run.program,
                None,
                frozenset([Flag.REMOTE]) if run.remote or self.remote else frozenset(),
            )
        )
        if UNKNOWN in word.text and self.hidden(word.feed, run, word, f"the {language} code"):
            return
        depth = self.depth
        self.enter()
        analyser = LANGUAGES.get(language)
        if analyser is None:
            self.opaque(f"code in {language} is not read", run, word)
        else:
            analyser(word, run, self)
        self.depth = depth

    # files that run

    def file(self, word: Word, run: Run, language: str = "posix") -> None:
        """A script operand."""
        feed = word.feed
        if feed is not None and word.text.startswith("/dev/fd/"):
            self.feed_runs(feed, run, language)
            return
        if word.text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            self.feed_runs(run.stdin, run, language)
            return
        if run.remote or self.remote:
            return
        if not word.resolved:
            if not self.hidden(feed, run, word, "the file to run") and not word.roots and feed is None:
                self.opaque("the file to run is not a constant word", run, word)
            return
        place = self.resolve(word.text, run)
        if place is None:
            return
        for found in self.matching(place, glob=word.glob):
            self.known_file(found, word, run, language)

    def matching(self, place: str, *, glob: bool) -> Iterator[str]:
        if not glob:
            yield place
            return
        for known in {*self.files, *self.fetched}:
            if fnmatch.fnmatchcase(known, place):
                yield known

    def known_file(self, place: str, word: Word, run: Run, language: str) -> bool:
        """Judge a file by what this session knows of its content; False when nothing is known."""
        if place in self.fetched or any(place.startswith(root) for root in self.unpacked):
            self.act(Act.DOWNLOAD_RUN, run, "runs a file that this command downloaded", word, Flag.FETCHED)
            return True
        texts = self.files.get(place)
        if texts is None:
            return False
        if ("file", place) in ((frame[0][0], frame[0][1][0] if frame[0][1] else "") for frame in self.frames):
            return True
        for text in texts:
            if text is None:
                self.opaque("it runs a file that this command wrote with content that is not known", run, word)
                continue
            self.frames.append((("file", (place,)), self.background, len(self.pipeline)))
            inner = Word(text, word.span)
            tongue = language_of(text, place) or language
            params = (Word(place), *run.args)
            if tongue == "posix":
                self.shell(inner, run, params=params)
            else:
                self.script(tongue, inner, run)
            self.frames.pop()
        return True

    def file_head(self, run: Run) -> None:
        """A command word that is a path, or a name that a changed `PATH` may find."""
        text = run.argv[0].text
        if run.remote or self.remote:
            return
        if "/" in text:
            place = self.resolve(text, run)
            places = [place] if place is not None else []
        else:
            places = [f"{directory}/{text}" for directory in self.state.path_dirs]
        for place in places:
            meant = self.stood_for.get(place)
            if meant is not None and meant != run.program:
                self.enter()
                for family in FAMILIES.get(meant, ()):
                    family(replace(run, program=meant), self)
                self.depth -= 1
            if self.known_file(place, run.argv[0], run, "posix"):
                self.mark_written()

    def mark_written(self) -> None:
        for number in range(len(self.effects) - 1, -1, -1):
            effect = self.effects[number]
            if effect.kind is EffectKind.EXEC and effect.act is None:
                self.effects[number] = replace(effect, flags=effect.flags | {Flag.WRITTEN})
                return

    def glob_head(self, argv: tuple[Word, ...], run: Run) -> None:
        """A pattern in command position: fine when it can only name files of this place, not a program of the system."""
        text = argv[0].text
        place = self.resolve(text, run) if "/" in text else None
        if place is None or not (place.startswith(self.site.workspace + "/") or text.startswith("./")):
            self.opaque("a pattern stands where a program's name should be", run, argv[0])
            return
        self.emit(Effect(EffectKind.EXEC, line(argv), "", run.span, posixpath.basename(text), None, frozenset([Flag.GLOB])))
        for found in list(self.matching(place, glob=True)):
            self.known_file(found, argv[0], run, "posix")
        self.possible_wrapper(run)

    def possible_wrapper(self, run: Run) -> None:
        """An unknown program followed by a command: judged also as if it ran that command."""
        argv = run.argv
        for number in range(1, len(argv)):
            word = argv[number]
            if word.resolved and not word.quoted and word.text.rsplit("/", 1)[-1] in DANGEROUS and number + 1 < len(argv):
                self.command(argv[number:], run)
                return


def prompts(text: str) -> Iterator[str]:
    """The substitutions of a prompt string, each as one word."""
    rest = text
    while True:
        at = min((spot for spot in (rest.find("$("), rest.find("`")) if spot >= 0), default=-1)
        if at < 0:
            return
        yield rest[at:].rstrip()
        return
