"""The command line: a literal table of verbs, each loaded only when it is called."""

from __future__ import annotations

import importlib
import sys

import click

from checkrein.vocab.errors import CheckreinError

# verb -> (module below checkrein.cli, one line of help). The module has a click command named `command`.
VERBS: dict[str, tuple[str, str]] = {
    "explain": ("explain", "Say what becomes of one call, and why."),
    "journal": ("journal", "Show, verify and count journal rows."),
    "policy": ("policy", "Check, show, test and lint the policy."),
    "profile": ("profile", "List, show, check, draft and compare harness profiles."),
    "scripted-model": ("scripted_model", "Serve a scripted model on loopback."),
}


class Verbs(click.Group):
    """A group that imports a verb's module when the verb is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = VERBS.get(cmd_name)
        if row is None:
            return None
        command = importlib.import_module(f"checkrein.cli.{row[0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, VERBS[verb][1]) for verb in sorted(VERBS)])


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="checkrein", message="%(prog)s %(version)s")
def root() -> None:
    """The tool-call boundary for coding agents."""


def main() -> None:
    """Run the command line; every `CheckreinError` ends as a sentence, a hint and its exit code."""
    try:
        code = root.main(prog_name="checkrein", standalone_mode=False)
    except CheckreinError as error:
        click.echo(f"error: {error}", err=True)
        if error.hint:
            click.echo(f"hint: {error.hint}", err=True)
        sys.exit(error.code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)
