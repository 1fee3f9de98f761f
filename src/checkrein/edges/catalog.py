"""The model catalog of a run: the binary's own, with the direct tools of every model. Never kept: it holds the vendor's text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from checkrein.edges import process
from checkrein.edges.launch_codex import Launch, bare_env
from checkrein.vocab.errors import NotUsableError, UsageError


def direct_catalog(text: str) -> bytes:
    """A model catalog with the direct tools of every model: no Code Mode, no lite responses."""
    try:
        catalog = orjson.loads(text)
        models = catalog["models"]
        for model in models:
            model.pop("tool_mode", None)
            model["use_responses_lite"] = False
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise NotUsableError("Codex's model catalog has a shape that Checkrein does not know") from None
    return orjson.dumps(catalog)


def write_catalog(launch: Launch, env: Mapping[str, str], private: Path) -> Path:
    """The catalog of this run, from the user's own where there is one, else from the binary."""
    assert launch.effective is not None
    own = launch.effective.catalog
    if own is not None:
        try:
            text = (launch.cwd / Path(own).expanduser()).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the model catalog `{own}` of Codex's configuration cannot be read: {error}") from None
    else:
        text = process.ask([launch.binary, "debug", "models", "--bundled"], bare_env(env))
    path = private / "catalog.json"
    path.write_bytes(direct_catalog(text))
    return path
