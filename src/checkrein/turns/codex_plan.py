"""How Codex is started behind the gateway: which provider it would use, and which overrides move that provider here.

Codex merges, from weak to strong: the system's file, the user's file, the `--profile` file, (a project's file,) `-c` options,
and the managed file. A project's file is never read here: it may not choose the upstream, and our own overrides restate the
provider, so that it cannot. What only the managed file could decide against us is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from checkrein.profiles.schema import Launch
from checkrein.turns.codex_argv import Invocation
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.errors import NotUsableError, UsageError

OPENAI = "openai"
# Where the built-in provider sends requests, by kind of login.
API_URL = "https://api.openai.com/v1"
CHATGPT_URL = "https://chatgpt.com/backend-api/codex"
# Built-in providers whose address no override moves.
_FIXED = frozenset({"ollama", "lmstudio", "amazon-bedrock"})
# Keys of a provider whose requests are bound to the provider's own address.
_BOUND = {"aws": "signs its requests for their address", "gateway_oauth": "logs in at its own gateway"}
_CODE_MODE = ("code_mode", "code_mode_only")
_REFUSED_ENV = {"CODEX_EXEC_SERVER_URL": "runs commands on another machine, where nothing about paths is known"}


@dataclass(frozen=True, slots=True)
class Layers:
    """The configuration as the edge read it; an absent file is empty. `profiles` are the `--profile` files by name."""

    system: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    user: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: NOTHING)
    managed: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    managed_file: str = "/etc/codex/managed_config.toml"


@dataclass(frozen=True, slots=True)
class Effective:
    """The provider that Codex would use. `upstream` is None where the login decides. `catalog` is the user's own catalog."""

    provider: str
    upstream: str | None
    catalog: str | None
    code_mode: tuple[str, ...] = ()  # features that must be switched off
    login: bool = False  # the provider uses the OpenAI login


@dataclass(frozen=True, slots=True)
class Plan:
    """The child's arguments after the program, with the overrides in them."""

    args: tuple[str, ...]
    overrides: tuple[str, ...]


def admit(invocation: Invocation, launch: Launch, env: Mapping[str, str]) -> bool:
    """Whether models will run. What cannot be guarded is refused with a sentence."""
    command = invocation.command
    if invocation.given("--help") or invocation.given("--version") or "help" in invocation.words:
        return False
    if invocation.words and (command in launch.plain or invocation.words[0] in launch.plain):
        return False
    if command and command not in launch.subcommands:
        raise UsageError(
            f"`codex {command}` is not guarded",
            f"guarded are: codex, {', '.join(f'codex {name}' for name in launch.subcommands)}",
        )
    for name in launch.refused:
        if invocation.given(name):
            raise UsageError(
                f"`{name}` would route around the gateway",
                "name the provider in Codex's configuration, or use `--upstream URL` of `checkrein guard`",
            )
    if (listen := invocation.last("--listen")) not in {None, "stdio://"}:
        raise UsageError(f"`--listen {listen}` opens Codex to other programs", "under the guard it speaks on its own stdio")
    if invocation.given("--worktree"):
        raise UsageError(
            "`--worktree` moves the work to a directory that is not known before the start",
            "make it with `git worktree add` and use `--cd`",
        )
    for name, why in _REFUSED_ENV.items():
        if env.get(name):
            raise UsageError(f"the environment variable `{name}` {why}", f"unset {name}")
    return True


