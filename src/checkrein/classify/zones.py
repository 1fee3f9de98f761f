"""Paths to zones: `normal` makes a path absolute and plain, `zone` says where it lies.

Both are pure but for the `realpath` probe that a site may bring. The table of places is `places.py`.

INVARIANT: two spellings of one file (`.`, `..`, doubled slashes, `~`, `/proc/self/root`, case where it folds, links where they
can be probed) have one zone; where links lead elsewhere, the sharper of the two zones counts.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote

from checkrein.classify.places import (
    EXAMPLES,
    HOME_SHARP,
    HOME_SOFT,
    KEY_NAMES,
    PROJECT,
    SYSTEM_PARENTS,
    SYSTEM_POSIX,
    SYSTEM_WINDOWS,
    TEST_DATA,
    VENV,
    Row,
)
from checkrein.vocab.effects import Zone
from checkrein.vocab.site import Site

__all__ = ["inside", "normal", "zone"]

MAX_PATH = 32_768
MEMORY = 4_096  # classified paths that are remembered per site
SITES = 8

ODD = re.compile(r"//|/\.{1,2}(?:/|$)|.(?:/|\\)$|[\x00\\\N{HORIZONTAL ELLIPSIS}]")
DRIVE = re.compile(r"/?([A-Za-z]):(?![^/\\])")
DRIVE_RELATIVE = re.compile(r"([A-Za-z]):(?=[^/\\])")
GIT_BASH_DRIVE = re.compile(r"/(?:mnt/|cygdrive/)?([A-Za-z])(?=/|$)")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
REMOTE = re.compile(r"(?:[\w.-]+@)?[\w-][\w.-]+:(?=/|~)|[\w.-]+@[\w.-]+:")
HOME_WORD = re.compile(
    r"(?:\$\{?HOME\}?|\$env:(?:USERPROFILE|HOME)|\$\{env:(?:USERPROFILE|HOME)\}|%(?:USERPROFILE|HOMEPATH|HOME)%)(?=[/\\]|$)",
    re.IGNORECASE,
)
PROC_ROOT = re.compile(r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/root(?=/|$)")
PROC_CWD = re.compile(r"/proc/(self|thread-self|\d+)(?:/task/\d+)?/cwd(?=/|$)")
DEVICE_PATH = re.compile(r"[/\\]{2}[.?][/\\](?!UNC[/\\])", re.IGNORECASE)
RESERVED = re.compile(r"(?:.*/)?(?:nul|con|aux|prn|conin\$|conout\$|com\d|lpt\d)(?:\.[^/]*)?:?", re.IGNORECASE)
SHORT_NAMES = {"progra~1": "Program Files", "progra~2": "Program Files (x86)", "docume~1": "Documents and Settings"}
ANY_HOME = re.compile(
    r"(?:/home/[^/]+|/root|/Users/[^/]+|/var/root|/mnt/[a-z]/Users/[^/]+|[A-Za-z]:/Users/[^/]+)(?=/|$)", re.IGNORECASE
)
IGNORABLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")
NOT_EVERYONE = {"public", "default", "shared", "all users"}

SHARP = frozenset(
    {
        *(Zone.CREDENTIALS, Zone.AUTHORIZED_KEYS, Zone.HARNESS_CONFIG, Zone.CHECKREIN, Zone.SHELL_RC, Zone.AUTOSTART),
        *(Zone.GIT_DIR, Zone.GIT_HOOKS, Zone.GIT_CONFIG, Zone.GIT_INNER, Zone.WORKSPACE_SECRET, Zone.DEVICE),
        *(Zone.WORKSPACE_ROOT, Zone.HOME_ROOT, Zone.SYSTEM_ROOT),
    }
)


# patterns


def spread(place: str) -> list[str]:
    """`a{b,c}d` as `abd`, `acd`."""
    before, found, rest = place.partition("{")
    if not found:
        return [place]
    middle, _, after = rest.partition("}")
    return [before + name + end for name in middle.split(",") for end in spread(after)]


def pattern(place: str) -> str:
    """A place of the table, without alternatives, as a regular expression."""
    below = len(place) > 1 and place.endswith("/")
    out = []
    for piece in re.findall(r"\*\*/|\*\*|/\*(?=/|$)|\*|[^*/]+|/", place.rstrip("/") if below else place):
        match piece:
            case "**/":
                out.append("(?:.*/)?")
            case "**":
                out.append(".+")
            case "/*":
                out.append("/[^/]+")
            case "*":
                out.append("[^/]*")
            case _:
                out.append(re.escape(piece))
    if below:
        out.append("(?:/.*)?")
    return "".join(out)


class Table:
    """Rows by the first name of their places, so that a path meets few patterns."""

    def __init__(self, rows: tuple[Row, ...], *, fold: bool) -> None:
        flags = re.DOTALL | (re.IGNORECASE if fold else 0)
        self.fold = fold
        entries = [
            (number, place, row.zone)
            for number, (row, place) in enumerate((row, place) for row in rows for each in row.places for place in spread(each))
        ]
        heads: dict[str, list[tuple[int, str, Zone]]] = {}
        loose = []
        for entry in entries:
            head = entry[1].lstrip("/").split("/", 1)[0]
            if "*" in head or not head:
                loose.append(entry)
            else:
                heads.setdefault(head.lower() if fold else head, []).append(entry)
        self._loose = self._compile(loose, flags)
        self._heads = {name: self._compile(sorted([*own, *loose]), flags) for name, own in heads.items()}

    @staticmethod
    def _compile(entries: list[tuple[int, str, Zone]], flags: int) -> tuple[re.Pattern[str], tuple[Zone, ...]]:
        text = "|".join(f"({pattern(place)})" for _, place, _ in entries)
        return re.compile(text or "(?!)", flags), tuple(zone for _, _, zone in entries)

    def find(self, path: str) -> Zone | None:
        start = 1 if path[:1] == "/" else 0
        stop = path.find("/", start)
        head = path[start:] if stop < 0 else path[start:stop]
        expression, zones = self._heads.get(head.lower() if self.fold else head, self._loose)
        m = expression.fullmatch(path)
        return zones[m.lastindex - 1] if m is not None and m.lastindex is not None else None


# paths


def windows(path: str, *, site: bool) -> str | None:
    """A path of Windows with forward slashes and an upper-case drive, or None when it is no such path."""
    if DEVICE_PATH.match(path):
        rest = path[4:].replace("\\", "/")
        return windows(rest, site=site) if DRIVE.match(rest) and len(rest) > 2 else "//./" + rest
    if path[:2] in ("\\\\", "//") and (site or path[:2] == "\\\\"):
        rest = path[2:].replace("\\", "/")
        return "//" + (rest[6:] if rest[:6].upper() in ("?/UNC/", "./UNC/") else rest)
    m = DRIVE.match(path)
    if m is not None:
        return m.group(1).upper() + ":" + path[m.end() :].replace("\\", "/")
    if not site:
        return None
    m = GIT_BASH_DRIVE.match(path)
    if m is not None:
        return m.group(1).upper() + ":" + path[m.end() :]
    return path.replace("\\", "/")


def tidy(path: str) -> str:
    """A Windows path as the system opens it: no trailing dots and spaces, no streams, short names where they are known."""
    head, rest = ("//", path[2:]) if path.startswith("//") else ("", path)
    drive = rest[:2] if DRIVE.match(rest) else ""
    names = []
    for name in rest[len(drive) :].split("/"):
        plain = name if name in {"", ".", ".."} else name.split(":", 1)[0].rstrip(". ")
        names.append(SHORT_NAMES.get(plain.lower(), plain))
    path = posixpath.normpath("/".join(names)) if names != [""] else ""
    return head + drive + ("" if path in {"/", "//", "."} and drive else path)


def normal(path: str, cwd: str | None, site: Site) -> str | None:
    """The absolute, plain form of a path, or None when it cannot be known. `cwd` is where relative paths begin."""
    if path[:1] == "/" and not site.windows and ODD.search(path) is None and path[:6] != "/proc/" and path[2:3] != ":":
        return path
    return spell(path, cwd, site)


def spell(path: str, cwd: str | None, site: Site) -> str | None:
    if not path or len(path) > MAX_PATH or "\0" in path or "\N{HORIZONTAL ELLIPSIS}" in path:
        return None
    m = SCHEME.match(path)
    if m is not None:
        if m.group(1).lower() != "file":
            return path
        rest = unquote(path[m.end() :])
        path = "/" + rest.partition("/")[2]
    m = HOME_WORD.match(path)
    if m is not None:
        path = "~" + path[m.end() :]
    if path[0] == "~":
        expanded = tilde(path, site)
        if expanded is None:
            return None
        path = expanded
    drive = DRIVE_RELATIVE.match(path) if site.windows else None
    if drive is not None:
        here = cwd if cwd is not None and cwd[:2].upper() == path[:2].upper() else None
        return spell(path[2:], here, site) if here is not None else None
    plain = windows(path, site=site.windows)
    if plain is not None:
        if plain.startswith(("//", "./")) or DRIVE.match(plain):
            return tidy(plain) if not plain.startswith("//./") else plain
        if plain.startswith("/"):  # the root of the current drive
            return (
                tidy((cwd or site.workspace)[:2] + plain) if DRIVE.match(cwd or site.workspace) else posixpath.normpath(plain)
            )
        if cwd is None:
            return None
        return tidy(windows(cwd, site=True) + "/" + plain)  # type: ignore[operator]  # never None with site=True
    if REMOTE.match(path):
        return path
    if path[0] != "/":
        if cwd is None:
            return None
        path = cwd + "/" + path
    return unproc(posixpath.normpath(path).replace("//", "/", 1), cwd)


def tilde(path: str, site: Site) -> str | None:
    head, slash, rest = path.replace("\\", "/", 1).partition("/") if site.windows else path.partition("/")
    user = head[1:]
    if user in {"", site.user}:
        place = site.home
    elif user == "root":
        place = "/var/root" if site.home.startswith("/Users/") else "/root"
    elif re.fullmatch(r"[A-Za-z_][\w.-]*", user):
        parent = posixpath.dirname(site.home)
        place = f"{'/home' if parent == '/' else parent}/{user}"
    else:  # `~+`, `~-`, `~1`: places that only the shell knows
        return None
    return place + slash + rest


def unproc(path: str, cwd: str | None) -> str | None:
    """Paths that go around through `/proc`."""
    for _ in range(8):
        if not path.startswith("/proc/"):
            return path
        m = PROC_ROOT.match(path)
        if m is not None:
            path = path[m.end() :] or "/"
            continue
        m = PROC_CWD.match(path)
        if m is None:
            return path
        if cwd is None or m.group(1).isdigit():
            return None
        path = cwd + path[m.end() :]
    return None


# zones


@dataclass(slots=True)
class Ground:
    """What the table means on one site."""

    site: Site
    fold: bool
    workspace: str
    home: str
    temps: frozenset[str]
    beside: str  # the directory whose other entries are siblings, or ""
    protected: dict[str, Zone]
    roots: frozenset[str]  # directories that hold the workspace, and not the home
    home_sharp: Table
    home_soft: Table
    project: Table
    system: Table
    memory: dict[str, Zone] = field(default_factory=dict)


LAST: list[tuple[Site, Ground]] = []
GROUNDS: dict[tuple[object, ...], Ground] = {}
TABLES: dict[tuple[int, bool], Table] = {}


def table(rows: tuple[Row, ...], *, fold: bool) -> Table:
    key = (id(rows), fold)
    if key not in TABLES:
        TABLES[key] = Table(rows, fold=fold)
    return TABLES[key]


def ground(site: Site) -> Ground:
    if LAST and LAST[0][0] is site:
        return LAST[0][1]
    likeness = (site.workspace, site.home, site.cwd, site.user, site.temps, site.windows, site.folds_case, site.protected)
    found = GROUNDS.get(likeness)
    if found is None:
        if len(GROUNDS) >= SITES:
            GROUNDS.clear()
        found = GROUNDS[likeness] = survey(site)
    LAST[:] = [(site, found)]
    return found


def survey(site: Site) -> Ground:
    fold = site.folds_case or site.windows

    def key(path: str) -> str:
        plain = spell(path, None, site) or path
        return folded(plain) if fold else plain

    workspace, home = key(site.workspace), key(site.home)
    parent = posixpath.dirname(workspace)
    temps = frozenset(key(path) for path in site.temps)
    held = set()
    above = parent
    while above not in {"", "/"} and len(above) > 2:
        if not inside(home, above):
            held.add(above)
        above = posixpath.dirname(above)
    alone = parent in {home, "", *temps} or parent in SYSTEM_PARENTS or len(parent) <= 2 or parent.startswith("//")
    return Ground(
        site=site,
        fold=fold,
        workspace=workspace,
        home=home,
        temps=temps,
        beside="" if alone else parent,
        protected={key(path): zone for path, zone in site.protected},
        roots=frozenset(held),
        home_sharp=table(HOME_SHARP, fold=fold),
        home_soft=table(HOME_SOFT, fold=fold),
        project=table(PROJECT, fold=fold),
        system=table(SYSTEM_WINDOWS if DRIVE.match(workspace) or site.windows else SYSTEM_POSIX, fold=fold),
    )


def folded(path: str) -> str:
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", IGNORABLE.sub("", unicodedata.normalize("NFD", path)).casefold())


def inside(path: str, root: str) -> bool:
    """Whether `path` is `root` or lies below it; both are normal."""
    return path == root or path.startswith(root + "/") or root == "/"


def zone(path: str, site: Site, *, follow: bool = True) -> Zone:
    """Where the path lies. With `follow`, links are probed where the site allows it; without, only those above the path."""
    here = ground(site)
    found = here.memory.get(path)
    if found is None:
        found = classify(path, here)
        if len(here.memory) >= MEMORY:
            here.memory.clear()
        here.memory[path] = found
    if site.realpath is None or found in {Zone.UNRESOLVED, Zone.NETWORK}:
        return found
    return followed(path, found, here, site.realpath, follow=follow)


def followed(path: str, found: Zone, here: Ground, probe: Callable[[str], str], *, follow: bool) -> Zone:
    plain = normal(path, here.site.cwd, here.site)
    if plain is None:
        return found
    if follow:
        real = probe(plain)
    else:
        parent, name = posixpath.split(plain)
        real = posixpath.join(probe(parent), name)
    if real == plain:
        return found
    # INVARIANT: a link neither hides a sharp place nor lends a harmless name to one.
    other = classify(real, here)
    return found if found in SHARP and other not in SHARP else other


def classify(path: str, here: Ground) -> Zone:
    plain = normal(path, here.site.cwd, here.site)
    if plain is None:
        return Zone.UNRESOLVED
    if plain[0] != "/" and not DRIVE.match(plain):
        return Zone.NETWORK  # another scheme, or host:path
    if plain.startswith("//"):
        return Zone.DEVICE if plain.startswith("//./") else Zone.NETWORK
    if DRIVE.match(plain) and RESERVED.fullmatch(plain):
        return Zone.NULL_DEVICE
    return place(folded(plain) if here.fold else plain, here)


def place(path: str, here: Ground) -> Zone:
    """The ladder: what is protected, what is sharp in a home, the workspace, homes, temporary places, the system."""
    if here.protected:
        above = path
        while True:
            known = here.protected.get(above)
            if known is not None:
                return known
            if above in {"/", ""} or "/" not in above:
                break
            above = posixpath.dirname(above)
    home = inside(path, here.home)
    if home:
        if path == here.home:
            return Zone.HOME_ROOT
        sharp = here.home_sharp.find(path[len(here.home) + 1 :])
        if sharp is not None:
            if sharp in {Zone.CREDENTIALS, Zone.HOME_DOT} and inside(path, here.workspace) and test_data(path, here):
                return Zone.WORKSPACE
            return sharp
    if path == here.workspace:
        return Zone.WORKSPACE_ROOT
    if path.startswith(here.workspace + "/"):
        return in_project(path[len(here.workspace) + 1 :], here)
    if path in here.roots and path not in SYSTEM_PARENTS and path not in here.temps:
        return Zone.WORKSPACE_ROOT
    if here.beside and path.startswith(here.beside + "/"):
        return git_zone(path) or project_zone(path, here) or Zone.SIBLING
    for temp in here.temps:
        if path == temp:
            return Zone.TEMP_ROOT
        if path.startswith(temp + "/") and not home:
            sharp = here.system.find(path)
            return Zone.CREDENTIALS if sharp is Zone.CREDENTIALS else Zone.TEMP
    if home:
        return in_home(path[len(here.home) + 1 :], path, here)
    return in_system(path, here)


def test_data(path: str, here: Ground) -> bool:
    return not TEST_DATA.isdisjoint(path[len(here.workspace) :].lower().split("/"))


def in_home(rest: str, path: str, here: Ground) -> Zone:
    soft = here.home_soft.find(rest)
    if soft is not None:
        return soft
    git = git_zone(path)
    if git is not None:
        return git
    if rest[0] == "." or rest.startswith(("library/", "appdata/", "Library/", "AppData/")):
        return Zone.HOME_DOT
    if rest.rsplit("/", 1)[-1].endswith(".key"):
        return Zone.CREDENTIALS
    return project_zone(path, here) or Zone.HOME


def in_system(path: str, here: Ground) -> Zone:
    m = ANY_HOME.match(path)
    if m is not None:
        if m.end() == len(path):
            return Zone.SYSTEM_ROOT
        if posixpath.basename(m.group()).lower() not in NOT_EVERYONE:
            sharp = here.home_sharp.find(path[m.end() + 1 :])
            if sharp is not None and sharp is not Zone.CACHE and sharp is not Zone.HOME_DOT:
                return sharp
    if path[1:2] == ":" and path[0] != "/":
        found = table(SYSTEM_WINDOWS, fold=True).find("C" + path[1:])
    else:
        found = table(SYSTEM_POSIX, fold=here.fold).find(path)
    if found is not None:
        return found
    if posixpath.basename(path) in KEY_NAMES:
        return Zone.CREDENTIALS
    return git_zone(path) or Zone.SYSTEM


def git_zone(path: str) -> Zone | None:
    """The part of a `.git` that the path lies in."""
    if ".git" not in path:
        return None
    names = path.split("/")
    if ".git" not in names:
        bare = next((i for i, name in enumerate(names) if name.endswith(".git")), len(names))
        return Zone.GIT_HOOKS if names[bare + 1 : bare + 2] == ["hooks"] else None
    rest = names[names.index(".git") + 1 :]
    if not rest:
        return Zone.GIT_DIR
    if rest[0] in {"modules", "worktrees"}:
        if "hooks" in rest[1:]:
            return Zone.GIT_HOOKS
        return Zone.GIT_CONFIG if rest[-1] in {"config", "config.worktree"} else Zone.GIT_INNER
    if rest[0] == "hooks":
        return Zone.GIT_HOOKS
    return Zone.GIT_CONFIG if rest[0] in {"config", "config.worktree"} else Zone.GIT_INNER


def project_zone(path: str, here: Ground) -> Zone | None:
    """Harness files in a project that is not the workspace, by the names where they can begin."""
    names = path.split("/")
    for i, name in enumerate(names):
        if name[:1] == "." or name in {"opencode.json", "opencode.jsonc"}:
            found = here.project.find("/".join(names[i:]))
            if found in {Zone.CHECKREIN, Zone.HARNESS_CONFIG}:
                return found
    return None


def in_project(rest: str, here: Ground) -> Zone:
    """A path below the workspace."""
    git = git_zone(rest)
    if git is not None:
        return git
    found = here.project.find(rest)
    if found is not None:
        return found
    if "/." in rest:  # the same files in a package of a larger workspace
        nested = project_zone(rest, here)
        if nested is not None:
            return nested
    names = rest.split("/")
    last = names[-1]
    if ".env" in rest and secret_name(names):
        return Zone.WORKSPACE_SECRET
    if last in KEY_NAMES and TEST_DATA.isdisjoint(names):
        return Zone.CREDENTIALS
    return Zone.WORKSPACE


def secret_name(names: list[str]) -> bool:
    """Whether one of the names is an environment file, or a directory of them."""
    for i, name in enumerate(names):
        if not name.startswith(".env"):
            continue
        following = names[i + 1] if i + 1 < len(names) else None
        if following is None:
            return not name.endswith(EXAMPLES)
        return following.lower() not in VENV and not names[-1].endswith(EXAMPLES)
    return False
