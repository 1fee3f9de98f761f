"""What each role of an argument carries, and how it becomes effects. One function per carrier; a profile chooses among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from checkrein.classify.locate import place
from checkrein.classify.typed import keys
from checkrein.classify.understanding import Understanding
from checkrein.profiles.schema import Argument, Role, ToolKind
from checkrein.shell import facts
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.effects import EffectKind
from checkrein.vocab.reasons import Reason
from checkrein.vocab.sessions import LiveShell
from checkrein.vocab.state import MAX_FILE

Siblings = Mapping[str, Any]
Carrier = Callable[[Understanding, Argument, str, Any, Siblings], None]

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "pwsh", "powershell", "cmd"})
_SHELL_PLACES = frozenset({"", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin"})
_SHELL_ROLES = frozenset({Role.SHELL_POSIX, Role.SHELL_POWERSHELL, Role.SHELL_CMD})
_URL = re.compile(r"\b(?:https?|ftp|wss?)://[^\s<>\"'`)\]}]+", re.IGNORECASE)
SHOWN = 2_000


# shells and scripts


def _shell(dialect: str) -> Carrier:
    def carrier(what: Understanding, _argument: Argument, pointer: str, value: Any, siblings: Siblings) -> None:
        _command(what, pointer, value, siblings, dialect)

    return carrier


def _command(what: Understanding, pointer: str, value: Any, siblings: Siblings, dialect: str) -> None:
    """A command is a text for a shell or a list of words, whatever the role calls it: harnesses and models mix them."""
    if isinstance(value, str):
        if not value.strip():
            what.fail(Reason.MALFORMED, "the command is empty", pointer)
            return
        _text(what, pointer, value, dialect, _shell_of(what, siblings))
        return
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        what.fail(Reason.MALFORMED, "a command is a text or a list of texts", pointer)
        return
    words = [str(word) for word in value]
    _note(what, pointer, facts.analyse_argv(words, what.state.site, **_known(what)))
    if len(words) == 1 and re.search(r"\s", words[0]):
        # Some harnesses take a single word for a line of shell.
        _text(what, pointer, words[0], dialect, "bash")


def _text(what: Understanding, pointer: str, text: str, dialect: str, program: str) -> None:
    analysis = facts.analyse(text, what.state.site, dialect=dialect, program=program, **_known(what))
    _note(what, pointer, analysis)
    if _keeps_its_directory(what):
        what.cwd, what.moved = analysis.cwd, True
    if what.tool.opens_session and what.failing is None:
        what.opening = LiveShell(text, dialect, what.cwd)


def _keeps_its_directory(what: Understanding) -> bool:
    """The harness's own shell does when its calls name no directory; a server's or a reviewed tool's is another shell."""
    own = what.profile.find(what.call.name, what.call.namespace)
    return own is what.tool and not what.tool.has(Role.CWD)


def _known(what: Understanding) -> dict[str, Any]:
    return {"cwd": what.cwd, "files": what.known_files(), "fetched": what.state.fetched | what.fetched}


def _note(what: Understanding, pointer: str, analysis: facts.Analysis) -> None:
    if analysis.fault is not None:
        reason, why = analysis.fault
        what.fail(reason, why, pointer)
    at = what.prefix + pointer
    what.effects += [effect.at(at) for effect in analysis.effects]
    if not analysis.effects and analysis.fault is None:
        what.add(EffectKind.EXEC, ":", pointer, program=":")  # nothing but comments and assignments
    known = what.known_files()
    for path, text in (*analysis.written.items(), *((path, None) for path in analysis.hidden)):
        if path not in known or known[path] != text:
            _remember(what, path, text)
    what.fetched |= analysis.fetched


def _remember(what: Understanding, path: str, text: str | None) -> None:
    """INVARIANT: a file that was written anew never keeps its old text, for it would be judged by that when it runs."""
    what.files[path] = text if text is not None and len(text) <= MAX_FILE else None


def _shell_of(what: Understanding, siblings: Siblings) -> str:
    """The shell that runs a sibling text, where the call names one."""
    for argument in what.tool.arguments:
        if argument.role is Role.PROGRAM:
            named = siblings.get(argument.pointer.rpartition("/")[2])
            if isinstance(named, str) and named:
                name = named.rpartition("/")[2]
                return name if name in SHELLS else "sh"
    return "bash"


def _program(what: Understanding, _argument: Argument, pointer: str, value: Any, siblings: Siblings) -> None:
    """A program to run; where a sibling is shell text, the program that is given it as code."""
    if value == "":
        return
    if not isinstance(value, str):
        what.fail(Reason.MALFORMED, f"`{pointer}` must be string", pointer)
        return
    directory, _, name = value.replace("\\", "/").rpartition("/")
    code = [text for text in (siblings.get(key) for key in _shell_keys(what)) if isinstance(text, str)]
    if code and name.lower().removesuffix(".exe") in SHELLS and directory in _SHELL_PLACES:
        return
    words = [value, "-c", code[0]] if code else [value]
    _note(what, pointer, facts.analyse_argv(words, what.state.site, **_known(what)))


