"""Shell patterns and brace expansion over constant text."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from checkrein.shell.syntax import Part, Quoted
from checkrein.shell.words import TooMuchError

MAX_BRACES = 2048
GLOB = re.compile(r"[*?]|\[[^\]/]+\]|[@+!]\(")
SEQUENCE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")
CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "punct": r"!-/:-@\[-`{-~",
}


def is_glob(text: str) -> bool:
    return GLOB.search(text) is not None


def glob_root(text: str) -> tuple[str, str]:
    """The directory in front of the first pattern character, and the rest: `/tmp/a*/b` -> (`/tmp`, `a*/b`)."""
    m = GLOB.search(text)
    if m is None:
        return text, ""
    slash = text.rfind("/", 0, m.start())
    if slash < 0:
        return ".", text
    return text[:slash] or "/", text[slash + 1 :]


def narrows(pattern: str) -> bool:
    """Whether a glob names only some of the entries: a literal character stands outside brackets, in some component."""
    for component in pattern.split("/"):
        bare = re.sub(r"\[[^\]]*\]", "", component)
        if re.search(r"[^*?!@+().|\0]", bare):
            return True
    return False


@lru_cache(maxsize=256)
def regex(pattern: str, *, greedy: bool = True) -> re.Pattern[str] | None:
    """A shell pattern as a regular expression, or None when it has a form that is not read."""
    out: list[str] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c == "*":
            out.append(".*" if greedy else ".*?")
            while pattern[i : i + 1] == "*":
                i += 1
        elif c == "?":
            if pattern[i : i + 1] == "(":
                return None
            out.append(".")
        elif c == "[":
            j = pattern.find("]", i + 1 + (pattern[i : i + 1] in ("!", "^")))
            if j < 0:
                out.append(r"\[")
                continue
            body = pattern[i:j]
            if "[:" in body:
                j = pattern.find("]", j + 1) if pattern[j - 1] == ":" else j
                if j < 0:
                    return None
                body = pattern[i:j]
                body = re.sub(r"\[:(\w+):\]", lambda m: CLASSES.get(m.group(1), ""), body)
            negated = body[:1] in ("!", "^")
            body = body[negated:].replace("\\", "\\\\").replace("[", r"\[").replace("^", r"\^")
            out.append(f"[{'^' if negated else ''}{body}]")
            i = j + 1
        elif c == "\\" and i < len(pattern):
            out.append(re.escape(pattern[i]))
            i += 1
        elif c in "@+!" and pattern[i : i + 1] == "(":
            return None
        else:
            out.append(re.escape(c))
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        return None


def escape(text: str) -> str:
    """Quoted text inside a pattern stands for itself."""
    return re.sub(r"([*?\[\]\\@+!(])", r"\\\1", text)


def strip(text: str, op: str, pattern: str) -> str | None:
    """`${x#p}` and its kin."""
    found = regex(pattern)
    if found is None or len(text) > 4096:
        return None
    n = len(text)
    spots = {"#": range(n + 1), "##": range(n, -1, -1), "%": range(n, -1, -1), "%%": range(n + 1)}[op]
    for spot in spots:
        if op[0] == "#":
            if found.fullmatch(text, 0, spot):
                return text[spot:]
        elif found.fullmatch(text, spot):
            return text[:spot]
    return text


def substitute(text: str, op: str, pattern: str, replacement: str) -> str | None:
    """`${x/p/r}` and its kin."""
    found = regex(pattern)
    if found is None or not pattern or len(text) > 65536:
        return text if found is not None else None
    if op.endswith("#"):
        m = found.match(text)
        return text if m is None else replacement + text[m.end() :]
    if op.endswith("%"):
        for spot in range(len(text) + 1):
            if found.fullmatch(text, spot):
                return text[:spot] + replacement
        return text
    return found.sub(lambda _: replacement, text, count=0 if op.startswith("//") else 1)


# braces

Atom = str | list[Part]  # one unquoted character, or one other part in a list


def braces(parts: list[Part]) -> list[list[Part]]:
    """Brace expansion of one word."""
    atoms: list[Part | str] = []
    for part in parts:
        if type(part) is str:
            atoms.extend(part)
        else:
            atoms.append(part)
    if len(atoms) > 20_000:
        raise TooMuchError("a word with braces is too long")
    budget = [MAX_BRACES]
    return [_joined(word) for word in _expand(atoms, budget, 0)]


def _joined(atoms: list[Part]) -> list[Part]:
    out: list[Part] = []
    for atom in atoms:
        if type(atom) is str and out and type(out[-1]) is str:
            out[-1] += atom
        else:
            out.append(atom)
    return out


def _expand(atoms: list[Part], budget: list[int], depth: int) -> list[list[Part]]:
    if depth > 24:
        raise TooMuchError("braces are nested too deep")
    open_at = 0
    while True:
        try:
            open_at = next(i for i in range(open_at, len(atoms)) if type(atoms[i]) is str and atoms[i] == "{")
        except StopIteration:
            return [atoms]
        found = _matching(atoms, open_at)
        if found is not None:
            close, commas = found
            inner = atoms[open_at + 1 : close]
            if commas:
                bounds = [open_at, *commas, close]
                choices = [atoms[a + 1 : b] for a, b in itertools.pairwise(bounds)]
                alternatives = [word for choice in choices for word in _expand(choice, budget, depth + 1)]
            else:
                alternatives = _sequence(inner)
            if alternatives:
                break
        open_at += 1
    tails = _expand(atoms[close + 1 :], budget, depth + 1)
    if len(alternatives) * len(tails) > budget[0]:
        raise TooMuchError(f"braces expand to more than {MAX_BRACES} words")
    head = atoms[:open_at]
    return [head + alternative + tail for alternative in alternatives for tail in tails]


def _matching(atoms: list[Part], open_at: int) -> tuple[int, list[int]] | None:
    level = 0
    commas: list[int] = []
    for i in range(open_at, len(atoms)):
        atom = atoms[i]
        if type(atom) is not str:
            continue
        if atom == "{":
            level += 1
        elif atom == "}":
            level -= 1
            if level == 0:
                return i, commas
        elif atom == "," and level == 1:
            commas.append(i)
    return None


def _sequence(atoms: list[Part]) -> list[list[Part]]:
    if not all(type(atom) is str for atom in atoms):
        return []
    m = SEQUENCE.fullmatch("".join(str(atom) for atom in atoms))
    if m is None:
        return []
    first, last, step_text = m.groups()
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return []
    step = abs(int(step_text)) if step_text else 1
    step = step or 1
    if first.lstrip("-").isdigit():
        a, b = int(first), int(last)
        width = max(len(first), len(last)) if re.match(r"-?0\d", first) or re.match(r"-?0\d", last) else 0
    else:
        a, b, width = ord(first), ord(last), -1
    if abs(b - a) // step >= MAX_BRACES:
        raise TooMuchError(f"braces expand to more than {MAX_BRACES} words")
    numbers = range(a, b + 1, step) if a <= b else range(a, b - 1, -step)
    if width < 0:
        return [[Quoted(chr(x))] if not chr(x).isalnum() else [chr(x)] for x in numbers]
    return [[f"{x:0{width}d}"] for x in numbers]
