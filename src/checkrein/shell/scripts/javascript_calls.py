"""What the functions of Node, Deno and Bun do with known values: the tables that `javascript` follows calls with."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.shell.scripts.actor import first, is_true
from checkrein.shell.scripts.values import (
    MAX_ITEMS,
    NOTHING,
    UNKNOWN,
    Items,
    Number,
    Ref,
    Table,
    Text,
    Thing,
    Unknown,
    Value,
    as_text,
    changed,
    decode,
    feed_of,
    joined,
    pick,
)
from checkrein.shell.spec import Feed, Word
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import EffectKind, Flag

if TYPE_CHECKING:
    from checkrein.shell.scripts.javascript import Reader

FETCHED = Feed(fetched=True)
Arguments = list[Value]
Handler = Callable[["Reader", Arguments], Value | None]

SHELLS = frozenset(
    [
        "child_process.exec",
        "child_process.execSync",
        "shelljs.exec",
        "shell.exec",
        "execa.command",
        "execa.execaCommand",
        "execa.commandSync",
    ]
)
PROCESSES = frozenset(
    [
        "child_process.spawn",
        "child_process.spawnSync",
        "child_process.execFile",
        "child_process.execFileSync",
        "child_process.fork",
        "cross-spawn",
        "cross-spawn.sync",
        "execa",
        "execa.execa",
        "execa.sync",
        "execa.execaSync",
        "Deno.run",
        "Deno.Command",
        "Bun.spawn",
        "Bun.spawnSync",
    ]
)
DELETES = frozenset(["unlink", "unlinkSync", "rmdir", "rmdirSync", "remove", "removeSync"])
TREES = frozenset(["rm", "rmSync", "emptyDir", "emptyDirSync"])
WRITES = frozenset(
    [
        "writeFile",
        "writeFileSync",
        "createWriteStream",
        "outputFile",
        "outputFileSync",
        "writeJson",
        "writeJsonSync",
        "writeTextFile",
        "writeTextFileSync",
    ]
)
APPENDS = frozenset(["appendFile", "appendFileSync"])
CHANGES = frozenset(["truncate", "truncateSync", "chmod", "chmodSync", "chown", "chownSync", "utimes", "utimesSync", "lchown"])
READS = frozenset(
    [
        "readFile",
        "readFileSync",
        "createReadStream",
        "readJson",
        "readJsonSync",
        "readTextFile",
        "readTextFileSync",
        "readlink",
        "readlinkSync",
    ]
)
MOVES = frozenset(["rename", "renameSync", "move", "moveSync"])
COPIES = frozenset(["copyFile", "copyFileSync", "cp", "cpSync", "copy", "copySync"])
LINKS = frozenset(["symlink", "symlinkSync", "link", "linkSync"])
LISTS = frozenset(["readdir", "readdirSync", "glob", "globSync", "readDir", "readDirSync", "opendir", "opendirSync"])
FILES = frozenset(["fs", "fs/promises", "fs.promises", "fs-extra", "graceful-fs", "Deno", "node:fs", "node:fs/promises"])
EVALS = frozenset(
    [
        "eval",
        "Function",
        "vm.runInThisContext",
        "vm.runInNewContext",
        "vm.runInContext",
        "vm.Script",
        "vm.compileFunction",
        "globalThis.eval",
    ]
)
GETS = frozenset(
    [
        "fetch",
        "http.get",
        "https.get",
        "http.request",
        "https.request",
        "axios",
        "axios.get",
        "axios.request",
        "got",
        "node-fetch",
        "undici.fetch",
    ]
)
GETS = GETS | frozenset(
    [
        "undici.request",
        "axios.post",
        "axios.put",
        "axios.patch",
        "axios.delete",
        "got.post",
        "got.put",
        "request",
        "request.get",
        "request.post",
        "superagent.get",
        "superagent.post",
    ]
)
CONNECTS = frozenset(
    [
        "net.connect",
        "net.createConnection",
        "tls.connect",
        "Deno.connect",
        "Deno.connectTls",
        "WebSocket",
        "dgram.createSocket",
        "Bun.connect",
    ]
)
TREE_TOOLS = frozenset(
    ["rimraf", "rimraf.sync", "rimraf.rimraf", "rimraf.rimrafSync", "del", "del.sync", "del.deleteAsync", "del.deleteSync"]
)
GLOBALS = frozenset(
    [
        "require",
        "eval",
        "Function",
        "fetch",
        "process",
        "Buffer",
        "atob",
        "btoa",
        "console",
        "globalThis",
        "global",
        "JSON",
        "Object",
        "Array",
        "String",
        "Promise",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "Deno",
        "Bun",
        "unescape",
        "decodeURIComponent",
        "Reflect",
        "WebSocket",
        "module",
        "import",
        "axios",
        "WebAssembly",
        "$",
        "Number",
        "Math",
        "RegExp",
        "decodeURI",
        "XMLHttpRequest",
        "ObjC",
        "Application",
    ]
)
DANGEROUS = SHELLS | PROCESSES | EVALS | TREE_TOOLS


def module(name: str) -> str:
    """A module's name without its scheme."""
    return name.removeprefix("node:")