def overrides_of(invocation: Invocation) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each `-c`, `--enable` and `--disable` as a key path and a value, in order."""
    for option in invocation.options:
        value = option.value or ""
        if option.name == "--config":
            key, equals, text = value.partition("=")
            if not equals:
                raise UsageError(f"`-c {value}` has no `=`")
            yield tuple(key.strip().split(".")), _value(text.strip())
        elif option.name in {"--enable", "--disable"}:
            yield ("features", value), option.name == "--enable"


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip("\"'")


def merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Tables merge, everything else is replaced."""
    both = dict(low)
    for key, value in high.items():
        below = both.get(key)
        both[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return both


def resolve(invocation: Invocation, layers: Layers) -> Effective:
    """The provider that this command line would use."""
    flags = _flags(invocation)
    config = dict(layers.system)
    if not invocation.given("--ignore-user-config"):
        config = merged(config, layers.user)
        if (name := invocation.last("--profile")) is not None:
            if name not in layers.profiles:
                raise UsageError(f"the profile `{name}` has no file `{name}.config.toml` in the Codex home")
            config = merged(config, layers.profiles[name])
    config = merged(merged(config, flags), layers.managed)
    provider = config.get("model_provider", OPENAI)
    if not isinstance(provider, str) or not provider:
        raise UsageError("`model_provider` of Codex's configuration is not a name")
    _check_managed(provider, layers)
    wanted = flags.get("features", {})
    on = tuple(name for name in _CODE_MODE if _at(config, "features", name) is True)
    if any(value is True and name.startswith("code_mode") for name, value in wanted.items()):
        raise UsageError("Code Mode hides the calls inside scripts", "leave `--enable code_mode` out")
    catalog = config.get("model_catalog_json")
    catalog = catalog if isinstance(catalog, str) else None
    if provider == OPENAI:
        moved = config.get("openai_base_url")
        return Effective(provider, moved if isinstance(moved, str) and moved else None, catalog, on, login=True)
    if provider in _FIXED:
        raise NotUsableError(
            f"the address of Codex's built-in provider `{provider}` cannot be moved to the gateway",
            f"define it anew as `[model_providers.my-{provider}]` with its `base_url`, and select that",
        )
    table = _at(config, "model_providers", provider)
    if not isinstance(table, Mapping):
        raise UsageError(f"Codex's configuration has no `[model_providers.{provider}]`")
    return Effective(provider, _address(provider, table), catalog, on, login=table.get("requires_openai_auth") is True)


def _flags(invocation: Invocation) -> dict[str, Any]:
    flags: dict[str, Any] = {}
    for path, value in overrides_of(invocation):
        place = flags
        for part in path[:-1]:
            below = place.get(part)
            place[part] = dict(below) if isinstance(below, Mapping) else {}
            place = place[part]
        place[path[-1]] = value
    return flags


def _address(provider: str, table: Mapping[str, Any]) -> str | None:
    for key, why in _BOUND.items():
        if table.get(key):
            raise NotUsableError(f"the provider `{provider}` {why}, so its traffic cannot pass a gateway")
    wire = table.get("wire_api", "responses")
    if wire != "responses":
        raise NotUsableError(f"the provider `{provider}` speaks `{wire}`; the guard for Codex reads `responses`")
    address = table.get("base_url")
    if address is None and table.get("project_id"):
        raise NotUsableError(f"the provider `{provider}` has no `base_url`, so its address is not known")
    return address if isinstance(address, str) and address else None


def _check_managed(provider: str, layers: Layers) -> None:
    """The managed file wins over every option. What it decides of ours would be a silent way around the gateway."""
    places = [("model_catalog_json",), *(("features", name) for name in _CODE_MODE)]
    places += [("openai_base_url",)] if provider == OPENAI else [("model_providers", provider, "base_url")]
    for path in places:
        value = _at(layers.managed, *path)
        if value is not None and not (path[0] == "features" and value is False):
            raise NotUsableError(
                f"the managed file `{layers.managed_file}` sets `{'.'.join(path)}`, which no option overrides",
                "whoever manages this machine must take that key out before Codex can be guarded",
            )


def _at(config: Mapping[str, Any], *path: str) -> Any:
    value: Any = config
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def plan(invocation: Invocation, effective: Effective, base_url: str, catalog: str | None, options: Iterable[str] = ()) -> Plan:
    """The child's arguments: ours stand last at the deepest subcommand, where nothing that was given overrides them.

    `catalog` is the file of the direct-tools catalog, None to leave the user's. `options` are the profile's for this
    subcommand, as far as this binary knows them.
    """
    overrides = [f"model_provider={_quoted(effective.provider)}", _move(invocation, effective.provider, base_url)]
    if catalog is not None:
        overrides.append(f"model_catalog_json={_quoted(catalog)}")
        overrides += [f"features.{name}=false" for name in effective.code_mode]
    added = [word for text in overrides for word in ("-c", text)]
    added += [option for option in options if not invocation.given(option)]
    return Plan(invocation.extended(added), tuple(overrides))


def _move(invocation: Invocation, provider: str, base_url: str) -> str:
    if provider == OPENAI:
        return f"openai_base_url={_quoted(base_url)}"
    if all(char.isalnum() or char in "_-" for char in provider):
        return f"model_providers.{provider}.base_url={_quoted(base_url)}"
    # Codex splits keys at every dot, so such a name fits only into a value; that value replaces all given providers.
    if any(path[0] == "model_providers" for path, _ in overrides_of(invocation)):
        raise UsageError(f"`-c model_providers…` cannot be combined with a provider named `{provider}`", "put it into the file")
    return f"model_providers={{{_quoted(provider)}={{base_url={_quoted(base_url)}}}}}"


def _quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are a part of TOML's."""
    return orjson.dumps(text).decode()


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """What is set for the child: loopback is never asked of a proxy."""
    added = {}
    for name in ("NO_PROXY", "no_proxy"):
        listed = [part for part in env.get(name, "").split(",") if part.strip()]
        wanted = [host for host in ("127.0.0.1", "localhost") if host not in {part.strip() for part in listed}]
        added[name] = ",".join([*listed, *wanted])
    return added


def upstream_of(effective: Effective, login: str | None) -> str:
    """The provider's address. `login` is `api-key`, `chatgpt` or None where nobody is logged in."""
    if effective.upstream is not None:
        return effective.upstream
    if not effective.login or login == "api-key":
        return API_URL
    if login == "chatgpt":
        return CHATGPT_URL
    raise NotUsableError(
        "Codex is not logged in", "run `codex login`, set CODEX_API_KEY for `codex exec`, or name `--upstream URL`"
    )
