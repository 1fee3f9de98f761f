"""Words to fields: brace, tilde and parameter expansion, substitutions, splitting, with constants carried through.

Where a part is not constant its place is taken by a NUL, and what is known about it (roots of a listing, came from the
network ...) goes with the word. A variable with several possible values is a *choice*: the caller runs the command once for each.
"""

from __future__ import annotations

import posixpath
import re

from checkrein.shell import arith, patterns
from checkrein.shell.report import Report
from checkrein.shell.spec import Feed, Span, Word
from checkrein.shell.state import ANY, EMPTY, NUMBER, UNKNOWN, Array, Binding, State, Value, combine
from checkrein.shell.syntax import Arith, Item, Param, Part, Proc, Quoted, Raw, Sub
from checkrein.shell.words import ansi

SPECIAL = re.compile(r"[{*?\[~=]|[@+!]\(")
HOME_ASSIGN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=~")
TILDE = re.compile(r"~([A-Za-z0-9_.+-]*)(?=/|:|$)")
RUNS_IN_ARITHMETIC = re.compile(r"\$\(|`")
ASSIGNS_IN_ARITHMETIC = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]*)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)
MAX_TEXT = 262_144
Field = list[tuple[str, bool]]  # text, quoted


class _Fields:
    """The fields that one word becomes."""

    __slots__ = ("done", "feed", "filtered", "glob", "open", "quoted", "roots", "span", "texts")

    def __init__(self, span: Span) -> None:
        self.span = span
        self.done: list[Word] = []
        self.clear()

    def clear(self) -> None:
        self.texts: list[str] = []
        self.open = False
        self.quoted = False
        self.glob = False
        self.filtered = False
        self.roots: tuple[str, ...] = ()
        self.feed: Feed | None = None

    def add(self, text: str, *, quoted: bool = False, feed: Feed | None = None) -> None:
        self.open = True
        self.texts.append(text)
        self.quoted = self.quoted or quoted
        if feed is not None:
            self.feed = feed if self.feed is None else combine((self.feed, feed), text=None)
            self.roots += feed.roots
            self.filtered = self.filtered or feed.filtered

    def end(self) -> None:
        if self.open:
            text = "".join(self.texts)
            resolved = UNKNOWN not in text
            self.done.append(
                Word(
                    text, self.span, resolved, self.glob, self.quoted, () if resolved else self.roots, self.filtered, self.feed
                )
            )
        self.clear()


