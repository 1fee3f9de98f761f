"""What known functions of a language do, in the words of the walker: run, read, write, delete, fetch.

A language file evaluates expressions and names functions; this file turns "function X with these values" into effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checkrein.shell.scripts.values import NOTHING, UNKNOWN, Alternatives, Items, Number, Table, Text, Thing, Value, as_text, each, feed_of
from checkrein.shell.spec import Feed, Run, Walk, Word
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import EffectKind, Flag


class Actor:
    """Reports for one piece of code: `word` is the code, `run` the interpreter that runs it."""

    def __init__(self, language: str, word: Word, run: Run, walk: Walk) -> None:
        self.language = language
        self.code = word
        self.span = word.span if word.span != (0, 0) else run.span
        self.run = run
        self.walk = walk
        self.connected = False

    def word(self, value: Value) -> Word:
        """A value as a shell word."""
        text = as_text(value)
        feed = text.feed
        return Word(
            text.text,
            self.span,
            text.known,
            quoted=True,
            roots=feed.roots if feed is not None and not text.known else (),
            filtered=feed.filtered if feed is not None else False,
            feed=feed if feed is not None and not text.known else None,
        )

    # running

    def shell(self, value: Value) -> None:
        for one in each(value):
            if isinstance(one, Items):
                self.argv(one)
                continue
            text = as_text(one)
            if not text.known and text.feed is None:
                self.walk.opaque(f"the {self.language} code runs a command that is not constant", self.run, self.code)
            else:
                self.walk.shell(self.word(one), replace(self.run, stdin=Feed(plain=True)))

    def argv(self, value: Value, program: Value | None = None) -> None:
        """A vector of words; a single text is a program without arguments."""
        for one in each(value):
            if isinstance(one, Items) and one.items:
                words = [self.word(item) for item in one.items]
                if one.open:
                    words.append(Word(UNKNOWN, self.span, resolved=False))
                if program is not None and as_text(program).known:
                    words[0] = self.word(program)
                self.walk.command(words, replace(self.run, stdin=None))
            elif isinstance(one, Text) and one.known:
                self.walk.command([Word(one.text, self.span)], replace(self.run, stdin=None))
                if " " in one.text:
                    self.walk.shell(self.word(one), replace(self.run, stdin=None))
            else:
                self.walk.opaque(f"the {self.language} code starts a program that is not constant", self.run, self.code)

    def evaluate(self, value: Value) -> None:
        """`eval` and `exec`."""
        for one in each(value):
            feed = feed_of(one)
            text = as_text(one)
            if text.known:
                self.walk.script(self.language, self.word(one), self.run)
            elif feed is not None and feed.fetched:
                self.walk.act(Act.DOWNLOAD_RUN, self.run, "runs code that it downloads", self.code)
            elif feed is not None and feed.decoded:
                self.walk.act(Act.DECODE_RUN, self.run, "runs code that it decodes", self.code)
            elif feed is not None and feed.path is not None:
                self.walk.file(Word(feed.path, self.span), self.run, self.language)
            else:
                self.dynamic("evaluates code that is not constant")

    def dynamic(self, what: str) -> None:
        self.walk.opaque(f"the {self.language} code {what}", self.run, self.code)

    # files

    def touch(self, kind: EffectKind, value: Value, *flags: Flag) -> None:
        for one in each(value):
            if isinstance(one, Items):
                for item in one.items:
                    self.touch(kind, item, *flags)
                continue
            if isinstance(one, Thing):
                one = one.of
            if isinstance(one, Number) or one is NOTHING:
                one = Text(UNKNOWN)
            word = self.word(one)
            if kind is EffectKind.DELETE and Flag.RECURSIVE in flags and not word.resolved and not word.roots and UNKNOWN == word.text:
                self.dynamic("deletes a directory tree whose path is not constant")
                continue
            self.walk.path(kind, word, self.run, *flags)

    def delete(self, value: Value, *, tree: bool = False) -> None:
        self.touch(EffectKind.DELETE, value, *((Flag.RECURSIVE,) if tree else ()))

    def read(self, value: Value) -> None:
        self.touch(EffectKind.READ, value)

    def write(self, value: Value, content: Value | None = None, *, append: bool = False) -> None:
        """A file's content; None when the file is only opened."""
        feed = feed_of(content) if content is not None else None
        flags = [Flag.APPEND if append else Flag.CONTENT]
        if feed is not None and feed.fetched:
            flags.append(Flag.FETCHED)
        self.touch(EffectKind.WRITE, value, *flags)
        if content is not None:
            text = as_text(content)
            known = Feed(text=text.text if text.known else None, fetched=bool(feed and feed.fetched))
            for one in each(value):
                word = self.word(one.of if isinstance(one, Thing) else one)
                self.walk.written(word, self.run, known, append=append)

    def move(self, source: Value, target: Value) -> None:
        self.delete(source)
        self.touch(EffectKind.WRITE, target, Flag.CONTENT)

    def copy(self, source: Value, target: Value) -> None:
        self.read(source)
        self.touch(EffectKind.WRITE, target, Flag.CONTENT)

    # network

    def fetch(self, value: Value, *, sends: bool = False) -> Feed:
        for one in each(value):
            if isinstance(one, Items) and one.items:
                host = ":".join(as_text(item).text for item in one.items[:2])
                self.walk.fetch(Word(host, self.span, UNKNOWN not in host), self.run, *((Flag.SENDS,) if sends else ()))
            elif isinstance(one, Table):
                host = one.get("host") or one.get("hostname") or one.get("url") or NOTHING
                port = one.get("port")
                text = as_text(host).text + (f":{as_text(port).text}" if port is not None else "")
                self.walk.fetch(Word(text, self.span, UNKNOWN not in text), self.run, *((Flag.SENDS,) if sends else ()))
            else:
                self.walk.fetch(self.word(one.of if isinstance(one, Thing) else one), self.run, *((Flag.SENDS,) if sends else ()))
        return Feed(fetched=True)

    def connect(self, value: Value) -> None:
        self.connected = True
        self.fetch(value, sends=True)

    def bound_to_socket(self) -> None:
        """Standard streams are tied to a connection."""
        if self.connected:
            self.walk.act(Act.REVERSE_SHELL, self.run, "ties a program's streams to a network connection", self.code)

    def kill(self, values: Sequence[Value]) -> None:
        words = [Word("kill", self.span)]
        if len(values) > 1:
            words.append(Word(f"-{as_text(values[1]).text}", self.span, as_text(values[1]).known))
        words.append(self.word(values[0]) if values else Word(UNKNOWN, self.span, resolved=False))
        self.walk.command(words, self.run)


def first(values: Sequence[Value], at: int = 0) -> Value:
    return values[at] if at < len(values) else NOTHING


def is_true(value: Value | None) -> bool:
    """Whether a flag may be true."""
    if value is None:
        return False
    if isinstance(value, Alternatives):
        return any(map(is_true, value.values))
    return not (isinstance(value, Number) and value.number == 0)
