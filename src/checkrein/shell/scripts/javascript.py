"""JavaScript code: read with its grammar, followed as if every branch ran, with constants folded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checkrein.shell.scripts import javascript_calls as calls
from checkrein.shell.scripts import trees
from checkrein.shell.scripts.actor import Actor
from checkrein.shell.scripts.python import unescape
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
from checkrein.vocab.acts import Act

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 70
MAX_STEPS = 60_000
MAX_CALLS = 6
RISKY = re.compile(
    r"child_process|\bfs\b|\bfs/|require|import|\beval\b|Function|process\b|fetch|XMLHttpRequest|http|net\b|Deno|Bun|\bvm\b|rimraf|execa|shelljs"
    r"|constructor|globalThis|global\b|WebAssembly|\$`|axios|\bgot\b|WebSocket|Reflect|ObjC|Application|doShellScript"
)
FUNCTIONS = frozenset(
    [
        "arrow_function",
        "function_expression",
        "function",
        "generator_function",
        "method_definition",
        "function_declaration",
        "generator_function_declaration",
    ]
)


def analyse(word: Word, run: Run, walk: Walk) -> None:
    """Report what the code would do."""
    text = word.text.replace(UNKNOWN, PLACEHOLDER)
    if not RISKY.search(text):
        return
    root = trees.parse("javascript", text)
    actor = Actor("javascript", word, run, walk)
    if root.has_error:
        walk.opaque("its javascript code has a form that is not read", run, word)
        return
    reader = Reader(actor, text)
    reader.block(root)
    reader.uncalled()


class Reader:
    """Follows statements and evaluates expressions."""

    def __init__(self, actor: Actor, text: str) -> None:
        self.actor = actor
        self.data = text.encode("utf-8", "surrogateescape")
        self.names: dict[str, Value] = {}
        self.pending: dict[int, Node] = {}
        self.called: set[int] = set()
        self.active: list[int] = []
        self.results: list[Value] | None = None
        self.branch = 0
        self.depth = 0
        self.steps = 0
        self.looping = 0

    def source(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")

    def deeper(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooMuchError("its javascript code has too many parts")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuchError("its javascript code is nested too deep")

    def uncalled(self) -> None:
        for _ in range(3):
            todo = [node for node in self.pending.values() if node.id not in self.called]
            for node in todo:
                self.called.add(node.id)
                self.body(node, None)
            if not todo:
                return

    # statements

    def block(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in ("function_declaration", "generator_function_declaration"):
                self.define(child)
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

    def define(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        self.pending[node.id] = node
        if name is not None:
            self.names[self.source(name)] = Code(self.source(name), node)

    def imports(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        if source is None:
            return
        name = as_text(self.value(source)).text
        loaded = calls.call_known(self, "require", [Text(name)])
        base = loaded.name if isinstance(loaded, Ref) else name
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for child in clause.named_children:
                if child.type == "identifier":
                    self.names[self.source(child)] = Ref(base)
                elif child.type == "namespace_import":
                    self.names[self.source(child.named_children[-1])] = Ref(base)
                elif child.type == "named_imports":
                    for specifier in child.named_children:
                        what, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
                        if what is not None:
                            self.names[self.source(alias or what)] = Ref(f"{base}.{self.source(what)}")

    def declares(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "variable_declarator":
                name, value_node = child.child_by_field_name("name"), child.child_by_field_name("value")
                if name is not None:
                    self.bind(name, self.value(value_node) if value_node is not None else NOTHING)

    def bind(self, target: Node, value: Value) -> None:
        kind = target.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            name = self.source(target)
            self.names[name] = either(self.names.get(name), value) if self.branch and name in self.names else value
        elif kind == "object_pattern":
            for child in target.named_children:
                if child.type == "shorthand_property_identifier_pattern":
                    self.bind(child, self.member(value, self.source(child)))
                elif child.type == "pair_pattern":
                    key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
                    if key is not None and inner is not None:
                        self.bind(inner, self.member(value, self.source(key)))
                elif child.type == "object_assignment_pattern" and child.named_children:
                    self.bind(child.named_children[0], self.member(value, self.source(child.named_children[0])))
                elif child.type == "rest_pattern" and child.named_children:
                    self.bind(child.named_children[0], value)
        elif kind == "array_pattern":
            for number, child in enumerate(target.named_children):
                self.bind(child, pick(value, Number(number)) if isinstance(value, Items) else Unknown(feed_of(value)))
        elif kind == "assignment_pattern":
            left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
            if left is not None and right is not None:
                default = self.value(right)
                self.bind(left, value if value is not NOTHING else default)
        elif kind == "rest_pattern" and target.named_children:
            self.bind(target.named_children[0], value)
        elif kind == "member_expression":
            base = target.child_by_field_name("object")
            prop = target.child_by_field_name("property")
            holder = self.value(base) if base is not None else NOTHING
            if isinstance(holder, Ref) and holder.name == "process.env" and prop is not None:
                self.actor.walk.variable(self.source(prop), self.actor.word(value), self.actor.run)
            elif isinstance(holder, Table) and base is not None and base.type == "identifier" and prop is not None:
                key = self.source(prop)
                self.names[self.source(base)] = Table((*(i for i in holder.items if i[0] != key), (key, value)))
        else:
            for child in target.named_children:
                self.value(child)

    def loop(self, node: Node) -> None:
        """`for (x of xs)`, `for (x in xs)`."""
        left, right, body = (node.child_by_field_name(name) for name in ("left", "right", "body"))
        source = self.value(right) if right is not None else NOTHING
        items = list(source.items[:MAX_ITEMS]) if isinstance(source, Items) else [Unknown(feed_of(source))]
        if isinstance(source, Items) and (source.open or not items):
            items.append(Unknown(feed_of(source)))
        self.branch += 1
        for item in items:
            kept, self.branch = self.branch, 0
            if left is not None:
                self.bind(left, item)
            self.branch = kept
            if body is not None:
                self.statement(body)
        self.branch -= 1

    def branches(self, node: Node) -> None:
        endless = node.type == "while_statement" and "true" in self.source(node)[:20]
        self.branch += 1
        self.looping += endless
        for child in node.named_children:
            self.statement(child)
        self.looping -= endless
        self.branch -= 1

    def returns(self, node: Node) -> None:
        for child in node.named_children:
            value = self.value(child)
            if self.results is not None:
                self.results.append(value)

    def class_body(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "class_body":
                for member in child.named_children:
                    if member.type == "method_definition":
                        self.pending[member.id] = member
                    else:
                        self.value(member)

    def body(self, node: Node, values: list[Value] | None) -> Value:
        """A function's body with its parameters bound; `values` None means unknown ones."""
        if len(self.active) >= MAX_CALLS or node.id in self.active:
            return NOTHING
        self.called.add(node.id)
        self.active.append(node.id)
        kept, kept_branch, self.branch = dict(self.names), self.branch, 0
        parameters = node.child_by_field_name("parameters")
        single = node.child_by_field_name("parameter")
        targets = (
            [single]
            if single is not None
            else [c for c in parameters.named_children if c.type != "comment"]
            if parameters is not None
            else []
        )
        for number, target in enumerate(targets):
            if target.type == "rest_pattern" and target.named_children:
                self.bind(target.named_children[0], Items(tuple((values or [])[number:]), open=values is None))
            else:
                self.bind(target, values[number] if values is not None and number < len(values) else NOTHING)
        body = node.child_by_field_name("body")
        result: list[Value] = []
        kept_results, self.results = self.results, result
        if body is not None:
            if body.type == "statement_block":
                self.block(body)
            else:
                result.append(self.value(body))
        self.results, self.branch = kept_results, kept_branch
        changed = {name: value for name, value in self.names.items() if name in kept and kept[name] != value}
        self.names = {**kept, **{name: either(kept[name], value) for name, value in changed.items()}}
        self.active.pop()
        out: Value | None = None
        for value in result:
            out = either(out, value)
        return out if out is not None else NOTHING

    # expressions

    def value(self, node: Node) -> Value:
        self.deeper()
        handler = EXPRESSIONS.get(node.type)
        if handler is not None:
            out = handler(self, node)
        else:
            out = NOTHING
            for child in node.named_children:
                self.statement(child)
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
        if name in calls.GLOBALS or name in ("fs", "os", "path", "child_process", "http", "https", "net", "vm", "util"):
            return Ref(name)
        return NOTHING

    def string(self, node: Node) -> Value:
        parts = [self.source(child) for child in node.children if child.type in ("string_fragment", "escape_sequence")]
        return Text(unescape("".join(parts)).replace("\\`", "`").replace("\\$", "$").replace(PLACEHOLDER, UNKNOWN))

    def template(self, node: Node) -> Value:
        parts: list[Value] = []
        for child in node.children:
            if child.type in ("string_fragment", "escape_sequence"):
                parts.append(
                    Text(unescape(self.source(child)).replace("\\`", "`").replace("\\$", "$").replace(PLACEHOLDER, UNKNOWN))
                )
            elif child.type == "template_substitution":
                parts.append(as_text(self.inner(child)))
        return joined(parts)

    def number(self, node: Node) -> Value:
        text = self.source(node).replace("_", "").rstrip("n")
        try:
            return Number(
                float(int(text, 0))
                if re.fullmatch(r"0[xXbBoO]\w+|\d+", text) and not re.fullmatch(r"0\d+", text)
                else float(text)
            )
        except ValueError:
            return NOTHING

    def items(self, node: Node) -> Value:
        out: list[Value] = []
        unsure = False
        for child in node.named_children:
            if child.type == "spread_element":
                inner = self.inner(child)
                if isinstance(inner, Items):
                    out.extend(inner.items)
                    unsure = unsure or inner.open
                else:
                    unsure = True
            elif child.type != "comment":
                out.append(self.value(child))
        return Items(tuple(out[: MAX_ITEMS * 4]), unsure or len(out) > MAX_ITEMS * 4)

    def table(self, node: Node) -> Value:
        out: list[tuple[str, Value]] = []
        for child in node.named_children:
            if child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None:
                    name = (
                        as_text(self.value(key)).text if key.type in ("string", "computed_property_name") else self.source(key)
                    )
                    out.append((name, self.value(value)))
            elif child.type == "shorthand_property_identifier":
                out.append((self.source(child), self.identifier(child)))
            elif child.type == "method_definition":
                self.pending[child.id] = child
                name_node = child.child_by_field_name("name")
                if name_node is not None:
                    out.append((self.source(name_node), Code(self.source(name_node), child)))
            elif child.type == "spread_element":
                inner = self.inner(child)
                if isinstance(inner, Table):
                    out.extend(inner.items)
        return Table(tuple(out))

    def attribute(self, node: Node) -> Value:
        base, prop = node.child_by_field_name("object"), node.child_by_field_name("property")
        if base is None or prop is None:
            return NOTHING
        return self.member(self.value(base), self.source(prop))

    def subscript(self, node: Node) -> Value:
        base, index = node.child_by_field_name("object"), node.child_by_field_name("index")
        if base is None or index is None:
            return NOTHING
        holder, key = self.value(base), self.value(index)
        if isinstance(key, Text) and key.known:
            return self.member(holder, key.text)
        if isinstance(holder, Ref):
            if not isinstance(key, Number) and (
                holder.name.split(".")[0] in calls.FILES or holder.name in ("child_process", "process", "globalThis", "global")
            ):
                if holder.name not in ("process.argv", "process.env"):
                    self.actor.dynamic(f"takes a part of `{holder.name}` whose name is not constant")
            return NOTHING
        return pick(holder, key)

    def member(self, base: Value, name: str) -> Value:
        if isinstance(base, Alternatives):
            base = base.values[0]
        if name in ("constructor", "__proto__") and not (isinstance(base, Ref) and base.name == "Object"):
            return Ref("constructor") if name == "constructor" else NOTHING
        if isinstance(base, Ref):
            if base.name in ("globalThis", "global", "window"):
                return self.names.get(name, Ref(name))
            if base.name == "process.env":
                site = self.actor.walk.site
                known = {"HOME": site.home, "USER": site.user, "PWD": self.actor.run.cwd or UNKNOWN, **site.env}.get(name)
                return Text(known) if known is not None else Text(UNKNOWN)
            full = f"{base.name}.{name}"
            if full in ("path.sep", "os.EOL"):
                return Text("/" if full == "path.sep" else "\n")
            return Ref(base.name if name == "default" else full)
        if isinstance(base, Table):
            found = base.get(name)
            return found if found is not None else NOTHING
        if name == "length":
            return Number(len(base.text)) if isinstance(base, Text) and base.known else NOTHING
        if isinstance(base, Thing) and base.kind == "response" and name in ("data", "body", "text"):
            return Unknown(calls.FETCHED)
        return Thing(f".{name}", base)

    def binary(self, node: Node) -> Value:
        left, right, operator = (node.child_by_field_name(name) for name in ("left", "right", "operator"))
        if left is None or right is None or operator is None:
            return NOTHING
        a, b = self.value(left), self.value(right)
        if operator.type == "+":
            if isinstance(a, Number) and isinstance(b, Number):
                return Number(a.number + b.number)
            if isinstance(a, Text) or isinstance(b, Text):
                return joined([a, b])
            return Unknown(feed_of(a) or feed_of(b))
        if operator.type in ("||", "&&", "??"):
            return either(a, b) if not isinstance(a, Unknown) else b
        if isinstance(a, Number) and isinstance(b, Number):
            from checkrein.shell.scripts.python_calls import arithmetic

            return arithmetic(operator.type, a.number, b.number)
        return NOTHING

    def ternary(self, node: Node) -> Value:
        values = [self.value(child) for child in node.named_children]
        return either(values[1], values[2]) if len(values) == 3 else NOTHING

    def assignment(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return NOTHING
        value = self.value(right)
        if node.type == "augmented_assignment_expression" and left.type == "identifier":
            old = self.names.get(self.source(left), NOTHING)
            value = joined([old, value]) if isinstance(old, Text) else NOTHING
        self.bind(left, value)
        return value

    def function(self, node: Node) -> Value:
        self.pending[node.id] = node
        return Code("", node)

    def new(self, node: Node) -> Value:
        constructor, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
        target = self.value(constructor) if constructor is not None else NOTHING
        values = self.arguments(arguments)
        if isinstance(target, Ref):
            if target.name == "URL":
                return values[0] if values else NOTHING
            return calls.call_known(self, target.name, values)
        return NOTHING

    def arguments(self, node: Node | None) -> list[Value]:
        if node is None:
            return []
        found = self.items(node)
        assert isinstance(found, Items)
        return [*found.items, NOTHING] if found.open else list(found.items)

    def call(self, node: Node) -> Value:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return NOTHING
        if arguments is not None and arguments.type == "template_string":
            return self.tagged(function, arguments)
        receiver: Value | None = None
        name = ""
        if function.type == "member_expression":
            base, prop = function.child_by_field_name("object"), function.child_by_field_name("property")
            receiver = self.value(base) if base is not None else NOTHING
            name = self.source(prop) if prop is not None else ""
            target = self.member(receiver, name)
        elif function.type == "import":
            target = Ref("import")
        else:
            target = self.value(function)
        values = self.arguments(arguments)
        if name in ("call", "apply", "bind") and isinstance(receiver, Ref | Code):
            rest = values[1:]
            if name == "apply":
                rest = list(rest[0].items) if rest and isinstance(rest[0], Items) else [NOTHING]
            if name == "bind":
                return receiver
            return self.invoke(receiver, None, "", rest)
        if name in ("then", "catch", "finally") and isinstance(receiver, Ref | Text | Items | Unknown | Table):
            for value in values:
                self.callback(value, [receiver])
            return receiver
        out: Value | None = None
        for one in each(target):
            out = either(out, self.invoke(one, receiver, name, values))
        return out if out is not None else NOTHING

    def tagged(self, function: Node, template: Node) -> Value:
        """`$`rm -rf ${x}`` of zx, Bun and dax; other tags are plain text."""
        value = self.template(template)
        target = self.value(function)
        if isinstance(target, Ref) and (target.name.endswith("$") or target.name in ("Bun.$", "execa")):
            self.actor.shell(value)
        return value

    def invoke(self, target: Value, receiver: Value | None, name: str, values: list[Value]) -> Value:
        if isinstance(target, Code):
            return self.body(target.node, values)
        if isinstance(target, Ref):
            if target.name == "child_process.fork" and self.looping:
                self.actor.walk.act(Act.FORK_BOMB, self.actor.run, "starts copies of itself without end", self.actor.code)
            return calls.call_known(self, target.name, values)
        if receiver is not None:
            return calls.call_method(self, receiver, name, values)
        if isinstance(target, Thing) and target.kind == "Function()":
            return NOTHING
        self.escaping(values)
        return NOTHING

    def callback(self, value: Value, values: list[Value]) -> Value:
        """A function that something unknown calls."""
        if isinstance(value, Code):
            return self.body(value.node, values)
        if isinstance(value, Ref) and calls.dangerous(value.name):
            return calls.call_known(self, value.name, values)
        return NOTHING

    def callbacks(self, values: list[Value]) -> None:
        for value in values:
            self.callback(value, [NOTHING, NOTHING])

    def escaping(self, values: list[Value]) -> None:
        for value in values:
            if isinstance(value, Code):
                self.callback(value, [NOTHING])
            elif isinstance(value, Ref) and calls.dangerous(value.name):
                calls.call_known(self, value.name, [other for other in values if other is not value] or [NOTHING])


STATEMENTS = {
    "program": Reader.block,
    "statement_block": Reader.block,
    "import_statement": Reader.imports,
    "lexical_declaration": Reader.declares,
    "variable_declaration": Reader.declares,
    "for_in_statement": Reader.loop,
    "if_statement": Reader.branches,
    "else_clause": Reader.branches,
    "for_statement": Reader.branches,
    "while_statement": Reader.branches,
    "do_statement": Reader.branches,
    "try_statement": Reader.branches,
    "catch_clause": Reader.branches,
    "finally_clause": Reader.branches,
    "switch_statement": Reader.branches,
    "switch_body": Reader.branches,
    "switch_case": Reader.branches,
    "switch_default": Reader.branches,
    "function_declaration": Reader.define,
    "generator_function_declaration": Reader.define,
    "class_declaration": Reader.class_body,
    "return_statement": Reader.returns,
}
EXPRESSIONS = {
    "identifier": Reader.identifier,
    "string": Reader.string,
    "template_string": Reader.template,
    "number": Reader.number,
    "true": lambda _self, _node: Number(1),
    "false": lambda _self, _node: Number(0),
    "null": lambda _self, _node: Number(0),
    "array": Reader.items,
    "object": Reader.table,
    "member_expression": Reader.attribute,
    "subscript_expression": Reader.subscript,
    "binary_expression": Reader.binary,
    "ternary_expression": Reader.ternary,
    "assignment_expression": Reader.assignment,
    "augmented_assignment_expression": Reader.assignment,
    "parenthesized_expression": Reader.inner,
    "sequence_expression": Reader.inner,
    "await_expression": Reader.inner,
    "call_expression": Reader.call,
    "new_expression": Reader.new,
    "class": lambda self, node: (self.class_body(node), NOTHING)[1],
    **dict.fromkeys(["arrow_function", "function_expression", "function", "generator_function"], Reader.function),
}
