"""The package twice in one process: by another path, by another name, and imported again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import keyledger

from .scripts import told

COPIES = """
import importlib.util, json, sys
from pathlib import Path
import keyledger as one

folder, file, way = Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def forgotten():
    for name in [name for name in sys.modules if name.partition(".")[0] == "keyledger"]:
        del sys.modules[name]


def second():
    if way == "again":
        forgotten()
        import keyledger
        return keyledger
    if way == "path":
        forgotten()
        sys.path.insert(0, str(folder))
        import keyledger
        assert Path(keyledger.__file__).parent.parent == folder
        assert keyledger._native.__file__ != one._native.__file__
        return keyledger
    spec = importlib.util.spec_from_file_location(
        "other_name", folder / "keyledger" / "__init__.py", submodule_search_locations=[str(folder / "keyledger")]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["other_name"] = module
    spec.loader.exec_module(module)
    return module


two = second()
assert two is not one
told = []
for opener, other in ((one, two), (two, one)):
    with opener.open(file) as ledger:
        call = ledger.idempotent(operation="x", effect="repeatable", scope=opener.SINGLE, key="k")(lambda k: [k])
        told.append(call(opener.__name__) == call(opener.__name__))
        try:
            other.open(file)
        except other.KeyledgerError as error:
            told.append([type(error).__name__, error.code, isinstance(error, other.AlreadyOpen)])
        try:
            ledger.begin(opener.Operation("x", "repeatable"), "", "1", opener.Fingerprint.unchecked())
        except opener.InvalidKey as error:
            told.append(error.code)
        try:
            ledger.claim(opener.Operation("x", "in_ledger"), opener.SINGLE, opener.__name__, opener.Fingerprint.unchecked()).__enter__()
        except opener.Refused as error:
            told.append(error.code)
print(json.dumps(told))
"""


@pytest.mark.parametrize("way", ["again", "path", "name"])
def test_codes_still_work_and_a_second_open_is_refused(way: str, tmp_path: Path) -> None:
    """Each copy's errors are caught by its own names; neither is fooled into opening the file twice."""
    package = Path(keyledger.__file__).parent
    shutil.copytree(package, tmp_path / "copy" / "keyledger", ignore=shutil.ignore_patterns("__pycache__"))
    one = [True, ["AlreadyOpen", "already_open", True], "invalid_key", "replay"]
    assert told(COPIES, tmp_path / "copy", tmp_path / "twice.kl", way) == [*one, *one]
