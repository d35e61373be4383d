"""Files that are written whole or not at all, by ``save`` and by commands."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import pythnn
from pythnn import _files, nn
from pythnn._cli import main
from pythnn._files import replacing

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def checkpoint(tmp_path):
    """A file that must not get lost, alone in its folder."""
    path = tmp_path / "checkpoint.t7"
    pythnn.save(path, {"epoch": 1})
    yield path
    assert pythnn.load(path)["epoch"] == 1
    assert os.listdir(tmp_path) == ["checkpoint.t7"]  # noqa: PTH208


@pytest.fixture
def full_disk():
    """No file can become longer than 1 MB, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("format", ["binary", "ascii"])
def test_a_full_disk(checkpoint, format):
    with pytest.raises(OSError, match="File too large"):
        pythnn.save(checkpoint, {"epoch": 2, "weight": np.zeros(1 << 20)}, format)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_without_nameless_files(checkpoint, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE")
    with pytest.raises(OSError, match="File too large"):
        pythnn.save(checkpoint, {"epoch": 2, "weight": np.zeros(1 << 20)})


@pytest.mark.parametrize("named", [False, True])
def test_interrupts(checkpoint, monkeypatch, named):
    if named:
        monkeypatch.delattr(os, "O_TMPFILE")

    def save():
        with replacing(checkpoint) as file:
            file.write(b"a beginning")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save()


def test_a_kill(checkpoint):
    """Nothing at all is left of a file without a name."""
    code = f"""
import time
from pythnn._files import replacing
with replacing({str(checkpoint)!r}) as file:
    file.write(b"a beginning")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        process.kill()


@pytest.mark.parametrize("format", ["binary", "ascii"])
def test_a_second_save_replaces(tmp_path, format):
    path = tmp_path / "model.t7"
    for epoch in (1, 2):
        pythnn.save(path, {"epoch": epoch}, format)
        assert pythnn.load(path) == {"epoch": epoch}
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_kept(tmp_path):
    path = tmp_path / "model.t7"
    mask = os.umask(0o027)
    try:
        pythnn.save(path, {})
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    pythnn.save(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.skipif(IS_ROOT, reason="root may write anything")
def test_a_file_that_must_not_be_changed(checkpoint):
    checkpoint.chmod(0o400)
    with pytest.raises(PermissionError):
        pythnn.save(checkpoint, {"epoch": 2})


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "model.t7"
    pythnn.save(path, {})
    os.chown(path, 12345, 23456)
    pythnn.save(path, {"epoch": 2})
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_links_go_on_pointing(tmp_path):
    (tmp_path / "deep").mkdir()
    target, link = tmp_path / "deep" / "epoch1.t7", tmp_path / "latest.t7"
    link.symlink_to("deep/epoch1.t7")
    for epoch in (1, 2):  # at first the link leads nowhere
        pythnn.save(link, {"epoch": epoch})
        assert link.is_symlink()
        assert pythnn.load(target) == {"epoch": epoch}


def test_a_pipe_is_written_to_directly(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    pythnn.save(path, {"epoch": 1})
    reader.join()
    pythnn.save(tmp_path / "file.t7", {"epoch": 1})
    assert found == [(tmp_path / "file.t7").read_bytes()]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_standard_output_is_written_to_directly(tmp_path):
    code = "import pythnn; pythnn.save('/dev/stdout', {'epoch': 1})"
    with (tmp_path / "out.t7").open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
        assert os.fstat(file.fileno()).st_nlink == 1  # still the file that was opened
    assert pythnn.load(tmp_path / "out.t7") == {"epoch": 1}


def test_a_file_that_cannot_be_exchanged(tmp_path, monkeypatch):
    """As one that is mounted by itself."""
    path = tmp_path / "model.t7"
    pythnn.save(path, {"epoch": 1})
    before = path.stat().st_ino

    def refuse(_, target):
        raise OSError(16, "Device or resource busy", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    pythnn.save(path, {"epoch": 2})
    assert path.stat().st_ino == before
    assert pythnn.load(path) == {"epoch": 2}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_takes_no_new_files(tmp_path, monkeypatch):
    path = tmp_path / "model.t7"
    pythnn.save(path, {"epoch": 1})

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(_files, "_descriptor", refuse)
    pythnn.save(path, {"epoch": 2})
    assert pythnn.load(path) == {"epoch": 2}


def test_errors_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/model\.t7"):
        pythnn.save(tmp_path / "nowhere" / "model.t7", {})
    with pytest.raises(IsADirectoryError):
        pythnn.save(tmp_path, {})


def test_memory_of_the_file_that_is_replaced(tmp_path):
    """Memory that is mapped from the old file is read while the new one is written."""
    path = tmp_path / "weights.npy"
    values = np.arange(100_000.0)
    np.save(path, values)
    mapped = np.load(path, mmap_mode="r")
    with replacing(path) as file:
        np.save(file, mapped[::-1])
    np.testing.assert_array_equal(np.load(path), values[::-1])
    np.testing.assert_array_equal(mapped, values)


# ---- Commands


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path):
    model = nn.Sequential().add(nn.Linear(512, 512)).add(nn.View(1, 512, -1))
    pythnn.save(tmp_path / "model.t7", model.float())
    pythnn.save(tmp_path / "linear.t7", model.get(1))
    np.save(tmp_path / "x.npy", np.zeros((512, 512), np.float32))
    return tmp_path


COMMANDS = [
    ("convert", "model.t7", "model.t7"),
    ("convert", "model.t7", "out.t7", "--ascii"),
    ("convert", "model.t7", "out.npz"),
    ("convert", "linear.t7", "out.onnx", "--input", "512"),
    ("run", "model.t7", "x.npy", "--output", "out.npy"),
    ("run", "model.t7", "x.npy", "--output", "out.npz"),
    ("run", "model.t7", "x.npy", "--output", "out.bmp"),
    ("report", "model.t7", "-o", "out.html", "--input", "512"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_commands_replace_files(folder, monkeypatch, arguments):
    """What is there stays when the disk is full, and is replaced when it is not."""
    monkeypatch.chdir(folder)
    out = Path(next(a for a in reversed(arguments) if a.startswith(("out", "model"))))
    if not out.exists():
        out.write_text("precious")
    before, names = out.read_bytes(), sorted(folder.iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, limits[1]))
    try:
        result = call(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert result.exit_code == 1
    assert "cannot be written: File too large" in result.output
    assert out.read_bytes() == before
    assert sorted(folder.iterdir()) == names
    assert call(*arguments).exit_code == 0
    assert len(out.read_bytes()) > 1 << 12
    assert sorted(folder.iterdir()) == names


@pytest.fixture
def inputs(tmp_path):
    """A model, and a folder whose files have each other's names."""
    pythnn.save(tmp_path / "model.t7", nn.Sequential().add(nn.View(-1, 12)).float())
    inside = tmp_path / "in"
    inside.mkdir()
    for i, name in enumerate(("a.bmp", "a.png", "b.png", "c.png", "c.png.bmp")):
        Image.new("RGB", (2, 2), (i, 0, 0)).save(inside / name)
    np.save(inside / "a.npy", np.full((1, 3, 2, 2), 9, np.float32))
    return tmp_path


def test_results_of_inputs_with_one_name(inputs):
    arguments = ("--preset", "byte", "--output", inputs / "out")
    result = call("run", inputs / "model.t7", inputs / "in", *arguments)
    assert result.exit_code == 0
    found = {path.name: np.load(path)[0, 0] for path in (inputs / "out").iterdir()}
    assert found == {
        "a.bmp.npy": 0,
        "a.npy.npy": 9,
        "a.png.npy": 1,
        "b.npy": 2,
        "c.npy": 3,
        "c.png.npy": 4,
    }
    assert "whole name of a.bmp, a.npy, a.png" in result.output


def test_results_do_not_take_the_place_of_inputs(inputs):
    """Neither in the inputs' own folder nor at the name of one of them."""
    for name in ("c.png", "c.png.bmp"):
        (inputs / "in" / name).unlink()
    for output in (inputs / "in", inputs / "in" / "a.npy"):
        for name in ("a.bmp", "a.png"):
            (inputs / "in" / name).unlink(missing_ok=True)
        before = {path: path.read_bytes() for path in (inputs / "in").iterdir()}
        result = call(
            "run", inputs / "model.t7", inputs / "in", "--preset", "byte", "--output", output
        )
        assert result.exit_code == 1
        assert "a.npy is one of the inputs" in result.output
        assert {path: path.read_bytes() for path in (inputs / "in").iterdir()} == before
