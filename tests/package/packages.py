"""The packages that the build has made, and changed copies of them."""

import os
import shutil
from pathlib import Path

from support.programs import must

JACKPOTD, LINK = "jackpotd", "libjackpotlink-dev"


def package(name):
    found, = Path(os.environ["PACKAGES"]).glob(f"{name}_*.deb")
    return found


def field(deb, name):
    return must("dpkg-deb", "--field", deb, name).strip()


def changed(deb, folder, change):
    """A copy of the package, with change() applied to its unpacked tree."""
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    must("dpkg-deb", "--raw-extract", deb, tree)
    change(tree)
    # It is used once, so it is not compressed.
    must("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, folder)
    made, = folder.glob("*.deb")
    return made


def replace(file, old, new):
    text = file.read_text()
    if old not in text:
        raise AssertionError(f"{old!r} is not in {file}")
    file.write_text(text.replace(old, new))
