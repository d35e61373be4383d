"""``python -m pythnn``: the command line."""

from ._cli import main

main(prog_name="pythnn")
