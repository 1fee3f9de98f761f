"""Words of shell text: quoting, expansions, substitutions. The lower half of the reader; `parse` is the upper.

Its promise: every substitution that the shell would run is a `Sub`, `Proc` or `Arith` in some part, or reading fails.
"""

from __future__ import annotations

import re

from checkrein.shell.syntax import Arith, Item, Param, Part, Proc, Quoted, Raw, Redir, Span, Sub

MAX_DEPTH = 40
MAX_STEPS = 60_000

PLAIN = re.compile(r"[^ \t\n\\'\"$`|&;()<>]+")
IN_DOUBLE = re.compile(r'[^\\"$`]+')
IN_HEREDOC = re.compile(r"[^\\$`]+")
IN_BRACE = re.compile(r"[^\\\"'$`}/]+")
IN_ARITH = re.compile(r"[^\\\"'$`()]+")
IN_INDEX = re.compile(r"[^\\\"'$`\[\]]+")
BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
JOINS = re.compile(r"(?:\\\n)+")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//?|\^\^?|,,?|~~?|@[A-Za-z]|:")
ANSI = re.compile(
    r"\\(?:([0-7]{1,3})|x\{?([0-9A-Fa-f]{1,2})\}?|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|([abeEfnrtv\\'\"?]))", re.DOTALL
)
ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
DEFAULTS = frozenset("-=?+")
EXTGLOB = "?*+@!"


