"""What Python's own functions do with known values: the tables and methods that `python` follows calls with."""

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
    changed,
    decode,
    feed_of,
    joined,
)
from checkrein.shell.spec import Feed, Word
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import EffectKind, Flag

if TYPE_CHECKING:
    from checkrein.shell.scripts.python import Reader

FETCHED = Feed(fetched=True)
Arguments = list[Value]
Keywords = dict[str, Value]
Handler = Callable[["Reader", Arguments, Keywords], Value | None]

SHELLS = frozenset(
    ["os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput", "commands.getstatusoutput"]
    + ["os.popen2", "os.popen3", "os.popen4", "popen2.popen2", "popen2.popen3", "asyncio.create_subprocess_shell", "posix.system", "nt.system"]
    + ["asyncio.subprocess.create_subprocess_shell", "pexpect.run", "pexpect.spawn", "invoke.run", "plumbum.local.cmd", "IPython.get_ipython"]
)
PROCESSES = frozenset(
    ["subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen", "anyio.run_process"]
)
DELETES = frozenset(["os.remove", "os.unlink", "os.rmdir", "os.removedirs", "posix.remove", "posix.unlink", "send2trash.send2trash", "posix.rmdir"])
TREES = frozenset(["shutil.rmtree"])
MOVES = frozenset(["os.rename", "os.replace", "os.renames", "shutil.move"])
COPIES = frozenset(["shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"])
LINKS = frozenset(["os.symlink", "os.link"])
WRITES = frozenset(["os.truncate", "os.chmod", "os.chown", "os.lchown", "os.utime", "os.mkfifo", "os.mknod"])
READS = frozenset(["os.listdir", "os.scandir", "linecache.getlines", "linecache.getline", "json.load", "runpy.run_module"])
GETS = frozenset(
    ["urllib.request.urlopen", "urllib2.urlopen", "urllib.urlopen", "urllib.request.Request", "urllib.request.urlretrieve", "urllib.urlretrieve"]
    + ["requests.get", "requests.head", "requests.options", "httpx.get", "httpx.head", "httpx.stream", "aiohttp.request", "wget.download"]
    + ["requests.request", "httpx.request", "requests.post", "requests.put", "requests.patch", "requests.delete", "httpx.post", "httpx.put"]
    + ["httpx.patch", "httpx.delete", "urllib3.request", "pandas.read_csv", "pandas.read_json", "pd.read_csv"]
)
SENDING = frozenset(["post", "put", "patch"])
CONNECTS = frozenset(
    ["socket.create_connection", "smtplib.SMTP", "smtplib.SMTP_SSL", "ftplib.FTP", "telnetlib.Telnet", "poplib.POP3", "imaplib.IMAP4", "asyncio.open_connection"]
    + ["websocket.create_connection", "paramiko.Transport", "xmlrpc.client.ServerProxy"]
)
CONNECTIONS = frozenset(["http.client.HTTPConnection", "http.client.HTTPSConnection", "httplib.HTTPConnection", "httplib.HTTPSConnection"])
SESSIONS = frozenset(["requests.Session", "requests.session", "httpx.Client", "httpx.AsyncClient", "aiohttp.ClientSession", "urllib3.PoolManager", "urllib.request.build_opener"])
EVALS = frozenset(["eval", "exec", "execfile", "builtins.eval", "builtins.exec", "__builtins__.eval", "__builtins__.exec", "code.interact"])
EXECS = re.compile(r"os\.(exec|spawn|posix_spawn)([lvpe]*)$")
LISTS = frozenset(["glob.glob", "glob.iglob", "os.listdir", "os.scandir", "os.walk", "os.fwalk"])
PURE_PATHS = frozenset(["pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib.WindowsPath"])
PATH_TEXT = frozenset(["os.path.expanduser", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.dirname", "os.path.basename", "os.path.expandvars", "os.fspath"])
TEMPS = frozenset(["tempfile.mkdtemp", "tempfile.mkstemp", "tempfile.gettempdir", "tempfile.TemporaryDirectory", "tempfile.mktemp"])
DANGEROUS = SHELLS | PROCESSES | DELETES | TREES | MOVES | EVALS | frozenset(["os.kill", "pty.spawn", "os.execv", "os.execvp", "os.execl", "os.execlp"])
KNOWN = DANGEROUS | COPIES | LINKS | WRITES | READS | GETS | CONNECTS | SESSIONS | LISTS | PURE_PATHS | PATH_TEXT | TEMPS
CONSTANTS = {"os.sep": "/", "os.path.sep": "/", "os.curdir": ".", "os.linesep": "\n", "os.pathsep": ":", "string.ascii_lowercase": "abcdefghijklmnopqrstuvwxyz"}
BUILTIN = frozenset(
    ["eval", "exec", "execfile", "open", "file", "compile", "__import__", "getattr", "setattr", "globals", "locals", "vars", "input", "raw_input"]
    + ["str", "bytes", "bytearray", "chr", "ord", "map", "filter", "list", "tuple", "set", "sorted", "reversed", "zip", "enumerate", "next"]
    + ["iter", "print", "range", "len", "int", "repr", "format", "hex", "any", "all", "dict", "max", "min", "sum", "__builtins__"]
)
READERS = re.compile(r"(?:pandas|pd|np|numpy|polars|pl|yaml|toml|tomllib|json|csv)\.(?:read_\w+|load\w*|loadtxt|genfromtxt)$")
MODULES = frozenset(["os", "subprocess", "shutil", "pty", "posix", "builtins", "__builtins__", "ctypes", "socket", "importlib", "runpy"])


def call_known(reader: Reader, name: str, values: Arguments, keywords: Keywords) -> Value:
    """A call of a function that is known by its full name."""
    actor = reader.actor
    handler = HANDLERS.get(name)
    if handler is not None:
        found = handler(reader, values, keywords)
        return found if found is not None else NOTHING
    if name in SHELLS:
        actor.shell(first(values) if values else keywords.get("cmd", keywords.get("command", NOTHING)))
        return Thing("process", NOTHING)
    if name in PROCESSES:
        return process(reader, values, keywords)
    if name in EVALS:
        actor.evaluate(first(values))
        return NOTHING
    if name in DELETES or name in TREES:
        actor.delete(first(values) if values else keywords.get("path", NOTHING), tree=name in TREES)
        return NOTHING
    if name in MOVES:
        actor.move(first(values), first(values, 1))
        return NOTHING
    if name in COPIES:
        actor.copy(first(values), first(values, 1) if len(values) > 1 else keywords.get("dst", NOTHING))
        return NOTHING
    if name in LINKS:
        actor.touch(EffectKind.WRITE, first(values, 1), Flag.CREATE)
        return NOTHING
    if name in WRITES:
        actor.touch(EffectKind.WRITE, first(values))
        return NOTHING
    if name in GETS:
        return fetches(reader, name, values, keywords)
    if name in CONNECTS:
        actor.connect(first(values) if values else keywords.get("host", NOTHING))
        return Thing("connection", NOTHING)
    if name in CONNECTIONS:
        return Thing("http", Items(tuple(values[:2])))
    if name in SESSIONS:
        return Thing("session", keywords.get("base_url", NOTHING))
    if name in LISTS:
        return listed(reader, name, first(values) if values else Text("."))
    if name in PURE_PATHS:
        return join_paths(values or [Text(".")], path=True)
    if name in PATH_TEXT:
        return path_text(reader, name, first(values))
    if name in TEMPS:
        temps = reader.actor.walk.site.temps
        made = Text(UNKNOWN, Feed(roots=temps[:1], filtered=True, plain=True))
        return Items((NOTHING, made)) if name.endswith("mkstemp") else made if name != "tempfile.gettempdir" else Text(temps[0] if temps else UNKNOWN)
    m = EXECS.match(name)
    if m is not None:
        return executed(reader, m, values)
    if READERS.search(name):
        target = first(values)
        if isinstance(target, Text) and target.text.startswith(("http:", "https:", "ftp:")):
            return Unknown(actor.fetch(target))
        if isinstance(target, Text):
            actor.read(target)
        return Unknown(feed_of(target))
    return other(reader, name, values, keywords)


def other(reader: Reader, name: str, values: Arguments, keywords: Keywords) -> Value:
    """A function of a module that is not in a table."""
    tail = name.rsplit(".", 1)[-1]
    if name.startswith("ctypes."):
        return Thing("library", NOTHING)
    if tail in ("run_path", "exec_module"):
        reader.actor.walk.file(reader.actor.word(first(values)), reader.actor.run, "python")
    for value in (*values, *keywords.values()):
        reader.escaping(value, values)
    if name.startswith("subprocess.") or tail in ("Value", "Array"):
        return NOTHING
    return Thing(f"{name}()", Unknown(next((feed for feed in map(feed_of, values) if feed is not None), None)))


# running


def process(reader: Reader, values: Arguments, keywords: Keywords) -> Value:
    actor = reader.actor
    target = first(values) if values else keywords.get("args", NOTHING)
    shell = keywords.get("shell")
    environment = keywords.get("env")
    if isinstance(environment, Table):
        for name, value in environment.items:
            actor.walk.variable(name, actor.word(value), actor.run)
    for name in ("stdin", "stdout", "stderr"):
        stream = keywords.get(name)
        if isinstance(stream, Thing) and stream.kind in ("socket", "connection", ".fileno"):
            actor.bound_to_socket()
    cwd = keywords.get("cwd")
    kept = actor.run
    if cwd is not None:
        from dataclasses import replace

        text = as_text(cwd)
        actor.run = replace(actor.run, cwd=actor.walk.place(actor.word(cwd), actor.run) if text.known else None)
    if is_true(shell):
        actor.shell(target)
    else:
        given = keywords.get("input")
        if given is not None and isinstance(target, Items):
            from dataclasses import replace

            text = as_text(given)
            feed = text.feed or Feed()
            actor.walk.command(
                [actor.word(item) for item in target.items],
                actor.run,
                stdin=Feed(text=text.text if text.known else None, fetched=feed.fetched, decoded=feed.decoded),
            )
        else:
            actor.argv(target, keywords.get("executable"))
    actor.run = kept
    return Thing("process", NOTHING)


def executed(reader: Reader, m: re.Match[str], values: Arguments) -> Value:
    """`os.exec*`, `os.spawn*`, `os.posix_spawn`."""
    if m.group(1) == "spawn":
        values = values[1:]
    if "l" in m.group(2):
        words: Value = Items(tuple(values[1:] or values[:1]))
    else:
        words = first(values, 1)
    program = first(values)
    if isinstance(words, Items) and words.items:
        reader.actor.argv(Items((program, *words.items[1:]), words.open))
    else:
        reader.actor.argv(Items((program,), open=True))
    return NOTHING


def spawned(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.actor.bound_to_socket()
    reader.actor.argv(first(values))
    return None


def exec_words(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.actor.argv(Items(tuple(values)))
    return Thing("process", NOTHING)


def forked(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    if reader.looping:
        reader.actor.walk.act(Act.FORK_BOMB, reader.actor.run, "starts copies of itself without end", reader.actor.code)
    return None


def imported(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    name = as_text(first(values))
    if name.known:
        return Ref(name.text)
    reader.actor.dynamic("imports a module whose name is not constant")
    return None


def got_attribute(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    base, name = first(values), as_text(first(values, 1))
    if name.known:
        return reader.member(base, name.text)
    if isinstance(base, Ref) and base.name.split(".")[0] in MODULES:
        reader.actor.dynamic(f"takes a part of `{base.name}` whose name is not constant")
    return None


def of_module(reader: Reader, holder: Ref, index: Value) -> Value:
    """`globals()["x"]`, `sys.modules["os"]`, `os.environ["HOME"]`, `os.__dict__["system"]`."""
    key = as_text(index)
    name = holder.name
    if name in ("os.environ", "environ"):
        return environment(reader, key)
    if name in ("sys.modules", "globals()", "locals()", "vars()"):
        if not key.known:
            reader.actor.dynamic("takes a module whose name is not constant")
            return NOTHING
        return reader.names.get(key.text, Ref(key.text))
    if name.endswith(".__dict__") or name == "__builtins__":
        if not key.known:
            reader.actor.dynamic("takes a function whose name is not constant")
            return NOTHING
        base = name.removesuffix(".__dict__")
        return Ref(key.text if base in ("__builtins__", "builtins") else f"{base}.{key.text}")
    return NOTHING


def environment(reader: Reader, key: Text, default: Value | None = None) -> Value:
    site = reader.actor.walk.site
    known = {"HOME": site.home, "USER": site.user, "PWD": reader.actor.run.cwd or UNKNOWN, **site.env}.get(key.text)
    if key.text in reader.actor.run.env:
        known = reader.actor.run.env[key.text].text
    if known is not None:
        return Text(known)
    return default if default is not None else Text(UNKNOWN)


def got_environment(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return environment(reader, as_text(first(values)), values[1] if len(values) > 1 else None)


def set_environment(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.actor.walk.variable(as_text(first(values)).text, reader.actor.word(first(values, 1)), reader.actor.run)
    return None


def namespace(name: str) -> Handler:
    return lambda _reader, values, _keywords: Ref(f"{name}()") if not values else values[0]


# files


def opened(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    """`open(path, mode)`."""
    target = first(values) if values else keywords.get("file", NOTHING)
    mode = as_text(first(values, 1) if len(values) > 1 else keywords.get("mode", Text("r")))
    return open_file(reader, target, mode)


def open_file(reader: Reader, target: Value, mode: Text) -> Value:
    if isinstance(target, Number):
        return Thing("file", NOTHING)
    if not mode.known or re.search(r"[wax+]", mode.text):
        reader.actor.write(target, append="a" in mode.text)
        return Thing("file", target, "w" + ("a" if "a" in mode.text else ""))
    reader.actor.read(target)
    text = as_text(target)
    return Thing("file", Text(target.text if isinstance(target, Text) else UNKNOWN, Feed(path=text.text if text.known else None)), "r")


def os_open(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.actor.write(first(values))
    return Thing("file", first(values), "w")


def file_content(reader: Reader, target: Value) -> Value:
    """What reading a file gives: nothing known but where it came from."""
    text = as_text(target)
    run = reader.actor.run
    place = reader.actor.walk.place(Word(text.text), run) if text.known else None
    return Unknown(Feed(path=place) if place is not None else Feed())


def extracted(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.actor.touch(EffectKind.WRITE, first(values, 1) if len(values) > 1 else Text("."), Flag.RECURSIVE)
    return None


def database(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return Thing("database", first(values))


def listed(reader: Reader, name: str, target: Value) -> Value:
    """A listing below a place."""
    text = as_text(target)
    if not text.known:
        return Items((Text(UNKNOWN, text.feed),), open=True)
    base = text.text
    filtered = False
    if name.startswith("glob."):
        head = re.split(r"[*?\[]", base, maxsplit=1)[0]
        base, filtered = head.rpartition("/")[0] or ("/" if head.startswith("/") else "."), bool(re.search(r"[A-Za-z0-9]", base[len(head) :]))
    place = reader.actor.walk.place(Word(base or "."), reader.actor.run) or base
    item = Text(UNKNOWN, Feed(roots=(place,), filtered=filtered))
    if name in ("os.walk", "os.fwalk"):
        return Items((Items((Text(UNKNOWN, Feed(roots=(place,))), Items((item,), open=True), Items((item,), open=True))),), open=False)
    return Items((item,), open=True)


def join_paths(values: Arguments, *, path: bool = False) -> Value:
    """`os.path.join`, `Path(a, b)`, `p / q`."""
    parts: list[Text] = []
    for value in values:
        if isinstance(value, Items):
            parts.extend(as_text(item) for item in value.items)
        else:
            parts.append(as_text(value))
    feed = next((part.feed for part in parts if part.feed is not None), None)
    if not parts:
        return Text(".", path=path)
    text = posixpath.join(*(part.text for part in parts))
    return Text(text, feed, path)


def path_text(reader: Reader, name: str, value: Value) -> Value:
    text = as_text(value)
    site = reader.actor.walk.site
    if name.endswith("expanduser"):
        return Text(re.sub(r"^~(?=/|$)", site.home, text.text), text.feed, text.path)
    if name.endswith("expandvars"):
        return Text(re.sub(r"\$\{?HOME\}?", site.home, text.text) if "HOME" in text.text or "$" not in text.text else UNKNOWN, text.feed)
    if not text.known:
        if name.endswith("basename"):
            return Text(UNKNOWN, Feed(plain=True))
        return text
    if name.endswith(("abspath", "realpath")):
        return Text(reader.actor.walk.place(Word(text.text), reader.actor.run) or text.text, text.feed)
    if name.endswith("dirname"):
        return Text(posixpath.dirname(text.text), text.feed)
    if name.endswith("basename"):
        return Text(posixpath.basename(text.text), text.feed)
    return Text(posixpath.normpath(text.text) if name.endswith("normpath") else text.text, text.feed)


def path_attribute(reader: Reader, base: Text, name: str) -> Value:
    if name == "parent":
        return Text(posixpath.dirname(base.text.rstrip("/")) or ".", base.feed, path=True)
    if name in ("name", "stem", "suffix"):
        leaf = posixpath.basename(base.text)
        stem, dot, suffix = leaf.rpartition(".")
        return Text({"name": leaf, "stem": stem or leaf, "suffix": dot + suffix if stem else ""}[name], base.feed)
    return Thing(f".{name}", base)


# network


def fetches(reader: Reader, name: str, values: Arguments, keywords: Keywords) -> Value:
    verb = name.rsplit(".", 1)[-1]
    target = first(values) if values else keywords.get("url", NOTHING)
    if verb == "request" and len(values) > 1:
        verb = as_text(values[0]).text.lower()
        target = values[1]
    if isinstance(target, Thing):
        return Thing("response", Unknown(FETCHED))
    text = as_text(target)
    if name.startswith(("pandas.", "pd.")) and not text.text.startswith(("http:", "https:", "ftp:")):
        reader.actor.read(target)
        return Unknown(Feed())
    body = any(key in keywords for key in ("data", "json", "files", "content", "body")) or (
        len(values) > 1 and verb in ("urlopen", "Request", "post", "put", "patch")
    )
    reader.actor.fetch(target, sends=body or verb in SENDING)
    if verb in ("urlretrieve", "download") and len(values) > 1:
        reader.actor.write(values[1], Unknown(FETCHED))
    return Thing("response", Unknown(FETCHED))


def socket_made(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return Thing("socket", NOTHING)


def duplicated(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.actor.bound_to_socket()
    return None


# pure functions


def text_of(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    value = first(values) if values else Text("")
    if isinstance(value, Items) and value.items and all(isinstance(item, Number) for item in value.items):  # bytes([114, 109])
        return Text("".join(chr(int(item.number) & 255) for item in value.items if isinstance(item, Number)))
    if isinstance(value, Thing) and value.kind == "file":
        return file_content(reader, value.of)
    return as_text(value)


def character(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    value = first(values)
    return Text(chr(int(value.number))) if isinstance(value, Number) and 0 < value.number < 0x110000 else Text(UNKNOWN)


def code_point(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    value = first(values)
    return Number(ord(value.text)) if isinstance(value, Text) and value.known and len(value.text) == 1 else None


def mapped(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    function, source = first(values), first(values, 1)
    return Items(tuple(reader.invoke(function, None, "", [item], {}) for item in reader.elements(source)))


def as_items(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    value = first(values) if values else Items(())
    if isinstance(value, Items):
        return value
    if isinstance(value, Text) and value.known and not value.path:
        return Items(tuple(Text(c) for c in value.text[:MAX_ITEMS]))
    return Unknown(feed_of(value))


def reverse(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    value = as_items(reader, values, keywords)
    return Items(tuple(reversed(value.items)), value.open) if isinstance(value, Items) else value


def counted(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    bounds = [int(v.number) for v in values if isinstance(v, Number)]
    if len(bounds) == len(values) and 1 <= len(bounds) <= 3:
        try:
            numbers = range(*bounds)
        except ValueError:
            return None
        return Items(tuple(Number(n) for n in numbers[:MAX_ITEMS]), open=len(numbers) > MAX_ITEMS)
    return Items((Text(UNKNOWN, Feed(plain=True)),), open=True)


def compiled(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return first(values)


def decoder(how: str) -> Handler:
    return lambda _reader, values, _keywords: decode(first(values), how)


def decode_codec(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    how = as_text(first(values, 1)).text.lower()
    return decode(first(values), how) if how not in ("utf-8", "utf8", "ascii", "latin-1") else first(values)


def undecodable(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    feed = feed_of(first(values))
    return Unknown(Feed(decoded=True, fetched=feed.fetched if feed is not None else False))


def same(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return first(values)


def shell_split(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    import shlex

    text = as_text(first(values))
    try:
        return Items(tuple(Text(piece) for piece in shlex.split(text.text))) if text.known else Items((Text(UNKNOWN, text.feed),), open=True)
    except ValueError:
        return None


def quoted(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    text = as_text(first(values))
    return Text("'" + text.text.replace("'", "'\"'\"'") + "'", text.feed) if text.known else Text(UNKNOWN, Feed(plain=True))


def partial(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.escaping(first(values), values)
    return first(values)


def put_together(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return join_paths(values)


def nothing(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return None


def current(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return Text(reader.actor.run.cwd or UNKNOWN, path=True)


def home(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    return Text(reader.actor.walk.site.home, path=True)


def killed(reader: Reader, values: Arguments, keywords: Keywords) -> Value | None:
    reader.actor.kill(values)
    return None


def arithmetic(op: str, a: float, b: float) -> Value:
    table: dict[str, Callable[[], float]] = {
        "-": lambda: a - b,
        "*": lambda: a * b,
        "^": lambda: float(int(a) ^ int(b)),
        "|": lambda: float(int(a) | int(b)),
        "&": lambda: float(int(a) & int(b)),
        "//": lambda: a // b,
        "/": lambda: a / b,
        "%": lambda: a % b,
    }
    try:
        return Number(table[op]()) if op in table and abs(a) < 1e12 and abs(b) < 1e12 else NOTHING
    except (ZeroDivisionError, OverflowError):
        return NOTHING


def percent(form: Text, values: Value) -> Value:
    items = list(values.items) if isinstance(values, Items) else [values]
    if isinstance(values, Table):
        return Text(re.sub(r"%\((\w+)\)[sd]", lambda m: as_text(values.get(m.group(1)) or NOTHING).text, form.text), form.feed)
    out: list[Value] = []
    last = 0
    for m in re.finditer(r"%(?:%|[-0-9.]*[sdrif])", form.text):
        out.append(Text(form.text[last : m.start()]))
        last = m.end()
        out.append(Text("%") if m.group() == "%%" else as_text(items.pop(0)) if items else Text(UNKNOWN))
    out.append(Text(form.text[last:]))
    return joined(out)


# methods


def call_method(reader: Reader, receiver: Value, name: str, values: Arguments, keywords: Keywords) -> Value:
    """`receiver.name(...)` where the receiver is a value."""
    if isinstance(receiver, Alternatives):
        out = [call_method(reader, one, name, values, keywords) for one in receiver.values]
        return out[0]
    if isinstance(receiver, Text) and receiver.path:
        return path_method(reader, receiver, name, values, keywords)
    if isinstance(receiver, Text):
        return text_method(receiver, name, values, keywords)
    if isinstance(receiver, Thing):
        return thing_method(reader, receiver, name, values, keywords)
    if isinstance(receiver, Table):
        if name == "get":
            found = receiver.get(as_text(first(values)).text)
            return found if found is not None else first(values, 1)
        if name == "values":
            return Items(tuple(value for _, value in receiver.items))
        if name == "items":
            return Items(tuple(Items((Text(key), value)) for key, value in receiver.items))
    for value in (*values, *keywords.values()):
        reader.escaping(value, values)
    if name in ("rmtree", "unlink", "rmdir") and isinstance(receiver, Unknown):
        place = Text(UNKNOWN, receiver.feed)
        reader.actor.delete(first(values) if values else place, tree=name == "rmtree")
    if name in ("to_csv", "to_json", "to_parquet", "to_excel", "to_pickle", "savefig", "write_text", "write_bytes") and values and name[:5] != "write":
        reader.actor.write(first(values))
    if name == "extractall":
        reader.actor.touch(EffectKind.WRITE, first(values) if values else keywords.get("path", Text(".")), Flag.RECURSIVE)
    return Unknown(feed_of(receiver))


def text_method(receiver: Text, name: str, values: Arguments, keywords: Keywords) -> Value:
    if name in ("encode", "strip", "lstrip", "rstrip", "lower", "upper", "replace", "title", "swapcase", "removeprefix", "removesuffix", "zfill"):
        texts = [as_text(value) for value in values]
        if name == "encode":
            return receiver
        if not all(text.known for text in texts):
            return Text(UNKNOWN, receiver.feed)
        args = [text.text for text in texts[:2]]
        if name == "zfill":
            return receiver
        return changed(receiver, lambda raw: str(getattr(raw, name)(*args)))
    if name == "decode":
        how = as_text(first(values)).text.lower() if values else ""
        return decode(receiver, how) if how in ("hex", "base64", "rot13", "rot_13", "unicode_escape") else receiver
    if name == "join":
        items = first(values)
        if isinstance(items, Items):
            text = joined(items.items, receiver.text)
            return Text(text.text + UNKNOWN, text.feed) if items.open else text
        return Text(UNKNOWN, feed_of(items))
    if name == "format":
        texts = [as_text(value).text for value in values]
        count = iter(range(len(texts)))

        def fill(m: re.Match[str]) -> str:
            key = m.group(1)
            if key == "":
                at = next(count, None)
                return texts[at] if at is not None else UNKNOWN
            if key.isdigit():
                return texts[int(key)] if int(key) < len(texts) else UNKNOWN
            return as_text(keywords[key]).text if key in keywords else UNKNOWN

        return Text(re.sub(r"\{(\w*)(?:[:!][^}]*)?\}", fill, receiver.text), receiver.feed)
    if name in ("split", "splitlines", "rsplit"):
        if not receiver.known:
            return Items((Text(UNKNOWN, receiver.feed),), open=True)
        separator = as_text(first(values)) if values else None
        pieces = receiver.text.splitlines() if name == "splitlines" else receiver.text.split(separator.text if separator is not None and separator.known and separator.text else None)
        return Items(tuple(Text(piece) for piece in pieces[:MAX_ITEMS]))
    if name == "translate":
        return Text(UNKNOWN, Feed(decoded=True))
    return Unknown(receiver.feed)


def path_method(reader: Reader, receiver: Text, name: str, values: Arguments, keywords: Keywords) -> Value:
    actor = reader.actor
    if name in ("unlink", "rmdir"):
        actor.delete(receiver)
    elif name in ("write_text", "write_bytes"):
        actor.write(receiver, first(values))
    elif name in ("touch", "mkdir", "chmod", "hardlink_to", "symlink_to", "link_to"):
        actor.touch(EffectKind.WRITE, receiver, Flag.CREATE)
    elif name in ("rename", "replace"):
        actor.move(receiver, first(values))
        return Text(as_text(first(values)).text, path=True)
    elif name in ("read_text", "read_bytes"):
        actor.read(receiver)
        return file_content(reader, receiver)
    elif name == "open":
        return open_file(reader, receiver, as_text(first(values) if values else keywords.get("mode", Text("r"))))
    elif name in ("glob", "rglob", "iterdir", "walk"):
        pattern = as_text(first(values)) if values else Text("*")
        found = listed(reader, "glob.glob", Text(f"{receiver.text.rstrip('/') or ''}/{pattern.text}" if receiver.text != "." else f"./{pattern.text}", receiver.feed))
        items = found.items if isinstance(found, Items) else ()
        return Items(tuple(Text(item.text, item.feed, path=True) for item in items if isinstance(item, Text)), open=True)
    elif name in ("expanduser", "resolve", "absolute"):
        text = path_text(reader, "os.path.expanduser" if name == "expanduser" else "os.path.abspath", receiver)
        return Text(as_text(text).text, receiver.feed, path=True)
    elif name in ("joinpath", "with_name", "with_suffix"):
        if name == "joinpath":
            return join_paths([receiver, *values], path=True)
        leaf = as_text(first(values)).text
        base = posixpath.dirname(receiver.text)
        stem = posixpath.basename(receiver.text).rsplit(".", 1)[0]
        return Text(posixpath.join(base, leaf if name == "with_name" else stem + leaf), receiver.feed, path=True)
    elif name in ("as_posix", "__str__", "as_uri"):
        return Text(receiver.text, receiver.feed)
    return NOTHING


def thing_method(reader: Reader, receiver: Thing, name: str, values: Arguments, keywords: Keywords) -> Value:
    actor, kind = reader.actor, receiver.kind
    if kind == "file":
        if name in ("write", "writelines"):
            text = first(values)
            actor.write(receiver, text if name == "write" else joined(text.items) if isinstance(text, Items) else text, append="a" in receiver.mode)
            return NOTHING
        if name in ("read", "readlines", "readline"):
            return file_content(reader, receiver.of)
        return Unknown(feed_of(receiver))
    if kind == "response":
        if name in ("read", "json", "text", "iter_content", "iter_lines", "decode", "readlines"):
            return Unknown(FETCHED)
        return Thing("response", Unknown(FETCHED))
    if kind == "session":
        verb = name.lower()
        if verb in ("get", "post", "put", "patch", "delete", "head", "request", "open", "stream", "urlopen", "ws_connect"):
            return fetches(reader, f"requests.{verb if verb != 'open' else 'get'}", values, keywords)
        return receiver
    if kind == "http":
        if name == "request":
            sends = as_text(first(values)).text.upper() not in ("GET", "HEAD", "OPTIONS") or len(values) > 2 or "body" in keywords
            actor.fetch(receiver.of, sends=sends)
        return Thing("response", Unknown(FETCHED)) if name == "getresponse" else NOTHING
    if kind in ("socket", "connection"):
        if name in ("connect", "connect_ex"):
            actor.connect(first(values))
        elif name == "bind":
            actor.walk.act(Act.LISTEN, actor.run, "waits for connections", actor.code)
        return Unknown(FETCHED) if name.startswith("recv") else Thing(f".{name}", receiver)
    if kind == "library" or kind.startswith("ctypes"):
        if name in ("system", "popen", "execl", "execv", "execlp", "execvp"):
            actor.shell(first(values))
        elif name in ("unlink", "remove", "rmdir"):
            actor.delete(first(values))
        return Thing("library", NOTHING)
    if kind == "database":
        if name in ("execute", "executescript", "executemany") and values:
            actor.walk.command([Word("sqlite3", actor.span), actor.word(receiver.of), actor.word(first(values))], actor.run)
        return receiver
    if name == "execute" and values and isinstance(values[0], Text) and ("psycopg" in kind or "mysql" in kind or "pymysql" in kind or "sqlalchemy" in kind):
        actor.walk.command([Word("psql", actor.span), Word("-c", actor.span), actor.word(first(values))], actor.run)
    if kind.startswith(("paramiko", "fabric")) and name in ("exec_command", "run", "sudo") and values:
        actor.walk.shell(actor.word(first(values)), actor.run, remote=True)
    if kind.startswith("paramiko") and name == "connect":
        actor.fetch(first(values))
    for value in (*values, *keywords.values()):
        reader.escaping(value, values)
    if kind.startswith("urllib.request.Request"):
        return Thing("response", Unknown(FETCHED))
    if kind.startswith(".") and not isinstance(receiver.of, Unknown | Thing):
        return Unknown(feed_of(receiver.of))
    if name in ("to_csv", "to_json", "to_parquet", "to_excel", "to_pickle", "savefig", "save") and values:
        actor.write(first(values))
    if name == "extractall":
        actor.touch(EffectKind.WRITE, first(values) if values else keywords.get("path", Text(".")), Flag.RECURSIVE)
    if name in ("read", "decode", "strip", "text", "communicate"):
        return Unknown(feed_of(receiver.of))
    return Thing(kind, receiver.of)


HANDLERS: dict[str, Handler] = {
    "open": opened,
    "file": opened,
    "io.open": opened,
    "codecs.open": opened,
    "gzip.open": opened,
    "bz2.open": opened,
    "lzma.open": opened,
    "builtins.open": opened,
    "os.open": os_open,
    "os.fdopen": lambda _r, _v, _k: Thing("file", NOTHING),
    "shutil.unpack_archive": extracted,
    "sqlite3.connect": database,
    "os.fork": forked,
    "pty.spawn": spawned,
    "asyncio.create_subprocess_exec": exec_words,
    "asyncio.subprocess.create_subprocess_exec": exec_words,
    "os.kill": killed,
    "os.killpg": killed,
    "os.startfile": lambda reader, values, _k: (reader.actor.argv(Items((Text("open"), first(values)))), None)[1],
    "os.dup2": duplicated,
    "socket.socket": socket_made,
    "socket": socket_made,
    "__import__": imported,
    "importlib.import_module": imported,
    "importlib.__import__": imported,
    "getattr": got_attribute,
    "globals": namespace("globals"),
    "locals": namespace("locals"),
    "vars": namespace("vars"),
    "os.getenv": got_environment,
    "os.environ.get": got_environment,
    "os.environ.setdefault": set_environment,
    "os.putenv": set_environment,
    "os.getcwd": current,
    "os.getcwdb": current,
    "pathlib.Path.cwd": current,
    "pathlib.Path.home": home,
    "os.path.join": put_together,
    "os.path.exists": nothing,
    "os.path.isfile": nothing,
    "os.path.isdir": nothing,
    "str": text_of,
    "bytes": text_of,
    "bytearray": text_of,
    "repr": nothing,
    "chr": character,
    "ord": code_point,
    "map": mapped,
    "filter": lambda reader, values, _k: Items(tuple(reader.elements(first(values, 1))), open=True),
    "list": as_items,
    "tuple": as_items,
    "set": as_items,
    "sorted": as_items,
    "iter": as_items,
    "reversed": reverse,
    "range": counted,
    "enumerate": lambda reader, values, _k: Items(tuple(Items((NOTHING, item)) for item in reader.elements(first(values)))),
    "next": lambda reader, values, _k: reader.elements(first(values))[0],
    "compile": compiled,
    "base64.b64decode": decoder("base64"),
    "base64.standard_b64decode": decoder("base64"),
    "base64.urlsafe_b64decode": decoder("base64"),
    "base64.decodebytes": decoder("base64"),
    "base64.b32decode": decoder("base32"),
    "base64.b16decode": decoder("hex"),
    "base64.b85decode": undecodable,
    "base64.a85decode": undecodable,
    "binascii.a2b_base64": decoder("base64"),
    "binascii.unhexlify": decoder("hex"),
    "binascii.a2b_hex": decoder("hex"),
    "bytes.fromhex": decoder("hex"),
    "bytearray.fromhex": decoder("hex"),
    "codecs.decode": decode_codec,
    "zlib.decompress": undecodable,
    "gzip.decompress": undecodable,
    "bz2.decompress": undecodable,
    "lzma.decompress": undecodable,
    "marshal.loads": undecodable,
    "pickle.loads": undecodable,
    "textwrap.dedent": same,
    "inspect.cleandoc": same,
    "shlex.split": shell_split,
    "shlex.quote": quoted,
    "functools.partial": partial,
    "print": nothing,
    "len": nothing,
    "int": nothing,
    "input": lambda _r, _v, _k: Text(UNKNOWN, Feed()),
    "sys.stdin.read": lambda _r, _v, _k: Text(UNKNOWN, Feed()),
}
__all__ = ["Code", "call_known", "call_method"]
