"""``python packaging/bundled.py WHEEL …``: checks that wheels name the libraries put into them.

auditwheel copies what the libraries of a wheel need into a folder ``NAME.libs``, and writes which
packages of the system the copies are from into a list, ``sboms/auditwheel.cdx.json`` of the
metadata: none where it cannot tell. Prints what is in each wheel; ends with 1 if one is not named.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path, PurePosixPath

LIST = re.compile(r"[^/]+\.dist-info/sboms/[^/]+\.cdx\.json")
LIBRARY = re.compile(r"[^/]+\.libs/(?P<stem>[^/]+?)(-[0-9a-f]{8})?\.so(\.[0-9.]+)?")
"""A copy's name has a part of its hash in it."""


def libraries(wheel: zipfile.ZipFile) -> dict[str, str]:
    """The libraries that were put into a wheel, and the names that they had, such as libgomp."""
    found = {name: LIBRARY.fullmatch(name) for name in wheel.namelist()}
    return {PurePosixPath(name).name: match["stem"] for name, match in found.items() if match}


def packages(wheel: zipfile.ZipFile) -> dict[str, str]:
    """The packages that the lists of a wheel name, and where each is from; not the wheel itself."""
    named = {}
    for name in filter(LIST.fullmatch, wheel.namelist()):
        content = json.loads(wheel.read(name))
        of_wheel = content["metadata"]["component"]["bom-ref"]
        for component in content["components"]:
            if component["bom-ref"] != of_wheel:
                named[component["name"]] = component["purl"]
    return named


def unnamed(path: Path) -> list[str]:
    """The libraries in a wheel that no package is named for; prints what is named.

    A package is called like its library, with the number of its interface behind it or without:
    libgomp1, libgomp.
    """
    missing = []
    with zipfile.ZipFile(path) as wheel:
        known = packages(wheel)
        for file, stem in sorted(libraries(wheel).items()):
            pattern = re.compile(re.escape(stem) + r"-?[0-9.]*")
            origins = [purl for name, purl in known.items() if pattern.fullmatch(name)]
            print(f"{path.name} holds {file}: {', '.join(origins) or 'of no known package'}")
            if not origins:
                missing.append(file)
    return missing


def main(paths: list[str]) -> int:
    """Looks at all wheels; 1 if a library is not named."""
    missing = [file for path in paths for file in unnamed(Path(path))]
    if missing:
        print(f"not named by the wheel that holds them: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
