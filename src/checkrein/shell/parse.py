"""Shell text to commands: a reader of the bash grammar with the forms of sh, and the common ones of zsh, in one pass.

Written by hand and not over a general grammar because what matters here is that nothing which runs is read as something else:
line continuations inside words, several here-documents on a line, `cat <<E; rm x`, braces in command position. It is linear,
counts its steps, never recovers from an error, and refuses what it does not know (ADR 0010).
"""

from __future__ import annotations

import re

from checkrein.shell.syntax import (
    ArithCommand,
    ArithFor,
    Assign,
    Case,
    Cond,
    Coproc,
    For,
    Function,
    Group,
    If,
    Item,
    Loop,
    Node,
    Pipe,
    Quoted,
    Raw,
    Redir,
    Redirected,
    Script,
    Simple,
    Span,
)
from checkrein.shell.words import BLANKS, NAME, PLAIN, TooMuchError, UnreadableError, Words

__all__ = ["MAX_TEXT", "Parser", "TooMuchError", "UnreadableError", "read"]

MAX_TEXT = 131_072  # the kernel's own limit of one argument

RESERVED = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "do",
        "done",
        "case",
        "esac",
        "while",
        "until",
        "for",
        "select",
        "function",
        "{",
        "}",
        "!",
        "[[",
        "time",
        "coproc",
        "repeat",
    ]
)
CLOSERS = frozenset(["then", "elif", "else", "fi", "do", "done", "esac", "}"])
ENDS_WORD = frozenset(" \t\n;|&()<>")
ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([A-Za-z0-9_@*.+-]*)\])?(\+?)=")
INDEXED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\[")
REDIRECT = re.compile(r"&>>?|<<<|<<-?|<>|<&|>&|>>|>\||>!|<|>")
DESCRIPTOR = re.compile(r"[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\}")
DECLARERS = frozenset(["declare", "typeset", "local", "export", "readonly", "eval"])
COMMENT = re.compile(r"[^\n]*")
NO_STOPS: frozenset[str] = frozenset()
FI, DO, DONE, THEN = frozenset(["elif", "else", "fi"]), frozenset(["do"]), frozenset(["done"]), frozenset(["then"])
BRACE, PAREN, ESAC = frozenset(["}"]), frozenset([")"]), frozenset([";;", "esac"])


def read(text: str, base: Span | None = None, depth: int = 0) -> Script:
    """The commands of `text`. Raises `UnreadableError` or `TooMuchError`."""
    if len(text) > MAX_TEXT:
        raise TooMuchError(f"it is longer than {MAX_TEXT} characters")
    parser = Parser(text, base, depth)
    items = parser.listing(NO_STOPS)
    if parser.i < parser.n:
        raise parser.fail(f"`{parser.text[parser.i : parser.i + 8].split()[0]}` stands where no command can begin")
    return Script(items, not parser.unfinished)


class Parser(Words):
    """The upper half: lists, pipelines, compound commands, redirections."""

    __slots__ = ()

    def nested(self, text: str, span: Span) -> Parser:
        self.deeper()
        inner = Parser(text, span, self.depth)
        self.depth -= 1
        inner.steps = self.steps
        return inner

    # layout

    def blanks(self) -> None:
        m = BLANKS.match(self.text, self.i)
        if m is not None:
            self.i = m.end()

    def lines(self) -> None:
        """Blanks, comments and newlines, with the here-documents that begin after a newline."""
        text, n = self.text, self.n
        while True:
            m = BLANKS.match(text, self.i)
            if m is not None:
                self.i = m.end()
            if self.i >= n:
                return
            c = text[self.i]
            if c == "\n":
                self.newline()
            elif c == "#":
                m = COMMENT.match(text, self.i)
                assert m is not None
                self.i = m.end()
            else:
                return

    def newline(self) -> None:
        self.i += 1
        if self.pending:
            pending, self.pending = self.pending, []
            for redir, quoted, tabs, end in pending:
                self.here_document(redir, end, quoted=quoted, tabs=tabs)

    def here_document(self, redir: Redir, end: str, *, quoted: bool, tabs: bool) -> None:
        """The body up to the line `end`, or up to the end of the text, which bash accepts with a warning."""
        text, n = self.text, self.n
        start = self.i
        kept: list[str] = []
        while True:
            if self.i >= n:
                self.unfinished = True
                break
            line_start = self.i
            j = text.find("\n", line_start)
            stop = n if j < 0 else j
            while not quoted and 0 <= j < n and (stop - len(text[line_start:stop].rstrip("\\")) - line_start) % 2:
                j = text.find("\n", stop + 1)  # the newline is escaped: the next line belongs to this one
                stop = n if j < 0 else j
            line = text[line_start:stop]
            self.i = min(stop + 1, n)
            bare = line.lstrip("\t") if tabs else line
            if bare.replace("\\\n", "") == end if not quoted else bare == end:
                break
            kept.append(bare + ("\n" if stop < n else ""))
        body = "".join(kept)
        if quoted:
            redir.body = [Quoted(body)]
        else:
            redir.body = self.nested(body, self.span(start, self.i)).document()

    def peek(self) -> str:
        """The plain word at the cursor, or ""."""
        m = PLAIN.match(self.text, self.i)
        if m is None:
            return ""
        j = m.end()
        return m.group() if j >= self.n or self.text[j] in ENDS_WORD or self.text.startswith("\\\n", j) else ""

    def expect(self, word: str) -> None:
        self.lines()
        if self.peek() != word:
            raise self.fail(f"`{word}` is missing", incomplete=self.i >= self.n)
        self.i += len(word)

    # lists

    def listing(self, stops: frozenset[str]) -> list[Item]:
        """Pipelines up to one of `stops`, which stays at the cursor, or the end of the text."""
        text, n = self.text, self.n
        items: list[Item] = []
        while True:
            self.lines()
            if self.i >= n:
                return items
            c = text[self.i]
            if c == ")" or (c == ";" and text.startswith(";;", self.i)) or (c == ";" and text.startswith(";&", self.i)):
                return items
            if c in ";&|":
                raise self.fail(f"`{c}` stands where no command can begin")
            if stops and c in "tefdi}" and self.peek() in stops:
                return items
            node = self.pipeline()
            item = Item(node)
            items.append(item)
            self.blanks()
            if self.i >= n:
                return items
            c = text[self.i]
            if c == ";":
                if text.startswith((";;", ";&"), self.i):
                    return items
                self.i += 1
            elif c == "&":
                if text.startswith("&&", self.i):
                    item.op = "&&"
                    self.i += 2
                    self.more()
                else:
                    item.op = "&"
                    self.i += 1 + text.startswith(("&!", "&|"), self.i)
            elif c == "|" and text.startswith("||", self.i):
                item.op = "||"
                self.i += 2
                self.more()
            elif c not in "\n)#":
                raise self.fail(f"`{c}` stands where a command should end")

    def more(self) -> None:
        """After `&&`, `||` or `|` a command must follow, perhaps on a later line."""
        self.lines()
        if self.i >= self.n:
            raise self.fail("a command is missing at the end", incomplete=True)

    def pipeline(self) -> Node:
        text = self.text
        while True:
            word = self.peek() if text[self.i] in "!t" else ""
            if word == "!" or text.startswith("!(", self.i):
                self.i += 1
            elif word == "time":
                self.i += 4
                self.blanks()
                while self.peek() in ("-p", "--"):
                    self.i += 2
                    self.blanks()
            else:
                break
            self.blanks()
            if self.i >= self.n or text[self.i] in "\n;&|)":
                return Simple(self.i, self.i, [], [], [])
        first = self.command()
        self.blanks()
        if not text.startswith("|", self.i) or text.startswith("||", self.i):
            return first
        parts = [first]
        while text.startswith("|", self.i) and not text.startswith("||", self.i):
            self.i += 1 + text.startswith("|&", self.i)
            self.more()
            while self.peek() == "!":
                self.i += 1
                self.blanks()
            parts.append(self.command())
            self.blanks()
        return Pipe(parts)

    # commands

    def command(self) -> Node:
        text = self.text
        c = text[self.i]
        if c == "(":
            node: Node = self.parenthesis()
        elif c in "iwucfst{[r}ed":
            word = self.peek()
            if word not in RESERVED:
                return self.simple()
            if word in CLOSERS:
                raise self.fail(f"`{word}` stands where no command can begin")
            if word == "function":
                return self.function_keyword()
            if word == "coproc":
                return self.coproc()
            self.deeper()
            made = self.compound(word)
            self.depth -= 1
            if made is None:
                return self.simple()
            node = made
        else:
            return self.simple()
        redirs = self.redirections()
        return Redirected(node, redirs) if redirs else node

    def redirections(self) -> list[Redir]:
        redirs: list[Redir] = []
        while True:
            self.blanks()
            m = DESCRIPTOR.match(self.text, self.i)
            at = self.i if m is None else m.end()
            found = REDIRECT.match(self.text, at)
            if found is None or self.text.startswith(("<(", ">("), at):
                return redirs
            start, self.i = self.i, at
            redirs.append(self.redirection("" if m is None else m.group(), start))

    def parenthesis(self) -> Node:
        self.deeper()
        start = self.i
        if self.text.startswith("((", start):
            parts = self.arithmetic(start + 2)
            if parts is not None:
                self.depth -= 1
                return ArithCommand(parts)
        self.i = start + 1
        body = self.listing(PAREN)
        if self.text[self.i : self.i + 1] != ")":
            raise self.fail("a parenthesis is not closed", incomplete=self.i >= self.n)
        self.i += 1
        self.depth -= 1
        return Group(body, sub=True)

    def compound(self, word: str) -> Node | None:
        self.i += len(word)
        if word == "{":
            body = self.listing(BRACE)
            self.expect("}")
            return Group(body, sub=False)
        if word == "if":
            return self.conditional()
        if word in ("while", "until"):
            cond = self.listing(DO)
            return Loop(cond, self.do_group())
        if word in ("for", "select"):
            return self.for_loop()
        if word == "case":
            return self.case()
        if word == "[[":
            return self.condition()
        if word == "repeat":
            return self.repeat()
        raise self.fail(f"`{word}` stands where no command can begin")

    def conditional(self) -> If:
        arms = []
        while True:
            cond = self.listing(THEN)
            self.expect("then")
            arms.append((cond, self.listing(FI)))
            self.lines()
            word = self.peek()
            self.i += len(word)
            if word == "else":
                arms.append(([], self.listing(FI)))
                self.expect("fi")
                return If(arms)
            if word == "fi":
                return If(arms)
            if word != "elif":
                raise self.fail("`fi` is missing", incomplete=self.i >= self.n)

    def do_group(self) -> list[Item]:
        self.lines()
        if self.peek() == "{":
            self.i += 1
            body = self.listing(BRACE)
            self.expect("}")
            return body
        self.expect("do")
        body = self.listing(DONE)
        self.expect("done")
        return body

    def for_loop(self) -> Node:
        self.blanks()
        text = self.text
        if text.startswith("((", self.i):
            parts = self.arithmetic(self.i + 2)
            if parts is None:
                raise self.fail("the head of a `for` loop is not arithmetic")
            self.semicolon()
            return ArithFor(parts, self.do_group())
        m = NAME.match(text, self.i)
        if m is None:
            raise self.fail("the name of a `for` loop is missing", incomplete=self.i >= self.n)
        self.i = m.end()
        self.lines()
        words: list[Raw] | None = None
        if self.peek() == "in":
            self.i += 2
            words = self.several()
        elif text.startswith("(", self.i):
            self.i += 1
            words = self.array()
            self.lines()
            if self.peek() not in ("do", "{"):
                return For(m.group(), words, [Item(self.command())])
        self.semicolon()
        return For(m.group(), words, self.do_group())

    def repeat(self) -> Node | None:
        """zsh: `repeat N command`. Elsewhere it is a program's name, which then stands in front of the command."""
        start = self.i - len("repeat")
        self.blanks()
        if self.i < self.n and self.text[self.i] not in "\n;&|)":
            word = self.word()
            self.blanks()
            if isinstance(word.parts, str) and word.parts.isdigit() and self.i < self.n and self.text[self.i] not in "\n;&|)<>":
                if self.peek() == "do":
                    return Loop([], self.do_group())
                return Loop([], [Item(self.command())])
        self.i = start
        return None

    def semicolon(self) -> None:
        self.blanks()
        if self.text.startswith(";", self.i) and not self.text.startswith(";;", self.i):
            self.i += 1

    def several(self) -> list[Raw]:
        """Words up to the end of the line or a semicolon."""
        words: list[Raw] = []
        while True:
            self.blanks()
            if self.i >= self.n or self.text[self.i] in "\n;":
                return words
            if self.text[self.i] == "#":
                m = COMMENT.match(self.text, self.i)
                assert m is not None
                self.i = m.end()
                return words
            words.append(self.operand_word())

    def operand_word(self) -> Raw:
        start = self.i
        word = self.word()
        if self.i == start:
            raise self.fail(f"`{self.text[self.i]}` stands where a word should be")
        return word

    def case(self) -> Case:
        self.blanks()
        if self.i >= self.n:
            raise self.fail("`case` has no word", incomplete=True)
        word = self.operand_word()
        self.expect("in")
        arms: list[tuple[list[Raw], list[Item]]] = []
        while True:
            self.lines()
            if self.i >= self.n:
                raise self.fail("`esac` is missing", incomplete=True)
            if self.peek() == "esac":
                self.i += 4
                return Case(word, arms)
            if self.text.startswith("(", self.i):
                self.i += 1
                self.blanks()
            patterns = []
            while True:
                self.blanks()
                patterns.append(self.operand_word())
                self.blanks()
                if not self.text.startswith("|", self.i):
                    break
                self.i += 1
            if not self.text.startswith(")", self.i):
                raise self.fail("a `case` pattern is not closed", incomplete=self.i >= self.n)
            self.i += 1
            arms.append((patterns, self.listing(ESAC)))
            self.lines()
            if self.text.startswith(";", self.i):
                self.i += 3 if self.text.startswith(";;&", self.i) else 2

    def condition(self) -> Cond:
        """`[[ ... ]]`; after `=~` parentheses and bars belong to the pattern."""
        text = self.text
        words: list[Raw] = []
        pattern = False
        while True:
            self.lines() if not pattern else self.blanks()
            if self.i >= self.n:
                raise self.fail("`]]` is missing", incomplete=True)
            if not pattern and self.peek() == "]]":
                self.i += 2
                return Cond(words)
            c = text[self.i]
            if pattern:
                words.append(self.regex())
                pattern = False
            elif text.startswith(("<(", ">("), self.i):
                words.append(self.operand_word())
            elif c in "()<>!" or text.startswith(("&&", "||"), self.i):
                if c == "!" and self.peek() not in ("!", ""):
                    words.append(self.operand_word())
                else:
                    self.i += 2 if c in "&|" else 1
            elif c in "|&;":
                raise self.fail(f"`{c}` stands inside `[[`")
            else:
                word = self.operand_word()
                pattern = word.parts == "=~"
                words.append(word)

    def regex(self) -> Raw:
        start = self.i
        parts = []
        level = 0
        while self.i < self.n:
            c = self.text[self.i]
            if c == "(":
                level += 1
            elif c == ")":
                if level == 0:
                    break
                level -= 1
            elif c in " \t\n" and level == 0:
                break
            elif c not in "|<>&; \t\n":
                word = self.operand_word()
                parts.extend([word.parts] if isinstance(word.parts, str) else word.parts)
                continue
            parts.append(Quoted(c))
            self.i += 1
        return Raw(start, self.i, parts)

    def function_keyword(self) -> Node:
        start = self.i
        self.i += len("function")
        self.blanks()
        name = self.word()
        self.blanks()
        if self.text.startswith("(", self.i):
            self.i += 1
            self.blanks()
            if not self.text.startswith(")", self.i):
                raise self.fail("a function's head is not read", incomplete=self.i >= self.n)
            self.i += 1
        return self.function_body(name, start)

    def function_body(self, name: Raw, start: int) -> Function:
        self.more()
        self.deeper()
        body = self.command()
        self.depth -= 1
        text = name.parts if isinstance(name.parts, str) else "".join(p for p in name.parts if isinstance(p, str))
        if not isinstance(name.parts, str) and not all(isinstance(p, str) for p in name.parts):
            raise self.fail("a function's name is not constant")
        return Function(str(text), body, start, self.i)

    def coproc(self) -> Coproc:
        self.i += len("coproc")
        self.more()
        start = self.i
        m = NAME.match(self.text, start)
        if m is not None and self.peek() not in RESERVED:
            self.i = m.end()
            self.blanks()
            if self.i < self.n and (self.text[self.i] == "(" or (self.peek() in RESERVED and self.peek() not in CLOSERS)):
                return Coproc(self.command())
            self.i = start
        return Coproc(self.command())

    # simple commands

    def simple(self) -> Node:
        text, n = self.text, self.n
        start = self.i
        words: list[Raw] = []
        assigns: list[Assign] = []
        redirs: list[Redir] = []
        end = start
        while self.i < n:
            i = self.i
            c = text[i]
            if c in " \t\\":
                m = BLANKS.match(text, i)
                if m is not None:
                    self.i = m.end()
                    continue
            elif c in "\n;|)":
                break
            elif c == "#":
                m = COMMENT.match(text, i)
                assert m is not None
                self.i = m.end()
                break
            elif c == "&":
                if not text.startswith("&>", i):
                    break
                redirs.append(self.redirection("", i))
                end = self.i
                continue
            elif c in "<>":
                if not text.startswith("(", i + 1):
                    redirs.append(self.redirection("", i))
                    end = self.i
                    continue
            elif c == "(":
                if len(words) == 1 and not assigns and not redirs:
                    return self.function_definition(words[0], start)
                raise self.fail("a parenthesis stands where a word should be")
            m = PLAIN.match(text, i)
            if m is not None:
                j = m.end()
                following = text[j] if j < n else "\n"
                if following in " \t\n;|&)" or (following in "<>" and not text.startswith("(", j + 1)):
                    self.i = j
                    found = m.group()
                    if following in "<>" and DESCRIPTOR.fullmatch(found):
                        redirs.append(self.redirection(found, i))
                        end = self.i
                        continue
                    self.step()
                    if not words and "=" in found:
                        a = ASSIGN.match(found)
                        if a is not None:
                            assigns.append(self.assignment(a, i, Raw(i + a.end(), j, found[a.end() :])))
                            end = j
                            continue
                    words.append(Raw(i, j, found))
                    end = j
                    continue
            if not words or (isinstance(words[0].parts, str) and words[0].parts in DECLARERS):
                assign = self.long_assignment(array_only=bool(words) and words[0].parts == "eval")
                if assign is not None:
                    if words:
                        words.append(Raw(assign.start, assign.end, f"{assign.name}="))
                    assigns.append(assign)
                    end = self.i
                    continue
            words.append(self.operand_word())
            end = self.i
        if not words and not assigns and not redirs and self.i < n and text[self.i] != "\n":
            raise self.fail(f"`{text[self.i]}` stands where no command can begin")
        return Simple(start, end, words, assigns, redirs)

    def function_definition(self, name: Raw, start: int) -> Node:
        self.i += 1
        self.blanks()
        if not self.text.startswith(")", self.i):
            raise self.fail("a parenthesis stands where a word should be", incomplete=self.i >= self.n)
        self.i += 1
        return self.function_body(name, start)

    def assignment(self, m: re.Match[str], start: int, value: Raw) -> Assign:
        index = m.group(2)
        return Assign(m.group(1), value, bool(m.group(3)), None if index is None else [index], start, value.end)

    def long_assignment(self, *, array_only: bool = False) -> Assign | None:
        """An assignment whose value or subscript is more than plain text; None, with the cursor unmoved, when it is none."""
        text = self.text
        start = self.i
        m = ASSIGN.match(text, start)
        if array_only and (m is None or not text.startswith("(", m.end())):
            return None
        if m is not None:
            self.i = m.end()
            if text.startswith("(", self.i):
                self.i += 1
                elements = self.array()
                return Assign(m.group(1), elements, bool(m.group(3)), None, start, self.i)
            return self.assignment(m, start, self.word())
        m = INDEXED.match(text, start)
        if m is None:
            return None
        self.i = m.end()
        try:
            index = self.index()
        except UnreadableError:
            self.i = start
            return None
        append = text.startswith("+=", self.i)
        if not append and not text.startswith("=", self.i):
            self.i = start
            return None
        self.i += 2 if append else 1
        return Assign(m.group(1), self.word(), append, index, start, self.i)

    def array(self) -> list[Raw]:
        """The elements of `(...)`; the cursor stands after the parenthesis."""
        words: list[Raw] = []
        while True:
            self.lines()
            if self.i >= self.n:
                raise self.fail("an array is not closed", incomplete=True)
            if self.text[self.i] == ")":
                self.i += 1
                return words
            words.append(self.operand_word())

    def redirection(self, fd: str, start: int) -> Redir:
        """The redirection whose operator stands at the cursor."""
        m = REDIRECT.match(self.text, self.i)
        if m is None:
            raise self.fail("a redirection is not read")
        op = m.group()
        self.i = m.end()
        self.blanks()
        if (
            self.i >= self.n
            or self.text[self.i] in "\n;|&)"
            or (self.text[self.i] in "<>" and not self.text.startswith("(", self.i + 1))
        ):
            raise self.fail("a redirection has no target", incomplete=self.i >= self.n)
        target = self.operand_word()
        redir = Redir(fd, op, target, start, self.i)
        if op in ("<<", "<<-"):
            parts = target.parts
            if isinstance(parts, str):
                self.pending.append((redir, False, op == "<<-", parts))
            elif all(isinstance(part, str) for part in parts):
                quoted = any(type(part) is Quoted for part in parts)
                self.pending.append((redir, quoted, op == "<<-", "".join(part for part in parts if isinstance(part, str))))
            else:
                raise self.fail("the delimiter of a here-document is not constant")
        return redir
