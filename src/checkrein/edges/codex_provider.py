"""The locally logged-in Codex as a model provider, for any Python agent loop. `docs/guides/codex-provider.md` is its guide.

    async with CodexProvider() as provider:
        async for chunk in provider.stream(Request("session-1", "gpt-5.5", (Message.user("hello"),))):
            print(chunk)

It is a layered provider: Codex co-owns the prompt and the tools of its threads, and the reports say so.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from checkrein.edges.appserver import ProcessEndedError, RefusedError
from checkrein.edges.pool import REQUEST_SECONDS, Options, Pool
from checkrein.turns.lease import BusyError
from checkrein.vocab.errors import NotUsableError
from checkrein.vocab.messages import Request
from checkrein.vocab.stream import Assembly, Chunk

PROGRAM = "CHECKREIN_CODEX"


@dataclass(frozen=True, slots=True)
class Model:
    """One row of the server's model list. `original` is the row as it came."""

    id: str
    name: str
    description: str
    efforts: tuple[str, ...]
    default_effort: str | None
    modalities: tuple[str, ...]
    is_default: bool
    original: Mapping[str, Any]


class CodexProvider:
    """Streams model requests through `codex app-server`. Belongs to the event loop in which it is first used."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options if options is not None else Options(find_codex())
        self._pool = Pool(self.options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """The chunks of one request, ending with exactly one `Finish`, which also says how it failed.

        Raises before the first chunk: `UsageError` for a request that cannot be sent, `BusyError` while another request of
        the session runs, `NotUsableError` when Codex cannot be used. Closing the iterator early cancels the request.
        """
        return self._pool.stream(request)

    async def complete(self, request: Request) -> Assembly:
        """The whole answer at once."""
        assembly = Assembly()
        async for chunk in self.stream(request):
            assembly.feed(chunk)
        return assembly

    def cancel(self, session: str) -> bool:
        """Interrupt the session's running request; its stream ends as aborted."""
        return self._pool.cancel(session)

    def release(self, session: str) -> bool:
        """Let go of what is kept for a session that will not go on."""
        return self._pool.release(session)

    async def models(self) -> tuple[Model, ...]:
        """The models that this Codex offers."""
        host = await self._pool.any_host()
        rows: list[Model] = []
        cursor: str | None = None
        while True:
            page = await host.client.request("model/list", {} if cursor is None else {"cursor": cursor}, REQUEST_SECONDS)
            data = page.get("data")
            rows += [_model(row) for row in (data if isinstance(data, list) else []) if isinstance(row, dict)]
            cursor = page.get("nextCursor") if isinstance(page.get("nextCursor"), str) else None
            if cursor is None:
                return tuple(rows)

    async def aclose(self) -> None:
        """Cancel what runs and end every process. Nothing is left behind."""
        await self._pool.close()


def _model(row: Mapping[str, Any]) -> Model:
    efforts = row.get("supportedReasoningEfforts")
    modalities = row.get("inputModalities")
    return Model(
        str(row.get("id", "")),
        str(row.get("displayName", "")),
        str(row.get("description", "")),
        tuple(str(effort.get("reasoningEffort")) for effort in efforts if isinstance(effort, dict))
        if isinstance(efforts, list)
        else (),
        str(row["defaultReasoningEffort"]) if row.get("defaultReasoningEffort") else None,
        tuple(str(one) for one in modalities) if isinstance(modalities, list) else (),
        row.get("isDefault") is True,
        row,
    )


def find_codex() -> str:
    """The native Codex binary: the one that `CHECKREIN_CODEX` names, else the one behind the `codex` on the path.

    The npm package puts a script on the path whose process would stand between us and Codex, and its signals; the binary
    beside it is started instead.
    """
    named = os.environ.get(PROGRAM)
    if named:
        if not os.access(named, os.X_OK):
            raise NotUsableError(f"`{PROGRAM}` names `{named}`, which cannot be started", "name the codex binary itself")
        return named
    found = shutil.which("codex")
    if found is None:
        raise NotUsableError("there is no `codex` on the path", f"install Codex, or name its binary with `{PROGRAM}`")
    real = Path(found).resolve()
    return str(next(iter(_binaries_beside(real)), real)) if real.suffix == ".js" else found


def _binaries_beside(script: Path) -> list[Path]:
    """The platform packages of an npm installation, which lie beside the wrapper's package or inside of it."""
    system = {"Darwin": "darwin", "Linux": "linux", "Windows": "win32"}.get(platform.system(), "")
    machine = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64", "aarch64": "arm64"}.get(platform.machine(), "")
    package = script.parent.parent
    places = [package.parent, package / "node_modules" / "@openai", package / "vendor"]
    found: list[Path] = []
    for place in places:
        found += sorted(place.glob(f"codex-{system}-{machine}/vendor/*/bin/codex*"))
        found += sorted(place.glob("*/bin/codex*")) if place.name == "vendor" else []
    return [path for path in found if path.stem == "codex" and os.access(path, os.X_OK)]


__all__ = [
    "BusyError",
    "CodexProvider",
    "Model",
    "NotUsableError",
    "Options",
    "ProcessEndedError",
    "RefusedError",
    "find_codex",
]
