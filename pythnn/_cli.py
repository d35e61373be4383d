"""The command ``pythnn``. Each subcommand imports what it needs when it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ._shown import MESSAGE, shown
from ._version import __version__

__all__ = ["main"]

Command = TypeVar("Command", bound=Callable[..., Any])


class _Group(click.Group):
    """Commands whose errors show what is not printable escaped: it may come from a file."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.__dict__["message"] = shown(error.message, MESSAGE)
            raise


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
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

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        for name, value in facts.items():
            click.echo(f"{name}: {value}")
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    console.print(table)


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@main.command()
@click.argument("file", type=_FILE)
@click.option(
    "--input",
    "shapes",
    metavar="SHAPE",
    multiple=True,
    help="Run the model on noise of this shape, such as 3x224x224, and show what each layer gives. "
    "A batch of 1 is put in front. Several times for a model that takes a table.",
)
@click.option("--key", help="The entry of the file to show, such as model or opt.net.")
@click.option(
    "--depth",
    type=click.IntRange(0),
    help="How deep to look into tables and models: 4 for tables and 50 for models by default.",
)
@click.option("--width", default=20, show_default=True, help="Entries to show of each table.")
@click.option("--run", is_flag=True, help="Run the model on noise of a shape that is guessed.")
@click.option("--all", "all_rows", is_flag=True, help="Show blocks that repeat one by one.")
def inspect(
    file: Path,
    shapes: tuple[str, ...],
    key: str | None,
    depth: int | None,
    width: int,
    run: bool,
    all_rows: bool,
) -> None:
    """Show what is in a .t7 FILE of Lua Torch."""
    from ._models.errors import explained
    from .commands.inspect import Task, inspect_file

    with explained(f"{file} cannot be shown"):
        inspect_file(Task(file, list(shapes), run, key, depth, width, not all_rows))


_PRESETS = ("imagenet", "caffe", "unit", "byte", "signed", "gray")


_IMAGE_OPTIONS = [
    click.option(
        "--preset",
        type=click.Choice(_PRESETS),
        help="What an image becomes. imagenet: the middle 224 x 224 of 256, 0 to 1, less "
        "ImageNet's mean, by its standard deviation (fb.resnet.torch). caffe: the same size, BGR "
        "from 0 to 255, less the mean (loadcaffe). unit: 0 to 1. byte: 0 to 255. signed: -1 to 1. "
        "gray: one channel, 0 to 1. The last four keep the image's size. By default gray or "
        "imagenet, in a size that the model takes.",
    ),
    click.option("--size", metavar="HxW", help="Size of the input, such as 224 or 240x320."),
    click.option(
        "--resize", type=click.IntRange(1), help="Length of the shorter side before the cut."
    ),
    click.option("--channels", type=click.Choice(["RGB", "BGR", "gray"])),
    click.option("--scale", type=float, help="The value of white, before mean and std."),
    click.option("--mean", metavar="A,B,C", help="Taken off each channel."),
    click.option("--std", metavar="A,B,C", help="What each channel is divided by."),
]


def _image_options(command: Command) -> Command:
    """Adds the options that say what an image becomes."""
    for option in reversed(_IMAGE_OPTIONS):
        command = option(command)
    return command


@main.command()
@click.argument("file", type=_FILE)
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--input",
    "shapes",
    metavar="SHAPE",
    multiple=True,
    help="For ONNX: the shape of an input without its batch, such as 3x224x224. By default what "
    "the first layer takes. Several times for a model that takes a table.",
)
@click.option(
    "--any-size/--fixed-size",
    default=None,
    help="For ONNX: images of any height and width, or of the example's. By default any, where all "
    "layers allow it.",
)
@click.option("--key", help="The entry of FILE to convert, such as model or opt.net.")
@click.option("--ascii", "as_ascii", is_flag=True, help="For .t7: write text instead of binary.")
def convert(
    file: Path,
    out: Path,
    shapes: tuple[str, ...],
    any_size: bool | None,
    key: str | None,
    as_ascii: bool,
) -> None:
    """Write what is in a .t7 FILE to OUT, in the format that its name asks for.

    .onnx is a model for other programs (needs: pip install onnx), .npz the parameters as
    numpy arrays, .t7 a file of Lua Torch again, as binary or as text.
    """
    from .commands.convert import convert_file

    convert_file(file, out, list(shapes), key, as_ascii, any_size)


