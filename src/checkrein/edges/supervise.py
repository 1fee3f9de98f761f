"""The supervisor: one harness and one gateway, which live and die together.

The harness stays in our process group and keeps the terminal, so that keys, resizes and job control reach it as without us. A
signal that the terminal sent has reached it already; one that was sent to us alone is passed on. The gateway stands in a
session of its own, where no key reaches it; it watches our end of a pipe and ends the harness when we are killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkrein.edges import process
from checkrein.vocab.errors import CheckreinError, NotUsableError

GATEWAY_FAILED = 70
_READY_SECONDS = 60
_END_SECONDS = 15
_GRACE_SECONDS = 3
# A stop is believed when it still holds after this time: a whole job that is being continued passes through this state.
_STOP_SECONDS = 0.05
_WATCHED = frozenset(
    {
        signal.SIGCHLD,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGALRM,
    }
)
_FROM_TERMINAL = frozenset({signal.SIGINT, signal.SIGQUIT})
# Out of the alternate screen, cursor on, no mouse or paste reports.
_PLAIN_SCREEN = b"\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[<u"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended. `stops` are the sentences with which the gateway ended what it could not let go on."""

    code: int
    gateway_failed: bool = False
    stops: tuple[str, ...] = ()
    trace: str = ""  # the gateway's own last words


class GatewayProcess:
    """The gateway, as its supervisor sees it."""

    def __init__(self, order: Mapping[str, Any], log: Path) -> None:
        self._log = log
        with log.open("wb") as sink:
            # -I: neither the workspace nor the environment adds code to the guard.
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-m", "checkrein.edges.serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                cwd="/",
                start_new_session=True,
            )
        self.port = 0
        try:
            self._tell(order)
            self.port = self._ready()
        except BaseException:
            process.end(self.process, 0)
            raise

    def _tell(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its exit says the same, and why
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def _ready(self) -> int:
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], _READY_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            raise NotUsableError(f"the gateway did not start: {self.trace() or 'it said nothing'}")
        said = json.loads(line)
        if (error := said.get("error")) is not None:
            refused = CheckreinError(error["sentence"], error["hint"])
            refused.code = error["code"]
            raise refused
        return int(said["ready"])

    def watch(self, pid: int) -> None:
        """Tell it which harness it must not outlive."""
        self._tell({"child": pid})

    def finish(self, code: int) -> tuple[bool, tuple[str, ...]]:
        """Let it write what is left and end. Whether it ended in order, and what it stopped."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._tell({"end": code})
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            ended = self.process.wait(_END_SECONDS) == 0
        except subprocess.TimeoutExpired:
            process.end(self.process, 0)
            ended = False
        stops = []
        for line in self.process.stdout:
            with contextlib.suppress(ValueError, KeyError):
                stops.append(str(json.loads(line)["stopped"]))
        self.process.stdout.close()
        return ended, tuple(stops)

    def trace(self) -> str:
        """The last line of its log."""
        try:
            lines = self._log.read_text("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""


def supervise(gateway: GatewayProcess, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Ended:
    """Run the harness to its end, with the gateway alive all the time."""
    screen = _Screen()
    with _blocked():
        try:
            child = subprocess.Popen(list(argv), env=dict(env), cwd=cwd, preexec_fn=process.Bound())
        except OSError as error:
            gateway.finish(126)
            raise NotUsableError(f"`{argv[0]}` cannot be started: {error.strerror}") from None
        gateway.watch(child.pid)
        try:
            failed = _until_one_ends(child, gateway.process)
            code = process.end(child, _GRACE_SECONDS) if failed else child.wait()
        finally:
            process.end(child, _GRACE_SECONDS)
        if failed or code < 0:
            screen.restore()
        ended, stops = gateway.finish(code)
        code = 128 - code if code < 0 else code
        failed = failed or not ended
        return Ended(GATEWAY_FAILED if failed else code, failed, stops, gateway.trace() if failed else "")


def _until_one_ends(child: subprocess.Popen[bytes], gateway: subprocess.Popen[bytes]) -> bool:
    """Pass signals on until the harness ends; True when the gateway ended before it."""
    while True:
        if child.poll() is not None:
            return False
        if gateway.poll() is not None:
            return child.poll() is None
        number, sent_to_us = _next_signal()
        if number == signal.SIGCHLD:
            _stop_with(child)
        elif sent_to_us:
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(number)


def _next_signal() -> tuple[int, bool]:
    """The next signal, and whether it was sent to this process alone rather than by the terminal to the whole job."""
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(_WATCHED)
        return info.si_signo, info.si_code <= 0
    number = signal.sigwait(_WATCHED)
    return number, number not in _FROM_TERMINAL


def _stop_with(child: subprocess.Popen[bytes]) -> None:
    """A harness that stopped by itself stops us too, so that the shell gets its terminal back."""
    if _stopped(child, os.WNOWAIT):
        time.sleep(_STOP_SECONDS)
        if _stopped(child, 0):
            os.kill(os.getpid(), signal.SIGSTOP)
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(signal.SIGCONT)


def _stopped(child: subprocess.Popen[bytes], flags: int) -> bool:
    try:
        return os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOHANG | flags) is not None
    except ChildProcessError:
        return False


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Signals wait for `_next_signal`; those that come too late for the harness are dropped. Ignored ones stay ignored."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        yield
    finally:
        while hasattr(signal, "sigtimedwait") and signal.sigtimedwait(_WATCHED, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Screen:
    """The terminal as it was, for when the harness could not put it back."""

    def __init__(self) -> None:
        self._saved: list[Any] | None = None
        with contextlib.suppress(termios.error, ValueError, OSError):
            self._saved = termios.tcgetattr(sys.stdin.fileno())

    def restore(self) -> None:
        if self._saved is None:
            return
        handler = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with contextlib.suppress(termios.error, ValueError, OSError):
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, self._saved)
            if os.isatty(1):
                os.write(1, _PLAIN_SCREEN)
        signal.signal(signal.SIGTTOU, handler)
