#!/usr/bin/env python3
"""Makes the Debian package of a build, and compares its fields, and its files in /usr with those that the build installs.
tests/systems installs it in fresh systems and uses it.

    deb.py BUILD VERSION
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

SKIPPED = 77
EXPECTED = {"Package": "tilewright", "Architecture": "all",
            "Depends": "libboost-dev, libxtensor-dev (>= 0.24), libxsimd-dev (>= 8.1)",
            "Recommends": "zlib1g-dev, libpng-dev, libzip-dev, nlohmann-json3-dev", "Suggests": "libopenmpi-dev, python3-onnx"}


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check(package, unpacked, installed, version):
    """What is wrong, one line each."""
    for field, expected in (EXPECTED | {"Version": version}).items():
        found = output("dpkg-deb", "--field", package, field).strip()
        if found != expected:
            yield f"{field}: {found}: {expected} expected"
    output("dpkg-deb", "--extract", package, unpacked)
    found, expected = files_of(unpacked / "usr"), files_of(installed)
    yield from (f"{path}: not both packed and installed" for path in sorted(found.keys() ^ expected.keys()))
    yield from (f"{path}: differs from what is installed" for path, text in found.items() if text != expected.get(path, text))


def main():
    build, version = Path(sys.argv[1]), sys.argv[2]
    if not which("dpkg-deb"):
        print("no dpkg-deb")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        output("cmake", "--install", build, "--prefix", folder / "installed")
        output("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder / "made")
        packages = list((folder / "made").glob("*.deb"))
        problems = [f"{len(packages)} packages: one expected"]
        if len(packages) == 1:
            problems = list(check(packages[0], folder / "unpacked", folder / "installed", version))
        print("\n".join(problems[:20]) or f"{packages[0].name} has the fields and files that were expected")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