@main.command()
@click.argument("model", type=_FILE)
@click.argument("input", type=click.Path(exists=True, path_type=Path))
@_image_options
@click.option("--no-batch", is_flag=True, help="Give the model 3 dimensions, not a batch of 1.")
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Images of a folder that are computed at once.",
)
@click.option("--labels", type=_FILE, help="A text file with the name of a class on each line.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="How many classes to print.",
)
@click.option("--softmax", is_flag=True, help="Print scores as probabilities.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Save the output: .npy, .npz for a table, .png or .jpg for an image, a sheet of a batch "
    "of images, or a map of the best class at each place. For a batch of images also a folder, for "
    "a folder of inputs one .npy for all, or a folder.",
)
@click.option(
    "--format",
    type=click.Choice(["npy", "png", "jpg"]),
    default="npy",
    show_default=True,
    help="Of the files in a folder of --output, for a folder of inputs.",
)
@click.option("--key", help="The entry of MODEL to run, such as model or opt.net.")
@click.option("--threads", type=click.IntRange(1), help="By default one for each core.")
def run(
    model: Path,
    input: Path,
    preset: str | None,
    labels: Path | None,
    top: int,
    softmax: bool,
    output: Path | None,
    format: str,
    key: str | None,
    threads: int | None,
    no_batch: bool,
    batch: int,
    **image_options: Any,
) -> None:
    """Run the MODEL of a .t7 file on an INPUT.

    INPUT is an image, a .npy or .npz file, or a folder of such. Prints the best classes, unless the
    output is something else or goes to a file.
    """
    from ._models.recipe import wanted_of
    from .commands.run import Task, run_model

    if threads is not None:
        from ._state import set_num_threads

        set_num_threads(threads)
    wanted = wanted_of(preset, **image_options)
    saved = output, format, softmax
    run_model(Task(model, input, wanted, key, labels, top, *saved, not no_batch, batch))


@main.command()
@click.argument("file", type=_FILE)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write. By default FILE's name with .html, in the current folder.",
)
@click.option(
    "--input",
    "shapes",
    metavar="SHAPE",
    multiple=True,
    help="Run the model on noise of this shape, such as 3x224x224; several times for a model that "
    "takes a table. By default a shape that it takes is searched for.",
)
@click.option("--no-run", is_flag=True, help="Show what is in the file only.")
@click.option("--image", type=_FILE, help="Run the model on this image, and show what layers see.")
@_image_options
@click.option("--labels", type=_FILE, help="A text file with the name of a class on each line.")
@click.option("--key", help="The entry of FILE to show, such as model or opt.net.")
def report(
    file: Path,
    output: Path | None,
    shapes: tuple[str, ...],
    no_run: bool,
    image: Path | None,
    preset: str | None,
    labels: Path | None,
    key: str | None,
    **image_options: Any,
) -> None:
    """Write a page about the model of a .t7 FILE.

    One file of HTML, which needs nothing else: layers with what they cost, weights, filters and,
    with --image, what each layer makes of it.
    """
    from ._models.recipe import wanted_of
    from .report import Task, write_report

    if no_run and (shapes or image):
        raise click.UsageError("--no-run goes with neither --input nor --image.")
    wanted = wanted_of(preset, **image_options)
    if image is None and (wanted is not None or labels is not None):
        raise click.UsageError("Options for images go with --image.")
    output = output or Path(f"{file.stem}.html")
    write_report(Task(file, output, shapes, image, wanted, key, labels, not no_run))
