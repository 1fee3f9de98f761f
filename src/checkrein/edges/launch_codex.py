"""Starting Codex behind the gateway: its native binary, its configuration files and its login."""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checkrein.edges import process
from checkrein.profiles.schema import Profile
from checkrein.turns import codex_argv, codex_plan
from checkrein.vocab.errors import NotUsableError

SYSTEM_DIR = Path("/etc/codex")
_NOWHERE = "/nonexistent"
_ARCH = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
_SYSTEM = {"linux": "unknown-linux-musl", "darwin": "apple-darwin"}
_NPM_ARCH = {"x86_64": "x64", "aarch64": "arm64"}
_LISTED = re.compile(r"^  ([a-z][a-z0-9-]*)(?:  |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Launch:
    """What is needed to start this command line behind a gateway. `guarded` is False where no model will run."""

    binary: Path
    version: str
    home: Path
    cwd: Path
    invocation: codex_argv.Invocation
    guarded: bool = True
    effective: codex_plan.Effective | None = None
    upstream: str = ""
    options: tuple[str, ...] = ()


def prepare(
    profile: Profile, program: str, argv: Sequence[str], env: Mapping[str, str], cwd: Path, upstream: str | None
) -> Launch:
    """Read everything that the start depends on, and write nothing; raises what must stop it."""
    binary = find_native(program)
    bare = bare_env(env)
    version = process.ask([binary, "--version"], bare).split()[-1:]
    help_text = process.ask([binary, "--help"], bare)
    invocation = codex_argv.parse(argv, _LISTED.findall(help_text.partition("Commands:")[2].partition("\n\n")[0]))
    home = Path(env.get("CODEX_HOME") or Path(env.get("HOME") or Path.home()) / ".codex")
    moved = invocation.last("--cd")
    launch = Launch(binary, version[0] if version else "", home, cwd / moved if moved else cwd, invocation)
    if not codex_plan.admit(invocation, profile.launch, env):
        return replace(launch, guarded=False)
    effective = codex_plan.resolve(invocation, read_layers(home, invocation))
    asks_login = upstream is None and effective.upstream is None and effective.login
    return replace(
        launch,
        effective=effective,
        upstream=upstream or codex_plan.upstream_of(effective, _login(binary, env, invocation) if asks_login else None),
        options=tuple(
            name
            for name in profile.launch.options.get(invocation.command, ())
            if _knows(name, help_text, binary, invocation, bare)
        ),
    )


def bare_env(env: Mapping[str, str]) -> dict[str, str]:
    """For questions to the binary itself: the answer must not depend on the user's home, nor write into it."""
    return {**env, "CODEX_HOME": f"{_NOWHERE}/codex", "HOME": _NOWHERE}


def _knows(option: str, help_text: str, binary: Path, invocation: codex_argv.Invocation, bare: Mapping[str, str]) -> bool:
    text = process.ask([binary, *invocation.words, "--help"], bare) if invocation.words else help_text
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) is not None


def find_native(program: str) -> Path:
    """The native binary behind a program name: the file itself, or what its npm package or Python wheel carries."""
    found = process.find_program(program)
    if process.is_native(found):
        return found
    real = found.resolve()
    for candidate in _candidates(real):
        if process.is_native(candidate):
            return candidate
    raise NotUsableError(f"no native Codex was found behind `{found}`", "name the native binary itself")


def _candidates(script: Path) -> Iterator[Path]:
    arch = _ARCH.get(platform.machine().lower(), "")
    triple = f"{arch}-{_SYSTEM.get(sys.platform, '')}"
    name = f"codex-{sys.platform}-{_NPM_ARCH.get(arch, '')}"
    for root in script.parents:
        for package in (root / "node_modules/@openai" / name, root.parent / name, root):
            yield package / "vendor" / triple / "bin/codex"
            yield package / "vendor" / triple / "codex/codex"


def read_layers(home: Path, invocation: codex_argv.Invocation) -> codex_plan.Layers:
    """The configuration files that can choose the upstream."""
    managed = SYSTEM_DIR / "managed_config.toml"
    named = {option.value for option in invocation.options if option.name == "--profile" and option.value}
    profiles = {name: _toml(home / f"{name}.config.toml") for name in named if (home / f"{name}.config.toml").is_file()}
    return codex_plan.Layers(
        system=_toml(SYSTEM_DIR / "config.toml"),
        user=_toml(home / "config.toml"),
        profiles=profiles,
        managed=_toml(managed),
        managed_file=str(managed),
    )


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise NotUsableError(f"Codex's configuration `{path}` cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise NotUsableError(f"Codex's configuration `{path}` is not valid TOML: {error}") from None


def _login(binary: Path, env: Mapping[str, str], invocation: codex_argv.Invocation) -> str | None:
    """`api-key`, `chatgpt` or None. Codex itself is asked, since a login may lie in a keyring."""
    if env.get("CODEX_API_KEY") and invocation.words[:1] == ("exec",):
        return "api-key"
    try:
        said = process.ask([binary, "login", "status"], env)
    except NotUsableError:
        return None
    if "ChatGPT" in said:
        return "chatgpt"
    return "api-key" if "API key" in said else None
