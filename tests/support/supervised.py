"""Runs one program under the supervisor, with a real gateway that nobody asks: `python supervised.py DIRECTORY PROGRAM ARGS…`.

Prints the gateway's process id first. Also usable from tests: `order` makes the gateway's order.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path


def order(directory: Path, **more: object) -> dict[str, object]:
    from checkrein.edges.serve import Order

    private = directory / "private"
    private.mkdir(exist_ok=True)
    given = {
        "run": "run-1",
        "profile": "codex",
        "secret": "s3cret",
        "upstream": "http://127.0.0.1:9/v1",
        "path": "/v1",
        "journal": str(directory / "run.jsonl"),
        "workspace": str(directory),
        "cwd": str(directory),
        "home": str(directory),
        "private": str(private),
    }
    return asdict(Order(**{**given, **more}))


def main() -> int:
    from checkrein.edges.supervise import GatewayProcess, supervise

    directory = Path(sys.argv[1])
    gateway = GatewayProcess(order(directory), directory / "private" / "gateway.log")
    print(f"gateway {gateway.process.pid}", flush=True)
    ended = supervise(gateway, sys.argv[2:], os.environ, directory)
    print(f"ended {ended.code} {ended.gateway_failed}", flush=True)
    return ended.code


if __name__ == "__main__":
    sys.exit(main())
