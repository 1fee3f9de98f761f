"""The walker: follows the commands of a text as if every branch ran, and calls the family of every program.

INVARIANT: each program that a shell could run on this text is reported as an EXEC effect, or an OPAQUE effect says why not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from checkrein.shell.commands import FAMILIES
from checkrein.shell.commands.builtins import BUILTINS
from checkrein.shell.environment import check_variable
from checkrein.shell.flows import FLOWS
from checkrein.shell.nested import Nested
from checkrein.shell.report import NO_FLAGS, line
from checkrein.shell.spec import Feed, Run, Span, Word
from checkrein.shell.state import ANY, UNKNOWN, Array, Binding, Defined, State, Value, combine, join, join_vars
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
    Raw,
    Redir,
    Redirected,
    Simple,
)
from checkrein.shell.words import UnreadableError
from checkrein.vocab.acts import Act
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.effects import Effect, EffectKind, Flag

MAX_CHOICES = 64  # runs of one command over the possible values of its variables
MAX_ROUNDS = 1024  # rounds of one `for` loop
MAX_CALLS = 12  # functions inside functions
WRITES = frozenset([">", ">>", ">|", ">!", "&>", "&>>", "<>", ">&"])
UNRESOLVED = frozenset([Flag.UNRESOLVED])
REMOTE = frozenset([Flag.REMOTE])


class Walker(Nested):
    """Walks items in a state."""

    # lists

    def items(self, items: Sequence[Item]) -> None:
        """A list: `&&` and `||` may or may not run what follows, so both states go on; `&` runs on the side."""
        kept: list[State] = []
        before: State | None = None
        alternative: State | None = None
        sink = self.sink
        mark = len(sink) if sink is not None else 0
        unsure = False
        for item in items:
            op = item.op
            if op == "&":
                saved = self.state
                self.state = saved.copy()
                self.background += 1
                self.node(item.node)
                self.background -= 1
                self.state = saved
                kept.clear()
                continue
            if op == "||":
                before = self.state.copy()
            self.node(item.node)
            if alternative is not None:
                self.state = join(alternative, self.state)
                alternative = None
            if op == "||":
                assert before is not None
                alternative = self.state
                self.state = alternative.copy()
                if isinstance(item.node, Simple) and before.cwds != alternative.cwds:
                    self.state.cwds = before.cwds
                self.state.dead = False
            elif op == "&&":
                kept.append(self.state.copy())
            elif kept:
                self.settle(kept)
                kept.clear()
            unsure = unsure or op in ("&&", "||")
        if kept:
            self.settle(kept)
        if unsure and sink is not None and sum(feed.text != "" for feed in sink[mark:]) > 1:
            self.blur(mark)

    def settle(self, kept: list[State]) -> None:
        """The end of an `&&` chain: what a later link assigned may not have been; the directory is the last one."""
        for earlier in reversed(kept):
            if self.state.dead and not earlier.dead:
                self.state = earlier
            elif earlier.vars != self.state.vars:
                self.state.vars = join_vars(self.state.vars, earlier.vars)

    def node(self, node: Node) -> None:
        kind = type(node)
        if kind is Simple:
            assert isinstance(node, Simple)
            self.simple(node)
        else:
            self.level += 1
            self.check_level()
            HANDLERS[kind](self, node)
            self.level -= 1

    # compound commands

    def pipe(self, node: Pipe) -> None:
        saved, stdin, sink, pipes = self.state, self.stdin, self.sink, self.pipeline
        last = len(node.parts) - 1
        self.pipeline = (*pipes, self.names(node))
        for number, part in enumerate(node.parts):
            self.state = saved.copy()
            if number < last:
                self.sink = collected = []
                self.node(part)
                self.stdin = combine(collected, text="") if collected else Feed()
            else:
                self.sink = sink
                self.node(part)
        self.pipeline = pipes
        ended = self.state
        self.state = saved
        if saved.name == "zsh" and ended.vars != saved.vars:
            self.state = join(saved, ended)
        self.stdin = stdin

    @staticmethod
    def names(node: Pipe) -> tuple[str, ...]:
        """The literal programs of a pipeline's parts."""
        out = []
        for part in node.parts:
            first = part.words[0].parts if isinstance(part, Simple) and part.words else ""
            out.append(first.rsplit("/", 1)[-1] if isinstance(first, str) else "")
        return tuple(out)

    def group(self, node: Group) -> None:
        if not node.sub:
            self.items(node.body)
            return
        saved = self.state
        self.state = saved.copy()
        self.items(node.body)
        self.state = saved

    def conditional(self, node: If) -> None:
        self.branch += 1
        mark = len(self.sink) if self.sink is not None else 0
        ends: list[State] = []
        complete = False
        for cond, body in node.arms:
            if cond:
                self.items(cond)
                fallen = self.state
                self.state = fallen.copy()
            else:
                complete = True
                fallen = self.state
            self.items(body)
            ends.append(self.state)
            self.state = fallen
        self.merge(ends if complete else [*ends, self.state])
        self.blur(mark)
        self.branch -= 1

    def merge(self, ends: list[State]) -> None:
        joined = ends[0]
        for end in ends[1:]:
            joined = join(joined, end)
        self.state = joined

    def case(self, node: Case) -> None:
        self.branch += 1
        mark = len(self.sink) if self.sink is not None else 0
        self.reset_choices()
        self.word(node.word)
        ends = [self.state]
        start = self.state
        for patterns, body in node.arms:
            self.state = start.copy()
            for pattern in patterns:
                self.text(pattern.parts)
            self.items(body)
            ends.append(self.state)
        self.merge(ends)
        self.blur(mark)
        self.branch -= 1

    def loop(self, node: Loop) -> None:
        self.rounds(lambda: (self.items(node.cond), self.items(node.body)))

    def arith_for(self, node: ArithFor) -> None:
        self.reset_choices()
        self.arithmetic(node.parts)
        self.rounds(lambda: self.items(node.body))

    def rounds(self, body: Callable[[], object]) -> None:
        """A loop of unknown length: again with what a round left behind, until nothing new comes or all of that is unknown."""
        self.branch += 1
        self.repeated = True
        mark = len(self.sink) if self.sink is not None else 0
        start = self.state.copy()
        body()
        for number in range(3):
            self.state.dead = False
            joined = join(start, self.state)
            if joined.vars == start.vars and joined.cwds == start.cwds:
                break
            if number == 1:
                for name, value in joined.vars.items():
                    if value != start.vars.get(name):
                        joined.vars[name] = ANY if isinstance(value, Value) else Array((), unknown=True)
                if joined.cwds != start.cwds:
                    joined.cwds = ()
            start = joined.copy()
            self.state = joined
            body()
        self.state.dead = False
        self.state = join(start, self.state)
        self.blur(mark)
        self.branch -= 1

    def each(self, node: For) -> None:
        self.reset_choices()
        span = (0, 0)
        if node.words is None:
            params = self.state.params
            words = [Word(UNKNOWN, resolved=False)] if params is None else list(params[1:])
        else:
            words = self.fields(node.words)
            span = self.at(node.words[0].start, node.words[-1].end) if node.words else span
            for pick in self.combinations(self.choices)[1 : MAX_CHOICES + 1]:
                self.pick = pick
                words += [word for word in self.fields(node.words) if word not in words]
        self.branch += 1
        start = self.state.copy()
        if len(words) > MAX_ROUNDS:
            words = [Word(UNKNOWN, resolved=False)]
        for word in words:
            feed = word.feed
            if feed is None and word.roots:
                feed = Feed(roots=word.roots, filtered=word.filtered)
            if word.glob:
                self.assign(node.name, self.listed(word), span)
            else:
                self.assign(node.name, Value((word.text,), feed), span)
            if word.resolved and not word.glob:
                self.items(node.body)
            else:
                self.rounds(lambda: self.items(node.body))
            self.state.dead = False
        self.state = join(start, self.state) if not words else self.state
        self.branch -= 1

    def listed(self, word: Word) -> Value:
        """What a loop variable over a glob holds: a name below the glob's root, and the pattern itself when nothing matches."""
        return Value((word.text,), None, glob=True)

    def define(self, node: Function) -> None:
        self.state.functions[node.name] = Defined(node.body, self.base)
        self.defined.setdefault(node.name, (node, self.base))

    def condition(self, node: Cond) -> None:
        self.reset_choices()
        numeric = any(word.parts in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v") for word in node.words)
        for word in node.words:
            value = self.text(word.parts)
            if numeric and ("$(" in value.texts[0] or "`" in value.texts[0]):
                self.unknown("a numeric test evaluates text that holds a substitution", self.at(word.start, word.end))

    def arith_command(self, node: ArithCommand) -> None:
        self.reset_choices()
        self.arithmetic(node.parts)

    def coproc(self, node: Coproc) -> None:
        saved, stdin = self.state, self.stdin
        self.state = saved.copy()
        self.stdin = Feed()
        self.background += 1
        self.node(node.body)
        self.background -= 1
        self.state, self.stdin = saved, stdin

    def redirected(self, node: Redirected) -> None:
        stdin, sink = self.stdin, self.sink
        self.reset_choices()
        run = Run("", (), self.at(node.redirs[0].start, node.redirs[-1].end), self.cwd(), remote=self.remote, depth=self.depth)
        places, feed = self.redirections(node.redirs, run)
        for pick in self.combinations(self.choices)[1:MAX_CHOICES]:
            self.pick = pick
            places += self.redirections(node.redirs, run)[0]
        outs = self.outs
        if feed is not None:
            self.stdin = feed
        if places or outs:
            self.sink = collected = []
            self.node(node.body)
            self.deliver(combine(collected, text="") if collected else Feed(), places)
            self.drain(outs, combine(collected, text="") if collected else Feed())
        else:
            self.node(node.body)
        self.stdin, self.sink = stdin, sink

    # simple commands

    def simple(self, node: Simple) -> None:
        """Expands and runs, once for each combination of the possible values of its variables."""
        self.pick = {}
        self.choices = {}
        self.outs = []
        self.once(node)
        if not self.choices:
            return
        self.repeated = True
        state = self.state
        ends = [state]
        done = {()}
        budget = MAX_CHOICES
        queue = self.combinations(self.choices)
        for pick in queue:
            key = tuple(sorted(pick.items()))
            if key in done or not any(pick.values()):
                continue
            done.add(key)
            budget -= 1
            if budget < 0:
                self.unknown("its variables have too many possible values", self.at(node.start, node.end))
                break
            self.state = state.copy()
            self.pick, self.choices, self.outs = pick, {}, []
            self.once(node)
            ends.append(self.state)
        self.pick = {}
        self.choices = {}
        self.merge(ends)

    @staticmethod
    def combinations(choices: Mapping[str, int]) -> list[dict[str, int]]:
        out: list[dict[str, int]] = [{}]
        for name, count in choices.items():
            out = [{**pick, name: number} for pick in out for number in range(count)]
            if len(out) > 4 * MAX_CHOICES:
                break
        return out

    def once(self, node: Simple) -> None:
        span = self.at(node.start, node.end)
        mark = len(self.effects)
        words = self.fields(node.words) if node.words else []
        self.mark = mark
        pick, choices, outs = self.pick, self.choices, self.outs
        env: Mapping[str, Word] = NOTHING
        if node.assigns:
            if words and not (isinstance(node.words[0].parts, str) and node.words[0].parts in DECLARING):
                env = {a.name: self.assigned_word(a) for a in node.assigns}
                for name, word in env.items():
                    check_variable(self, name, word, span)
            elif words:
                words = self.declared(node.assigns, words, span)
            else:
                for assign in node.assigns:
                    self.bind(assign, span)
        if not words:
            if node.redirs:
                run = Run("", (), span, self.cwd(), remote=self.remote, depth=self.depth)
                places, feed = self.redirections(node.redirs, run)
                self.deliver(Feed(text=""), places)
                if feed is not None and feed.path and self.sink is not None:
                    self.sink.append(feed)  # `$(< file)`
            self.pick, self.choices = pick, choices
            return
        if not node.redirs and not outs:
            self.invoke(tuple(words), span, env=env)
            self.pick, self.choices = pick, choices
            return
        program = words[0].text.rsplit("/", 1)[-1]
        run = Run(program, tuple(words), span, self.cwd(), remote=self.remote, depth=self.depth)
        places, feed = self.redirections(node.redirs, run)
        outs = self.outs
        self.pick, self.choices = pick, choices
        stdin, sink = self.stdin, self.sink
        if feed is not None:
            self.stdin = feed
        if places or outs:
            self.sink = collected = []
            self.invoke(tuple(words), span, env=env, redirs=node.redirs)
            got = combine(collected, text="") if collected else Feed()
            self.deliver(got, places)
            self.drain(outs, combine((got, self.stdin), text=None) if program == "tee" and self.stdin is not None else got)
        else:
            self.invoke(tuple(words), span, env=env, redirs=node.redirs)
        self.stdin, self.sink = stdin, sink
        self.pick, self.choices = pick, choices

    def drain(self, outs: list, feed: Feed) -> None:  # type: ignore[type-arg]
        """What stands in `>(...)` reads what the command writes."""
        for proc in outs:
            saved, stdin, base = self.state, self.stdin, self.base
            self.state = saved.copy()
            self.stdin = feed
            self.base = proc.span if proc.mapped else base
            self.items(proc.body)
            self.state, self.stdin, self.base = saved, stdin, base
        outs.clear()

    def deliver(self, feed: Feed, places: list[tuple[str, bool]]) -> None:
        for place, append in places:
            self.wrote(place, feed.text if feed.text is None or UNKNOWN not in feed.text else None, append=append)
            if feed.fetched:
                self.fetched.add(place)

    def redirections(self, redirs: list[Redir], run: Run) -> tuple[list[tuple[str, bool]], Feed | None]:
        """Reports them; where standard output goes, and what standard input becomes."""
        places: list[tuple[str, bool]] = []
        feed: Feed | None = None
        for redir in redirs:
            op = redir.op
            if op in ("<<", "<<-"):
                body = self.text(redir.body or [])
                feed = Feed(text=body.texts[0], span=self.at(redir.start, redir.end))
                if body.feed is not None:
                    feed = combine((feed, body.feed), text="")
                    feed = Feed(body.texts[0], body.feed.fetched, body.feed.decoded, body.feed.secret, span=feed.span)
                continue
            word = self.word(redir.target)
            if op == "<<<":
                feed = word.feed if word.feed is not None and not word.resolved else None
                if feed is None:
                    feed = Feed(text=word.text + "\n", span=word.span)
                continue
            text = word.text
            if op in ("<&", ">&") and (text.rstrip("-").isdigit() or text == "-" or not text):
                continue
            if text.startswith(("/dev/tcp/", "/dev/udp/")):
                self.socket(word, run, redir)
                if op == "<" and redir.fd in ("", "0"):
                    feed = Feed(fetched=True)
                continue
            out = op in WRITES
            if word.feed is not None and text.startswith("/dev/fd/"):
                if not out and redir.fd in ("", "0"):
                    feed = word.feed
                continue
            if out:
                append = op in (">>", "&>>")
                flags = (Flag.APPEND,) if append else () if op == "<>" else (Flag.CONTENT,)
                self.path(EffectKind.WRITE, word, run, *flags)
                place = self.resolve(text, run) if word.resolved else None
                if place is not None and redir.fd in ("", "1") and op != "<>" and not place.startswith("/dev/"):
                    places.append((place, append))
                continue
            self.path(EffectKind.READ, word, run)
            if redir.fd in ("", "0"):
                place = self.resolve(text, run) if word.resolved and not word.glob else None
                feed = self.content(place)
        return places, feed

    def content(self, place: str | None) -> Feed:
        """What reading a file gives."""
        if place is None:
            return Feed()
        known = self.files.get(place)
        if known is not None and len(known) == 1 and known[0] is not None:
            return Feed(text=known[0], path=place, fetched=place in self.fetched)
        return Feed(path=place, fetched=place in self.fetched)

    def socket(self, word: Word, run: Run, redir: Redir) -> None:
        _, _, _, host, port = ([*word.text.split("/"), "", "", ""])[:5]
        peer = Word(f"{host}:{port}" if port else host, word.span, word.resolved)
        self.fetch(peer, run, Flag.SENDS, why="the shell opens a raw connection")
        if run.program in SHELLS:
            self.act(Act.REVERSE_SHELL, run, "connects a shell to a network peer", word)

    # assignments

    def declared(self, assigns: list[Assign], words: list[Word], span: Span) -> list[Word]:
        """The words of `export a=b c=(d)`: a scalar's value goes into its word, unsplit; an array is bound here."""
        out = list(words)
        for assign in assigns:
            at = next((n for n, word in enumerate(out) if word.text == f"{assign.name}="), -1)
            if isinstance(assign.value, list) or assign.index is not None or at < 0:
                if words[0].text in ("local", "declare", "typeset") and self.frames and assign.name not in self.locals:
                    self.locals[assign.name] = self.state.vars.get(assign.name)
                self.bind(assign, span)
                continue
            value = self.text(assign.value.parts, tilde=True)
            text = f"{assign.name}{'+' * assign.append}={value.texts[0]}"
            out[at] = Word(text, out[at].span, UNKNOWN not in text, value.glob, True, feed=value.feed)
        return out

    def assigned_word(self, assign: Assign) -> Word:
        if isinstance(assign.value, list):
            return Word("", self.at(assign.start, assign.end))
        span = self.at(assign.start, assign.end)
        value = self.text(assign.value.parts, tilde=True)
        text = value.texts[0]
        if assign.append:
            old = self.lookup(assign.name)
            text = (old.texts[0] if old is not None else "") + text
        return Word(text, span, UNKNOWN not in text, feed=value.feed)

    def bind(self, assign: Assign, span: Span) -> None:
        """A lasting assignment."""
        name = assign.name
        value: Binding
        if isinstance(assign.value, list):
            value = self.array(assign, assign.value)
        else:
            scalar = self.text(assign.value.parts, tilde=True)
            old = self.state.vars.get(name)
            if assign.index is not None:
                key = self.text(assign.index).texts[0]
                before = old.items if isinstance(old, Array) else (("0", old),) if old is not None else ()
                kept = dict(before)
                if UNKNOWN in key:
                    value = Array(before, unknown=True)
                else:
                    kept[key] = scalar
                    value = Array(tuple(kept.items()), isinstance(old, Array) and old.unknown)
            elif isinstance(old, Array):
                value = Array((("0", scalar), *(item for item in old.items if item[0] != "0")), old.unknown)
            elif assign.append:
                known = self.lookup(name)
                if (
                    known is not None
                    and (scalar.feed or known.feed) is None
                    and known.texts[0].isdigit()
                    and scalar.texts[0].isdigit()
                ):
                    value = Value((known.texts[0] + scalar.texts[0], str(int(known.texts[0][:18]) + int(scalar.texts[0][:18]))))
                else:
                    value = Value(((known.texts[0] if known is not None else "") + scalar.texts[0],), scalar.feed)
            else:
                value = scalar
        self.assign(name, value, span)

    def array(self, assign: Assign, raws: list[Raw]) -> Array:
        items: dict[str, Value] = {}
        unknown = False
        if assign.append:
            old = self.state.vars.get(assign.name)
            if isinstance(old, Array):
                items, unknown = dict(old.items), old.unknown
            elif isinstance(old, Value):
                items["0"] = old
        number = max((int(key) for key in items if key.isdigit()), default=-1) + 1
        for raw in raws:
            keyed = self.keyed(raw)
            if keyed is not None:
                items[keyed[0]] = keyed[1]
                continue
            for word in self.fields([raw]):
                feed = word.feed
                if feed is None and word.roots:
                    feed = Feed(roots=word.roots, filtered=word.filtered)
                items[str(number)] = Value((word.text,), feed, word.glob)
                number += 1
        return Array(tuple(items.items()), unknown)

    def keyed(self, raw: Raw) -> tuple[str, Value] | None:
        parts = [raw.parts] if isinstance(raw.parts, str) else raw.parts
        if not parts or type(parts[0]) is not str or not parts[0].startswith("["):
            return None
        text = self.text(list(parts)).texts[0]
        key, found, value = text[1:].partition("]=")
        return (key, Value((value,))) if found else None

    def assign(self, name: str, value: Binding, span: Span) -> None:
        if isinstance(value, Value):
            for text in value.texts:
                check_variable(self, name, Word(text, span, UNKNOWN not in text, feed=value.feed), span)
        self.state.vars[name] = value

    # running

    def cwd(self) -> str | None:
        cwds = self.state.cwds
        if len(cwds) > 1:
            return cwds[self.choice("PWD", len(cwds))]
        return cwds[0] if cwds else None

    def invoke(
        self,
        argv: tuple[Word, ...],
        span: Span,
        *,
        env: Mapping[str, Word] = NOTHING,
        functions: bool = True,
        builtins: bool = True,
        redirs: Sequence[Redir] = (),
    ) -> None:
        """Run a command whose words are known as far as they can be."""
        self.count()
        head = argv[0]
        name = head.text
        if not head.resolved or head.glob:
            self.unresolved_head(argv, span)
            return
        if functions:
            if name in self.state.aliases and not head.quoted and self.aliased(argv, span):
                return
            if name in self.state.functions:
                self.call(name, argv, span, env)
                return
        if not name:
            if len(argv) > 1 and not head.quoted:
                self.invoke(argv[1:], span, env=env, functions=functions, builtins=builtins)
            return
        program = name.rsplit("/", 1)[-1] if "/" in name else name
        cwd = self.cwd()
        run = Run(program, argv, span, cwd, env, self.stdin, self.remote, self.depth)
        flags = self.marks(argv)
        self.emit(Effect(EffectKind.EXEC, line(argv), "", span, program, None, flags))
        sink = self.sink
        marked = len(sink) if sink is not None else 0
        self.said = None
        builtin = BUILTINS.get(name) if builtins else None
        if builtin is not None:
            builtin(run, self)
        else:
            self.outside(run)
        if sink is not None and self.sink is sink:
            if self.said is not None:
                sink.append(self.said)
                self.said = None
            elif len(sink) == marked:
                flow = FLOWS.get(program)
                sink.append(flow(run, self) if flow is not None else Feed())

    def marks(self, argv: tuple[Word, ...]) -> frozenset[Flag]:
        for word in argv:
            if not word.resolved:
                return UNRESOLVED | REMOTE if self.remote else UNRESOLVED
        return REMOTE if self.remote else NO_FLAGS

    def unresolved_head(self, argv: tuple[Word, ...], span: Span) -> None:
        head = argv[0]
        feed = head.feed
        run = Run("", argv, span, self.cwd(), stdin=self.stdin, remote=self.remote, depth=self.depth)
        if feed is not None and feed.fetched:
            self.act(Act.DOWNLOAD_RUN, run, "runs text that was downloaded by this command", head)
        elif feed is not None and feed.decoded:
            self.act(Act.DECODE_RUN, run, "runs text that was decoded by this command", head)
        elif head.glob and head.resolved:
            self.glob_head(argv, run)
        else:
            self.opaque("the program to run is not a constant word", run, head)

    def call(self, name: str, argv: tuple[Word, ...], span: Span, env: Mapping[str, Word]) -> None:
        """A function: its body with the words as parameters."""
        key = (name, tuple(word.text for word in argv))
        self.called.add(name)
        active = [frame for frame in self.frames if frame[0][0] == name]
        if active:
            if self.background > active[-1][1] or len(self.pipeline) > active[-1][2]:
                run = Run(name, argv, span, self.cwd(), remote=self.remote, depth=self.depth)
                self.act(Act.FORK_BOMB, run, "starts copies of itself without end")
                return
            if any(frame[0] == key for frame in active):
                return
        if len(self.frames) >= MAX_CALLS:
            self.unknown("functions call each other too deep to follow", span, line(argv), name)
            return
        defined = self.state.functions[name]
        params, base, saved = self.state.params, self.base, self.locals
        self.locals = {}
        self.frames.append((key, self.background, len(self.pipeline)))
        self.state.params = argv
        self.base = defined.base
        for variable, word in env.items():
            self.state.vars[variable] = Value((word.text,), word.feed)
        self.level += 1
        self.check_level()
        self.node(defined.body)
        self.level -= 1
        self.frames.pop()
        self.state.dead = False
        self.state.params, self.base = params, base
        for variable, old in self.locals.items():
            if old is None:
                self.state.vars.pop(variable, None)
            else:
                self.state.vars[variable] = old
        self.locals = saved

    def uncalled(self) -> None:
        """Functions that the text defines and never calls are walked once with unknown parameters."""
        for _ in range(3):
            names = [name for name in self.defined if name not in self.called]
            if not names:
                return
            for name in names:
                node, base = self.defined[name]
                self.called.add(name)
                saved = self.state
                self.state = saved.copy()
                self.state.params = None
                kept, self.base = self.base, base
                self.frames.append(((name, ("\0",)), self.background, len(self.pipeline)))
                self.node(node.body)
                self.frames.pop()
                self.state, self.base = saved, kept

    def outside(self, run: Run) -> None:
        """A program that is no builtin: its family, the file that it may be, and what it may wrap."""
        if "/" in run.argv[0].text or self.state.path_dirs:
            self.file_head(run)
        families = FAMILIES.get(run.program)
        if families is None:
            self.possible_wrapper(run)
            return
        for family in families:
            family(run, self)


DECLARING = frozenset(["declare", "typeset", "local", "export", "readonly", "eval"])
SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "mksh", "rbash"])
HANDLERS: dict[type, Callable[[Walker, object], None]] = {
    Pipe: Walker.pipe,  # type: ignore[dict-item]
    Group: Walker.group,  # type: ignore[dict-item]
    If: Walker.conditional,  # type: ignore[dict-item]
    Loop: Walker.loop,  # type: ignore[dict-item]
    For: Walker.each,  # type: ignore[dict-item]
    ArithFor: Walker.arith_for,  # type: ignore[dict-item]
    Case: Walker.case,  # type: ignore[dict-item]
    Function: Walker.define,  # type: ignore[dict-item]
    Cond: Walker.condition,  # type: ignore[dict-item]
    ArithCommand: Walker.arith_command,  # type: ignore[dict-item]
    Coproc: Walker.coproc,  # type: ignore[dict-item]
    Redirected: Walker.redirected,  # type: ignore[dict-item]
}
__all__ = ["UnreadableError", "Walker"]