def split_name(name: str) -> tuple[str, str]:
    base, _, tail = name.rpartition(".")
    return base.removesuffix(".default"), tail


def is_files(base: str) -> bool:
    return base in FILES or base.endswith((".promises", "fs"))


def dangerous(name: str) -> bool:
    base, tail = split_name(name)
    return name in DANGEROUS or (is_files(base) and tail in DELETES | TREES | MOVES)


def call_known(reader: Reader, name: str, values: Arguments) -> Value:
    """A call of a function that is known by its full name."""
    actor = reader.actor
    name = name.replace(".default", "").replace("globalThis.", "").replace("global.", "")
    handler = HANDLERS.get(name)
    if handler is not None:
        found = handler(reader, values)
        return found if found is not None else NOTHING
    if name in SHELLS:
        actor.shell(first(values))
        reader.callbacks(values)
        return Unknown(Feed())
    if name in PROCESSES:
        return process(reader, name, values)
    if name in EVALS:
        actor.evaluate(values[-1] if name == "Function" and values else first(values))
        return NOTHING
    if name in TREE_TOOLS:
        actor.delete(first(values), tree=True)
        return NOTHING
    if name in GETS:
        return fetches(reader, name, values)
    if name in CONNECTS:
        target = first(values)
        if isinstance(target, Number):
            target = Items((first(values, 1) if isinstance(first(values, 1), Text) else Text("127.0.0.1"), target))
        actor.connect(target)
        reader.callbacks(values)
        return Thing("socket", NOTHING)
    base, tail = split_name(name)
    if is_files(base):
        return files(reader, tail, values)
    reader.escaping(values)
    if base == "process" and tail == "kill":
        actor.kill(values)
    if (
        tail in ("keys", "values", "entries", "freeze", "assign", "from", "resolve", "all", "allSettled", "of", "default")
        and values
    ):
        return values[0]
    return Thing(f"{name}()", Unknown(next((feed for feed in map(feed_of, values) if feed is not None), None)))


def process(reader: Reader, name: str, values: Arguments) -> Value:
    actor = reader.actor
    target = first(values)
    options = next((value for value in values[1:] if isinstance(value, Table)), None)
    words = first(values, 1)
    if name in ("Deno.run", "Bun.spawn", "Bun.spawnSync") and isinstance(target, Table):
        target = target.get("cmd") or NOTHING
    if name == "Deno.Command":
        inner = options.get("args") if options is not None else None
        words = inner if inner is not None else Items(())
    if isinstance(target, Items):
        actor.argv(target)
    elif options is not None and is_true(options.get("shell")):
        rest = words.items if isinstance(words, Items) else ()
        actor.shell(joined([target, *rest], " "))
    elif name == "child_process.fork":
        actor.walk.file(actor.word(target), actor.run, "javascript")
    elif isinstance(words, Items):
        actor.argv(Items((target, *words.items), words.open))
    elif len(values) < 2 or isinstance(words, Table):
        actor.argv(Items((target,)))
    else:
        actor.argv(Items((target,), open=True))
    if options is not None and isinstance(options.get("env"), Table):
        env = options.get("env")
        for key, value in env.items if isinstance(env, Table) else ():
            actor.walk.variable(key, actor.word(value), actor.run)
    reader.callbacks(values)
    return Thing("process", NOTHING)


