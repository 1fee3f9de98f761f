"""Configuration from disk: built-in and own profiles, built-in policies, and any other small text that a person wrote."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import checkrein
from checkrein.profiles.load import parse
from checkrein.profiles.schema import Profile
from checkrein.vocab.errors import ConfigError, Fault, UsageError

# Larger than any configuration that a person would write, smaller than what would hurt.
LIMIT: Final = 4 * 1024 * 1024

_PACKAGE: Final = Path(checkrein.__file__).parent
_PROFILES: Final = _PACKAGE / "profiles" / "builtin"
_POLICIES: Final = _PACKAGE / "policy" / "builtin"


class _BuiltIn(Mapping[str, Profile]):
    """The built-in profiles by name; each file is read when its profile is first asked for."""

    def __getitem__(self, name: str) -> Profile:
        if name not in builtin_names():
            raise KeyError(name)
        return _built_in(name)

    def __iter__(self) -> Iterator[str]:
        return iter(builtin_names())

    def __len__(self) -> int:
        return len(builtin_names())


def builtin_profiles() -> Mapping[str, Profile]:
    """The built-in profiles; none is read before it is asked for."""
    return _BuiltIn()


@cache
def builtin_names() -> tuple[str, ...]:
    """The names of the built-in profiles, sorted."""
    return tuple(sorted(path.stem for path in _PROFILES.glob("*.toml")))


@cache
def _built_in(name: str) -> Profile:
    return _profile(_PROFILES / f"{name}.toml")


def load_profile(name_or_path: str) -> Profile:
    """A built-in profile by its name, or the profile in a file."""
    return _built_in(name_or_path) if name_or_path in builtin_names() else _profile(_path_of(name_or_path))


def profile_text(name_or_path: str) -> tuple[str, str]:
    """The text of a profile as it stands, and its file."""
    path = _path_of(name_or_path)
    return read_text(path), str(path)


def _path_of(name_or_path: str) -> Path:
    """The file of a profile. What is no built-in name and has no `/` or `.toml` in it is a name that was mistyped."""
    if name_or_path in builtin_names():
        return _PROFILES / f"{name_or_path}.toml"
    if "/" not in name_or_path and os.sep not in name_or_path and not name_or_path.endswith(".toml"):
        from checkrein.vocab.structure import meant

        raise UsageError(f"there is no profile `{name_or_path}`", meant(name_or_path, builtin_names()))
    return Path(name_or_path)


def _profile(path: Path) -> Profile:
    return parse(read_text(path), str(path))


@cache
def builtin_policy_texts() -> tuple[tuple[str, str], ...]:
    """File and text of every built-in policy pack, sorted by name."""
    return tuple((str(path), read_text(path)) for path in sorted(_POLICIES.glob("*.toml")))


def read_text(path: Path) -> str:
    """The text of one configuration file; an error with the file's name where it can't be had."""
    try:
        # Without waiting: a pipe in the place of a file must not stop the program.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise UsageError(f"there is no file `{path}`") from None
    except OSError as error:
        raise UsageError(f"`{path}` can't be read: {_why(error)}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UsageError(f"`{path}` is no regular file")
    with os.fdopen(handle, "rb") as file:
        raw = file.read(LIMIT + 1)
    if len(raw) > LIMIT:
        raise UsageError(f"`{path}` is larger than {LIMIT // 1024 // 1024} MiB")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise ConfigError([Fault(str(path), line, column, "the file is not UTF-8 here", "save it as UTF-8")]) from None


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def config_home(profile: Profile, home: str, env: Mapping[str, str]) -> str:
    """Where the harness keeps its configuration; empty where the profile does not say."""
    moved = env.get(profile.launch.config_env, "") if profile.launch.config_env else ""
    chosen = moved or profile.launch.config_dir
    return _homed(chosen, home)


def protected_paths(profile: Profile, home: str, workspace: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The absolute paths of the harness's own permissions and hooks. Where the configuration was moved by the environment,
    its usual place is protected as well, for the next start may find it there.
    """
    configs = dict.fromkeys(filter(None, (config_home(profile, home, env), _homed(profile.launch.config_dir, home))))
    found: dict[str, None] = {}
    for entry in profile.protected:
        if entry.path.startswith("{config}"):
            found.update(dict.fromkeys(config + entry.path.removeprefix("{config}") for config in configs))
        else:
            found[_homed(entry.path.replace("{workspace}", workspace, 1), home)] = None
    return tuple(found)


def _homed(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path
