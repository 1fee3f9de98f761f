"""The public entry: what a command would do. `analyse` for a text, `analyse_argv` for a vector of words.

Pure: nothing is read or run; the site's probes are asked for what is allowed. Never waves anything through: what is too big is a
fault, what cannot be read or resolved is an OPAQUE effect.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from checkrein.shell.parse import MAX_TEXT, read
from checkrein.shell.spec import Feed, Run, Word
from checkrein.shell.state import State, Value
from checkrein.shell.walker import Walker
from checkrein.shell.words import TooMuchError, UnreadableError
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.effects import Effect, EffectKind
from checkrein.vocab.reasons import Reason
from checkrein.vocab.site import Site


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a command would do, and what it leaves behind.

    `fault` is set when nothing could be judged (OVERSIZE). `cwd` is the working directory afterwards, None when unknown.
    `written` are files whose whole content after the command is known; `hidden` are files that it writes with unknown content,
    `fetched` those that it downloads. `functions` and `aliases` are the names defined. `complete` is False when more text is
    needed before a shell would run it.
    """

    effects: tuple[Effect, ...] = ()
    fault: tuple[Reason, str] | None = None
    cwd: str | None = None
    written: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    hidden: frozenset[str] = frozenset()
    fetched: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    variables: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    complete: bool = True


def analyse(
    text: str,
    site: Site,
    *,
    cwd: str | None,
    dialect: str = "posix",
    files: Mapping[str, str | None] = NOTHING,
    env: Mapping[str, str] | None = None,
    program: str = "bash",
    fetched: Collection[str] = (),
) -> Analysis:
    """The effects of running `text` in a shell that stands in `cwd`.

    `files` are texts written earlier in the session by absolute path (None: the content is not known), `fetched` paths downloaded earlier, `env` variables set
    earlier in the same shell.
    """
    walker = _walker(site, cwd, files, env, program, fetched)
    if len(text) > MAX_TEXT:
        return Analysis(fault=(Reason.OVERSIZE, f"it is longer than {MAX_TEXT} characters"), cwd=cwd)
    try:
        if dialect != "posix":
            word = Word(text, (0, len(text)), quoted=True)
            walker.foreign(word, Run(program, (word,), word.span, cwd), dialect, remote=False)
            complete = True
        else:
            complete = _walk(walker, text)
    except TooMuchError as error:
        return Analysis(fault=(Reason.OVERSIZE, str(error)), cwd=cwd)
    return _result(walker, text, complete=complete)


def _walk(walker: Walker, text: str) -> bool:
    if "\0" in text:
        walker.unknown("the text holds a NUL character", (0, len(text)), text[:80].replace("\0", "?"))
        return True
    try:
        script = read(text)
    except UnreadableError as error:
        walker.unknown(f"the shell text is not read: {error.why}", (min(error.at, len(text)), len(text)), text[:2000])
        return not error.incomplete
    walker.items(script.items)
    walker.uncalled()
    return script.complete


def analyse_argv(
    argv: Sequence[str],
    site: Site,
    *,
    cwd: str | None,
    files: Mapping[str, str | None] = NOTHING,
    env: Mapping[str, str] | None = None,
    fetched: Collection[str] = (),
) -> Analysis:
    """The effects of running a program with exactly these words, without a shell. Spans count in the words joined by spaces."""
    walker = _walker(site, cwd, files, env, "bash", fetched)
    if sum(map(len, argv)) > MAX_TEXT:
        return Analysis(fault=(Reason.OVERSIZE, f"it is longer than {MAX_TEXT} characters"), cwd=cwd)
    if not argv:
        return Analysis(cwd=cwd)
    words = []
    at = 0
    for text in argv:
        words.append(Word(text, (at, at + len(text)), quoted=True))
        at += len(text) + 1
    try:
        if any("\0" in text for text in argv):
            walker.unknown("a word holds a NUL character", (0, at - 1))
        else:
            walker.reset_choices()
            walker.invoke(tuple(words), (0, at - 1), functions=False, builtins=False)
    except TooMuchError as error:
        return Analysis(fault=(Reason.OVERSIZE, str(error)), cwd=cwd)
    return _result(walker, " ".join(argv), complete=True)


def _walker(
    site: Site,
    cwd: str | None,
    files: Mapping[str, str | None],
    env: Mapping[str, str] | None,
    program: str,
    fetched: Collection[str],
) -> Walker:
    state = State((cwd,) if cwd is not None else (), name=program.rsplit("/", 1)[-1])
    if env:
        state.vars = {name: Value((value,)) for name, value in env.items()}
        state.exported = frozenset(env)
    walker = Walker(site, state)
    if files:
        walker.files = {path: (text,) for path, text in files.items()}
    if fetched:
        walker.fetched = set(fetched)
    return walker


def _result(walker: Walker, text: str, *, complete: bool) -> Analysis:
    effects = walker.effects
    if walker.repeated or walker.branch or len(effects) > 8:
        effects = list(dict.fromkeys(effects))
    if not text.isascii():
        effects = _in_bytes(effects, text)
    state = walker.state
    written: dict[str, str] = {}
    hidden: set[str] = set()
    for place, texts in walker.files.items():
        if len(texts) == 1 and texts[0] is not None:
            written[place] = texts[0]
        else:
            hidden.add(place)
    return Analysis(
        effects=tuple(effects),
        cwd=state.cwds[0] if len(state.cwds) == 1 else None,
        written=written or NOTHING,
        hidden=frozenset(hidden),
        fetched=frozenset(walker.fetched),
        functions=frozenset(state.functions),
        aliases=frozenset(state.aliases),
        variables={
            name: value.texts[0]
            for name, value in state.vars.items()
            if isinstance(value, Value) and len(value.texts) == 1 and "\0" not in value.texts[0]
        }
        if state.vars
        else NOTHING,
        complete=complete,
    )


def _in_bytes(effects: list[Effect], text: str) -> list[Effect]:
    """Spans count bytes of the UTF-8 text; the walk counts characters."""
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + len(character.encode("utf-8", "surrogatepass")))
    last = len(text)
    return [replace(e, span=(offsets[min(e.span[0], last)], offsets[min(e.span[1], last)])) for e in effects]


__all__ = ["Analysis", "EffectKind", "Feed", "analyse", "analyse_argv"]
