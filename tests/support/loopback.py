"""Runs an async test where nothing but loopback exists: in a child process with a network of its own.

    @loopback
    async def test_something() -> None: ...

Outside, the test starts the child and shows what it said; inside, it is the coroutine itself. Works for root and, where the
system lets users have namespaces, for everybody; where it does not, the test is skipped, or fails under CI=true.
"""

from __future__ import annotations

import asyncio
import fcntl
import functools
import importlib.util
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Scenario = Callable[..., Coroutine[Any, Any, None]]
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40


def absent(why: str) -> None:
    """Something that a live test needs is not here."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


def namespace() -> list[str]:
    """The command prefix that makes a network of its own."""
    unshare = shutil.which("unshare")
    for flags in (["-n"], ["-r", "-n"]):
        if unshare and subprocess.run([unshare, *flags, "true"], capture_output=True, check=False).returncode == 0:
            return [unshare, *flags]
    absent("this system gives no network namespaces")
    raise AssertionError


def loopback(scenario: Scenario) -> Callable[..., None]:
    """The test that runs `scenario` in a child. Arguments are passed on as text, so they must be strings."""

    @functools.wraps(scenario)
    def outside(**arguments: str) -> None:
        place = f"{scenario.__code__.co_filename}::{scenario.__name__}"
        words = [f"{name}={value}" for name, value in arguments.items()]
        command = [*namespace(), sys.executable, __file__, place, *words]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=110, check=False)
        if done.returncode != 0:
            pytest.fail(f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}", pytrace=False)

    outside.inside = scenario  # type: ignore[attr-defined]
    return outside


def _up() -> None:
    with socket.socket() as sock:
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING))


def main() -> None:
    place, *words = sys.argv[1:]
    file, name = place.split("::")
    _up()
    spec = importlib.util.spec_from_file_location("live_scenario", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["live_scenario"] = module
    spec.loader.exec_module(module)
    asyncio.run(getattr(module, name).inside(**dict(word.split("=", 1) for word in words)))


if __name__ == "__main__":
    main()