class Expansion(Report):
    """Expands words in the current state."""

    state: State
    stdin: Feed | None

    def reset_choices(self) -> None:
        self.pick: dict[str, int] = {}
        self.choices: dict[str, int] = {}
        self.outs: list[Proc] = []

    # what the walker provides

    def capture(self, items: list[Item], base: Span | None) -> Feed:
        """Run the items in a copy of the state; what they write to standard output."""
        raise NotImplementedError

    def assign(self, name: str, value: Binding, span: Span) -> None:
        raise NotImplementedError

    # words

    def at(self, start: int, end: int) -> Span:
        return self.base if self.base is not None else (start, end)

    def fields(self, raws: list[Raw]) -> list[Word]:
        """The fields of all words."""
        out: list[Word] = []
        base = self.base
        for raw in raws:
            parts = raw.parts
            if type(parts) is str:
                if SPECIAL.search(parts) is None and "\0" not in parts:
                    out.append(Word(parts, base if base is not None else (raw.start, raw.end)))
                    continue
                parts = [parts]
            self.field(parts, base if base is not None else (raw.start, raw.end), out)
        return out

    def field(self, parts: str | list[Part], span: Span, out: list[Word]) -> None:
        assert not isinstance(parts, str)
        if any(type(part) is str and "{" in part for part in parts):
            variants = patterns.braces(parts)
        else:
            variants = [parts]
        for variant in variants:
            fields = _Fields(span)
            first = True
            for part in variant:
                self.part(part, fields, first=first)
                first = False
            fields.end()
            out.extend(fields.done)

    def part(self, part: Part, fields: _Fields, *, first: bool) -> None:
        kind = type(part)
        if kind is str:
            assert isinstance(part, str)
            text = part
            if first and text[:1] == "~":
                text = self.tilde(text)
            elif first and HOME_ASSIGN.match(text):
                name, _, rest = text.partition("=")
                text = f"{name}={self.tilde(rest)}"
            if patterns.GLOB.search(text) or (text[:1] == "*"):
                fields.glob = True
            fields.add(text)
        elif isinstance(part, Quoted):
            fields.add(str(part), quoted=True)
        elif isinstance(part, Param):
            self.param_fields(part, fields)
        elif isinstance(part, Sub):
            self.spread(self.substitute(part), fields, quoted=part.quoted)
        elif isinstance(part, Arith):
            fields.add(self.arithmetic(part.parts), feed=NUMBER.feed)
        elif isinstance(part, Proc):
            fields.add("/dev/fd/63", feed=self.process(part))

    def process(self, part: Proc) -> Feed:
        if part.out:
            self.outs.append(part)
            return Feed()
        return self.capture(part.body, part.span if part.mapped else None)

    def substitute(self, part: Sub) -> Value:
        feed = self.capture(part.body, part.span if part.mapped else self.base)
        if feed.text is None or len(feed.text) > MAX_TEXT:
            return Value((UNKNOWN,), feed)
        return Value((feed.text.rstrip("\n"),), feed if UNKNOWN in feed.text or feed.fetched or feed.decoded else None)

    def spread(self, value: Value, fields: _Fields, *, quoted: bool) -> None:
        """A value in a word: whole when quoted, else split and globbed."""
        text = value.texts[0]
        if quoted:
            fields.add(text, quoted=True, feed=value.feed)
            return
        separators = self.separators()
        if separators is None:
            fields.add(text if UNKNOWN in text else UNKNOWN, feed=value.feed)
            return
        if text and text[0] in separators:
            if text[0] in " \t\n":
                fields.end()
            else:
                fields.open = True
        pieces = self.split(text, separators)
        for number, piece in enumerate(pieces):
            if number:
                fields.end()
            fields.add(piece, feed=value.feed)
            if patterns.is_glob(piece) or value.glob:
                fields.glob = True
        if pieces and text[-1] in separators:
            fields.end()

    def separators(self) -> str | None:
        ifs = self.state.vars.get("IFS")
        if ifs is None:
            return " \t\n"
        return ifs.texts[0] if isinstance(ifs, Value) and UNKNOWN not in ifs.texts[0] else None

    @staticmethod
    def split(text: str, separators: str) -> list[str]:
        if separators == " \t\n":
            return [piece for piece in re.split(r"[ \t\n]+", text) if piece]
        if not separators:
            return [text] if text else []
        white = re.escape("".join(c for c in separators if c in " \t\n"))
        other = re.escape("".join(c for c in separators if c not in " \t\n"))
        if not other:
            return [piece for piece in re.split(f"[{white}]+", text) if piece]
        pattern = f"[{white}]*[{other}][{white}]*|[{white}]+" if white else f"[{other}]"
        pieces = re.split(pattern, text)
        if pieces and not pieces[-1]:
            pieces.pop()
        return pieces

    def tilde(self, text: str) -> str:
        """`~`, `~user`, `~+`, `~-` at the start of a word."""
        m = TILDE.match(text)
        if m is None:
            return text
        name = m.group(1)
        rest = text[m.end() :]
        home = self.state.vars.get("HOME")
        if not name:
            place = home.texts[0] if isinstance(home, Value) else self.site.home
        elif name == "+":
            place = self.cwd_text()
        elif name == "-":
            place = self.state.previous[0] if self.state.previous else UNKNOWN
        elif name == self.site.user:
            place = self.site.home
        elif name == "root":
            place = "/root"
        elif name.isdigit():
            place = UNKNOWN
        else:
            place = posixpath.join(posixpath.dirname(self.site.home) or "/home", name)
        return place + rest

    def cwd_text(self) -> str:
        cwds = self.state.cwds
        if len(cwds) > 1:
            return cwds[self.choice("PWD", len(cwds))]
        return cwds[0] if cwds else UNKNOWN

    # one text

    def text(self, parts: str | list[Part], *, tilde: bool = False, pattern: bool = False) -> Value:
        """The parts as one text, as in an assignment, a here-document, a redirection target or an operand."""
        if type(parts) is str:
            if tilde and "~" in parts:
                return Value((":".join(self.tilde(piece) for piece in parts.split(":")),))
            return Value((parts,))
        texts: list[str] = []
        feeds: list[Feed] = []
        for number, part in enumerate(parts):
            if type(part) is str:
                text = part
                if tilde and "~" in text:
                    pieces = text.split(":")
                    text = ":".join(self.tilde(p) if number == 0 or n else p for n, p in enumerate(pieces))
                texts.append(text)
            elif isinstance(part, str):
                texts.append(patterns.escape(part) if pattern else part)
            else:
                value = self.part_value(part)
                texts.append(patterns.escape(value.texts[0]) if pattern and getattr(part, "quoted", False) else value.texts[0])
                if value.feed is not None:
                    feeds.append(value.feed)
        feed = (feeds[0] if len(feeds) == 1 else combine(feeds, text=None)) if feeds else None
        return Value(("".join(texts),), feed)

    def part_value(self, part: Part) -> Value:
        if isinstance(part, Param):
            many = self.many(part)
            if many is not None:
                feeds = [word.feed for word in many if word.feed is not None]
                return Value((" ".join(word.text for word in many),), combine(feeds, text=None) if feeds else None)
            return self.param(part)
        if isinstance(part, Sub):
            return self.substitute(part)
        if isinstance(part, Arith):
            return Value((self.arithmetic(part.parts),), NUMBER.feed)
        if isinstance(part, Proc):
            return Value(("/dev/fd/63",), self.process(part))
        return Value((str(part),))

    def word(self, raw: Raw) -> Word:
        """The word as one field, without splitting: a redirection target, the subject of `case`."""
        span = self.at(raw.start, raw.end)
        value = self.text(raw.parts, tilde=True)
        text = value.texts[0]
        feed = value.feed
        plain = isinstance(raw.parts, str)
        glob = patterns.is_glob(text) and (plain or any(type(p) is str and patterns.is_glob(p) for p in raw.parts))
        return Word(
            text,
            span,
            UNKNOWN not in text,
            glob,
            not plain and any(isinstance(p, Quoted) for p in raw.parts),
            feed.roots if feed is not None and UNKNOWN in text else (),
            feed.filtered if feed is not None else False,
            feed,
        )

    # parameters

    def choice(self, key: str, count: int) -> int:
        """Which of `count` alternatives the current run takes for `key`."""
        if count > 1:
            self.choices[key] = count
        return min(self.pick.get(key, 0), count - 1)

    def lookup(self, name: str) -> Value | None:
        """A scalar's value in this run, or None when the text never set it."""
        bound = self.state.vars.get(name)
        if bound is not None:
            if isinstance(bound, Array):
                found = dict(bound.items).get("0")
                return found if found is not None else (ANY if bound.unknown else EMPTY)
            if len(bound.texts) > 1:
                text = bound.texts[self.choice(name, len(bound.texts))]
                return Value((text,), bound.feed if UNKNOWN in text or bound.feed is None else None, bound.glob)
            return bound
        return self.ambient(name)

    def ambient(self, name: str) -> Value | None:
        """Special parameters and the few variables of the environment that are known."""
        first = name[0]
        if first.isdigit():
            return self.positional(int(name))
        if first in "#?$!-":
            if name == "#" and self.state.params is not None:
                return Value((str(max(len(self.state.params) - 1, 0)),))
            return NUMBER
        if name in ("PWD", "OLDPWD"):
            if name == "PWD":
                return Value((self.cwd_text(),))
            return Value((self.state.previous[0],)) if self.state.previous else ANY
        if name == "IFS":
            return Value((" \t\n",))
        if name == "HOME":
            return Value((self.site.home,))
        if name in ("USER", "LOGNAME"):
            return Value((self.site.user,))
        if name in (
            "RANDOM",
            "SECONDS",
            "LINENO",
            "EPOCHSECONDS",
            "UID",
            "EUID",
            "PPID",
            "BASHPID",
            "SHLVL",
            "COLUMNS",
            "LINES",
        ):
            return NUMBER
        known = self.site.env.get(name)
        return Value((known,)) if known is not None else None

    def positional(self, number: int) -> Value:
        params = self.state.params
        if params is None:
            return ANY
        if number == 0 and not params:
            return Value((self.state.name,))
        if number >= len(params):
            return EMPTY
        word = params[number]
        feed = word.feed
        if feed is None and not word.resolved and word.roots:
            feed = Feed(roots=word.roots, filtered=word.filtered)
        return Value((word.text,), feed, word.glob)

    def many(self, param: Param) -> list[Word] | None:
        """The fields of `$@`, `$*`, `${a[@]}`, or None when the parameter is one text."""
        index = param.index
        if param.length:
            return None
        if param.name in ("@", "*") and not param.indirect:
            if self.state.params is None:
                words = [Word(UNKNOWN, resolved=False)]
            else:
                words = list(self.state.params[1:])
            return self.sliced(param, words)
        if index is None or len(index) != 1 or index[0] not in ("@", "*"):
            return None
        if param.indirect:
            bound = self.state.vars.get(param.name)
            return (
                [Word(key) for key, _ in bound.items]
                if isinstance(bound, Array) and not bound.unknown
                else [Word(UNKNOWN, resolved=False)]
            )
        bound = self.state.vars.get(param.name)
        if isinstance(bound, Value):
            value = self.lookup(param.name)
            assert value is not None
            values = [value]
        elif bound is None:
            known = self.ambient(param.name)
            values = [known] if known is not None else [ANY]
        else:
            values = [value if len(value.texts) == 1 else ANY for _, value in bound.items]
            if bound.unknown:
                values.append(ANY)
        return self.sliced(param, [self.as_word(value) for value in values])

    @staticmethod
    def as_word(value: Value) -> Word:
        feed = value.feed
        text = value.texts[0]
        return Word(
            text,
            resolved=UNKNOWN not in text,
            glob=value.glob,
            quoted=True,
            roots=feed.roots if feed is not None else (),
            filtered=feed.filtered if feed is not None else False,
            feed=feed,
        )

    def sliced(self, param: Param, words: list[Word]) -> list[Word]:
        op = param.op
        if not op:
            return words
        if op == ":":
            bounds = self.bounds(param)
            if bounds is None:
                return [Word(UNKNOWN, resolved=False)]
            start, length = bounds
            if param.index is None and start > 0:
                start -= 1
            words = words[start:]
            return words if length is None else words[:length]
        if op[-1] in "-=?+":
            if op[-1] == "+":
                return [self.as_word(self.text(param.args[0]))] if words else []
            return words or [self.as_word(self.text(param.args[0]))]
        return [self.as_word(self.operate(param, Value((word.text,), word.feed))) for word in words]

    def param_fields(self, param: Param, fields: _Fields) -> None:
        many = self.many(param)
        if many is None:
            op = param.op
            if op and op[-1] in "-=+" and not param.quoted and self.takes_operand(param):
                for number, part in enumerate(param.args[0]):  # an unquoted operand is split by its own quoting
                    if type(part) is str and not part.startswith("~"):
                        self.spread(Value((part,)), fields, quoted=False)
                    else:
                        self.part(part, fields, first=number == 0)
                if op[-1] == "=":
                    self.assign(param.name, self.text(param.args[0]), fields.span)
                return
            self.spread(self.param(param), fields, quoted=param.quoted)
            return
        star = param.quoted and (param.name == "*" or param.index == ["*"])
        if star:
            separators = self.separators()
            glue = UNKNOWN if separators is None else separators[:1]
            for number, word in enumerate(many):
                fields.add((glue if number else "") + word.text, quoted=True, feed=word.feed)
            fields.open = True
            return
        for number, word in enumerate(many):
            if number:
                fields.end()
            if param.quoted:
                fields.add(word.text, quoted=True, feed=self.word_feed(word))
                fields.glob = fields.glob or word.glob
            else:
                self.spread(Value((word.text,), self.word_feed(word), word.glob), fields, quoted=False)

    @staticmethod
    def word_feed(word: Word) -> Feed | None:
        if word.feed is None and word.roots:
            return Feed(roots=word.roots, filtered=word.filtered)
        return word.feed

    def takes_operand(self, param: Param) -> bool:
        """Whether `${x:-y}` or `${x:+y}` becomes its operand."""
        if param.index is not None or param.indirect:
            return False
        value = self.lookup(param.name)
        colon = param.op[0] == ":"
        if param.op[-1] == "+":
            if value is None:
                return bool(self.choice(f"+{param.name}", 2))
            return not (colon and value.texts[0] == "")
        return value is None or (colon and value.texts[0] == "")

    def param(self, param: Param) -> Value:
        """A parameter as one text."""
        if param.op == "names":
            return NUMBER
        value = self.bare(param)
        op = param.op
        if param.length:
            if param.index in (["@"], ["*"]) or param.name in ("@", "*"):
                return NUMBER
            if value is None or UNKNOWN in value.texts[0]:
                return NUMBER
            return Value((str(len(value.texts[0])),))
        if not op:
            return ANY if value is None else value
        if op[-1] in "-=?+" and op in (":-", "-", ":=", "=", ":?", "?", ":+", "+"):
            colon = op[0] == ":"
            empty = value is None or (colon and value.texts[0] == "")
            if op[-1] == "+":
                if value is None:
                    operand = self.text(param.args[0])
                    return operand if self.choice(f"+{param.name}", 2) else EMPTY
                return EMPTY if empty else self.text(param.args[0])
            maybe = not empty and colon and value is not None and value.texts[0] == UNKNOWN and op[-1] != "?"
            if not empty and not (maybe and self.choice(f"-{param.name}", 2)):
                assert value is not None
                return value
            if op[-1] == "?":
                self.text(param.args[0])
                return ANY
            operand = self.text(param.args[0], tilde=True)
            if op[-1] == "=":
                self.assign(param.name, operand, (0, 0))
            return operand
        return self.operate(param, ANY if value is None else value)

    def bare(self, param: Param) -> Value | None:
        name = param.name
        if param.indirect and param.index is None:
            pointer = self.lookup(name)
            if pointer is None or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+", pointer.texts[0]):
                return ANY
            return self.lookup(pointer.texts[0])
        if param.index is not None:
            key = self.text(param.index).texts[0]
            bound = self.state.vars.get(name)
            if not isinstance(bound, Array):
                return self.lookup(name) if key == "0" else (ANY if UNKNOWN in key or bound is None else EMPTY)
            known = dict(bound.items)
            if key not in known and not bound.unknown:
                number = arith.evaluate(key, self.constant)
                if number is not None and number < 0:
                    number += len(known)
                key = str(number) if number is not None else key
            found = known.get(key)
            if found is None:
                return ANY if bound.unknown or UNKNOWN in key or not key.lstrip("-").isdigit() else EMPTY
            if len(found.texts) > 1:
                return Value((found.texts[self.choice(f"{name}[{key}]", len(found.texts))],), found.feed)
            return found
        return self.lookup(name)

    def constant(self, name: str) -> str | None:
        value = self.lookup(name)
        return None if value is None or UNKNOWN in value.texts[0] else value.texts[0]

    def bounds(self, param: Param) -> tuple[int, int | None] | None:
        """The operands of `${x:offset:length}`."""
        text = self.text(param.args[0]).texts[0]
        first, colon, second = text.partition(":")
        start = arith.evaluate(first, self.constant)
        length = arith.evaluate(second, self.constant) if colon else None
        if start is None or (colon and length is None):
            return None
        return start, length

    def operate(self, param: Param, value: Value) -> Value:
        """The operators that change a text."""
        op, text = param.op, value.texts[0]
        operands = [self.text(arg, pattern=op[0] in "#%/^," and number == 0).texts[0] for number, arg in enumerate(param.args)]
        lost = Value((UNKNOWN,), value.feed)
        if op == "@P" and RUNS_IN_ARITHMETIC.search(text):
            self.unknown("a prompt expansion (`@P`) may run code that its text holds", self.base or (0, 0))
            return lost
        if UNKNOWN in text or any(UNKNOWN in operand for operand in operands):
            return lost
        result: str | None = None
        if op in ("#", "##", "%", "%%"):
            result = patterns.strip(text, op, operands[0])
        elif op[0] == "/":
            result = patterns.substitute(text, op, operands[0], operands[1] if len(operands) > 1 else "")
        elif op == ":":
            bounds = self.bounds(param)
            if bounds is not None:
                start, length = bounds
                start = max(start + len(text), 0) if start < 0 else start
                result = text[start:] if length is None else text[start : start + length] if length >= 0 else text[start:length]
        elif op in ("^^", "@U"):
            result = text.upper() if not operands or not operands[0] else None
        elif op in (",,", "@L"):
            result = text.lower() if not operands or not operands[0] else None
        elif op in ("^", "@u"):
            result = text[:1].upper() + text[1:]
        elif op == ",":
            result = text[:1].lower() + text[1:]
        elif op == "@E":
            result = ansi(text)
        elif op == "@Q":
            result = "'" + text.replace("'", "'\\''") + "'"
        return lost if result is None else Value((result,), value.feed)

    # arithmetic

    def arithmetic(self, parts: list[Part]) -> str:
        """The value of an arithmetic expression as text; what runs inside it is walked."""
        text = self.text(parts).texts[0]
        for name in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text) if self.state.vars else ():
            bound = self.state.vars.get(name)
            if isinstance(bound, Value) and any(RUNS_IN_ARITHMETIC.search(t) for t in bound.texts):
                self.unknown(f"arithmetic evaluates the text of `{name}`, which holds a substitution", self.base or (0, 0))
        if RUNS_IN_ARITHMETIC.search(text):
            self.unknown("arithmetic evaluates text that holds a substitution", self.base or (0, 0))
        assigned = ASSIGNS_IN_ARITHMETIC.findall(text)
        if assigned:
            whole = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=(?!=)(.*)", text, re.DOTALL)
            known = arith.evaluate(whole.group(2), self.constant) if whole else None
            for before, after in assigned:
                self.assign(before or after, NUMBER if known is None else Value((str(known),)), (0, 0))
            return UNKNOWN if known is None else str(known)
        if UNKNOWN in text:
            return UNKNOWN
        result = arith.evaluate(text, self.constant)
        return UNKNOWN if result is None else str(result)