def files(reader: Reader, tail: str, values: Arguments) -> Value:
    actor = reader.actor
    target = first(values)
    if tail in TREES:
        options = first(values, 1)
        tree = tail.startswith("empty") or not isinstance(options, Table) or is_true(options.get("recursive"))
        actor.delete(target, tree=tree and not (tail in ("rm", "rmSync") and len(values) < 2))
    elif tail in DELETES:
        options = first(values, 1)
        actor.delete(
            target, tree=tail.startswith("remove") or (isinstance(options, Table) and is_true(options.get("recursive")))
        )
    elif tail in WRITES:
        actor.write(target, first(values, 1) if tail != "createWriteStream" else None)
        if tail == "createWriteStream":
            return Thing("file", target, "w")
    elif tail in APPENDS:
        actor.write(target, first(values, 1), append=True)
    elif tail in CHANGES:
        actor.touch(EffectKind.WRITE, target)
    elif tail in READS and isinstance(target, Number):
        return Unknown(Feed())
    elif tail in READS:
        actor.read(target)
        text = as_text(target)
        place = actor.walk.place(Word(text.text), actor.run) if text.known else None
        if text.text in ("/dev/stdin", "0"):
            return Unknown(Feed())
        reader.callbacks(values)
        return Unknown(Feed(path=place) if place is not None else Feed())
    elif tail in MOVES:
        actor.move(target, first(values, 1))
    elif tail in COPIES:
        actor.copy(target, first(values, 1))
    elif tail in LINKS:
        actor.touch(EffectKind.WRITE, first(values, 1), Flag.CREATE)
    elif tail in ("open", "openSync"):
        flags = as_text(first(values, 1) if len(values) > 1 else Text("r"))
        if not flags.known or re.search(r"[wa+]", flags.text):
            actor.write(target)
        else:
            actor.read(target)
    elif tail in ("mkdir", "mkdirSync", "mkdtemp", "mkdtempSync", "ensureDir", "ensureDirSync"):
        actor.touch(EffectKind.WRITE, target, Flag.CREATE)
    elif tail in LISTS:
        text = as_text(target)
        place = actor.walk.place(Word(text.text), actor.run) if text.known else None
        item = Text(UNKNOWN, Feed(roots=(place,)) if place is not None else text.feed)
        for value in values[1:]:
            reader.callback(value, [NOTHING, Items((item,), open=True)])
        return Items((item,), open=True)
    reader.callbacks(values)
    return NOTHING


def fetches(reader: Reader, name: str, values: Arguments) -> Value:
    target = first(values)
    options = next((value for value in values[1:] if isinstance(value, Table)), None)
    verb = name.rsplit(".", 1)[-1]
    sends = verb in ("post", "put", "patch")
    for table in (options, target if isinstance(target, Table) else None):
        if table is not None:
            method = as_text(table.get("method") or Text("GET")).text.upper()
            sends = (
                sends
                or any(table.get(key) is not None for key in ("body", "data", "json", "form"))
                or method not in ("GET", "HEAD", "OPTIONS")
            )
    if isinstance(target, Thing):
        target = target.of
    reader.actor.fetch(target, sends=sends)
    for value in values:
        reader.callback(value, [Thing("response", Unknown(FETCHED))])
    return Thing("response", Unknown(FETCHED))


# handlers


def required(reader: Reader, values: Arguments) -> Value | None:
    name = as_text(first(values))
    if not name.known:
        reader.actor.dynamic("loads a module whose name is not constant")
        return None
    if name.text.startswith(("http:", "https:")):
        reader.actor.walk.fetch(reader.actor.word(name), reader.actor.run)
        reader.actor.walk.act(Act.DOWNLOAD_RUN, reader.actor.run, "loads code from the network", reader.actor.code)
        return None
    if name.text.startswith("data:"):
        reader.actor.dynamic("loads code from a data URL")
        return None
    if name.text.startswith((".", "/")) and not name.text.endswith(".json"):
        reader.actor.walk.file(reader.actor.word(name), reader.actor.run, "javascript")
    return Ref(module(name.text))


def from_buffer(reader: Reader, values: Arguments) -> Value | None:
    how = as_text(first(values, 1)).text.lower() if len(values) > 1 else ""
    value = first(values)
    if isinstance(value, Items) and value.items and all(isinstance(item, Number) for item in value.items):
        return Text("".join(chr(int(item.number) & 255) for item in value.items if isinstance(item, Number)))
    return (
        decode(value, "base64" if how.startswith("base64") else how)
        if how.startswith("base64") or how == "hex"
        else as_text(value)
    )


def characters(reader: Reader, values: Arguments) -> Value | None:
    if values and all(isinstance(value, Number) for value in values):
        return Text(
            "".join(chr(int(value.number)) for value in values if isinstance(value, Number) and 0 < value.number < 0x110000)
        )
    return Text(UNKNOWN, Feed(decoded=True))