class UnreadableError(Exception):
    """The text is not shell that this reader knows. `incomplete` says that more text might complete it."""

    def __init__(self, why: str, at: int, *, incomplete: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.at = at
        self.incomplete = incomplete


class TooMuchError(Exception):
    """A limit of size, depth or steps was passed. The text says which."""


def ansi(text: str) -> str:
    r"""What stands between the quotes of `$'...'`. A `\0` byte ends the string, as in bash."""
    raw: list[int] = []
    out: list[str] = []

    def flush() -> None:
        if raw:
            out.append(bytes(raw).decode("utf-8", "surrogateescape"))
            raw.clear()

    last = 0
    for m in ANSI.finditer(text):
        if m.start() > last:
            flush()
            out.append(text[last : m.start()])
        last = m.end()
        octal, hexa, u4, u8, control, letter = m.groups()
        if octal or hexa:
            raw.append(int(octal, 8) & 255 if octal else int(hexa, 16))
            continue
        flush()
        if u4 or u8:
            code = int(u4 or u8, 16)
            out.append(chr(code) if code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}")
        elif control:
            out.append(chr(ord(control) & 0x1F))
        else:
            out.append(ANSI_LETTERS.get(letter, letter))
    flush()
    out.append(text[last:])
    return "".join(out).split("\0", 1)[0]


def backtick_text(text: str, *, quoted: bool) -> str:
    """The command text between backticks, one level of escapes removed."""
    return re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", text)


class Words:
    """A cursor over one text. `base` is the span to report for everything inside when the text is not the original one."""

    __slots__ = ("base", "depth", "i", "n", "pending", "steps", "text", "unfinished")

    def __init__(self, text: str, base: Span | None = None, depth: int = 0) -> None:
        self.text = text
        self.n = len(text)
        self.i = 0
        self.base = base
        self.depth = depth
        self.steps = 0
        self.pending: list[tuple[Redir, bool, bool, str]] = []
        self.unfinished = False

    # what the upper half provides

    def listing(self, stops: frozenset[str]) -> list[Item]:
        raise NotImplementedError

    def nested(self, text: str, span: Span) -> Words:
        raise NotImplementedError

    # bookkeeping

    def fail(self, why: str, *, incomplete: bool = False) -> UnreadableError:
        return UnreadableError(why, self.i, incomplete=incomplete)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuchError(f"it is nested more than {MAX_DEPTH} levels deep")

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooMuchError(f"it has more than {MAX_STEPS} words")

    def span(self, start: int, end: int) -> Span:
        return self.base if self.base is not None else (start, end)

    # words

    def word(self) -> Raw:
        """The word at the cursor; the cursor stands on its first character."""
        text, n = self.text, self.n
        start = i = self.i
        self.step()
        parts: list[Part] = []
        while i < n:
            m = PLAIN.match(text, i)
            if m is not None:
                self.literal(parts, m.group())
                i = m.end()
                continue
            c = text[i]
            if c == "\\":
                if i + 1 >= n:
                    self.unfinished = True
                    self.literal(parts, Quoted("\\"))
                    i += 1
                elif text[i + 1] == "\n":
                    i += 2
                else:
                    parts.append(Quoted(text[i + 1]))
                    i += 2
            elif c == "'":
                j = text.find("'", i + 1)
                if j < 0:
                    raise self.fail("a single quote is not closed", incomplete=True)
                parts.append(Quoted(text[i + 1 : j]))
                i = j + 1
            elif c == '"':
                self.i = i + 1
                self.double(parts)
                i = self.i
            elif c == "$":
                self.i = i
                self.dollar(parts, quoted=False)
                i = self.i
            elif c == "`":
                self.i = i
                parts.append(self.backtick(quoted=False))
                i = self.i
            elif c in "<>" and i + 1 < n and text[i + 1] == "(":
                self.i = i
                parts.append(self.process())
                i = self.i
            elif c == "(" and parts and type(parts[-1]) is str and parts[-1][-1] in EXTGLOB and i > start:
                self.i = i
                self.extglob(parts)
                i = self.i
            else:
                break
        self.i = i
        if len(parts) == 1 and type(parts[0]) is str:
            return Raw(start, i, parts[0])
        return Raw(start, i, parts)

    @staticmethod
    def literal(parts: list[Part], text: str) -> None:
        """Unquoted literal text, joined to an unquoted neighbour."""
        if parts and type(parts[-1]) is str and type(text) is str:
            parts[-1] += text
        else:
            parts.append(text)

    def extglob(self, parts: list[Part]) -> None:
        """A parenthesised pattern glued to a word. What zsh would run inside one (`e:...:`) is not read."""
        text = self.text
        self.deeper()
        self.literal(parts, "(")
        self.i += 1
        while self.i < self.n:
            c = text[self.i]
            if c == ")":
                self.literal(parts, ")")
                self.i += 1
                self.depth -= 1
                return
            if c == "(":
                self.extglob(parts)
            elif c in "|&;<> \t":
                self.literal(parts, c)
                self.i += 1
            elif c == "\n":
                break
            else:
                inner = self.word()
                if isinstance(inner.parts, str):
                    if re.search(r"(?:^|[^A-Za-z])[e+](?:[^A-Za-z0-9_)]|$)", inner.parts):
                        raise self.fail("a glob qualifier may run code")
                    self.literal(parts, inner.parts)
                else:
                    parts.extend(inner.parts)
        raise self.fail("a pattern's parenthesis is not closed", incomplete=True)

    def double(self, parts: list[Part]) -> None:
        """The inside of double quotes; the cursor stands after the opening one."""
        text, n = self.text, self.n
        i = self.i
        before = len(parts)
        while i < n:
            m = IN_DOUBLE.match(text, i)
            if m is not None:
                parts.append(Quoted(m.group()))
                i = m.end()
                continue
            c = text[i]
            if c == '"':
                if len(parts) == before:
                    parts.append(Quoted(""))
                self.i = i + 1
                return
            if c == "\\":
                if i + 1 >= n:
                    break
                following = text[i + 1]
                if following in '$`"\\':
                    parts.append(Quoted(following))
                elif following != "\n":
                    parts.append(Quoted("\\" + following))
                i += 2
                continue
            self.i = i
            if c == "$":
                self.dollar(parts, quoted=True)
            else:
                parts.append(self.backtick(quoted=True))
            i = self.i
        raise self.fail("a double quote is not closed", incomplete=True)

    def document(self) -> list[Part]:
        """The whole text as the body of an unquoted here-document."""
        text, n = self.text, self.n
        parts: list[Part] = []
        while self.i < n:
            m = IN_HEREDOC.match(text, self.i)
            if m is not None:
                parts.append(Quoted(m.group()))
                self.i = m.end()
                continue
            c = text[self.i]
            if c == "$":
                self.dollar(parts, quoted=True)
            elif c == "`":
                parts.append(self.backtick(quoted=True))
            else:
                following = text[self.i + 1 : self.i + 2]
                if following in ("$", "`", "\\"):
                    parts.append(Quoted(following))
                elif following != "\n":
                    parts.append(Quoted("\\" + following))
                self.i += 2
        return parts

    def dollar(self, parts: list[Part], *, quoted: bool) -> None:
        """What `$` begins. A lone `$` is literal."""
        text, n = self.text, self.n
        start = self.i
        i = start + 1
        m = JOINS.match(text, i)
        if m is not None:
            i = m.end()
        c = text[i] if i < n else ""
        m = NAME.match(text, i)
        if m is not None:
            parts.append(Param(m.group(), quoted))
            self.i = m.end()
        elif c == "(":
            self.i = i + 1
            self.deeper()
            if i + 1 < n and text[i + 1] == "(":
                inner = self.arithmetic(i + 2)
                if inner is not None:
                    parts.append(Arith(inner))
                    self.depth -= 1
                    return
                self.i = i + 1
            body = self.substitution(")")
            parts.append(Sub(body, quoted, self.span(start, self.i), self.base is not None))
            self.depth -= 1
        elif c == "{":
            self.i = i + 1
            self.deeper()
            parts.append(self.braces(start, quoted=quoted))
            self.depth -= 1
        elif c == "'" and not quoted:
            parts.append(Quoted(self.ansi_quote(i + 1)))
        elif c == '"' and not quoted:
            self.i = i + 1
            self.double(parts)
        elif c == "[":
            self.i = i + 1
            self.deeper()
            parts.append(Arith(self.index()))
            self.depth -= 1
        elif c and c in "0123456789@*#?$!-":
            parts.append(Param(c, quoted))
            self.i = i + 1
        else:
            self.literal(parts, Quoted("$") if quoted else "$")
            self.i = i

    def ansi_quote(self, start: int) -> str:
        text, i = self.text, start
        while i < self.n:
            c = text[i]
            if c == "\\":
                i += 2
                continue
            if c == "'":
                self.i = i + 1
                return ansi(text[start:i])
            i += 1
        raise self.fail("a `$'` quote is not closed", incomplete=True)

    def backtick(self, *, quoted: bool) -> Sub:
        text, i = self.text, self.i + 1
        start = self.i
        while i < self.n:
            c = text[i]
            if c == "\\":
                i += 2
                continue
            if c == "`":
                self.i = i + 1
                span = self.span(start, self.i)
                inner = self.nested(backtick_text(text[start + 1 : i], quoted=quoted), span)
                body = inner.listing(frozenset())
                if inner.i < inner.n:
                    raise self.fail("what stands between backticks is not read")
                self.steps = inner.steps
                return Sub(body, quoted, span, mapped=True)
            i += 1
        raise self.fail("a backtick is not closed", incomplete=True)

    def substitution(self, close: str) -> list[Item]:
        """A list up to the closing parenthesis, here-documents of the outside left alone."""
        outer, self.pending = self.pending, []
        body = self.listing(frozenset((close,)))
        if self.i >= self.n or self.text[self.i] != close:
            raise self.fail("a substitution is not closed", incomplete=self.i >= self.n)
        if self.pending:
            raise self.fail("a here-document starts on the line that closes its substitution")
        self.pending = outer
        self.i += 1
        return body

    def process(self) -> Proc:
        start = self.i
        out = self.text[start] == ">"
        self.i += 2
        self.deeper()
        body = self.substitution(")")
        self.depth -= 1
        return Proc(body, out, self.span(start, self.i), self.base is not None)

    def braces(self, start: int, *, quoted: bool) -> Param | Sub:
        """The inside of `${`; the cursor stands after the brace."""
        text = self.text
        first = text[self.i] if self.i < self.n else ""
        if first in ("|", " ", "\t", "\n"):
            self.i += first == "|"
            outer, self.pending = self.pending, []
            body = self.listing(frozenset(("}",)))
            if text[self.i : self.i + 1] != "}":
                raise self.fail("a `${` is not closed", incomplete=self.i >= self.n)
            self.pending = outer
            self.i += 1
            return Sub(body, quoted, self.span(start, self.i), self.base is not None)
        length = first == "#" and text[self.i + 1 : self.i + 2] not in ("}", "")
        if length:
            after = text[self.i + 1]
            length = (
                NAME.match(text, self.i + 1) is not None
                or after.isdigit()
                or (after in "@*?$!-#" and text[self.i + 2 : self.i + 3] == "}")
            )
        indirect = not length and first == "!" and text[self.i + 1 : self.i + 2] != "}"
        self.i += length or indirect
        m = PARAMETER.match(text, self.i)
        if m is None:
            raise self.fail("an expansion of an unknown form", incomplete=self.i >= self.n)
        param = Param(m.group(), quoted, length=length, indirect=indirect)
        self.i = m.end()
        if text[self.i : self.i + 1] == "[":
            self.i += 1
            param.index = self.index()
        if indirect and text.startswith(("@}", "*}"), self.i):
            param.op = "names"
            self.i += 2
            return param
        self.operator(param)
        return param

    def operator(self, param: Param) -> None:
        text = self.text
        m = OPERATOR.match(text, self.i)
        if m is not None:
            op = param.op = m.group()
            self.i = m.end()
            literal_quotes = param.quoted and op[-1] in DEFAULTS
            if op in ("/", "//"):
                if text[self.i : self.i + 1] in ("#", "%"):
                    param.op = op + text[self.i]
                    self.i += 1
                pattern = self.operand("/}", quoted=False)
                if text[self.i : self.i + 1] == "/":
                    self.i += 1
                    param.args = (pattern, self.operand("}", quoted=param.quoted))
                else:
                    param.args = (pattern,)
            else:
                param.args = (self.operand("}", quoted=literal_quotes),)
        if text[self.i : self.i + 1] != "}":
            raise self.fail("a `${` is not closed or has an unknown form", incomplete=self.i >= self.n)
        self.i += 1

    def operand(self, stops: str, *, quoted: bool) -> list[Part]:
        """The operand of a `${...}` operator, up to one of `stops`."""
        text, n = self.text, self.n
        parts: list[Part] = []
        while self.i < n:
            c = text[self.i]
            if c in stops:
                return parts
            m = IN_BRACE.match(text, self.i)
            if m is not None:
                self.literal(parts, Quoted(m.group()) if quoted else m.group())
                self.i = m.end()
            else:
                self.special(parts, c, quoted=quoted)
        raise self.fail("a `${` is not closed", incomplete=True)

    def special(self, parts: list[Part], c: str, *, quoted: bool) -> None:
        """A quote, escape or expansion inside an operand, an index or arithmetic."""
        text = self.text
        if c == "\\":
            if self.i + 1 >= self.n:
                raise self.fail("the text ends with a backslash", incomplete=True)
            if text[self.i + 1] != "\n":
                following = text[self.i + 1]
                parts.append(Quoted("\\" + following if quoted and following not in '$`"\\}' else following))
            self.i += 2
        elif c == "'" and not quoted:
            j = text.find("'", self.i + 1)
            if j < 0:
                raise self.fail("a single quote is not closed", incomplete=True)
            parts.append(Quoted(text[self.i + 1 : j]))
            self.i = j + 1
        elif c == '"':
            self.i += 1
            self.double(parts)
        elif c == "$":
            self.dollar(parts, quoted=quoted)
        elif c == "`":
            parts.append(self.backtick(quoted=quoted))
        else:
            self.literal(parts, Quoted(c) if quoted else c)
            self.i += 1

    def index(self) -> list[Part]:
        """A subscript or `$[...]`; the cursor stands after the bracket and ends after the closing one."""
        text, n = self.text, self.n
        parts: list[Part] = []
        level = 0
        while self.i < n:
            m = IN_INDEX.match(text, self.i)
            if m is not None:
                self.literal(parts, m.group())
                self.i = m.end()
                continue
            c = text[self.i]
            if c == "]":
                if level == 0:
                    self.i += 1
                    return parts
                level -= 1
            elif c == "[":
                level += 1
            self.special(parts, c, quoted=False)
        raise self.fail("a subscript is not closed", incomplete=True)

    def arithmetic(self, start: int) -> list[Part] | None:
        """The inside of `((...))` from `start`, with the cursor left after it, or None when it is not arithmetic."""
        text, n = self.text, self.n
        self.i = start
        parts: list[Part] = []
        level = 0
        while self.i < n:
            m = IN_ARITH.match(text, self.i)
            if m is not None:
                self.literal(parts, m.group())
                self.i = m.end()
                continue
            c = text[self.i]
            if c == ")":
                if level == 0:
                    if text[self.i + 1 : self.i + 2] != ")":
                        return None
                    self.i += 2
                    return parts
                level -= 1
            elif c == "(":
                level += 1
            self.special(parts, c, quoted=False)
        raise self.fail("arithmetic is not closed", incomplete=True)
