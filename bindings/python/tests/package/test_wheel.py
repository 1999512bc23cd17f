"""The wheel: what is in it, that it needs nothing else, and that every CPython from 3.10 on takes it (abi3)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it there

PACKAGE = Path(__file__).parents[2]
VERSIONS = [(3, minor) for minor in range(10, 16)]
WITHOUT = "give KEYLEDGER_WHEEL the path of a wheel: `cargo xtask python` does, or `maturin build`"


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The one that was built from this source."""
    told = os.environ.get("KEYLEDGER_WHEEL")
    if told is None and os.environ.get("CI") != "true":
        pytest.skip(WITHOUT)
    assert told is not None, WITHOUT
    place = Path(told)
    (found,) = place.glob("keyledger-*.whl") if place.is_dir() else [place]
    return found


def interpreters() -> dict[str, str]:
    """Every CPython of this machine, by its version; pyenv has several."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = [shutil.which(f"python{major}.{minor}") for major, minor in VERSIONS]
    known = [sys.executable, *filter(None, named), *map(str, sorted(pyenv.glob("3.1[0-9]*/bin/python")))]
    found: dict[str, str] = {}
    for path in known:
        says = "import sys, sysconfig; print(sys.implementation.name, *sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
        ran = subprocess.run([path, "-c", says], capture_output=True, text=True, check=False)
        name, major, minor, is_without_lock = (ran.stdout.split() or ["", "0", "0", "0"])[:4]
        if name == "cpython" and (int(major), int(minor)) >= (3, 10) and is_without_lock == "0":
            found.setdefault(f"{major}.{minor}", path)
    return found


TEN_LINES = """
import sys
import keyledger

with keyledger.open(sys.argv[1]) as ledger:

    @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order")
    def charge(user: str, order: str, amount: int) -> dict[str, int]:
        runs.append(order)
        return {"charged": amount}

    runs: list[str] = []
    told = [charge("ann", "1", 990), charge("ann", order="1", amount=990)]
    assert told == [{"charged": 990}] * 2 and runs == ["1"], (told, runs)
    import dataclasses, decimal, typing

    @dataclasses.dataclass
    class Receipt:
        total: decimal.Decimal

    class Told(typing.TypedDict, total=False):
        receipt: Receipt

    @ledger.idempotent(operation="receipt", effect="at_most_once", scope=keyledger.SINGLE, key="order")
    def receipt(order: str) -> Told:
        return {"receipt": Receipt(decimal.Decimal("9.90"))}

    assert receipt("1") == receipt("1") == {"receipt": Receipt(decimal.Decimal("9.90"))}
import keyledger.asgi, keyledger.testing, keyledger.wsgi
"""


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the wheel in it. There was no index to ask: whatever it depended on would be an error."""
    place = tmp_path_factory.mktemp("installed") / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-compile", "--target", place, wheel], check=True)
    return place


@pytest.mark.parametrize(("version", "interpreter"), interpreters().items(), ids=str)
def test_it_works_alone_in_every_version(version: str, interpreter: str, site: Path, tmp_path: Path) -> None:
    assert sorted(path.name.partition("-")[0] for path in site.iterdir()) == ["keyledger", "keyledger"]
    ran = subprocess.run(
        [interpreter, "-S", "-c", TEN_LINES, tmp_path / "file.kl"],
        env={"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", ""), ran.stderr


def test_it_has_types_and_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        told = Parser().parsestr(archive.read(metadata).decode())
        source = {f"keyledger/{path.relative_to(PACKAGE / 'python' / 'keyledger')}" for path in sources()}
        assert source <= names
    assert {"keyledger/py.typed", "keyledger/_native.pyi"} <= names
    licences = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE-APACHE", "LICENSE-MIT"}
    assert wheel.name.split("-")[2:4] == ["cp310", "abi3"]
    assert not any(name.startswith(("tests/", "keyledger/tests")) or name.endswith(".pyc") for name in names)
    extras = project()["optional-dependencies"]
    assert {"celery", "django", "fastapi", "httpx", "requests"} <= set(extras)
    assert sorted(told.get_all("Provides-Extra", [])) == sorted(extras)
    # What it depends on, it does for an extra.
    assert all("extra ==" in needed for needed in told.get_all("Requires-Dist", []))
    assert told["Requires-Python"] == ">=3.10"


def sources() -> list[Path]:
    found = (PACKAGE / "python" / "keyledger").rglob("*")
    return [path for path in found if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed"]


def project() -> dict[str, Any]:
    whole = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    return dict(whole["project"])


def test_pytest_finds_the_fixtures_by_itself_and_nothing_of_it_where_it_is_turned_off(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_own(keyledger_ledger):\n    assert keyledger_ledger.stats()\n")
    (tmp_path / "test_off.py").write_text("import sys\n\ndef test_off():\n    assert 'keyledger' not in sys.modules\n")
    for words in (["test_own.py"], ["test_off.py", "-p", "no:keyledger"]):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert ran.returncode == 0, ran.stdout


def test_an_sdist_is_made_with_all_that_a_build_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "maturin", "sdist", "--manifest-path", PACKAGE / "Cargo.toml", "--out", tmp_path]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert made.returncode == 0, made.stderr
    (archive,) = tmp_path.glob("keyledger-*.tar.gz")
    # Before 3.11.4 there is no such word, and from 3.12 on a warning without it.
    with_care: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    shutil.unpack_archive(archive, tmp_path / "unpacked", **with_care)
    (root,) = (tmp_path / "unpacked").iterdir()
    # The workspace is whole: cargo finds every crate of ours in it, and asks nobody.
    (manifest,) = root.glob("bindings/python/Cargo.toml")
    command = [
        "cargo",
        "metadata",
        "--offline",
        "--locked",
        "--no-deps",
        "--format-version",
        "1",
        "--manifest-path",
        manifest,
    ]
    read = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert read.returncode == 0, read.stderr
    for crate in ("core", "bindings/http", "bindings/python"):
        assert (root / crate / "Cargo.toml").exists(), crate
        assert any((root / crate / "src").rglob("*.rs")), crate
    assert next(root.rglob("py.typed")).exists()