def later(reader: Reader, values: Arguments) -> Value | None:
    """`setTimeout`: a function, or text that is evaluated."""
    target = first(values)
    if isinstance(target, Text):
        reader.actor.evaluate(target)
    reader.callbacks(values)
    return None


def binding(reader: Reader, values: Arguments) -> Value | None:
    reader.actor.dynamic("reaches for the interpreter's innards")
    return None


def join_paths(reader: Reader, values: Arguments) -> Value | None:
    parts = [as_text(value) for value in values]
    feed = next((part.feed for part in parts if part.feed is not None), None)
    return Text(posixpath.normpath("/".join(part.text for part in parts)) if parts else ".", feed)


def resolve_paths(reader: Reader, values: Arguments) -> Value | None:
    parts = [as_text(value) for value in values]
    feed = next((part.feed for part in parts if part.feed is not None), None)
    return Text(posixpath.normpath(posixpath.join(reader.actor.run.cwd or UNKNOWN, *(part.text for part in parts))), feed)


def home(reader: Reader, values: Arguments) -> Value | None:
    return Text(reader.actor.walk.site.home)


def current(reader: Reader, values: Arguments) -> Value | None:
    return Text(reader.actor.run.cwd or UNKNOWN)


def temporary(reader: Reader, values: Arguments) -> Value | None:
    temps = reader.actor.walk.site.temps
    return Text(temps[0] if temps else UNKNOWN)


def nothing(reader: Reader, values: Arguments) -> Value | None:
    reader.callbacks(values)
    return None


def same(reader: Reader, values: Arguments) -> Value | None:
    return first(values)


def killed(reader: Reader, values: Arguments) -> Value | None:
    reader.actor.kill(values)
    return None


def applied(reader: Reader, values: Arguments) -> Value | None:
    """`Reflect.apply(f, this, args)`."""
    rest = first(values, 2)
    return reader.invoke(first(values), None, "", list(rest.items) if isinstance(rest, Items) else [NOTHING])


def reflected(reader: Reader, values: Arguments) -> Value | None:
    base, key = first(values), as_text(first(values, 1))
    return reader.member(base, key.text) if key.known else None


def basename(reader: Reader, values: Arguments) -> Value | None:
    return changed(as_text(first(values)), posixpath.basename)


def dirname(reader: Reader, values: Arguments) -> Value | None:
    return changed(as_text(first(values)), lambda text: posixpath.dirname(text) or ".")


HANDLERS: dict[str, Handler] = {
    "require": required,
    "import": required,
    "module.require": required,
    "process.mainModule.require": required,
    "module.createRequire": lambda _r, _v: Ref("require"),
    "createRequire": lambda _r, _v: Ref("require"),
    "Buffer.from": from_buffer,
    "Buffer": from_buffer,
    "atob": lambda _r, values: decode(first(values), "base64"),
    "unescape": lambda _r, values: decode(first(values), "none"),
    "decodeURIComponent": lambda _r, values: (
        decode(first(values), "none") if "%" in as_text(first(values)).text else first(values)
    ),
    "String.fromCharCode": characters,
    "String.fromCodePoint": characters,
    "String.raw": same,
    "String": same,
    "JSON.stringify": nothing,
    "JSON.parse": lambda _r, values: Unknown(feed_of(first(values))),
    "setTimeout": later,
    "setInterval": later,
    "setImmediate": later,
    "process.binding": binding,
    "process.dlopen": binding,
    "process.kill": killed,
    "process.exit": nothing,
    "process.cwd": current,
    "process.chdir": nothing,
    "process.on": nothing,
    "os.homedir": home,
    "os.tmpdir": temporary,
    "path.join": join_paths,
    "path.posix.join": join_paths,
    "path.resolve": resolve_paths,
    "path.basename": basename,
    "path.dirname": dirname,
    "path.normalize": join_paths,
    "console.log": nothing,
    "console.error": nothing,
    "Reflect.apply": applied,
    "Reflect.get": reflected,
    "Deno.cwd": current,
    "net.Socket": lambda _r, _v: Thing("socket", NOTHING),
    "constructor": binding,
    "constructor.constructor": binding,
    "shelljs.rm": lambda reader, values: reader.actor.delete(values[-1], tree=True) if values else None,
}


