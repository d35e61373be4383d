"""What wheels say about the libraries that were put into them: packaging/bundled.py."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / "packaging/bundled.py"
WHEEL = {"bom-ref": "pkg:pypi/pythnn@0.1.0", "name": "pythnn", "purl": "pkg:pypi/pythnn@0.1.0"}


def wheel(path: Path, libraries: list[str], packages: list[str] | None) -> Path:
    """A wheel as auditwheel makes it; without packages it has no list."""
    made = path / "pythnn-0.1.0-cp310-abi3-any.whl"
    with zipfile.ZipFile(made, "w") as files:
        for name in libraries:
            files.writestr(f"pythnn.libs/{name}", b"")
        if packages is not None:
            purls = {name: f"pkg:deb/debian/{name}@12.2.0-14" for name in packages}
            named = [{"bom-ref": f"{p}#0", "name": n, "purl": p} for n, p in purls.items()]
            content = {"metadata": {"component": WHEEL}, "components": [WHEEL, *named]}
            files.writestr("pythnn-0.1.0.dist-info/sboms/auditwheel.cdx.json", json.dumps(content))
    return made


GOMP, STDCXX = "libgomp-f9a9ad78.so.1.0.0", "libstdc++-0a1b2c3d.so.6.0.30"


@pytest.mark.parametrize(
    ("libraries", "packages", "missing"),
    [
        ([], None, None),
        ([GOMP], ["libgomp1"], None),
        ([GOMP], ["libgomp"], None),
        ([GOMP, STDCXX], ["libstdc++6", "libgomp1"], None),
        ([GOMP], None, GOMP),
        ([GOMP], [], GOMP),
        ([GOMP, STDCXX], ["libgomp1"], STDCXX),
        ([GOMP], ["libgomp-plugin-nvptx1", "pythnn"], GOMP),
    ],
)
def test_libraries_in_wheels_are_named(
    libraries: list[str], packages: list[str] | None, missing: str | None, tmp_path: Path
) -> None:
    command = [sys.executable, str(PROGRAM), str(wheel(tmp_path, libraries, packages))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (missing is not None), done.stderr
    assert all(name in done.stdout for name in libraries)
    if missing is not None:
        assert done.stderr == f"not named by the wheel that holds them: {missing}\n"
