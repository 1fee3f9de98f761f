"""Variables that change what other programs run. Most assignments are ordinary; this says which are not, and why.

A variable that holds a command line (`GIT_SSH_COMMAND`, `PAGER`, `PROMPT_COMMAND` ...) is judged as that command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checkrein.shell.spec import Run, Span, Word
from checkrein.shell.state import UNKNOWN
from checkrein.vocab.acts import Act

if TYPE_CHECKING:
    from checkrein.shell.nested import Nested

COMMANDS = frozenset(
    [
        "GIT_SSH_COMMAND",
        "GIT_PROXY_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "PAGER",
        "MANPAGER",
        "EDITOR",
        "VISUAL",
        "FCEDIT",
        "PROMPT_COMMAND",
        "LESSOPEN",
        "LESSCLOSE",
        "RSYNC_RSH",
        "CVS_RSH",
        "SVN_SSH",
        "HGEDITOR",
        "SVN_EDITOR",
        "BROWSER",
        "KUBE_EDITOR",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "GIT_SSH",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "SUDO_ASKPASS",
        "XARGS_SHELL",
        "MAKESHELL",
        "SYSTEMD_EDITOR",
        "SUDO_EDITOR",
    ]
)
PROMPTS = frozenset(["PS0", "PS1", "PS2", "PS4"])
ALWAYS = frozenset(["LD_AUDIT", "BASH_ENV", "GIT_CONFIG_PARAMETERS", "PERL5DB", "PYTHONEXECUTABLE", "GCONV_PATH", "ZDOTDIR"])
PRELOADS = frozenset(["LD_PRELOAD", "DYLD_INSERT_LIBRARIES"])
DIRECTORIES = frozenset(
    ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "GIT_EXEC_PATH", "PYTHONHOME", "PERL5LIB", "RUBYLIB", "GIT_TEMPLATE_DIR"]
)
OPTIONS: dict[str, re.Pattern[str]] = {
    "NODE_OPTIONS": re.compile(r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)(?:[ =]|$)\s*(\S*)"),
    "PERL5OPT": re.compile(r"-[mMIde]()"),
    "RUBYOPT": re.compile(r"-[rIeC]\s*(\S*)"),
    "JAVA_TOOL_OPTIONS": re.compile(r"-(?:javaagent|agentpath|agentlib|Xrun)[:\w]*=?(\S*)"),
    "_JAVA_OPTIONS": re.compile(r"-(?:javaagent|agentpath|agentlib|Xrun)[:\w]*=?(\S*)"),
    "JDK_JAVA_OPTIONS": re.compile(r"-(?:javaagent|agentpath|agentlib|Xrun)[:\w]*=?(\S*)"),
}
GIT_KEYS = re.compile(
    r"(?:alias\.|core\.(?:sshcommand|hookspath|fsmonitor|pager|editor|askpass|gitproxy|attributesfile)|include|filter\.|diff\.|"
    r"merge\.|credential|protocol\.ext|sequence\.editor|gpg\.|uploadpack\.|remote\..*\.(?:uploadpack|receivepack)|pager\.)",
    re.IGNORECASE,
)
WATCHED = (
    COMMANDS | PROMPTS | ALWAYS | PRELOADS | DIRECTORIES | OPTIONS.keys() | {"PATH", "ENV", "PYTHONSTARTUP", "PYTHONBREAKPOINT"}
)
SYSTEM_LIBRARIES = ("/usr/lib", "/lib", "/usr/local/lib", "/opt/homebrew/", "lib")


def check_variable(walker: Nested, name: str, word: Word, span: Span) -> None:
    """Report what setting this variable means for later programs."""
    if name not in WATCHED and not name.startswith(("GIT_CONFIG_KEY_", "BASH_FUNC_")):
        return
    text = word.text
    run = Run("", (Word(f"{name}={text}", span, word.resolved),), span, walker.cwd(), remote=walker.remote, depth=walker.depth)
    if name == "PATH":
        search_path(walker, text, run, word)
    elif not text:
        return
    elif name in COMMANDS:
        if name != "LESSOPEN" or word.resolved:
            walker.variable_command(
                Word(text.lstrip("|-") if name.startswith("LESS") else text, span, word.resolved, feed=word.feed), run
            )
    elif name in PROMPTS:
        if "$(" in text or "`" in text:
            walker.variable_command(Word(text, span, word.resolved, feed=word.feed), run, prompt=True)
    elif name in ALWAYS:
        hijack(walker, run, word, f"sets `{name}`, which makes other programs run code")
    elif name in PRELOADS:
        if any(not part.startswith(SYSTEM_LIBRARIES) or "/../" in part for part in re.split(r"[ :]+", text) if part):
            hijack(walker, run, word, f"sets `{name}`, which loads code into every program")
    elif name in DIRECTORIES:
        for entry in text.split(":"):
            if walker.in_temp(entry) or entry == UNKNOWN:
                hijack(walker, run, word, f"points `{name}` at a place that anyone can write")
                break
    elif name == "ENV":
        if "/" in text or text.endswith(("rc", ".sh")):
            hijack(walker, run, word, "sets `ENV`, which makes shells run a file")
    elif name in ("PYTHONSTARTUP", "PYTHONBREAKPOINT"):
        if name == "PYTHONSTARTUP" or re.match(r"(?:os|subprocess|posix|pty)\b", text):
            hijack(walker, run, word, f"sets `{name}`, which makes Python run code")
    elif name in OPTIONS:
        for target in OPTIONS[name].findall(text):
            if not target or target.startswith(("data:", "http:", "https:", "/")) or ".." in target or UNKNOWN in target:
                inside = target.startswith(walker.site.workspace + "/")
                if not inside:
                    hijack(walker, run, word, f"sets `{name}` so that other programs load code")
                    break
    elif name.startswith("GIT_CONFIG_KEY_"):
        if not word.resolved or GIT_KEYS.match(text):
            hijack(walker, run, word, "gives git a setting that runs programs")
    else:
        hijack(walker, run, word, "exports a shell function to other programs")


def search_path(walker: Nested, text: str, run: Run, word: Word) -> None:
    """`PATH`: entries of the workspace and of toolchains are ordinary; a temporary directory is not."""
    dirs = []
    for entry in text.split(":"):
        if not entry or entry == UNKNOWN:
            continue
        if walker.in_temp(entry):
            hijack(walker, run, word, "puts a temporary directory on `PATH`")
        place = walker.resolve(entry, run)
        if place is not None:
            dirs.append(place)
    if text == UNKNOWN and word.feed is not None and not word.feed.plain:
        hijack(walker, run, word, "sets `PATH` to something unknown")
    walker.state.path_dirs = tuple(dirs)


def hijack(walker: Nested, run: Run, word: Word, why: str) -> None:
    walker.act(Act.ENV_HIJACK, run, why, word)
