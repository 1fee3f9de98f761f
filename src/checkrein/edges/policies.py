"""Policies from disk: the built-in packs, the files of organisation, user and project, and what is named on the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from checkrein.edges import files
from checkrein.policy.decide import Policy
from checkrein.policy.load import compile as compile_policy
from checkrein.policy.packed import unpack
from checkrein.policy.schema import Manifest, Preset, Source
from checkrein.vocab.errors import ConfigError, Fault, UsageError
from checkrein.vocab.verdicts import Layer

NAME: Final = "policy.toml"
PACKED: Final = Path(__file__).parent.parent / "policy" / "packs.json"


def load(
    workspace: Path | str | None,
    *,
    policies: Iterable[Path | str] = (),
    preset: Preset | str = Preset.STANDARD,
    thorough: bool = False,
) -> Policy:
    """The policy for a workspace; a `ConfigError` with every fault of every file otherwise.

    The examples of every file of organisation, user and project are run. Those of the built-in packs are run in the test
    suite; with `thorough` they are run here as well.
    """
    return assemble(*sources(workspace, policies), preset=preset, thorough=thorough)


def assemble(
    above: Iterable[Source],
    broken: Sequence[Fault] = (),
    *,
    preset: Preset | str = Preset.STANDARD,
    thorough: bool = False,
) -> Policy:
    """The policy of these files on top of the built-in packs."""
    from checkrein.edges.trials import holding

    built_in: Sequence[Source | Manifest] = builtin_sources() if thorough else builtin_manifests()
    return compile_policy([*built_in, *above], preset=preset, profiles=files.builtin_names(), trial=holding, broken=broken)


def sources(workspace: Path | str | None, policies: Iterable[Path | str] = ()) -> tuple[list[Source], list[Fault]]:
    """The texts of every layer above the built-in one, and the faults of files that are there and cannot be read."""
    rows = [(Layer.ORGANISATION, organisation_file(), True), (Layer.USER, user_file(), True)]
    rows += [(Layer.USER, Path(one).absolute(), False) for one in policies]
    if workspace is not None:
        rows.append((Layer.PROJECT, project_file(workspace), True))
    found: list[Source] = []
    broken: list[Fault] = []
    seen: set[Path] = set()
    for layer, path, may_lack in rows:
        if path in seen or (may_lack and not _is_there(path)):
            continue
        seen.add(path)
        try:
            found.append(Source(layer, str(path), files.read_text(path)))
        except ConfigError as error:
            broken += error.faults
        except UsageError as error:
            if not may_lack:
                raise
            broken.append(Fault(str(path), 1, 1, str(error), error.hint))
    return found, broken


def _is_there(path: Path) -> bool:
    """Whether there is anything of this name. What cannot be told counts as there, and then fails to be read."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


# the built-in layer


@cache
def builtin_manifests() -> tuple[Manifest, ...]:
    """The built-in packs, read and checked."""
    texts = files.builtin_policy_texts()
    packs = [(Path(file).name, text) for file, text in texts]
    folder = str(Path(texts[0][0]).parent) if texts else ""
    found = unpack(_packed(), packs, folder)
    if found is not None:
        return found
    from checkrein.policy.load import checked

    return checked(builtin_sources())


def builtin_sources() -> list[Source]:
    """The texts of the built-in packs."""
    return [Source(Layer.BUILT_IN, file, text) for file, text in files.builtin_policy_texts()]


def _packed() -> bytes:
    try:
        return PACKED.read_bytes()
    except OSError:
        return b""


# places


def organisation_file() -> Path:
    """The file of the machine's administrators."""
    if sys.platform == "darwin" or os.name == "nt":
        import platformdirs

        return Path(platformdirs.site_config_dir("checkrein", appauthor=False)) / NAME
    return Path("/etc/checkrein") / NAME


def user_file() -> Path:
    """The user's own file."""
    return Path(config_dir()) / NAME


def project_file(workspace: Path | str) -> Path:
    """The file in a repository."""
    return Path(workspace).absolute() / ".checkrein" / NAME


def config_dir() -> str:
    """The user's directory for settings."""
    import platformdirs

    return platformdirs.user_config_dir("checkrein", appauthor=False)


def directories() -> tuple[str, ...]:
    """Every directory that holds what Checkrein goes by, or what it records."""
    import platformdirs

    kinds = (
        config_dir(),
        platformdirs.user_state_dir("checkrein", appauthor=False),
        platformdirs.user_data_dir("checkrein", appauthor=False),
        platformdirs.user_cache_dir("checkrein", appauthor=False),
        str(organisation_file().parent),
    )
    return tuple(dict.fromkeys(kinds))
