"""Python code: read with its grammar, followed as if every branch ran, with constants folded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checkrein.shell.scripts import python_calls as calls
from checkrein.shell.scripts import trees
from checkrein.shell.scripts.actor import Actor
from checkrein.shell.scripts.values import (
    MAX_ITEMS,
    NOTHING,
    PLACEHOLDER,
    UNKNOWN,
    Alternatives,
    Code,
    Items,
    Number,
    Ref,
    Table,
    Text,
    Thing,
    Unknown,
    Value,
    as_text,
    each,
    either,
    feed_of,
    joined,
    pick,
)
from checkrein.shell.spec import Run, Walk, Word
from checkrein.shell.words import TooMuchError

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 70
MAX_STEPS = 60_000
MAX_CALLS = 6
RISKY = re.compile(
    r"\b(?:os|subprocess|shutil|pty|ctypes|socket|importlib|runpy|requests|urllib|httpx|pathlib|commands|popen2?|posix)\b"
    r"|__import__|\beval\b|\bexec\b|\bcompile\b|\bopen\b|__builtins__|getattr|system|rmtree|unlink"
)
ESCAPE = re.compile(r"\\(?:\n|([0-7]{1,3})|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|N\{[^}]*\}|(.))", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", "'": "'", '"': '"'}
INNARDS = frozenset(["__subclasses__", "__globals__", "__code__", "__reduce__", "__mro__", "__bases__", "__closure__", "f_globals"])


def analyse(word: Word, run: Run, walk: Walk) -> None:
    """Report what the code would do."""
    text = word.text.replace(UNKNOWN, PLACEHOLDER)
    if not RISKY.search(text):
        return
    root = trees.parse("python", text)
    actor = Actor("python", word, run, walk)
    if root.has_error:
        walk.opaque("its python code has a form that is not read", run, word)
        return
    reader = Reader(actor, text)
    reader.block(root)
    reader.uncalled()


def unescape(text: str) -> str:
    def one(m: re.Match[str]) -> str:
        octal, hexa, u4, u8, letter = m.groups()
        if octal:
            return chr(int(octal, 8))
        code = hexa or u4 or u8
        if code:
            number = int(code, 16)
            return chr(number) if number <= 0x10FFFF else "?"
        if letter is None:
            return "" if m.group() == "\\\n" else "?"
        return LETTERS.get(letter, "\\" + letter)

    return ESCAPE.sub(one, text) if "\\" in text else text


class Reader:
    """Follows statements and evaluates expressions."""

    def __init__(self, actor: Actor, text: str) -> None:
        self.actor = actor
        self.data = text.encode("utf-8", "surrogateescape")
        argv = [Text(w.text if w.resolved else UNKNOWN) for w in actor.run.args]
        at = next((n for n, w in enumerate(actor.run.args) if w.span == actor.code.span and w.text == actor.code.text), -1)
        self.argv = Items((Text("-c"), *(argv[at + 1 :] if at >= 0 else argv)), open=at < 0)
        self.names: dict[str, Value] = {}
        self.functions: dict[str, Node] = {}
        self.pending: dict[int, Node] = {}
        self.called: set[int] = set()
        self.active: list[int] = []
        self.branch = 0
        self.depth = 0
        self.steps = 0
        self.looping = 0
        self.stars: list[str] = []

    # bookkeeping

    def source(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    def deeper(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooMuchError("its python code has too many parts")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuchError("its python code is nested too deep")

    def uncalled(self) -> None:
        """Functions that were defined and never called, with unknown parameters."""
        for _ in range(3):
            todo = [node for node in self.pending.values() if node.id not in self.called]
            for node in todo:
                self.called.add(node.id)
                self.body(node, None, {})
            if not todo:
                return

    # statements

    def block(self, node: Node) -> None:
        for child in node.named_children:
            self.statement(child)

    def statement(self, node: Node) -> None:
        self.deeper()
        handler = STATEMENTS.get(node.type)
        if handler is not None:
            handler(self, node)
        else:
            self.value(node)
        self.depth -= 1

    def children(self, node: Node) -> None:
        self.block(node)

    def imports(self, node: Node) -> None:
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
                assert name is not None and alias is not None
                self.names[self.source(alias)] = Ref(self.source(name))
            else:
                name = self.source(child)
                self.names[name.split(".", 1)[0]] = Ref(name.split(".", 1)[0])

    def imports_from(self, node: Node) -> None:
        module = node.child_by_field_name("module_name")
        base = self.source(module) if module is not None else ""
        if any(child.type == "wildcard_import" for child in node.children):
            self.stars.append(base)
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
                assert name is not None and alias is not None
                self.names[self.source(alias)] = Ref(f"{base}.{self.source(name)}")
            else:
                self.names[self.source(child)] = Ref(f"{base}.{self.source(child)}")

    def bind(self, target: Node, value: Value) -> None:
        kind = target.type
        if kind == "identifier":
            name = self.source(target)
            self.names[name] = either(self.names.get(name), value) if self.branch and name in self.names else value
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list"):
            for number, child in enumerate(target.named_children):
                self.bind(child, pick(value, Number(number)) if isinstance(value, Items) else value if isinstance(value, Unknown) else Unknown(feed_of(value)))
        elif kind == "subscript":
            base = target.child_by_field_name("value")
            key = target.child_by_field_name("subscript")
            if base is not None and key is not None:
                holder = self.value(base)
                index = self.value(key)
                if isinstance(holder, Ref) and holder.name in ("os.environ", "environ"):
                    text = as_text(index)
                    self.actor.walk.variable(text.text, self.actor.word(value), self.actor.run)
                elif base.type == "identifier" and isinstance(index, Text) and isinstance(holder, Table):
                    kept = tuple(item for item in holder.items if item[0] != index.text)
                    self.names[self.source(base)] = Table((*kept, (index.text, value)))
        elif kind == "attribute":
            self.value(target)
        else:
            for child in target.named_children:
                self.value(child)

    def assignment(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        left = node.child_by_field_name("left")
        if right is None or left is None:
            return
        value = self.value(right)
        if node.type == "augmented_assignment" and left.type == "identifier":
            old = self.names.get(self.source(left), NOTHING)
            value = self.plus(old, value)
        self.bind(left, value)

    def loop(self, node: Node) -> None:
        left, right, body = (node.child_by_field_name(n) for n in ("left", "right", "body"))
        if left is None or right is None or body is None:
            return
        source = self.value(right)
        self.branch += 1
        for item in self.elements(source):
            self.rebind(left, item)
            self.block(body)
        self.branch -= 1
        rest = node.child_by_field_name("alternative")
        if rest is not None:
            self.statement(rest)

    def rebind(self, left: Node, item: Value) -> None:
        kept, self.branch = self.branch, 0
        self.bind(left, item)
        self.branch = kept

    def elements(self, source: Value) -> list[Value]:
        """What a loop over the value takes, one by one."""
        if isinstance(source, Alternatives):
            return [item for one in source.values for item in self.elements(one)]
        if isinstance(source, Items) and len(source.items) <= MAX_ITEMS:
            return [*source.items, *([Unknown(feed_of(source))] if source.open or not source.items else [])]
        if isinstance(source, Table):
            return [Text(key) for key, _ in source.items[:MAX_ITEMS]] or [NOTHING]
        if isinstance(source, Text):
            return [Text(UNKNOWN, source.feed, source.path)] if not source.known else [Text(c) for c in source.text[:MAX_ITEMS]]
        return [Unknown(feed_of(source))]

    def endless(self, node: Node) -> None:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        value = self.value(condition) if condition is not None else NOTHING
        endless = isinstance(value, Number) and value.number != 0
        self.branch += 1
        self.looping += endless
        if body is not None:
            self.block(body)
            self.block(body)
        self.looping -= endless
        self.branch -= 1

    def branches(self, node: Node) -> None:
        self.branch += 1
        for child in node.named_children:
            self.statement(child)
        self.branch -= 1

    def context(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "with_clause":
                for item in child.named_children:
                    value_node = item.child_by_field_name("value")
                    if value_node is None:
                        continue
                    if value_node.type == "as_pattern":
                        inner = value_node.named_children
                        value = self.value(inner[0])
                        if len(inner) > 1:
                            target = inner[1].named_children[0] if inner[1].named_children else inner[1]
                            self.bind(target, value)
                    else:
                        self.value(value_node)
            else:
                self.statement(child)

    def define(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.pending[node.id] = node
            self.names[self.source(name)] = Code(self.source(name), node)

    def decorated(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "decorator":
                for inner in child.named_children:
                    self.value(inner)
            else:
                self.statement(child)

    def class_body(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        kept = dict(self.names)
        if body is not None:
            self.block(body)
        self.names = {**self.names, **kept}

    def body(self, node: Node, values: list[Value] | None, keywords: dict[str, Value]) -> Value:
        """A function's body with its parameters bound; `values` None means unknown ones."""
        if len(self.active) >= MAX_CALLS or node.id in self.active:
            return NOTHING
        self.active.append(node.id)
        kept = dict(self.names)
        parameters = node.child_by_field_name("parameters")
        position = 0
        for child in parameters.named_children if parameters is not None else ():
            target = child
            default: Value = NOTHING
            if child.type in ("default_parameter", "typed_default_parameter"):
                found, given = child.child_by_field_name("name"), child.child_by_field_name("value")
                target = found if found is not None else child
                default = self.value(given) if given is not None else NOTHING
            elif child.type == "typed_parameter" and child.named_children:
                target = child.named_children[0]
            if target.type in ("list_splat_pattern", "dictionary_splat_pattern"):
                name = self.source(target).lstrip("*")
                star = target.type == "list_splat_pattern" and values is not None
                self.names[name] = Items(tuple((values or [])[position:])) if star else NOTHING
                continue
            name = self.source(target)
            if name in keywords:
                self.names[name] = keywords[name]
            elif values is not None and position < len(values):
                self.names[name] = values[position]
            else:
                self.names[name] = default if values is not None else NOTHING
            position += 1
        body = node.child_by_field_name("body")
        result: list[Value] = []
        kept_results, self.results = getattr(self, "results", None), result
        if body is not None:
            if node.type == "lambda":
                result.append(self.value(body))
            else:
                self.block(body)
        self.results = kept_results
        self.names = kept
        self.active.pop()
        out: Value | None = None
        for value in result:
            out = either(out, value)
        return out if out is not None else NOTHING

    results: list[Value] | None = None

    def returns(self, node: Node) -> None:
        for child in node.named_children:
            value = self.value(child)
            if self.results is not None:
                self.results.append(value)

    def python2(self, node: Node) -> None:
        """`exec code`, `print x`."""
        values = [self.value(child) for child in node.named_children]
        if node.type == "exec_statement" and values:
            self.actor.evaluate(values[0])

    # expressions

    def value(self, node: Node) -> Value:
        self.deeper()
        handler = EXPRESSIONS.get(node.type)
        if handler is not None:
            out = handler(self, node)
        else:
            out = NOTHING
            for child in node.named_children:
                self.value(child)
        self.depth -= 1
        return out

    def inner(self, node: Node) -> Value:
        found: Value = NOTHING
        for child in node.named_children:
            if child.type != "comment":
                found = self.value(child)
        return found

    def identifier(self, node: Node) -> Value:
        name = self.source(node)
        found = self.names.get(name)
        if found is not None:
            return found
        if name == PLACEHOLDER:
            return NOTHING
        for star in self.stars:
            if f"{star}.{name}" in calls.KNOWN:
                return Ref(f"{star}.{name}")
        return Ref(name) if name in calls.BUILTIN else NOTHING

    def string(self, node: Node) -> Value:
        raw = self.source(node)
        m = re.match(r"[A-Za-z]*", raw)
        prefix = m.group().lower() if m is not None else ""
        parts: list[Value] = []
        for child in node.children:
            if child.type == "string_content":
                text = self.source(child)
                text = text if "r" in prefix else unescape(text)
                if "f" in prefix:
                    text = text.replace("{{", "{").replace("}}", "}")
                parts.append(Text(text.replace(PLACEHOLDER, UNKNOWN)))
            elif child.type == "interpolation":
                expression = child.child_by_field_name("expression")
                parts.append(as_text(self.value(expression)) if expression is not None else Text(UNKNOWN))
        return joined(parts)

    def strings(self, node: Node) -> Value:
        return joined([self.value(child) for child in node.named_children])

    def number(self, node: Node) -> Value:
        text = self.source(node).replace("_", "").rstrip("jJlL")
        try:
            return Number(float(int(text, 0)) if node.type == "integer" else float(text))
        except ValueError:
            return Number(int(text, 8)) if re.fullmatch(r"0[0-7]+", text) else NOTHING

    def items(self, node: Node) -> Value:
        out: list[Value] = []
        unsure = False
        for child in node.named_children:
            if child.type == "list_splat":
                inner = self.inner(child)
                if isinstance(inner, Items):
                    out.extend(inner.items)
                    unsure = unsure or inner.open
                else:
                    unsure = True
            elif child.type != "comment":
                out.append(self.value(child))
        return Items(tuple(out[: MAX_ITEMS * 4]), open=unsure or len(out) > MAX_ITEMS * 4)

    def table(self, node: Node) -> Value:
        out: list[tuple[str, Value]] = []
        for child in node.named_children:
            if child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None:
                    out.append((as_text(self.value(key)).text, self.value(value)))
            else:
                self.value(child)
        return Table(tuple(out))

    def attribute(self, node: Node) -> Value:
        base, name_node = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if base is None or name_node is None:
            return NOTHING
        return self.member(self.value(base), self.source(name_node))

    def member(self, base: Value, name: str) -> Value:
        if name in INNARDS:
            self.actor.dynamic(f"reaches for the interpreter's innards (`{name}`)")
        if isinstance(base, Alternatives):
            base = base.values[0]
        if isinstance(base, Ref):
            full = f"{base.name}.{name}"
            constant = calls.CONSTANTS.get(full)
            if constant is not None:
                return self.place(constant)
            return self.argv if full == "sys.argv" else Ref(full)
        if isinstance(base, Text) and base.path:
            return calls.path_attribute(self, base, name)
        if isinstance(base, Thing) and name in ("text", "content", "stdout", "stderr", "data", "body", "stdin"):
            return Unknown(feed_of(base.of) if base.kind != "response" else calls.FETCHED)
        return Thing(f".{name}", base) if not isinstance(base, Thing) or base.kind else NOTHING

    def place(self, what: str) -> Value:
        site = self.actor.walk.site
        if what == "cwd":
            return Text(self.actor.run.cwd or UNKNOWN)
        if what == "home":
            return Text(site.home)
        return Text(what)

    def subscript(self, node: Node) -> Value:
        base = node.child_by_field_name("value")
        keys = node.children_by_field_name("subscript")
        holder = self.value(base) if base is not None else NOTHING
        if len(keys) == 1 and keys[0].type == "slice":
            return self.slice(holder, keys[0])
        index = self.value(keys[0]) if keys else NOTHING
        for extra in keys[1:]:
            self.value(extra)
        if isinstance(holder, Ref):
            return calls.of_module(self, holder, index)
        return pick(holder, index)

    def slice(self, holder: Value, node: Node) -> Value:
        bounds: list[int | None] = [None]
        for child in node.children:
            if child.type == ":":
                bounds.append(None)
            else:
                value = self.value(child)
                if not isinstance(value, Number):
                    return Unknown(feed_of(holder))
                bounds[-1] = int(value.number)
        cut = slice(*bounds[:3]) if len(bounds) > 1 and (len(bounds) < 3 or bounds[2] != 0) else slice(None)
        if isinstance(holder, Text) and holder.known:
            return Text(holder.text[cut], holder.feed)
        if isinstance(holder, Items) and not holder.open:
            return Items(holder.items[cut])
        return Unknown(feed_of(holder))

    def binary(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return NOTHING
        a, b = self.value(left), self.value(right)
        op = operator.type
        if op == "+":
            return self.plus(a, b)
        if op == "/" and isinstance(a, Text) and a.path:
            return calls.join_paths([a, b], path=True)
        if op == "%" and isinstance(a, Text):
            return calls.percent(a, b)
        if op == "*" and isinstance(b, Number) and isinstance(a, Text | Items):
            count = int(b.number)
            if isinstance(a, Text) and 0 <= count * len(a.text) < 65536:
                return Text(a.text * count, a.feed)
            if isinstance(a, Items) and 0 <= count * len(a.items) <= MAX_ITEMS:
                return Items(a.items * count, a.open)
            return NOTHING
        if isinstance(a, Number) and isinstance(b, Number):
            return calls.arithmetic(op, a.number, b.number)
        return Unknown(feed_of(a) or feed_of(b))

    def plus(self, a: Value, b: Value) -> Value:
        if isinstance(a, Items) and isinstance(b, Items):
            return Items((*a.items, *b.items), a.open or b.open)
        if isinstance(a, Items):
            return Items(a.items, open=True)
        if isinstance(a, Number) and isinstance(b, Number):
            return Number(a.number + b.number)
        if isinstance(a, Text) or isinstance(b, Text):
            return joined([a, b])
        return Unknown(feed_of(a) or feed_of(b))

    def unary(self, node: Node) -> Value:
        value = self.inner(node)
        return Number(-value.number) if isinstance(value, Number) and self.source(node).startswith("-") else value

    def chosen(self, node: Node) -> Value:
        """`a if c else b`, `a or b`: either."""
        values = [self.value(child) for child in node.named_children]
        if node.type == "conditional_expression" and len(values) == 3:
            values = [values[0], values[2]]
        out: Value | None = None
        for value in values:
            out = either(out, value)
        return out if out is not None else NOTHING

    def named(self, node: Node) -> Value:
        name, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value_node is None:
            return NOTHING
        value = self.value(value_node)
        self.bind(name, value)
        return value

    def comprehension(self, node: Node) -> Value:
        body = node.child_by_field_name("body")
        clauses = [child for child in node.named_children if child.type == "for_in_clause"]
        kept = dict(self.names)
        out: list[Value] = []
        items: list[Value] = [NOTHING]
        if clauses:
            right = clauses[0].child_by_field_name("right")
            items = self.elements(self.value(right)) if right is not None else items
        unsure = False
        for item in items:
            for number, clause in enumerate(clauses):
                left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
                if left is None or right is None:
                    continue
                unsure = unsure or number > 0
                self.rebind(left, item if number == 0 else self.elements(self.value(right))[0])
            for child in node.named_children:
                if child.type == "if_clause":
                    unsure = True
                    self.value(child)
            if body is not None:
                out.append(self.value(body))
        self.names = kept
        unsure = unsure or any(isinstance(item, Unknown) or (isinstance(item, Text) and not item.known) for item in items)
        if len(out) == 1 and unsure:
            return Unknown(feed_of(out[0])) if not isinstance(out[0], Text) else Items((out[0],), open=True)
        return Items(tuple(out[:MAX_ITEMS]), open=unsure)

    def function(self, node: Node) -> Value:
        self.pending[node.id] = node
        return Code("lambda", node)

    def call(self, node: Node) -> Value:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return NOTHING
        values: list[Value] = []
        keywords: dict[str, Value] = {}
        unsure = False
        if arguments.type == "generator_expression":
            values.append(self.comprehension(arguments))
        for child in arguments.named_children if arguments.type != "generator_expression" else ():
            if child.type == "keyword_argument":
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                if name is not None and value is not None:
                    keywords[self.source(name)] = self.value(value)
            elif child.type == "list_splat":
                inner = self.inner(child)
                if isinstance(inner, Items):
                    values.extend(inner.items)
                    unsure = unsure or inner.open
                else:
                    unsure = True
                    values.append(Unknown(feed_of(inner)))
            elif child.type == "dictionary_splat":
                inner = self.inner(child)
                if isinstance(inner, Table):
                    keywords.update(inner.items)
            elif child.type != "comment":
                values.append(self.value(child))
        receiver: Value | None = None
        name = ""
        if function.type == "attribute":
            base, attribute = function.child_by_field_name("object"), function.child_by_field_name("attribute")
            receiver = self.value(base) if base is not None else NOTHING
            name = self.source(attribute) if attribute is not None else ""
            target = self.member(receiver, name)
        else:
            target = self.value(function)
        out: Value | None = None
        for one in each(target):
            out = either(out, self.invoke(one, receiver, name, values, keywords))
        return out if out is not None else NOTHING

    def invoke(self, target: Value, receiver: Value | None, name: str, values: list[Value], keywords: dict[str, Value]) -> Value:
        """Call a value."""
        if isinstance(target, Code):
            self.called.add(target.node.id)
            return self.body(target.node, values, keywords)
        if isinstance(target, Ref):
            return calls.call_known(self, target.name, values, keywords)
        if receiver is not None:
            return calls.call_method(self, receiver, name, values, keywords)
        for value in (*values, *keywords.values()):
            self.escaping(value, values)
        return Unknown(next((feed for feed in map(feed_of, values) if feed is not None), None))

    def escaping(self, value: Value, values: list[Value]) -> None:
        """A function handed to something unknown may be called with the other values."""
        if isinstance(value, Code):
            self.called.discard(value.node.id)
        elif isinstance(value, Ref) and value.name in calls.DANGEROUS:
            rest = [other for other in values if other is not value]
            for item in rest or [NOTHING]:
                for element in self.elements(item) if isinstance(item, Items) else [item]:
                    calls.call_known(self, value.name, list(element.items) if isinstance(element, Items) else [element], {})


STATEMENTS = {
    "module": Reader.children,
    "block": Reader.children,
    "expression_statement": Reader.children,
    "import_statement": Reader.imports,
    "import_from_statement": Reader.imports_from,
    "assignment": Reader.assignment,
    "augmented_assignment": Reader.assignment,
    "for_statement": Reader.loop,
    "while_statement": Reader.endless,
    "if_statement": Reader.branches,
    "elif_clause": Reader.branches,
    "else_clause": Reader.branches,
    "try_statement": Reader.branches,
    "except_clause": Reader.branches,
    "except_group_clause": Reader.branches,
    "finally_clause": Reader.branches,
    "match_statement": Reader.branches,
    "case_clause": Reader.branches,
    "with_statement": Reader.context,
    "function_definition": Reader.define,
    "decorated_definition": Reader.decorated,
    "class_definition": Reader.class_body,
    "return_statement": Reader.returns,
    "exec_statement": Reader.python2,
    "print_statement": Reader.python2,
}
EXPRESSIONS = {
    "identifier": Reader.identifier,
    "string": Reader.string,
    "concatenated_string": Reader.strings,
    "integer": Reader.number,
    "float": Reader.number,
    "true": lambda _self, _node: Number(1),
    "false": lambda _self, _node: Number(0),
    "none": lambda _self, _node: Number(0),
    "list": Reader.items,
    "tuple": Reader.items,
    "set": Reader.items,
    "expression_list": Reader.items,
    "dictionary": Reader.table,
    "attribute": Reader.attribute,
    "subscript": Reader.subscript,
    "binary_operator": Reader.binary,
    "unary_operator": Reader.unary,
    "boolean_operator": Reader.chosen,
    "conditional_expression": Reader.chosen,
    "named_expression": Reader.named,
    "parenthesized_expression": Reader.inner,
    "await": Reader.inner,
    "list_comprehension": Reader.comprehension,
    "set_comprehension": Reader.comprehension,
    "generator_expression": Reader.comprehension,
    "lambda": Reader.function,
    "call": Reader.call,
    "assignment": lambda self, node: (self.assignment(node), NOTHING)[1],
}
