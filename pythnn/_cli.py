"""The command ``pythnn``. Each subcommand imports what it needs when it runs."""

from __future__ import annotations

import click

from . import __version__

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pythnn")
def main() -> None:
    """Lua Torch's neural-network kernels in Python."""


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(as_json: bool) -> None:
    """Show versions, and what the library found on this machine."""
    from ._info import gather

    facts = gather()
    if as_json:
        import json

        click.echo(json.dumps(facts, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    Console(highlight=False, markup=False).print(table)
