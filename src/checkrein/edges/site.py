"""The machine as judging sees it: workspace, home, temporary directories, what is protected, and probes that read no secret."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from checkrein.edges.files import protected_paths
from checkrein.profiles.schema import Profile
from checkrein.vocab.effects import Zone
from checkrein.vocab.errors import UsageError
from checkrein.vocab.site import Site
from checkrein.vocab.state import MAX_FILE

# Variables whose values shell words may name. Anything else stays unknown to judging, and so out of what is stored and shown.
NAMED: Final = (
    "HOME", "USER", "LOGNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "VIRTUAL_ENV", "CONDA_PREFIX", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT",
)  # fmt: skip
_TEMPS: Final = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - names of places, nothing is opened
_DEPTH: Final = 2  # names below the root that a temporary directory has at least


def site(
    workspace: Path | str | None = None,
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    profile: Profile | None = None,
    own: Iterable[Path | str] = (),
    pids: Iterable[int] = (),
) -> Site:
    """The site of a harness that works in `cwd`, or in the workspace where that is not below it.

    The workspace is the one given, else the git root above `cwd`, else `cwd`. `own` are files and directories of Checkrein
    beyond those in their usual places; `pids` are processes that no call may end.
    """
    env = os.environ if env is None else env
    here = Path(cwd) if cwd is not None else _here()
    if workspace is None:
        root = git_root(here)
    else:
        root = Path(workspace).absolute()
        if not root.is_dir():
            raise UsageError(f"the workspace `{workspace}` is no directory")
        here = here if cwd is not None else _below(here, root)
    home = home_of(env)
    return Site(
        workspace=_plain(root),
        home=_plain(Path(home)),
        cwd=_plain(here),
        user=env.get("USER") or env.get("LOGNAME") or env.get("USERNAME") or Path(home).name,
        temps=_temps(env, root, home),
        windows=os.name == "nt",
        folds_case=os.name == "nt" or sys.platform == "darwin",
        protected=tuple(_protected(env, root, home, profile, own)),
        env={name: env[name] for name in NAMED if env.get(name)},
        realpath=os.path.realpath,
        read=partial(_read, root),
        guard_pids=frozenset(pids),
    )


def git_root(directory: Path) -> Path:
    """The nearest directory at or above this one that holds a `.git`, else the directory itself."""
    directory = directory.absolute()
    for place in (directory, *directory.parents):
        if (place / ".git").exists():
            return place
    return directory


def home_of(env: Mapping[str, str]) -> str:
    """The home directory, as programs are told of it."""
    return env.get("HOME") or env.get("USERPROFILE") or str(Path.home())


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the working directory no longer exists", "name the workspace with `--workspace`") from None


def _below(here: Path, root: Path) -> Path:
    """The working directory where it lies in the workspace, else the workspace."""
    return here if here == root or root in here.parents else root


def _plain(path: Path) -> str:
    """Absolute and normal, with links as they are: harnesses and models spell paths as they were told them."""
    return os.path.normpath(path.absolute()).replace("\\", "/") if os.name == "nt" else os.path.normpath(path.absolute())


def _temps(env: Mapping[str, str], root: Path, home: str) -> tuple[str, ...]:
    """The usual directories, the platform's own first.

    INVARIANT: no variable makes a temporary directory of a place that holds the home or the workspace, or of a top directory.
    """
    chosen = env.get("TMPDIR") or env.get("TEMP") or env.get("TMP") or ""
    found = dict.fromkeys(() if os.name == "nt" else _TEMPS)
    if chosen and Path(chosen).is_absolute():
        place = Path(os.path.normpath(chosen))
        holds = any(place == one or place in one.parents for one in (root, Path(home)))
        if not holds and len(place.parts) > _DEPTH and str(place) not in found:
            found = {str(place).replace("\\", "/") if os.name == "nt" else str(place): None, **found}
    return tuple(found)


def _protected(
    env: Mapping[str, str], root: Path, home: str, profile: Profile | None, own: Iterable[Path | str]
) -> Iterable[tuple[str, Zone]]:
    """What is not to be changed from inside a session: the guard's own files first, then those of the harness."""
    from checkrein.edges.policies import directories

    seen: set[str] = set()
    for place in (*directories(), root / ".checkrein", *own):
        for spelling in dict.fromkeys((_plain(Path(place)), os.path.realpath(place))):
            if spelling not in seen:
                seen.add(spelling)
                yield spelling, Zone.CHECKREIN
    if profile is None:
        return
    for path in protected_paths(profile, home, str(root), env):
        plain = os.path.normpath(path)
        if plain not in seen:
            seen.add(plain)
            yield plain, Zone.HARNESS_CONFIG


def _read(root: Path, path: str) -> str | None:
    """The text of a workspace file; None where there is none that judging may look at."""
    real = Path(os.path.realpath(path))
    inside = Path(os.path.realpath(root))
    if inside not in real.parents:
        return None
    try:
        handle = os.open(real, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        raw = file.read(MAX_FILE + 1)
    if len(raw) > MAX_FILE:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
