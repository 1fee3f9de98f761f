"""What well-known programs write to standard output, for constants and for the little that is known of other input.

Asked only when something reads the output. A program that is not listed writes something unknown.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import posixpath
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from checkrein.shell.spec import Feed, Run, Word
from checkrein.shell.state import UNKNOWN, combine
from checkrein.shell.words import ansi

if TYPE_CHECKING:
    from checkrein.shell.nested import Nested

Flow = Callable[[Run, "Nested"], Feed]
MAX_DECODED = 262_144
PLAIN = Feed(plain=True)
SILENT = Feed(text="")
FORMAT = re.compile(r"%(?:%|\(([^)]*)\)T|([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?([diouxXeEfFgGaAcsbqQ]))")
ECHO_ESCAPE = re.compile(r"\\(?:0([0-7]{0,3})|([1-7][0-7]{0,2})|x([0-9A-Fa-f]{1,2})|([abceEfnrtv\\]))")
OCTAL_ZERO = re.compile(r"\\0([0-7]{1,3})")


def decode_escapes(text: str) -> str:
    r"""`echo -e` and `%b`: `\0nnn` besides the escapes of `$'...'`; `\c` ends."""
    cut = re.split(r"(?<!\\)(?:\\\\)*\\c", text, maxsplit=1)[0]
    return ansi(OCTAL_ZERO.sub(lambda m: f"\\{m.group(1)}", cut).replace("\\'", "\\\\'").replace('\\"', '\\\\"'))


def formatted(args: Sequence[Word]) -> str | None:
    """What `printf` prints, with NULs for unknown parts; None when it cannot be told."""
    if not args:
        return ""
    form = args[0].text
    rest = [word.text for word in args[1:]]
    if UNKNOWN in form:
        return None
    out: list[str] = []
    for _ in range(200):
        used, text = _once(form, rest)
        if text is None:
            return None
        out.append(text)
        rest = rest[used:]
        if not rest or not used:
            return "".join(out)
    return None


def _once(form: str, args: list[str]) -> tuple[int, str | None]:
    out: list[str] = []
    used = 0
    last = 0
    for m in FORMAT.finditer(form):
        out.append(decode_escapes(form[last : m.start()]))
        last = m.end()
        if m.group() == "%%":
            out.append("%")
            continue
        if m.group(1) is not None or "*" in (m.group(3), m.group(4)):
            return used, None
        value = args[used] if used < len(args) else ""
        used += 1
        text = _converted(m.group(5), m.group(2), m.group(3), m.group(4), value)
        if text is None:
            return used, None
        out.append(text)
    tail = form[last:]
    if "%" in tail.replace("%%", ""):
        return used, None
    out.append(decode_escapes(tail))
    return min(used, len(args)), "".join(out)


def _converted(kind: str, flags: str, width: str | None, precision: str | None, value: str) -> str | None:
    if UNKNOWN in value:
        return UNKNOWN
    if width is not None and int(width) > 4096:
        return None
    if kind in "sbq":
        text = decode_escapes(value) if kind == "b" else value
        text = text[: int(precision)] if precision is not None else text
    elif kind == "c":
        text = value[:1]
    else:
        try:
            number = (
                ord(value[1])
                if value[:1] in ("'", '"') and len(value) > 1
                else int(value or "0", 0)
                if not re.match(r"0\d", value)
                else int(value, 8)
            )
        except ValueError:
            return None
        if kind in "di":
            text = str(number)
        elif kind in "oxX" and number >= 0:
            text = format(number, kind)
        elif kind == "u" and number >= 0:
            text = str(number)
        else:
            return None
        if precision is not None:
            text = text.rjust(int(precision), "0")
    if width is not None:
        pad = "0" if "0" in flags and kind in "dioxXu" and "-" not in flags else " "
        text = text.ljust(int(width)) if "-" in flags else text.rjust(int(width), pad)
    return text


# inputs


def given(run: Run, walk: Nested, files: Sequence[Word]) -> Feed:
    """The input of a filter: its file operands, else standard input."""
    feeds: list[Feed] = []
    for word in files:
        if word.text == "-":
            feeds.append(run.stdin if run.stdin is not None else Feed())
        elif word.feed is not None and word.text.startswith("/dev/fd/"):
            feeds.append(word.feed)
        elif not word.resolved or word.glob or run.remote:
            feeds.append(Feed())
        else:
            feeds.append(walk.content(walk.resolve(word.text, run)))
    if not files:
        return run.stdin if run.stdin is not None else Feed()
    return feeds[0] if len(feeds) == 1 else combine(feeds)


def split_options(run: Run, valued: str = "", long_valued: Sequence[str] = ()) -> tuple[dict[str, str], list[Word]]:
    """Short and long options with their values, and the operands."""
    options: dict[str, str] = {}
    files: list[Word] = []
    args = run.args
    number = 0
    while number < len(args):
        text = args[number].text
        number += 1
        if text == "--":
            files.extend(args[number:])
            break
        if text.startswith("--"):
            name, found, value = text[2:].partition("=")
            if not found and name in long_valued and number < len(args):
                value = args[number].text
                number += 1
            options[name] = value
        elif text.startswith("-") and len(text) > 1:
            for at, letter in enumerate(text[1:], 1):
                if letter in valued:
                    value = text[at + 1 :]
                    if not value and number < len(args):
                        value = args[number].text
                        number += 1
                    options[letter] = value
                    break
                options[letter] = ""
        else:
            files.append(args[number - 1])
    return options, files


def known(feed: Feed) -> str | None:
    """The text, when all of it is constant."""
    return feed.text if feed.text is not None and UNKNOWN not in feed.text else None


def mapped(feed: Feed, change: Callable[[str], str | None], *, decoded: bool = False) -> Feed:
    """The feed with its text changed, or unknown with the same marks."""
    text = known(feed)
    result = change(text) if text is not None else None
    if result is None:
        return replace(feed, text=None, decoded=feed.decoded or decoded, plain=False, path=None)
    return replace(feed, text=result, path=None)


# programs


def cat(run: Run, walk: Nested) -> Feed:
    options, files = split_options(run)
    feed = given(run, walk, files)
    return feed if not options or set(options) <= {"u", "e", "v", "t", "s"} else mapped(feed, lambda _: None)


def passes(run: Run, walk: Nested) -> Feed:
    """`tee`, `pv`, `cat`-like: standard input as it is."""
    return run.stdin if run.stdin is not None else Feed()


def decode64(run: Run, walk: Nested) -> Feed:
    options, files = split_options(run, "wb", ("wrap",))
    feed = given(run, walk, files)
    if not {"d", "D", "decode"} & options.keys():
        return mapped(feed, lambda text: base64.b64encode(text.encode()).decode() + "\n")
    if run.program == "base32":
        return mapped(feed, lambda text: _bytes_text(lambda: base64.b32decode("".join(text.split()))), decoded=True)
    return mapped(feed, unbase64, decoded=True)


def unbase64(text: str) -> str | None:
    packed = re.sub(r"[^A-Za-z0-9+/]", "", text.replace("-", "+").replace("_", "/"))
    return _bytes_text(lambda: base64.b64decode(packed[: len(packed) - (len(packed) % 4 == 1)] + "=" * (-len(packed) % 4)))


def _bytes_text(make: Callable[[], bytes]) -> str | None:
    try:
        raw = make()
    except (binascii.Error, ValueError, zlib.error, EOFError, OSError):
        return None
    if b"\0" in raw or len(raw) > MAX_DECODED:
        return None
    return raw.decode("utf-8", "surrogateescape")


def openssl(run: Run, walk: Nested) -> Feed:
    words = [word.text for word in run.args]
    if words[:1] not in (["base64"], ["enc"]):
        return PLAIN if words[:1] in (["rand"], ["version"], ["dgst"], ["sha256"], ["md5"]) else Feed()
    feed = run.stdin if run.stdin is not None else Feed()
    if "-in" in words[:-1]:
        feed = given(run, walk, [run.args[words.index("-in") + 1]])
    if "-d" in words:
        plain = words[0] == "base64" or "-base64" in words or "-a" in words
        cipher = [w for w in words if w.startswith(("-aes", "-des", "-bf", "-k", "-pass", "-chacha"))]
        return mapped(feed, unbase64 if plain and not cipher else lambda _: None, decoded=True)
    return mapped(feed, lambda _: None)


def xxd(run: Run, walk: Nested) -> Feed:
    options, files = split_options(run, "clsog")
    feed = given(run, walk, files)
    if "r" not in options:
        return mapped(feed, lambda _: None)

    def plain(text: str) -> str | None:
        if "p" in options or "ps" in options:
            digits = re.sub(r"[^0-9A-Fa-f]", "", text)
        else:
            rows = [re.match(r"\s*[0-9A-Fa-f]+:((?:\s?[0-9A-Fa-f]{2,4})+)", row) for row in text.split("\n") if row.strip()]
            digits = "".join(re.sub(r"\s", "", row.group(1)) for row in rows if row is not None)
        return _bytes_text(lambda: bytes.fromhex(digits[: len(digits) // 2 * 2]))

    return mapped(feed, plain, decoded=True)


def decompress(run: Run, walk: Nested) -> Feed:
    options, files = split_options(run)
    feed = given(run, walk, files)
    unpacks = run.program in ("zcat", "gunzip", "bzcat", "xzcat", "zstdcat", "unxz", "bunzip2", "lzcat", "uncompress")
    if not unpacks and not {"d", "decompress", "dc"} & options.keys():
        return mapped(feed, lambda _: None)
    if run.program in ("zcat", "gunzip", "gzip"):
        return mapped(
            feed, lambda text: _bytes_text(lambda: gzip.decompress(text.encode("utf-8", "surrogateescape"))), decoded=True
        )
    return mapped(feed, lambda _: None, decoded=True)


def reverse(run: Run, walk: Nested) -> Feed:
    return mapped(given(run, walk, run.args), lambda text: "\n".join(line[::-1] for line in text.split("\n")))


def tac(run: Run, walk: Nested) -> Feed:
    return mapped(
        given(run, walk, split_options(run, "s")[1]),
        lambda text: "".join(line + "\n" for line in reversed(text.rstrip("\n").split("\n"))),
    )


def translate(run: Run, walk: Nested) -> Feed:
    options, sets = split_options(run)
    feed = run.stdin if run.stdin is not None else Feed()
    if not sets or any(not word.resolved for word in sets):
        return mapped(feed, lambda _: None)
    first = _tr_set(sets[0].text)
    second = _tr_set(sets[1].text) if len(sets) > 1 else ""
    if first is None or second is None or {"c", "C", "t"} & options.keys():
        return mapped(feed, lambda _: None)

    def change(text: str) -> str | None:
        if "d" in options:
            text = text.translate({ord(c): None for c in first})
            squeeze = second
        elif second:
            padded = second + second[-1] * max(len(first) - len(second), 0)
            text = text.translate({ord(a): b for a, b in zip(first, padded, strict=False)})
            squeeze = second
        else:
            squeeze = first
        if "s" in options:
            text = re.sub(r"(.)\1+", lambda m: m.group(1) if m.group(1) in squeeze else m.group(), text, flags=re.DOTALL)
        return text

    return mapped(feed, change)


def _tr_set(text: str) -> str | None:
    classes = {
        "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "lower": "abcdefghijklmnopqrstuvwxyz",
        "digit": "0123456789",
        "space": " \t\n\r\f\v",
        "blank": " \t",
        "alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    }
    text = re.sub(r"\[:(\w+):\]", lambda m: classes.get(m.group(1), "\0"), text)
    if UNKNOWN in text or "[=" in text:
        return None
    text = ansi(text)
    out: list[str] = []
    i = 0
    while i < len(text):
        if i + 2 < len(text) and text[i + 1] == "-":
            a, b = ord(text[i]), ord(text[i + 2])
            if b < a or b - a > 1024:
                return None
            out.extend(chr(x) for x in range(a, b + 1))
            i += 3
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def head(run: Run, walk: Nested) -> Feed:
    """`head`, `tail`, `sort`, `uniq`, `grep`: some of the lines."""
    options, files = split_options(run, "ncs", ("lines", "bytes"))
    feed = given(run, walk, files)
    count = options.get("n", options.get("lines", "10"))
    if not count.isdigit() or {"c", "bytes"} & options.keys() or any(option.isdigit() for option in options):
        return some_lines(feed)
    text = known(feed)
    if text is None:
        return some_lines(feed)
    rows = text.splitlines(keepends=True)
    kept = rows[: int(count)] if run.program == "head" else rows[-int(count) :] if int(count) else []
    return replace(feed, text="".join(kept), path=None)


def some_lines(feed: Feed) -> Feed:
    if feed.path is not None or feed.text is not None:
        return replace(feed, text=None, path=None, filtered=True)
    return replace(feed, filtered=True)


def sort(run: Run, walk: Nested) -> Feed:
    options, files = split_options(run, "kotTS")
    feed = given(run, walk, files)
    simple = set(options) <= {"u"}
    text = known(feed)
    if text is not None and simple and run.program == "sort":
        rows = sorted(text.splitlines())
        if "u" in options:
            rows = list(dict.fromkeys(rows))
        return replace(feed, text="".join(row + "\n" for row in rows), path=None)
    if text is not None and len(text.splitlines()) <= 1:
        return replace(feed, path=None)
    return replace(feed, text=None, path=None)


def lossy(run: Run, walk: Nested) -> Feed:
    """`grep`, `sed`, `awk`, `cut`...: lines or pieces of the input; a listing stays a listing of fewer names."""
    feed = run.stdin if run.stdin is not None else Feed()
    if feed.text is not None and "\n" not in feed.text.rstrip("\n") and run.program == "grep":
        return replace(feed, path=None)
    return replace(feed, text=None, path=None, filtered=True, plain=feed.plain)


def grep(run: Run, walk: Nested) -> Feed:
    """`grep -l` lists files; `-c` counts; otherwise some lines."""
    letters = "".join(word.text[1:] for word in run.args if re.match(r"-[A-Za-z]+$", word.text))
    words = {word.text for word in run.args}
    if "c" in letters or "q" in letters:
        return PLAIN
    if "l" in letters or "L" in letters or {"--files-with-matches", "--files-without-match", "--files", "--name-only"} & words:
        operands = [word for word in run.args if not word.text.startswith("-")]
        if "--files" not in words and "-e" not in words:
            operands = operands[1:]
        roots = walk.roots_of(operands, run) or ((run.cwd,) if run.cwd is not None else ())
        return Feed(roots=roots, filtered=True)
    return lossy(run, walk)


def sed(run: Run, walk: Nested) -> Feed:
    """One `s` command over constant text, and `-n Np`; else some lines."""
    options, rest = split_options(run, "ef", ("expression", "file"))
    code = options.get("e") or options.get("expression")
    files = rest
    if code is None:
        if not rest:
            return Feed()
        code, files = rest[0].text, rest[1:]
    feed = given(run, walk, files)
    m = re.fullmatch(r"\s*s(.)((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1(g?)\s*", code, re.DOTALL)
    if m is not None and "i" not in options and "n" not in options and known(feed) is not None:
        pattern, replacement = m.group(2), m.group(3)
        if re.fullmatch(r"[A-Za-z0-9_ @#%:;,=~!/-]*|\.|\\\.", pattern) and not re.search(r"[\\&\n]", replacement):
            return mapped(
                feed,
                lambda text: "\n".join(
                    re.sub(pattern, lambda _: replacement, row, count=0 if m.group(4) else 1) for row in text.split("\n")
                ),
            )
    if known(feed) is not None:
        return Feed(fetched=feed.fetched, decoded=feed.decoded)
    if feed.path is not None and not feed.fetched:
        return Feed()
    return some_lines(feed)


def cut(run: Run, walk: Nested) -> Feed:
    options, files = split_options(run, "dfcb", ("delimiter", "fields", "characters"))
    feed = given(run, walk, files)
    text = known(feed)
    which = options.get("c", options.get("b"))
    if text is None:
        return lossy(run, walk)
    if which is not None:
        m = re.fullmatch(r"(\d*)(-?)(\d*)", which)
        if m is None:
            return replace(feed, text=None, path=None)
        first = int(m.group(1) or 1)
        last = int(m.group(3)) if m.group(3) else None if m.group(2) else first
        return replace(feed, text="\n".join(row[first - 1 : last] for row in text.split("\n")), path=None)
    fields = options.get("f", options.get("fields", ""))
    delimiter = options.get("d", options.get("delimiter", "\t"))
    if not re.fullmatch(r"\d+(?:-\d*)?|-\d+", fields) or len(delimiter) != 1:
        return replace(feed, text=None, path=None)
    first_text, dash, last_text = fields.partition("-")
    start = int(first_text or 1)
    end = int(last_text) if last_text else None if dash else start
    rows = [row if delimiter not in row else delimiter.join(row.split(delimiter)[start - 1 : end]) for row in text.split("\n")]
    return replace(feed, text="\n".join(rows), path=None)


def seq(run: Run, walk: Nested) -> Feed:
    numbers = [word.text for word in run.args]
    if numbers and len(numbers) <= 3 and all(re.fullmatch(r"-?\d{1,6}", n) for n in numbers):
        values = [int(n) for n in numbers]
        first, step, last = (1, 1, values[0]) if len(values) == 1 else (values[0], 1, values[1]) if len(values) == 2 else values
        if step and abs(last - first) // abs(step) < 2048:
            stop = last + (1 if step > 0 else -1)
            return Feed(text="".join(f"{n}\n" for n in range(first, stop, step)))
    return PLAIN


def basename(run: Run, walk: Nested) -> Feed:
    words = [word for word in run.args if not word.text.startswith("-")]
    if len(words) in (1, 2) and all(word.resolved and not word.glob for word in words):
        text = words[0].text.rstrip("/") or "/"
        if run.program == "dirname":
            return Feed(text=(posixpath.dirname(text) or ".") + "\n")
        name = posixpath.basename(text) or "/"
        if len(words) == 2 and name != words[1].text:
            name = name.removesuffix(words[1].text)
        return Feed(text=name + "\n")
    return PLAIN


def real_path(run: Run, walk: Nested) -> Feed:
    words = [word for word in run.args if not word.text.startswith("-")]
    if len(words) == 1 and words[0].resolved and not words[0].glob and not run.remote and len(run.args) <= 2:
        place = walk.resolve(words[0].text, run)
        if place is not None:
            return Feed(text=place + "\n")
    return PLAIN


def plain(run: Run, walk: Nested) -> Feed:
    """Numbers, names, dates: text without shell syntax."""
    return PLAIN


def silent(run: Run, walk: Nested) -> Feed:
    return SILENT


def listing(run: Run, walk: Nested) -> Feed:
    """`ls`: the entries of its operands."""
    operands = [word for word in run.args if not word.text.startswith("-")]
    if any("d" in word.text for word in run.args if re.match(r"-[A-Za-z]+$", word.text)) and operands:
        globs = [word for word in operands if word.glob]
        return Feed(roots=walk.roots_of(operands, run), filtered=bool(globs))
    roots = walk.roots_of(operands, run) or ((run.cwd,) if run.cwd is not None and not operands else ())
    return Feed(roots=roots, filtered=any(walk.narrow(word) for word in operands))


def mktemp(run: Run, walk: Nested) -> Feed:
    options, names = split_options(run, "pt", ("tmpdir", "suffix"))
    place = options.get("p") or options.get("tmpdir") or ""
    if names and names[0].resolved and not place and not {"t", "tmpdir"} & options.keys():
        root = walk.resolve(posixpath.dirname(names[0].text) or ".", run)
    else:
        root = walk.resolve(place, run) if place else walk.site.temps[0] if walk.site.temps else None
    return Feed(roots=(root,) if root else (), filtered=True, plain=True)


def git(run: Run, walk: Nested) -> Feed:
    """Names, hashes and listings of the repository."""
    words = [word.text for word in run.args]
    i = 0
    while i < len(words) and words[i].startswith("-"):
        i += 2 if words[i] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    verb = words[i] if i < len(words) else ""
    cwd = (run.cwd,) if run.cwd is not None else ()
    names = {"--name-only", "-l", "--files-with-matches", "--name-status"}
    if verb == "rev-parse" and "--show-toplevel" in words:
        return (
            Feed(text=walk.site.workspace + "\n")
            if run.cwd and (run.cwd + "/").startswith(walk.site.workspace + "/")
            else PLAIN
        )
    if verb in ("ls-files", "ls-tree") or (
        verb in ("diff", "grep", "diff-tree", "show", "log", "diff-index") and names & set(words)
    ):
        return Feed(roots=cwd, filtered=True)
    if verb in (
        "rev-parse",
        "describe",
        "rev-list",
        "merge-base",
        "symbolic-ref",
        "branch",
        "tag",
        "for-each-ref",
        "hash-object",
    ):
        return PLAIN
    if verb in ("config", "remote", "log", "status", "stash", "write-tree", "commit-tree", "--version"):
        return PLAIN
    return Feed()


def download(run: Run, walk: Nested) -> Feed:
    """Network clients write what comes from the network."""
    return Feed(fetched=True)


FLOWS: dict[str, Flow] = {
    **dict.fromkeys(
        [
            "curl",
            "wget",
            "wget2",
            "aria2c",
            "http",
            "https",
            "xh",
            "curlie",
            "lwp-request",
            "GET",
            "lynx",
            "w3m",
            "links",
            "elinks",
            "nc",
            "ncat",
            "netcat",
            "socat",
            "telnet",
            "ftp",
            "tftp",
            "ssh",
            "httpie",
            "fetch",
            "gsutil",
            "rclone",
            "s3cmd",
            "mc",
            "axel",
        ],
        download,
    ),
    "cat": cat,
    "bat": cat,
    "zcat": decompress,
    "gzcat": decompress,
    "gunzip": decompress,
    "gzip": decompress,
    "pigz": decompress,
    "bzcat": decompress,
    "bunzip2": decompress,
    "bzip2": decompress,
    "xzcat": decompress,
    "unxz": decompress,
    "xz": decompress,
    "zstd": decompress,
    "zstdcat": decompress,
    "tee": passes,
    "pv": passes,
    "sponge": passes,
    "dos2unix": passes,
    "iconv": passes,
    "fold": passes,
    "base64": decode64,
    "base32": decode64,
    "gbase64": decode64,
    "openssl": openssl,
    "xxd": xxd,
    "rev": reverse,
    "tac": tac,
    "tr": translate,
    "head": head,
    "tail": head,
    "sort": sort,
    "uniq": sort,
    "shuf": lossy,
    "grep": grep,
    "egrep": grep,
    "fgrep": grep,
    "rg": grep,
    "ag": grep,
    "ack": grep,
    "sed": sed,
    "gsed": sed,
    "awk": lossy,
    "gawk": lossy,
    "cut": cut,
    "xargs": lossy,
    "seq": seq,
    "basename": basename,
    "dirname": basename,
    "realpath": real_path,
    "readlink": real_path,
    "ls": listing,
    "mktemp": mktemp,
    "git": git,
    "cd": silent,
    "mkdir": silent,
    "touch": silent,
    "chmod": silent,
    "sleep": silent,
    "rm": silent,
    "cp": silent,
    "mv": silent,
    "ln": silent,
    "kill": silent,
    **dict.fromkeys(
        [
            "date",
            "hostname",
            "whoami",
            "id",
            "uname",
            "nproc",
            "wc",
            "which",
            "type",
            "arch",
            "tty",
            "getconf",
            "stat",
            "du",
            "df",
            "pgrep",
            "pidof",
            "lsof",
            "ps",
            "jot",
            "uuidgen",
            "md5sum",
            "sha1sum",
            "sha256sum",
            "shasum",
            "cksum",
            "sum",
            "tput",
            "node-version",
            "nvm",
            "free",
            "logname",
            "groups",
            "expr",
            "bc",
            "factor",
            "locale",
            "sw_vers",
            "lsb_release",
            "getent",
        ],
        plain,
    ),
}
