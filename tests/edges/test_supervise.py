"""A harness and its gateway live and die together; the terminal, signals and the exit code are the harness's own."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pexpect
import pytest
from supervised import order

from checkrein.edges.journal import lines_of, verify_segment
from checkrein.edges.supervise import GatewayProcess
from checkrein.vocab.errors import CheckreinError

SCRIPT = Path(__file__).parents[1] / "support" / "supervised.py"
# A harness that says what happens to it.
CHILD = """
import os, signal, sys, time
def say(*words): print(*words, flush=True)
def handler(number, frame):
    say("got", signal.Signals(number).name)
    if number == signal.SIGTERM: sys.exit(7)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGWINCH): signal.signal(number, handler)
say("child", os.getpid())
while True: time.sleep(0.05)
"""
STUBBORN = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('child', os.getpid(), flush=True)\ntime.sleep(600)"


def started(directory: Path, code: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, SCRIPT, directory, sys.executable, "-c", code, *args], stdout=subprocess.PIPE, text=True
    )


def said(process: subprocess.Popen[str], word: str) -> str:
    """The rest of the next line that begins with a word."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(word):
            return line.removeprefix(word).strip()
    raise AssertionError(f"it ended without saying {word}")


def is_gone(pid: int, seconds: float = 15) -> bool:
    """Whether the process is no more, or is only waiting to be reaped by somebody else."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state not in {"Z", "X"}:
                time.sleep(0.02)
                continue
        return True
    return False


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_the_harnesss(tmp_path, code):
    process = started(tmp_path, f"raise SystemExit({code})")
    assert process.wait(30) == code
    assert verify_segment(tmp_path / "run.jsonl").ok
    last = orjson.loads(list(lines_of(tmp_path / "run.jsonl"))[-1])
    assert (last["kind"], last["exit"], last["ordered"]) == ("end", code, True)


def test_a_harness_killed_by_a_signal_is_told_as_shells_do(tmp_path):
    process = started(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert process.wait(30) == 128 + 9


@pytest.mark.parametrize("code", [CHILD, STUBBORN])
def test_a_killed_gateway_ends_the_harness_and_says_70(tmp_path, code):
    process = started(tmp_path, code)
    gateway, child = int(said(process, "gateway")), int(said(process, "child"))
    os.kill(gateway, signal.SIGKILL)
    assert said(process, "ended") == "70 True"
    assert process.wait(30) == 70
    assert is_gone(child)
    assert verify_segment(tmp_path / "run.jsonl").ok


@pytest.mark.parametrize("code", [CHILD, STUBBORN])
def test_a_killed_supervisor_leaves_nothing_behind(tmp_path, code):
    process = started(tmp_path, code)
    gateway, child = int(said(process, "gateway")), int(said(process, "child"))
    process.kill()
    process.wait(30)
    assert is_gone(child)
    assert is_gone(gateway)
    assert not (tmp_path / "private").exists()
    assert verify_segment(tmp_path / "run.jsonl").ok


def test_a_harness_ends_with_both_of_its_keepers(tmp_path):
    process = started(tmp_path, CHILD)
    gateway, child = int(said(process, "gateway")), int(said(process, "child"))
    os.kill(process.pid, signal.SIGSTOP)  # it can do nothing any more
    os.kill(gateway, signal.SIGKILL)
    process.kill()
    process.wait(30)
    assert is_gone(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT])
def test_a_signal_to_us_is_passed_on_once(tmp_path, number):
    process = started(tmp_path, CHILD)
    child = int(said(process, "child"))
    os.kill(process.pid, number)
    assert said(process, "got") == signal.Signals(number).name
    if number != signal.SIGTERM:
        os.kill(child, signal.SIGTERM)
        assert said(process, "got") == "SIGTERM"
    assert process.wait(30) == 7


def test_a_program_that_cannot_start_is_said_and_nothing_stays(tmp_path):
    process = subprocess.Popen(
        [sys.executable, SCRIPT, tmp_path, tmp_path / "nothing"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    gateway = int(said(process, "gateway"))
    assert process.wait(30) != 0
    assert "cannot be started" in process.stderr.read()
    assert is_gone(gateway)


def test_a_gateway_that_cannot_start_says_why(tmp_path):
    (tmp_path / "run.jsonl").write_text("")
    with pytest.raises(CheckreinError, match="cannot be created") as caught:
        GatewayProcess(order(tmp_path), tmp_path / "gateway.log")
    assert caught.value.code == 4


# At a terminal.


def at_terminal(directory: Path, code: str = CHILD) -> pexpect.spawn:
    shell = pexpect.spawn(
        "bash", ["--norc", "-i"], encoding="utf-8", timeout=20, dimensions=(24, 80), env={**os.environ, "PS1": "$ "}
    )
    shell.sendline("stty -echo; PS1='$''> '; bind 'set enable-bracketed-paste off' 2>/dev/null")
    shell.expect_exact("$> ")
    (directory / "child.py").write_text(code)
    shell.sendline(f"{sys.executable} {SCRIPT} {directory} {sys.executable} {directory}/child.py")
    shell.expect(r"child (\d+)")
    return shell


def test_an_interrupt_key_reaches_the_harness_once(tmp_path):
    shell = at_terminal(tmp_path)
    child = int(shell.match[1])
    shell.sendintr()
    shell.expect_exact("got SIGINT")
    os.kill(child, signal.SIGTERM)
    shell.expect_exact("got SIGTERM")
    assert "SIGINT" not in shell.before
    shell.expect_exact("ended 7 False")
    shell.expect_exact("$> ")
    shell.sendline("echo code=$?")
    shell.expect_exact("code=7")
    shell.close(force=True)


def test_a_suspended_job_goes_on(tmp_path):
    shell = at_terminal(tmp_path)
    child = int(shell.match[1])
    for _ in range(3):
        shell.sendcontrol("z")
        shell.expect_exact("Stopped")
        shell.expect_exact("$> ")
        shell.sendline("fg")
        time.sleep(0.2)  # a wrong second stop would come now
        os.kill(child, signal.SIGUSR1)
        shell.expect_exact("got SIGUSR1")
    shell.sendintr()
    shell.expect_exact("got SIGINT")
    os.kill(child, signal.SIGTERM)
    shell.expect_exact("ended 7 False")
    shell.close(force=True)


def test_a_harness_that_suspends_itself_gives_the_terminal_back(tmp_path):
    shell = at_terminal(tmp_path)
    child = int(shell.match[1])
    os.kill(child, signal.SIGSTOP)
    shell.expect_exact("Stopped")
    shell.expect_exact("$> ")
    shell.sendline("fg")
    time.sleep(0.2)
    os.kill(child, signal.SIGTERM)
    shell.expect_exact("ended 7 False")
    shell.close(force=True)


def test_a_resize_reaches_the_harness(tmp_path):
    shell = at_terminal(tmp_path)
    child = int(shell.match[1])
    shell.setwinsize(40, 100)
    shell.expect_exact("got SIGWINCH")
    os.kill(child, signal.SIGTERM)
    shell.expect_exact("ended 7 False")
    shell.close(force=True)


def test_a_closed_terminal_ends_everything(tmp_path):
    shell = at_terminal(tmp_path, CHILD.replace("signal.SIGHUP, ", ""))
    child = int(shell.match[1])
    shell.close(force=True)
    assert is_gone(child)


RAW = """
import os, sys, termios, time, tty
tty.setraw(0)
sys.stdout.write("\\x1b[?1049h"); sys.stdout.flush()
print("child", os.getpid(), flush=True)
time.sleep(600)
"""


def test_a_screen_that_the_harness_left_behind_is_put_back(tmp_path):
    shell = at_terminal(tmp_path, RAW)
    child = int(shell.match[1])
    os.kill(child, signal.SIGKILL)
    shell.expect_exact("\x1b[?1049l")
    shell.expect_exact("ended 137 False")
    shell.expect_exact("$> ")
    shell.sendline("stty -a")
    shell.expect_exact(" icanon")
    shell.close(force=True)
