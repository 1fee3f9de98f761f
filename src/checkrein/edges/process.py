"""Programs: finding them, asking them short questions, and starting those that must not outlive us."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from checkrein.vocab.errors import NotUsableError

_PR_SET_PDEATHSIG = 1
_ASK_SECONDS = 30


def find_program(name: str) -> Path:
    """The file that a shell would start for this word."""
    found = shutil.which(name)
    if found is None:
        where = "is no executable file" if os.sep in name else "is not on PATH"
        raise NotUsableError(f"the program `{name}` {where}")
    return Path(found)


def is_native(path: Path) -> bool:
    """Whether the file is machine code rather than a script."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError:
        return False
    return magic == b"\x7fELF" or magic in {b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"}


def ask(argv: Sequence[str | Path], env: Mapping[str, str], cwd: Path | None = None) -> str:
    """What a short-lived program prints. Its own messages are part of the error when it fails."""
    try:
        done = subprocess.run(
            [str(word) for word in argv],
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            check=False,
        )
    except OSError as error:
        raise NotUsableError(f"`{argv[0]}` cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise NotUsableError(f"`{' '.join(map(str, argv))}` gave no answer within {_ASK_SECONDS} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise NotUsableError(
            f"`{' '.join(map(str, argv))}` failed with {done.returncode}: {said[-1] if said else 'no message'}"
        )
    return done.stdout.decode(errors="replace")


class Bound:
    """Before a child's exec: the signals that the parent blocks are unblocked, and the child ends when its parent dies.

    Made before the fork, because little may happen after it.
    """

    def __init__(self, death: int = signal.SIGTERM) -> None:
        self._death = death
        self._parent = os.getpid()
        self._libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

    def __call__(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if self._libc is not None:
            self._libc.prctl(_PR_SET_PDEATHSIG, self._death, 0, 0, 0)
            if os.getppid() != self._parent:  # it died in between
                os.kill(os.getpid(), self._death)


def end(process: subprocess.Popen[bytes], grace: float) -> int:
    """End a child of ours: politely, then for certain. Its return code."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
            process.send_signal(signal.SIGCONT)  # a stopped process takes no other signal
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


@contextlib.contextmanager
def private_directory() -> Iterator[Path]:
    """A directory of this run that only its user can read; gone afterwards."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    place = base if base and Path(base).is_dir() and os.access(base, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="checkrein-", dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name)
