"""A Codex command line, read as Codex reads it: subcommand, options, and where further options would still count.

The tables hold what Codex 0.153 to 0.171 knows, hidden options too. Whatever stands in no table is refused: an option whose
meaning is unknown might route around the gateway.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from checkrein.vocab.errors import UsageError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHORT = {
    "-c": "--config",
    "-i": "--image",
    "-m": "--model",
    "-p": "--profile",
    "-s": "--sandbox",
    "-C": "--cd",
    "-a": "--ask-for-approval",
    "-o": "--output-last-message",
    "-h": "--help",
    "-V": "--version",
}
VALUED = _words(
    "--config --enable --disable --image --model --profile --sandbox --cd --ask-for-approval --output-last-message --add-dir "
    "--local-provider --remote --remote-auth-token-env --output-schema --color --thread-source --cyber-access-program --base "
    "--commit --title --listen --code-mode-host --startup-client-info --cloud-skills-snapshot --plugin-mcp-launch-cwd "
    "--mcp-launch-cwd --ws-auth --ws-token-file --ws-token-sha256 --ws-shared-secret-file --ws-issuer --ws-audience "
    "--ws-max-clock-skew-seconds"
)
FLAGS = _words(
    "--oss --strict-config --dangerously-bypass-approvals-and-sandbox --yolo --dangerously-bypass-hook-trust --approve-for-me "
    "--full-auto --search --no-alt-screen --no-daemon --worktree --skip-git-repo-check --trust --ephemeral "
    "--ignore-user-config --ignore-rules --json --experimental-json --last --all --include-non-interactive --uncommitted "
    "--stdio --remote-control --managed-daemon --analytics-default-enabled --startup-sign-out --print-startup-config --help "
    "--version"
)
# Every first word that is a subcommand and no prompt, hidden ones too.
COMMANDS = _words(
    "agents tcp-tunnel exec e review login git-credential logout mcp mcp-server plugin app-server remote-control completion "
    "update doctor sandbox debug execpolicy apply a resume queue archive delete migrate-rollouts migrate-nfs-db unarchive fork "
    "cloud responses-api-proxy stdio-to-uds exec-server features help"
)
ALIASES = {"e": "exec", "a": "apply"}
INNER = {
    "exec": frozenset({"resume", "fork", "review", "help"}),
    "app-server": frozenset(
        {"daemon", "proxy", "generate-ts", "generate-json-schema", "generate-internal-json-schema", "help"}
    ),
}
# An image list takes every word up to the next option, except where a session id may follow.
_GREEDY = "--image"
_NOT_GREEDY = frozenset({("exec", "resume"), ("exec", "fork")})


class Option(NamedTuple):
    """One option as given: its long name and its value (None for a flag)."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Invocation:
    """`argv` without the program. `words` are the subcommands, none for the interactive program. `end` is the index before
    which an added option belongs to the deepest subcommand and comes last.
    """

    argv: tuple[str, ...]
    words: tuple[str, ...]
    options: tuple[Option, ...]
    positionals: tuple[str, ...]
    end: int

    @property
    def command(self) -> str:
        """The subcommand as one text; empty for the interactive program."""
        return " ".join(self.words)

    def given(self, name: str) -> bool:
        """Whether an option is there."""
        return any(option.name == name for option in self.options)

    def last(self, name: str) -> str | None:
        """The value of an option, the last one where it stands more than once."""
        return next((option.value for option in reversed(self.options) if option.name == name), None)

    def extended(self, added: Sequence[str]) -> tuple[str, ...]:
        """The command line with further options, where they win over all that were given."""
        return (*self.argv[: self.end], *added, *self.argv[self.end :])


def parse(argv: Sequence[str], commands: Collection[str] = ()) -> Invocation:
    """Read a command line. `commands` are further subcommands that this binary lists."""
    known = COMMANDS | set(commands)
    words: list[str] = []
    options: list[Option] = []
    positionals: list[str] = []
    index, end = 0, len(argv)
    while index < len(argv):
        word = argv[index]
        index += 1
        if word == "--":
            end = index - 1
            positionals.extend(argv[index:])
            break
        if _is_option(word):
            index = _option(word, argv, index, tuple(words), options)
        elif not positionals and _is_command(word, words, known):
            words.append(ALIASES.get(word, word))
        else:
            positionals.append(word)
    return Invocation(tuple(argv), tuple(words), tuple(options), tuple(positionals), end)


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _is_command(word: str, words: Sequence[str], known: Collection[str]) -> bool:
    if not words:
        return word in known
    return len(words) == 1 and word in INNER.get(words[0], frozenset())


def _option(word: str, argv: Sequence[str], index: int, words: tuple[str, ...], options: list[Option]) -> int:
    """Read the option `word`; the index of the next word."""
    if word.startswith("--"):
        name, equals, attached = word.partition("=")
    else:
        name, attached = SHORT.get(word[:2], word[:2]), word[2:].removeprefix("=")
        equals = word[2:]
    if name in FLAGS and not equals:
        options.append(Option(name, None))
        return index
    if name not in VALUED:
        raise UsageError(
            f"the option `{word}` is not one that Checkrein knows of Codex",
            "leave it out, or put it into Codex's configuration file",
        )
    if equals:
        options.append(Option(name, attached))
        return index
    if index >= len(argv) or _is_option(argv[index]):
        raise UsageError(f"the option `{word}` needs a value")
    options.append(Option(name, argv[index]))
    index += 1
    if name == _GREEDY and words not in _NOT_GREEDY:
        while index < len(argv) and not _is_option(argv[index]):
            options.append(Option(name, argv[index]))
            index += 1
    return index
