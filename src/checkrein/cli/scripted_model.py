"""`checkrein scripted-model`: a model that says what a scenario says."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import click


@click.command("scripted-model")
@click.argument("scenario", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port on loopback; 0 takes a free one.")
@click.option("--record", type=click.Path(path_type=Path, dir_okay=False), help="Append every received request to this file.")
def command(scenario: Path, port: int, record: Path | None) -> None:
    """Serve a scripted model on loopback until it is interrupted.

    The base URL stands in the first line of the output. The model speaks OpenAI Responses at `/v1/responses`.
    """
    from checkrein.edges import asgi, scripted

    told = scripted.load(scenario)
    keep = scripted.Keeper(record) if record else None

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        async with scripted.serving(told, port, keep) as url:
            click.echo(url)
            await stop.wait()

    asgi.run(run())