def call_method(reader: Reader, receiver: Value, name: str, values: Arguments) -> Value:
    """`receiver.name(...)` where the receiver is a value."""
    if isinstance(receiver, Text):
        return text_method(receiver, name, values)
    if isinstance(receiver, Items):
        return list_method(reader, receiver, name, values)
    if isinstance(receiver, Thing):
        if receiver.kind == "file" and name in ("write", "end"):
            reader.actor.write(receiver, first(values))
            return NOTHING
        if receiver.kind == "socket" and name == "pipe" and isinstance(first(values), Thing):
            reader.actor.bound_to_socket()
        if receiver.kind == "socket" and name == "connect":
            target: Value = Items((first(values, 1), first(values))) if isinstance(first(values), Number) else first(values)
            reader.actor.connect(target)
        if name == "pipe" and isinstance(first(values), Thing):
            other = first(values)
            if isinstance(other, Thing) and other.kind == "file" and receiver.kind == "response":
                reader.actor.write(other, Unknown(FETCHED))
            if isinstance(other, Thing) and other.kind == "socket":
                reader.actor.bound_to_socket()
        if name == "doShellScript":
            reader.actor.shell(first(values))
        passed: list[Value] = [Unknown(FETCHED) if receiver.kind in ("response", "socket") else NOTHING]
        if receiver.kind == "response" and name == "then":
            passed = [receiver]
        for value in values:
            reader.callback(value, passed)
        if receiver.kind == "response" and name in ("text", "json", "arrayBuffer", "blob", "on", "data"):
            return Unknown(FETCHED) if name != "on" else receiver
        return receiver
    for value in values:
        reader.callback(value, [Unknown(feed_of(receiver))])
    return Unknown(feed_of(receiver))


def list_method(reader: Reader, receiver: Items, name: str, values: Arguments) -> Value:
    if name == "join":
        text = joined(receiver.items, as_text(values[0]).text if values else ",")
        return Text(text.text + UNKNOWN, text.feed) if receiver.open else text
    if name == "reverse":
        return Items(tuple(reversed(receiver.items)), receiver.open)
    if name in ("slice", "sort", "flat"):
        return receiver
    if name == "concat":
        extra = [item for value in values for item in (value.items if isinstance(value, Items) else (value,))]
        return Items((*receiver.items, *extra), receiver.open)
    if name in ("map", "forEach", "flatMap", "filter", "some", "every", "find", "reduce"):
        out = []
        for number, item in enumerate(receiver.items[:MAX_ITEMS]):
            out.append(reader.callback(first(values), [NOTHING, item] if name == "reduce" else [item, Number(number)]))
        return (
            Items(tuple(out), receiver.open)
            if name in ("map", "flatMap")
            else Items(receiver.items, open=True)
            if name == "filter"
            else NOTHING
        )
    return NOTHING


def text_method(receiver: Text, name: str, values: Arguments) -> Value:
    texts = [as_text(value) for value in values]
    if name in ("toString", "trim", "toLowerCase", "toUpperCase", "valueOf", "trimEnd", "trimStart", "normalize"):
        how = texts[0].text.lower() if texts and texts[0].known else ""
        if name == "toString" and how in ("base64", "hex"):
            return Text(UNKNOWN, Feed(plain=True))
        calls: dict[str, Callable[[str], str]] = {"trim": str.strip, "toLowerCase": str.lower, "toUpperCase": str.upper}
        return changed(receiver, calls[name]) if name in calls else receiver
    if name == "concat":
        return joined([receiver, *values])
    if name == "split":
        if not receiver.known:
            return Items((Text(UNKNOWN, receiver.feed),), open=True)
        separator = texts[0].text if texts and texts[0].known else " "
        pieces = receiver.text.split(separator) if separator else list(receiver.text)
        return Items(tuple(Text(piece) for piece in pieces[:MAX_ITEMS]))
    if (
        name in ("replace", "replaceAll")
        and len(texts) > 1
        and texts[0].known
        and texts[1].known
        and isinstance(values[0], Text)
    ):
        return changed(receiver, lambda text: text.replace(texts[0].text, texts[1].text, -1 if name == "replaceAll" else 1))
    if name in ("slice", "substring", "substr") and all(isinstance(value, Number) for value in values):
        numbers = [int(value.number) for value in values if isinstance(value, Number)]
        if name == "substr" and len(numbers) > 1:
            numbers[1] += numbers[0]
        return changed(receiver, lambda text: text[numbers[0] if numbers else 0 : numbers[1] if len(numbers) > 1 else None])
    if name in ("charAt", "at") and values:
        return pick(receiver, values[0])
    if name == "repeat" and values and isinstance(values[0], Number) and values[0].number < 1000:
        return Text(receiver.text * int(values[0].number), receiver.feed)
    return Unknown(receiver.feed)


__all__ = ["Ref", "call_known", "call_method"]