def _shell_keys(what: Understanding) -> list[str]:
    """The keys of the arguments that hold shell text."""
    return [argument.pointer.rpartition("/")[2] for argument in what.tool.arguments if argument.role in _SHELL_ROLES]


def _script(what: Understanding, argument: Argument, pointer: str, value: Any, _siblings: Siblings) -> None:
    """Inline code: the same as giving it to its interpreter."""
    if not isinstance(value, str):
        what.fail(Reason.MALFORMED, f"`{pointer}` must be string", pointer)
        return
    words = ["python3", "-c", value] if argument.role is Role.SCRIPT_PYTHON else ["node", "-e", value]
    before = len(what.effects)
    _note(what, pointer, facts.analyse_argv(words, what.state.site, **_known(what)))
    shift = len(" ".join(words[:2]).encode()) + 1
    for rank in range(before, len(what.effects)):
        start, end = what.effects[rank].span
        what.effects[rank] = replace(what.effects[rank], span=(max(start - shift, 0), max(end - shift, 0)))


# paths and texts


def _path(kind: EffectKind) -> Carrier:
    def carrier(what: Understanding, _argument: Argument, pointer: str, value: Any, siblings: Siblings) -> None:
        if not isinstance(value, str) or (not value and kind is not EffectKind.READ):
            what.fail(Reason.MALFORMED, f"`{pointer}` must be the name of a file", pointer)
            return
        found, flags = place(value or ".", what.cwd, what.state.site)
        what.add(kind, found, pointer, flags=flags)
        if kind is EffectKind.WRITE and not flags:
            _remember(what, found, _content(what, siblings))

    return carrier


def _content(what: Understanding, siblings: Siblings) -> str | None:
    """The text that a sibling path gets as a whole; None where it gets only a part, or nobody knows what."""
    given = {
        argument.role: siblings[key]
        for argument in what.tool.arguments
        if argument.role in {Role.CONTENT, Role.CONTENT_PART} and (key := argument.pointer.rpartition("/")[2]) in siblings
    }
    whole = given.get(Role.CONTENT)
    return whole if isinstance(whole, str) and len(given) == 1 else None


def _url(what: Understanding, _argument: Argument, pointer: str, value: Any, _siblings: Siblings) -> None:
    if not isinstance(value, str) or not value:
        what.fail(Reason.MALFORMED, f"`{pointer}` must be an address", pointer)
        return
    if not value.startswith("data:"):
        what.add(EffectKind.FETCH, value, pointer)


def _prompt(what: Understanding, _argument: Argument, pointer: str, value: Any, _siblings: Siblings) -> None:
    """Text for a model. A fetching tool takes the addresses from it."""
    if what.tool.kind is not ToolKind.FETCH or not isinstance(value, str):
        return
    for found in _URL.finditer(value):
        start = len(value[: found.start()].encode())
        what.add(EffectKind.FETCH, found.group(), pointer, span=(start, start + len(found.group().encode())))


def _escalate(what: Understanding, argument: Argument, pointer: str, value: Any, _siblings: Siblings) -> None:
    lifts = value in argument.values if argument.values else value not in (None, False, "", [], {})
    if lifts:
        what.add(EffectKind.ESCALATE, f"{pointer.rpartition('/')[2]}={_shown(value)}", pointer)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()[:SHOWN]


# calls in a call


def _calls(what: Understanding, argument: Argument, pointer: str, value: Any, _siblings: Siblings) -> None:
    if not isinstance(value, list) or not value:
        what.fail(Reason.MALFORMED, f"`{pointer}` must be a list of calls", pointer)
        return
    for rank, item in enumerate(value):
        here = f"{pointer}/{rank}"
        spelling = item.get(argument.nested_name) if isinstance(item, dict) else None
        if not isinstance(spelling, str) or not spelling:
            what.fail(Reason.MALFORMED, f"`{here}` names no tool", here)
            return
        what.inner(what, spelling, item.get(argument.nested_args, NOTHING), f"{here}/{argument.nested_args}")


# Roles that say something about their siblings and carry nothing themselves.
INERT = frozenset({Role.CWD, Role.SESSION, Role.CONTENT, Role.CONTENT_PART, Role.SECRET})

CARRIERS: dict[Role, Carrier] = {
    Role.SHELL_POSIX: _shell("posix"),
    Role.SHELL_POWERSHELL: _shell("powershell"),
    Role.SHELL_CMD: _shell("cmd"),
    Role.ARGV: _shell("posix"),
    Role.PROGRAM: _program,
    Role.SCRIPT_JAVASCRIPT: _script,
    Role.SCRIPT_PYTHON: _script,
    Role.PATH_READ: _path(EffectKind.READ),
    Role.PATH_WRITE: _path(EffectKind.WRITE),
    Role.PATH_DELETE: _path(EffectKind.DELETE),
    Role.KEYS: keys,
    Role.URL: _url,
    Role.PROMPT: _prompt,
    Role.CALLS: _calls,
    Role.FLAG_ESCALATE: _escalate,
}
