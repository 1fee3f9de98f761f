"""Shell arithmetic over constants: enough to know `$((2*3))`, and to say when it cannot be known."""

from __future__ import annotations

import re
from collections.abc import Callable

TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+#[0-9a-zA-Z]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|(\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~()?:]))"
)
LEVELS: tuple[frozenset[str], ...] = tuple(
    frozenset(level.split()) for level in ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
)
MAX_BITS = 63


class UnknownError(Exception):
    """Not constant, or not arithmetic that is read."""


def number(text: str) -> int:
    if "#" in text:
        base, _, digits = text.partition("#")
        try:
            return int(digits, int(base))
        except ValueError:
            raise UnknownError from None
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    try:
        return int(text, 8) if text[0] == "0" and len(text) > 1 else int(text)
    except ValueError:
        raise UnknownError from None


def evaluate(text: str, lookup: Callable[[str], str | None]) -> int | None:
    """The value of `text`, or None when it is not known. `lookup` gives constant variables."""
    if len(text) > 400:
        return None
    tokens: list[str] = []
    i = 0
    stripped = text.rstrip()
    while i < len(stripped):
        m = TOKEN.match(stripped, i)
        if m is None:
            return None
        tokens.append(m.group(m.lastindex or 0))
        i = m.end()
    if not tokens:
        return 0
    if tokens.count("(") > 20:
        return None
    try:
        reader = _Reader(tokens, lookup)
        value = reader.ternary()
    except (UnknownError, ZeroDivisionError, OverflowError):
        return None
    return value if reader.i == len(tokens) and abs(value) < 1 << MAX_BITS else None


class _Reader:
    def __init__(self, tokens: list[str], lookup: Callable[[str], str | None]) -> None:
        self.tokens = tokens
        self.lookup = lookup
        self.i = 0

    def take(self) -> str:
        if self.i >= len(self.tokens):
            raise UnknownError
        self.i += 1
        return self.tokens[self.i - 1]

    def peek(self) -> str:
        return self.tokens[self.i] if self.i < len(self.tokens) else ""

    def ternary(self) -> int:
        value = self.binary(0)
        if self.peek() == "?":
            self.i += 1
            yes = self.ternary()
            if self.take() != ":":
                raise UnknownError
            no = self.ternary()
            return yes if value else no
        return value

    def binary(self, level: int) -> int:
        if level == len(LEVELS):
            return self.power()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            op = self.take()
            left = apply(op, left, self.binary(level + 1))
        return left

    def power(self) -> int:
        base = self.unary()
        if self.peek() == "**":
            self.i += 1
            exponent = self.power()
            if not 0 <= exponent <= MAX_BITS:
                raise UnknownError
            return base**exponent
        return base

    def unary(self) -> int:
        token = self.take()
        if token in ("-", "+", "!", "~"):
            value = self.unary()
            return {"-": -value, "+": value, "!": int(not value), "~": ~value}[token]
        if token == "(":
            value = self.ternary()
            if self.take() != ")":
                raise UnknownError
            return value
        if token[0].isdigit():
            return number(token)
        if token[0].isalpha() or token[0] == "_":
            text = self.lookup(token)
            if text is None or not re.fullmatch(r"-?[0-9]{1,18}", text):
                raise UnknownError
            return int(text)
        raise UnknownError


def apply(op: str, a: int, b: int) -> int:
    if op in ("/", "%"):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op == "/" else a - b * quotient
    if op in ("<<", ">>"):
        if not 0 <= b <= MAX_BITS:
            raise UnknownError
        return a << b if op == "<<" else a >> b
    table: dict[str, Callable[[], int]] = {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "<": lambda: int(a < b),
        ">": lambda: int(a > b),
        "<=": lambda: int(a <= b),
        ">=": lambda: int(a >= b),
        "==": lambda: int(a == b),
        "!=": lambda: int(a != b),
        "&": lambda: a & b,
        "|": lambda: a | b,
        "^": lambda: a ^ b,
        "&&": lambda: int(bool(a) and bool(b)),
        "||": lambda: int(bool(a) or bool(b)),
    }
    return table[op]()
