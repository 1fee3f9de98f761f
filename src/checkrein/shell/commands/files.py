"""Programs that read, write, move and delete files. Each row says by a grammar which words are paths and what happens to them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from checkrein.shell.options import Grammar, Options, grammar
from checkrein.shell.spec import Family, Feed, Run, Walk, Word
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import EffectKind, Flag

READ, WRITE, DELETE = EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE
_STDIO = frozenset({"-", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


def each(walk: Walk, run: Run, kind: EffectKind, words: Iterable[Word], *flags: Flag, why: str = "") -> None:
    """One effect for each path; standard streams are none."""
    for word in words:
        if word.text not in _STDIO:
            walk.path(kind, word, run, *flags, why=why)


def inside(directory: Word, name: Word) -> Word:
    """The place that a copy of `name` gets in a directory."""
    base = posixpath.basename(name.text.rstrip("/")) or "."
    resolved = directory.resolved and name.resolved and not name.glob
    if not resolved or base in {".", ".."}:
        return directory
    return replace(directory, text=f"{directory.text.rstrip('/') or '/'}/{base}".replace("//", "/"))


# removing


RM = grammar("r|R|recursive f|force i I interactive? v|verbose d|dir one-file-system no-preserve-root preserve-root? P W x")
RMDIR = grammar("p|parents v|verbose ignore-fail-on-non-empty")


def rm(run: Run, walk: Walk) -> None:
    """`rm`, `unlink`, `srm`, `trash`."""
    given = RM.parse(run.args)
    flags = (
        (Flag.RECURSIVE,) if given.has("recursive") or run.program in {"srm", "trash", "trash-put", "rimraf", "del-cli"} else ()
    )
    each(walk, run, DELETE, given.operands, *flags)


def rmdir(run: Run, walk: Walk) -> None:
    """Only empty directories."""
    each(walk, run, DELETE, RMDIR.parse(run.args).operands)


SHRED = grammar("u|remove? f|force z|zero v|verbose x|exact n|iterations: s|size: random-source: remove?")


def shred(run: Run, walk: Walk) -> None:
    given = SHRED.parse(run.args)
    each(walk, run, WRITE, given.operands, Flag.CONTENT, why="`shred` overwrites what is there")
    each(walk, run, DELETE, given.operands)


TRUNCATE = grammar("c|no-create o|io-blocks r|reference: s|size:")


def truncate(run: Run, walk: Walk) -> None:
    each(walk, run, WRITE, TRUNCATE.parse(run.args).operands, Flag.CONTENT)


# copying and moving


COPY = grammar(
    "a|archive r|R|recursive f|force i|interactive n|no-clobber p v|verbose u|update? l|link s|symbolic-link L|dereference "
    "P|no-dereference H d x|one-file-system T|no-target-directory t|target-directory: S|suffix: b|backup? Z c "
    "preserve? no-preserve: parents reflink? sparse: strip-trailing-slashes attributes-only remove-destination"
)
INSTALL = grammar(
    "d|directory D m|mode: o|owner: g|group: p|preserve-timestamps s|strip t|target-directory: T|no-target-directory v|verbose "
    "b|backup? S|suffix: C|compare c strip-program:"
)
LINK = grammar(
    "s|symbolic f|force n|no-dereference i|interactive v|verbose r|relative t|target-directory: T|no-target-directory "
    "b|backup? S|suffix: L|logical P|physical d|F|directory h"
)


def targets(given: Options) -> tuple[tuple[Word, ...], Word | None, bool]:
    """Sources, target, and whether the target is certainly a directory."""
    into = given.value("target-directory")
    if into is not None:
        return given.operands, into, True
    if not given.operands:
        return (), None, False
    *sources, target = given.operands
    many = len(sources) > 1 or target.text.endswith("/") or any(word.glob for word in sources)
    return tuple(sources), target, many and not given.has("no-target-directory")


def deliver(run: Run, walk: Walk, sources: Sequence[Word], target: Word, *, whole: bool, flags: Sequence[Flag]) -> None:
    """The writes of a copy: the target itself, and the place that each source gets if the target is a directory."""
    if not whole:
        walk.path(WRITE, target, run, *flags)
    for source in sources:
        place = inside(target, source)
        if whole or place.text != target.text:
            walk.path(WRITE, place, run, *flags, *((Flag.CREATE,) if not whole else ()))


def copy(run: Run, walk: Walk) -> None:
    given = COPY.parse(run.args)
    sources, target, whole = targets(given)
    each(walk, run, READ, sources)
    if target is None:
        return
    recursive = given.has("recursive", "archive")
    deliver(run, walk, sources, target, whole=whole, flags=(Flag.RECURSIVE, Flag.CONTENT) if recursive else (Flag.CONTENT,))
    if len(sources) == 1 and not whole:
        walk.written(target, run, Feed(path=walk.place(sources[0], run)))


MOVE = grammar(
    "f|force i|interactive n|no-clobber u|update? v|verbose T|no-target-directory t|target-directory: S|suffix: b|backup? Z "
    "strip-trailing-slashes exchange"
)


def move(run: Run, walk: Walk) -> None:
    """A move takes the source away and replaces the target."""
    sources, target, whole = targets(MOVE.parse(run.args))
    each(walk, run, DELETE, sources, Flag.MOVED)
    if target is not None:
        deliver(run, walk, sources, target, whole=whole, flags=(Flag.CONTENT,))
        if len(sources) == 1 and not whole:
            walk.written(target, run, Feed(path=walk.place(sources[0], run)))


def install(run: Run, walk: Walk) -> None:
    given = INSTALL.parse(run.args)
    mode = given.text("mode")
    if setuid(mode):
        walk.act(Act.MODE_SETUID, run, f"`{run.program} -m {mode}` lets anybody run the file with its owner's rights")
    if given.has("directory"):
        each(walk, run, WRITE, given.operands, Flag.CREATE)
        return
    sources, target, whole = targets(given)
    each(walk, run, READ, sources)
    if target is not None:
        deliver(run, walk, sources, target, whole=whole, flags=(Flag.CONTENT,))


def link(run: Run, walk: Walk) -> None:
    """A link lends its name to the target: what can be done to the target can then be done by that name."""
    given = LINK.parse(run.args)
    sources, target, whole = targets(given)
    if target is None:
        return
    if not sources:
        sources, target, whole = (target,), replace(target, text=posixpath.basename(target.text)), False
    each(walk, run, READ, sources, Flag.LINKED)
    deliver(run, walk, sources, target, whole=whole, flags=(Flag.CREATE,))


RSYNC = grammar(
    "a|archive r|recursive v|verbose z|compress n|dry-run u|update h|human-readable P progress partial delete delete-before "
    "delete-during delete-delay delete-after delete-excluded delete-missing-args force e|rsh: exclude: include: f|filter: "
    "exclude-from: include-from: files-from: rsync-path: remove-source-files x|one-file-system l|links L|copy-links H|hard-links "
    "p|perms o|owner g|group t|times D c|checksum i|itemize-changes S|sparse R|relative b|backup backup-dir: T|temp-dir: "
    "compare-dest: copy-dest: link-dest: bwlimit: port: password-file: log-file: out-format: stats info: max-size: min-size: "
    "chmod: chown: usermap: groupmap: inplace append W|whole-file numeric-ids ignore-existing existing A X timeout: q|quiet "
    "mkpath safe-links from0 0 no-motd list-only"
)


def rsync(run: Run, walk: Walk) -> None:
    given = RSYNC.parse(run.args)
    shell = given.value("rsh")
    if shell is not None:
        walk.shell(shell, run)
    if not given.operands:
        return
    *sources, target = given.operands
    remote = re.compile(r"(?:[\w.-]+@)?[\w.-]+::?|rsync://")
    for source in sources:
        if remote.match(source.text) and "/" not in source.text.partition(":")[0]:
            walk.fetch(source, run)
        else:
            walk.path(READ, source, run, Flag.RECURSIVE)
            if given.has("remove-source-files"):
                walk.path(DELETE, source, run, Flag.RECURSIVE, Flag.FILTERED)
    if given.has("dry-run", "list-only"):
        return
    if remote.match(target.text) and "/" not in target.text.partition(":")[0]:
        walk.fetch(target, run, Flag.SENDS)
        return
    walk.path(WRITE, target, run, Flag.CONTENT, Flag.RECURSIVE)
    if any(option.name.startswith("delete") for option in given.given):
        walk.path(DELETE, target, run, Flag.RECURSIVE, why="`rsync --delete` removes what the source does not have")


# modes and owners


CHMOD = grammar("R|recursive v|verbose c|changes f|silent|quiet reference: preserve-root no-preserve-root h H L P")
SETFACL = grammar(
    "R|recursive m|modify: M|modify-file: x|remove: X|remove-file: b|remove-all k|remove-default set: set-file: restore: d|default n|no-mask L P t|test"
)


def setuid(mode: str) -> bool:
    """Whether a mode sets the bit that lends the owner's or group's rights."""
    if re.fullmatch(r"0*[0-7]{4}", mode):
        return bool(int(mode[-4]) & 6)
    return any(re.match(r"[ugoa]*[+=]", part) and "s" in part for part in mode.split(","))


def chmod(run: Run, walk: Walk) -> None:
    """The first operand is the mode, even one that begins with a dash (`-w`)."""
    args = list(run.args)
    modes = [word for word in args if re.fullmatch(r"-[rwxXst]+", word.text)]
    given = CHMOD.parse([word for word in args if word not in modes])
    operands = list(given.operands)
    if not modes and not given.has("reference") and operands:
        modes = [operands.pop(0)]
    attribute(run, walk, operands, recursive=given.has("recursive"))
    for mode in modes:
        if setuid(mode.text):
            walk.act(Act.MODE_SETUID, run, f"`chmod {mode.text}` lets anybody run the file with its owner's rights", mode)


def attribute(run: Run, walk: Walk, places: Iterable[Word], *, recursive: bool) -> None:
    """Rights and owners of these places change; their content does not."""
    each(walk, run, WRITE, places, Flag.ATTRIBUTES, *((Flag.RECURSIVE,) if recursive else ()))


def chown(run: Run, walk: Walk) -> None:
    given = CHMOD.parse(run.args)
    operands = given.operands if given.has("reference") else given.operands[1:]
    attribute(run, walk, operands, recursive=given.has("recursive"))


def setfacl(run: Run, walk: Walk) -> None:
    given = SETFACL.parse(run.args)
    attribute(run, walk, given.operands, recursive=given.has("recursive"))


def chattr(run: Run, walk: Walk) -> None:
    words = [word for word in run.args if not re.match(r"[+=-][A-Za-z]", word.text)]
    attribute(run, walk, words, recursive=any(re.match(r"-\w*R", word.text) for word in run.args))


# archives


def tar(run: Run, walk: Walk) -> None:
    """Old-style (`tar xzf a.tgz`) and usual options."""
    args = list(run.args)
    mode, archive, directory = "", None, None
    members: list[Word] = []
    if args and not args[0].text.startswith("-") and re.fullmatch(r"[A-Za-z]+", args[0].text):
        args[0] = replace(args[0], text="-" + args[0].text)
        bundled = args[0].text
        # Values of an old-style bundle follow in the order of their letters.
        taken = [letter for letter in bundled if letter in "fCbTXIgKN"]
        values, args = args[1 : 1 + len(taken)], [args[0], *args[1 + len(taken) :]]
        found = dict(zip(taken, values, strict=False))
        archive, directory = found.get("f"), found.get("C")
        mode += bundled
        args = args[1:]
    given = TAR.parse(args)
    names = "".join(TAR_MODES.get(option.name, "") for option in given.given)
    mode += names
    archive = given.value("file") or archive
    directory = given.value("directory") or directory
    members = list(given.operands)
    for option in ("use-compress-program", "to-command", "checkpoint-action", "info-script", "rsh-command"):
        for word in given.values(option):
            text = word.text.removeprefix("exec=") if option == "checkpoint-action" else word.text
            if option != "checkpoint-action" or word.text.startswith("exec="):
                walk.shell(replace(word, text=text), run)
    where = directory or Word(".", run.span)
    if "x" in mode:
        if archive is not None:
            each(walk, run, READ, [archive])
        absolute = given.has("absolute-names")
        walk.path(WRITE, Word("/", run.span) if absolute else where, run, Flag.RECURSIVE, Flag.EXTRACTED)
    elif "c" in mode or "r" in mode or "u" in mode or "A" in mode:
        if archive is not None:
            each(walk, run, WRITE, [archive], Flag.CONTENT)
        for member in members:
            walk.path(READ, _below(where, member), run, Flag.RECURSIVE)
        if given.has("remove-files"):
            for member in members:
                walk.path(DELETE, _below(where, member), run, Flag.RECURSIVE)
    elif archive is not None:
        each(walk, run, READ, [archive])


def _below(directory: Word, member: Word) -> Word:
    if directory.text == "." or member.text.startswith("/") or not directory.resolved or not member.resolved:
        return member
    return replace(member, text=f"{directory.text.rstrip('/')}/{member.text}")


TAR = grammar(
    "x|extract|get c|create t|list r|append u|update A|concatenate|catenate d|diff|compare delete f|file: C|directory: z|gzip j|bzip2 J|xz "
    "Z|compress zstd lzma v|verbose p|preserve-permissions|same-permissions P|absolute-names k|keep-old-files "
    "exclude: X|exclude-from: T|files-from: I|use-compress-program: to-command: checkpoint? checkpoint-action: info-script: F: "
    "rsh-command: strip-components: transform: remove-files a|auto-compress h|dereference O|to-stdout m|touch o|no-same-owner "
    "numeric-owner wildcards exclude-vcs overwrite no-overwrite-dir w|interactive W|verify S|sparse g|listed-incremental: "
    "totals? owner: group: mode: mtime: sort: format: B b|blocking-factor: same-owner null no-recursion skip-old-files l unlink-first U N|newer: K|starting-file: L|tape-length: warning: xattrs acls"
)
TAR_MODES = {"extract": "x", "create": "c", "append": "r", "update": "u", "concatenate": "A", "list": "t"}
UNZIP = grammar("d: o n q j l t v p x: P: a u f L C X b K M U W Z :", abbreviates=False)


def unzip(run: Run, walk: Walk) -> None:
    given = UNZIP.parse(run.args)
    each(walk, run, READ, given.operands[:1])
    if given.has("l", "t", "v", "p", "Z"):
        return
    walk.path(WRITE, given.value("d") or Word(".", run.span), run, Flag.RECURSIVE, Flag.EXTRACTED)


def zipped(run: Run, walk: Walk) -> None:
    """`zip`, `7z a`: the archive first, then what goes into it."""
    words = [word for word in run.args if not word.text.startswith("-")]
    if run.program.startswith("7z"):
        verb, words = (words[0].text if words else ""), words[1:]
        if verb in {"x", "e"}:
            each(walk, run, READ, words[:1])
            out = next((word for word in run.args if word.text.startswith("-o")), None)
            target = Word(".", run.span) if out is None else replace(out, text=out.text[2:])
            walk.path(WRITE, target, run, Flag.RECURSIVE, Flag.EXTRACTED)
            return
    elif any(word.text in {"-T", "-TT", "--unzip-command"} for word in run.args):
        at = next((n for n, word in enumerate(run.args) if word.text in {"-TT", "--unzip-command"}), None)
        if at is not None and at + 1 < len(run.args):
            walk.shell(run.args[at + 1], run)
    each(walk, run, WRITE, words[:1], Flag.CONTENT)
    each(walk, run, READ, words[1:], Flag.RECURSIVE)
    if run.program == "zip" and any(re.fullmatch(r"-\w*m\w*|--move", word.text) for word in run.args):
        each(walk, run, DELETE, words[1:], Flag.RECURSIVE)


def packed(run: Run, walk: Walk) -> None:
    """`gzip a`, `xz -d a.xz`: the file is replaced by its other form."""
    if any(re.fullmatch(r"-\w*[clt]\w*|--stdout|--to-stdout|--list|--test", word.text) for word in run.args):
        each(walk, run, READ, [word for word in run.args if not word.text.startswith("-")])
        return
    each(walk, run, WRITE, [word for word in run.args if not word.text.startswith("-")], Flag.CONTENT)


# writing


TEE = grammar("a|append i|ignore-interrupts p output-error?")


def tee(run: Run, walk: Walk) -> None:
    given = TEE.parse(run.args)
    append = given.has("append")
    each(walk, run, WRITE, given.operands, Flag.APPEND if append else Flag.CONTENT)
    for word in given.operands:
        walk.written(word, run, run.stdin or Feed(), append=append)


def sponge(run: Run, walk: Walk) -> None:
    each(walk, run, WRITE, [word for word in run.args if word.text != "-a"], Flag.CONTENT)


TOUCH = grammar("a m c|no-create d|date: t: r|reference: h|no-dereference f time:")
MKDIR = grammar("p|parents v|verbose m|mode: Z")


def touch(run: Run, walk: Walk) -> None:
    each(walk, run, WRITE, TOUCH.parse(run.args).operands, Flag.CREATE)


def mkdir(run: Run, walk: Walk) -> None:
    each(walk, run, WRITE, MKDIR.parse(run.args).operands, Flag.CREATE)


PATCH = grammar(
    "p|strip: i|input: d|directory: o|output: R|reverse b|backup N|forward s|silent f|force t|batch E u n e dry-run r|reject-file: z|suffix: B: V: D: F: Y:"
)


def patch(run: Run, walk: Walk) -> None:
    given = PATCH.parse(run.args)
    source = given.value("input")
    if source is not None:
        each(walk, run, READ, [source])
    if given.has("dry-run"):
        return
    target = given.value("output") or (given.operands[0] if given.operands else None)
    walk.path(WRITE, target or given.value("directory") or Word(".", run.span), run, Flag.CONTENT, Flag.FILTERED)


SPLIT = grammar(
    "b|bytes: C|line-bytes: l|lines: n|number: a|suffix-length: d|numeric-suffixes? x|hex-suffixes? e|elide-empty-files filter: t|separator: u|unbuffered verbose additional-suffix: f|prefix: k z s"
)


def split(run: Run, walk: Walk) -> None:
    given = SPLIT.parse(run.args)
    for word in given.values("filter"):
        walk.shell(word, run)
    each(walk, run, READ, given.operands[:1])
    each(walk, run, WRITE, given.operands[1:2], Flag.CREATE)


# reading


def reads(text: str, *, skip: int = 0, recursive: str = "", writes: str = "") -> Family:
    """A program whose operands are read; `skip` of them are no paths; options in `writes` name files that it writes."""
    options: Grammar = grammar(text)
    written = tuple(writes.split())

    def family(run: Run, walk: Walk) -> None:
        given = options.parse(run.args)
        flags = (Flag.RECURSIVE,) if recursive and given.has(*recursive.split()) else ()
        each(walk, run, READ, given.operands[skip:], *flags)
        for word in given.values(*written):
            walk.path(WRITE, word, run, Flag.CONTENT)

    return family


def grep(run: Run, walk: Walk) -> None:
    given = GREP.parse(run.args)
    pattern = given.has("regexp", "file")
    each(walk, run, READ, given.values("file"))
    each(
        walk,
        run,
        READ,
        given.operands[0 if pattern else 1 :],
        Flag.RECURSIVE if given.has("recursive") or run.program in {"rg", "ag", "ack"} else Flag.FILTERED,
    )
    for word in given.values("pre"):
        walk.command([word], run)


GREP = grammar(
    "e|regexp: f|file: r|R|recursive i|ignore-case v|invert-match c|count l|files-with-matches L|files-without-match n|line-number "
    "H|with-filename h|no-filename o|only-matching q|quiet s|no-messages w|word-regexp x|line-regexp E|extended-regexp F|fixed-strings "
    "G|basic-regexp P|perl-regexp m|max-count: A|after-context: B|before-context: C|context: color? colour? include: exclude: "
    "exclude-dir: exclude-from: a|text I z|null-data Z|null b|byte-offset t|type: g|glob: S|smart-case u|unrestricted j|threads: "
    "pre: hidden no-ignore iglob: sort: json files N p U|multiline r|replace: T|type-not: M|max-columns: d|directories: D|devices: label: line-buffered max-depth: stats vimgrep no-heading heading"
)
HEAD = "n|lines: c|bytes: q|quiet|silent v|verbose z f|follow? F s|sleep-interval: pid: retry"
CAT = "A|show-all b|number-nonblank e E|show-ends n|number s|squeeze-blank t T|show-tabs u v|show-nonprinting p|plain l|language: style: color: paging: theme: H: line-range: r:"
SORT = "b d f g i h M n R r V c C m o|output: s t|field-separator: k|key: u|unique z S|buffer-size: T|temporary-directory: compress-program: parallel: random-source: reverse numeric-sort version-sort human-numeric-sort check? files0-from: stable general-numeric-sort"
JQ = "c|compact-output r|raw-output e|exit-status s|slurp n|null-input S|sort-keys f|from-file: arg: argjson: slurpfile: rawfile: L: tab indent: C M a j R|raw-input args jsonargs seq stream"


def jq(run: Run, walk: Walk) -> None:
    """The filter is no path. Options that take a name and a value take two words."""
    words: list[Word] = []
    args = list(run.args)
    while args:
        word = args.pop(0)
        if word.text in {"--arg", "--argjson"}:
            del args[:2]
        elif word.text in {"--slurpfile", "--rawfile"}:
            each(walk, run, READ, args[1:2])
            del args[:2]
        elif word.text in {"--args", "--jsonargs"}:
            break
        else:
            words.append(word)
    given = JQG.parse(words)
    each(walk, run, READ, given.values("from-file"))
    each(walk, run, READ, given.operands[0 if given.has("from-file") else 1 :])


JQG = grammar(JQ)


def listing(run: Run, walk: Walk) -> None:
    words = [word for word in run.args if not word.text.startswith("-")]
    each(walk, run, READ, words, Flag.FILTERED)


def sort(run: Run, walk: Walk) -> None:
    given = SORTG.parse(run.args)
    for word in given.values("compress-program"):
        walk.command([word], run)
    each(walk, run, READ, given.operands)
    each(walk, run, WRITE, given.values("output"), Flag.CONTENT)


SORTG = grammar(SORT)

SPECS: dict[str, Family] = {
    **dict.fromkeys(("rm", "grm", "srm", "trash", "trash-put", "rimraf", "unlink"), rm),
    **dict.fromkeys(("rmdir", "grmdir"), rmdir),
    "shred": shred,
    "gshred": shred,
    "truncate": truncate,
    "gtruncate": truncate,
    **dict.fromkeys(("cp", "gcp", "ditto"), copy),
    **dict.fromkeys(("mv", "gmv"), move),
    **dict.fromkeys(("install", "ginstall"), install),
    **dict.fromkeys(("ln", "gln", "link"), link),
    "rsync": rsync,
    **dict.fromkeys(("chmod", "gchmod"), chmod),
    **dict.fromkeys(("chown", "chgrp", "gchown", "chcon"), chown),
    "setfacl": setfacl,
    "chattr": chattr,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), tar),
    "unzip": unzip,
    **dict.fromkeys(("zip", "7z", "7za", "7zz"), zipped),
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "pigz", "lz4"), packed),
    **dict.fromkeys(("tee", "gtee"), tee),
    "sponge": sponge,
    "touch": touch,
    "mkdir": mkdir,
    "mkfifo": mkdir,
    "patch": patch,
    **dict.fromkeys(("split", "csplit"), split),
    **dict.fromkeys(
        ("cat", "bat", "zcat", "tac", "nl", "strings", "od", "hexdump", "xxd", "rev", "fold", "fmt", "pr"), reads(CAT)
    ),
    **dict.fromkeys(("less", "more", "most", "view"), reads("N S R F X i")),
    **dict.fromkeys(("head", "tail"), reads(HEAD)),
    **dict.fromkeys(
        ("wc", "md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "cksum", "file", "stat"),
        reads("l c w m L b a: c: f: format: printf:"),
    ),
    **dict.fromkeys(("base64", "base32", "gbase64"), reads("d|decode D w|wrap: i|input: o|output: b:", writes="output")),
    **dict.fromkeys(
        ("diff", "cmp", "comm", "join", "paste", "sdiff", "colordiff"),
        reads("u r|recursive q N i w b B y 1 2 3 d: t: j: s c U: x: color? brief", recursive="recursive"),
    ),
    **dict.fromkeys(
        ("cut", "uniq", "expand", "unexpand", "column"),
        reads("d|delimiter: f|fields: c|characters: b|bytes: s n u i w: t t: s: o: N:"),
    ),
    "sort": sort,
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ggrep", "ripgrep"), grep),
    **dict.fromkeys(("jq", "gojq"), jq),
    **dict.fromkeys(("ls", "gls", "eza", "exa", "lsd", "tree", "du", "ll"), listing),
}
