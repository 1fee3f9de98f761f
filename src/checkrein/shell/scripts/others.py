"""Code that is read lexically: strings are told from code, known words and their constant arguments are found.

What is not constant where a command should stand is OPAQUE. A language word that stands only inside a string is data, unless
pattern literals make strings uncertain; then it is OPAQUE too.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from checkrein.shell.scripts.tongues import TONGUES, Tongue
from checkrein.shell.spec import Feed, Run, Walk, Word
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import EffectKind, Flag

UNKNOWN = "\0"
MAX_CODE = 65_536
MARK = re.compile(r"\x01(\d+)\x01")
URL = re.compile(r"https?://[^\s\"'<>)\\]+")
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "0": "\0"}
PAIRS = {"{": "}", "(": ")", "[": "]", "<": ">"}
PERL_QUOTE = re.compile(r"(?<![\w$@%&>{-])(qq|qx|qw|q)\s*([^\w\s,;=)])")
RUBY_QUOTE = re.compile(r"%([xqQwWi]?)([{(\[<|!/])")
HOME = re.compile(
    r"\$ENV\{['\"]?HOME['\"]?\}|ENV\[['\"]HOME['\"]\]|Dir\.home|getenv\(['\"]HOME['\"]\)|\$_SERVER\[['\"]HOME['\"]\]|ENVIRON\[\"HOME\"\]|os\.getenv\(\"HOME\"\)|Sys\.getenv\(\"HOME\"\)|System\.user_home!?(?:\(\))?"
)


class Lexed:
    """Code with its strings taken out: `skeleton` has a numbered mark for each."""

    def __init__(self, language: str, tongue: Tongue, text: str, home: str) -> None:
        self.tongue = tongue
        self.language = language
        self.strings: list[str] = []
        self.runs: list[str] = []  # texts between backticks
        self.clean = True
        text = HOME.sub(lambda _: f'"{home}"', text)
        self.skeleton = self.lex(text)
        self.consts: dict[str, str] = {}
        self.constants()

    def mark(self, text: str) -> str:
        self.strings.append(text)
        return f"\x01{len(self.strings) - 1}\x01"

    def lex(self, text: str) -> str:
        out: list[str] = []
        i, n = 0, len(text)
        tongue = self.tongue
        comment = re.compile(rf"{tongue.comment}(?=[\s!]|$)[^\n]*")
        while i < n:
            c = text[i]
            if (i == 0 or text[i - 1] in " \t\n;{}") and comment.match(text, i):
                m = comment.match(text, i)
                assert m is not None
                i = m.end()
                continue
            if self.language in ("perl", "raku"):
                m = PERL_QUOTE.match(text, i)
                if m is not None:
                    end = closing(text, m.end(), m.group(2))
                    if end > 0:
                        body = text[m.end() : end]
                        if m.group(1) == "qx":
                            self.runs.append(self.inner(body, double=True))
                        out.append(self.mark(self.inner(body, double=m.group(1) == "qq")))
                        i = end + 1
                        continue
            if self.language == "ruby" and c == "%":
                m = RUBY_QUOTE.match(text, i)
                if m is not None and (m.group(1) or not out or out[-1][-1:] in " (,="):
                    end = closing(text, m.end(), m.group(2))
                    if end > 0:
                        body = text[m.end() : end]
                        if m.group(1) == "x":
                            self.runs.append(self.inner(body, double=True))
                        out.append(self.mark(self.inner(body, double=m.group(1) not in ("q", "w"))))
                        i = end + 1
                        continue
            if c in tongue.quotes or (c == "`" and tongue.backticks):
                end = self.string_end(text, i)
                if end < 0:
                    self.clean = False
                    out.append(c)
                    i += 1
                    continue
                body = text[i + 1 : end]
                value = self.inner(body, double=c != "'")
                if c == "`":
                    self.runs.append(value)
                    out.append(self.mark(""))
                else:
                    out.append(self.mark(value))
                i = end + 1
                continue
            out.append(c)
            i += 1
        return "".join(out)

    @staticmethod
    def string_end(text: str, start: int) -> int:
        quote, i = text[start], start + 1
        while i < len(text):
            if text[i] == "\\":
                i += 2
                continue
            if text[i] == quote:
                return i
            i += 1
        return -1

    def inner(self, body: str, *, double: bool) -> str:
        """A string's text; interpolated parts are unknown unless the variable is constant."""
        if not double:
            return re.sub(r"\\([\\'])", r"\1", body)
        if self.tongue.interpolates:
            body = re.sub(rf"(?<!\\)(?:{self.tongue.interpolates})(?:[^\s\"/;|&<>-]*\}}|[\w:]*)", self.interpolated, body)
        return re.sub(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", escaped, body, flags=re.DOTALL)

    def interpolated(self, m: re.Match[str]) -> str:
        name = re.search(r"[A-Za-z_]\w*", m.group())
        found = getattr(self, "consts", {}).get(name.group()) if name is not None else None
        return found if found is not None else UNKNOWN

    def constants(self) -> None:
        """Variables that are assigned one constant."""
        sigil = self.tongue.sigil
        seen: dict[str, list[str]] = {}
        for m in re.finditer(rf"{sigil}([A-Za-z_]\w*)\s*(?:=(?![=~])|<-|:=)\s*", self.skeleton):
            items, _ = self.arguments(m.end())
            seen.setdefault(m.group(1), []).append(items[0] if len(items) == 1 else UNKNOWN)
        for name, values in seen.items():
            if len(set(values)) == 1 and UNKNOWN not in values[0]:
                self.consts[name] = values[0]

    def arguments(self, at: int) -> tuple[list[str], int]:
        """The argument texts from `at` to the end of the call; unknown ones are a NUL."""
        code = self.skeleton
        m = re.compile(r"[\s(\[{*]*(?:(?:my|local|c|list|ruby)\b[\s(]*)?").match(code, at)
        i = m.end() if m is not None else at
        items: list[str] = []
        current: str | None = None
        joining = False
        glue = re.compile(self.tongue.glue) if self.tongue.glue else None
        while i < len(code):
            if code[i] in " \t\n":
                i += 1
                if code[i - 1] == "\n" and current is not None and not joining:
                    break
                continue
            m = MARK.match(code, i)
            if m is not None:
                piece = self.strings[int(m.group(1))]
                if (current is not None and not joining and self.tongue.glue) or (
                    current is not None and not joining and self.language != "awk"
                ):
                    items.append(current)
                    current = None
                current = piece if current is None else current + piece
                joining = self.language == "awk"
                i = m.end()
                continue
            c = code[i]
            if c == ",":
                items.append(current if current is not None else UNKNOWN)
                current, joining = None, False
                i += 1
                continue
            if c in ")];}":
                break
            if glue is not None:
                g = glue.match(code, i)
                if g is not None and current is not None:
                    joining = True
                    i = g.end()
                    continue
            m = re.compile(r"(?:or|and|if|unless|die|do|then|else|end|with|\|\||&&|\?)(?!\w)").match(code, i)
            if m is not None and current is not None:
                break
            m = re.compile(rf"{self.tongue.sigil}([A-Za-z_]\w*)(?![\w(:.\[{{]|->)").match(code, i)
            if m is not None:
                value = self.consts.get(m.group(1), UNKNOWN) if hasattr(self, "consts") else UNKNOWN
                if current is not None and not joining and self.language != "awk":
                    items.append(current)
                    current = None
                current = value if current is None else current + value
                joining = self.language == "awk"
                i = m.end()
                continue
            if (
                c.isdigit()
                or c in "-:"
                or (c.isalpha() and not self.tongue.sigil and current is None and not items and code[i : i + 4] == "nil ")
            ):
                m = re.compile(r"[-:]?[\w.]+|[-:]").match(code, i)
                assert m is not None
                current = (current or "") + m.group() if current is None or joining else current
                i = m.end()
                continue
            current = (current or "") + UNKNOWN if joining or current is None else current + UNKNOWN
            joining = True
            i += 1
        if current is not None:
            items.append(current)
        return [re.sub("\0+", UNKNOWN, item) for item in items], i


def escaped(m: re.Match[str]) -> str:
    text = m.group(1)
    if text[0] == "x" and len(text) > 1:
        return chr(int(text[1:], 16))
    if text[0] in "01234567":
        return chr(int(text, 8) & 255) if int(text, 8) else UNKNOWN
    return LETTERS.get(text, text)


def closing(text: str, start: int, opener: str) -> int:
    """Where the bracket that was opened before `start` closes."""
    close = PAIRS.get(opener)
    if close is None:
        return text.find(opener, start)
    level = 1
    for i in range(start, len(text)):
        if text[i] == opener:
            level += 1
        elif text[i] == close:
            level -= 1
            if level == 0:
                return i
    return -1


@cache
def finder(names: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(names, key=len, reverse=True)
    return (
        re.compile(r"(?<![\w$@%>:])(?<![\w\])]\.)(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w?])")
        if names
        else re.compile(r"(?!)")
    )


def analyse(language: str, word: Word, run: Run, walk: Walk) -> None:
    """Report what the code would do."""
    tongue = TONGUES[language]
    text = word.text
    if len(text) > MAX_CODE:
        walk.opaque(f"its {language} code is too long to read", run, word)
        return
    lexed = Lexed(language, tongue, text, walk.site.home)
    _Report(lexed, word, run, walk).all()


class _Report:
    def __init__(self, lexed: Lexed, word: Word, run: Run, walk: Walk) -> None:
        self.lexed = lexed
        self.tongue = lexed.tongue
        self.word = word
        self.run = run
        self.walk = walk
        self.span = word.span if word.span != (0, 0) else run.span
        self.fetched = False
        self.roots = self.listing_roots()

    def made(self, text: str) -> Word:
        roots = self.roots if UNKNOWN in text else ()
        return Word(text, self.span, UNKNOWN not in text, quoted=True, roots=roots, filtered=bool(roots))

    def listing_roots(self) -> tuple[str, ...]:
        """Where a glob or directory listing in the code looks, for deletes of what it finds."""
        roots = []
        for m in re.finditer(
            r"(?:\bglob|Dir\.glob|Dir\[|Dir\.children|Dir\.each_child|scandir|opendir|list\.files)\s*\(?\s*\x01(\d+)\x01",
            self.lexed.skeleton,
        ):
            base = re.split(r"[*?\[{]", self.lexed.strings[int(m.group(1))], maxsplit=1)[0]
            head = (
                base.rpartition("/")[0] or ("/" if base.startswith("/") else ".")
                if base != self.lexed.strings[int(m.group(1))]
                else base
            )
            place = self.walk.place(Word(head or "."), self.run)
            if place is not None:
                roots.append(place)
        return tuple(dict.fromkeys(roots))

    def calls(self, names: tuple[str, ...]) -> list[list[str]]:
        """The arguments of every call of one of the names."""
        out = []
        for m in finder(names).finditer(self.lexed.skeleton):
            before = self.lexed.skeleton[: m.start()].rstrip()
            if re.search(r"\b(?:sub|def|function|defn?|fun)$", before):
                continue
            items, _ = self.lexed.arguments(m.end())
            if m.group().startswith(".") and before.endswith("\x01"):  # `"rm -rf /".execute()`
                found = MARK.search(before[before.rstrip("\x01").rfind("\x01") :])
                items = [self.lexed.strings[int(found.group(1))]] if found is not None else items
            out.append(items)
        return out

    def all(self) -> None:
        tongue = self.tongue
        for text in self.lexed.runs:
            self.shell([text])
        self.network()
        for items in self.calls(tongue.spawn):
            self.spawn(items)
        for items in self.calls(tongue.trees):
            self.paths(EffectKind.DELETE, items, Flag.RECURSIVE)
        for items in self.calls(tongue.delete):
            recursive = (
                any(re.fullmatch(r"recursive|TRUE|t|-force", item) for item in items[1:]) or "recursive" in self.lexed.skeleton
            )
            self.paths(EffectKind.DELETE, items[:1] if tongue.sigil == "" else items, *((Flag.RECURSIVE,) if recursive else ()))
        for items in self.calls(tongue.writes):
            self.paths(EffectKind.WRITE, items[:1], Flag.CONTENT)
        for items in self.calls(tongue.reads):
            self.paths(EffectKind.READ, [item for item in items[:1] if not item.startswith(("http:", "https:", "ftp:"))])
        for items in self.calls(tongue.moves):
            self.paths(EffectKind.DELETE, items[:1])
            self.paths(EffectKind.WRITE, items[1:2], Flag.CONTENT)
        for items in self.calls(tongue.opens):
            self.opened(items)
        for items in self.calls(tongue.evals):
            self.evaluated(items)
        if tongue.variable_calls and re.search(tongue.variable_calls, self.lexed.skeleton):
            self.opaque("calls a function whose name is not constant")
        self.hidden()

    def opaque(self, what: str) -> None:
        self.walk.opaque(f"the {self.lexed.language} code {what}", self.run, self.word)

    def hidden(self) -> None:
        """Running words inside strings, where strings cannot be told for certain."""
        tongue = self.tongue
        risky = finder(tuple(name for name in (*tongue.spawn, *tongue.trees, *tongue.evals) if len(name) > 3))
        if not self.lexed.clean and risky.search(self.word.text) and not risky.search(self.lexed.skeleton):
            self.opaque("has quotes that do not close, around words that run programs")
        elif tongue.regexes and re.search(r"[^\s\w\"'`]", self.lexed.skeleton):
            for text in self.lexed.strings:
                m = risky.search(text)
                if m is not None and re.match(r"\s*[(\"'`]", text[m.end() :]) and re.search(r"[;{}]", text[: m.start()]):
                    self.opaque("has quotes that may not be strings, around words that run programs")
                    return
        if self.lexed.language == "perl" and re.search(r"[/}|!#]\w*ee\w*\s*(?:[;)}]|$)", self.lexed.skeleton):
            self.opaque("evaluates the result of a substitution")

    def spawn(self, items: list[str]) -> None:
        if not items:
            if self.lexed.language in ("perl", "ruby", "php", "awk", "lua", "r", "tcl"):
                self.opaque("runs a command that is not constant")
            return
        if self.lexed.language in ("elisp", "lisp", "octave"):
            items = [item for item in items if item not in ("nil", "t") and item != UNKNOWN] or items
        if (
            len(items) == 1
            or self.lexed.language in ("php", "awk", "lua", "applescript", "octave", "tcl")
            or self.plain_text_first(items)
        ):
            self.shell(items[:1])
        else:
            self.walk.command([self.made(item) for item in items], replace(self.run, stdin=Feed(plain=True)))

    def plain_text_first(self, items: list[str]) -> bool:
        return " " in items[0] and not items[0].startswith("/")

    def shell(self, items: list[str]) -> None:
        text = items[0]
        if UNKNOWN in text:
            if self.fetched:
                self.walk.act(Act.DOWNLOAD_RUN, self.run, "runs what it downloads", self.word)
            else:
                self.opaque("runs a command that is not constant")
            return
        if text.strip():
            self.walk.shell(Word(text, self.span, quoted=True), replace(self.run, stdin=Feed(plain=True)))
        if self.lexed.language == "applescript" and "administrator privileges" in self.lexed.skeleton:
            self.walk.act(Act.PRIVILEGE, self.run, "asks for administrator privileges", self.word)

    def paths(self, kind: EffectKind, items: list[str], *flags: Flag) -> None:
        for item in items:
            if item == UNKNOWN and Flag.RECURSIVE in flags and not self.roots:
                self.opaque("deletes a directory tree whose path is not constant")
                continue
            self.walk.path(kind, self.made(re.sub(r"^~(?=/|$)", self.walk.site.home, item)), self.run, *flags)

    def opened(self, items: list[str]) -> None:
        """`open` in its forms: a mode and a path, a path with a mode in it, a pipe."""
        if (self.lexed.language == "perl" and items and items[0] in (UNKNOWN, "")) or (
            self.lexed.language == "perl" and len(items) > 1 and not re.match(r"[<>|+-]", items[0])
        ):
            items = items[1:]
        if not items:
            return
        mode, path = (items[1] if len(items) > 1 else "r"), items[0]
        if self.lexed.language == "perl":
            m = re.match(r"\s*(\+?[<>]{1,2}|\|)?\s*(.*?)\s*(\|)?\s*$", items[0], re.DOTALL)
            assert m is not None
            if items[0] in ("-|", "|-") or m.group(1) == "|" or m.group(3):
                text = items[1] if len(items) > 1 and items[0] in ("-|", "|-") else m.group(2)
                self.spawn([text, *items[2:]])
                return
            path = items[1] if len(items) > 1 else m.group(2)
            mode = "w" if m.group(1) and ">" in m.group(1) else "r"
            mode = "a" if m.group(1) == ">>" else mode
        elif path.startswith("|") and self.lexed.language in ("ruby", "tcl"):
            self.shell([path[1:]])
            return
        if path.startswith(("http:", "https:", "ftp:")):
            self.walk.fetch(self.made(path), self.run)
            self.fetched = True
            return
        if (re.search(r"[wa+x]", mode) and not mode.startswith("r")) or "+" in mode:
            self.paths(EffectKind.WRITE, [path], Flag.APPEND if mode.startswith("a") else Flag.CONTENT)
        else:
            self.paths(EffectKind.READ, [path])

    def network(self) -> None:
        tongue, skeleton = self.tongue, self.lexed.skeleton
        urls = [url for text in self.lexed.strings for url in URL.findall(text)]
        names = finder((*tongue.fetches, *tongue.sends, *tongue.reads, *tongue.opens))
        client = re.search(r"LWP|HTTP|Net::|URI|open-uri|curl|http|Faraday|socket|download|url", skeleton)
        if urls and (names.search(skeleton) or client):
            sends = finder(tongue.sends).search(skeleton) or re.search(
                r"->post|\.post\b|Post\.new|POSTFIELDS|->put\b", skeleton
            )
            for url in dict.fromkeys(urls):
                self.walk.fetch(self.made(url), self.run, *((Flag.SENDS,) if sends else ()))
            self.fetched = True
        connected = finder(tongue.sockets).search(skeleton) if tongue.sockets else None
        inet = next((text for text in self.lexed.strings if text.startswith(("/inet/", "/dev/tcp/"))), None)
        if connected is None and inet is None:
            return
        if inet is not None:
            pieces = inet.split("/")
            peer = ":".join(pieces[4:6])
        else:
            assert connected is not None
            items, _ = self.lexed.arguments(connected.end())
            hosts = [
                text
                for text in self.lexed.strings
                if re.fullmatch(r"(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|[\w-]+(?:\.[\w-]+)+(?::\d+)?|localhost", text)
            ]
            peer = items[0] if items and UNKNOWN not in items[0] and items[0] else hosts[0] if hosts else UNKNOWN
        self.walk.fetch(Word(peer, self.span, UNKNOWN not in peer), self.run, Flag.SENDS)
        if any(
            re.search(r"(?:^|/)(?:ba|z|da|k)?sh\b|cmd\.exe", text) for text in [*self.lexed.strings, *self.lexed.runs]
        ) or finder(tongue.spawn).search(skeleton):
            self.walk.act(Act.REVERSE_SHELL, self.run, "ties a program's streams to a network connection", self.word)

    def evaluated(self, items: list[str]) -> None:
        if not items:
            return
        text = items[0]
        if text == "" and not self.lexed.strings:
            return
        if UNKNOWN not in text and self.lexed.language not in ("elisp", "lisp", "scheme", "clojure"):
            if re.search(r"[\s(;]", text):
                self.walk.script(self.lexed.language, self.made(text), self.run)
            elif "/" in text or "." in text:
                self.walk.file(self.made(text), self.run, self.lexed.language)
            return
        if self.block_follows():
            return
        if self.fetched:
            self.walk.act(Act.DOWNLOAD_RUN, self.run, "runs code that it downloads", self.word)
        elif re.search(r"b(?:ase)?64|unpack|decode|gzinflate|rot13|gzuncompress|hex2bin", self.lexed.skeleton, re.IGNORECASE):
            self.walk.act(Act.DECODE_RUN, self.run, "runs code that it decodes", self.word)
        else:
            self.opaque("evaluates code that is not constant")

    def block_follows(self) -> bool:
        """Perl's `eval { ... }` is error handling, not evaluation."""
        return self.lexed.language in ("perl", "raku") and not re.search(r"\beval\b\s*(?!\s*\{)", self.lexed.skeleton)
