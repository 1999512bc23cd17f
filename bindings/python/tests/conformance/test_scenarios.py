"""The scenarios that every language runs: bindings/conformance, in memory and on a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .steps import Differs, run_steps, well
from .world import World

FOLDER = Path(__file__).resolve().parents[3] / "conformance"
MEMORY = Path("/dev/shm")
# What Python has of what scenarios need: all of it. Bytes that are no UTF-8 come as text with surrogates in it.
HAS = {"file", "negative_durations", "lone_surrogates", "non_utf8_text"}


def scenarios() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*.json")):
        loaded = json.loads(path.read_text())
        for scenario in loaded.get("scenarios", []):
            needs = set(scenario.get("needs", []))
            stores = ["file"] if "file" in needs else ["memory", "file"]
            assert needs <= HAS, f"{scenario['name']} needs {needs - HAS}"
            for store in stores:
                name = f"{path.stem}: {scenario['name']} ({store})"
                yield pytest.param(loaded, scenario, store, id=name)


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where the system has that: nobody pulls the plug here, so that waiting for the disk a thousand times shows nothing."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        yield Path(place)


@pytest.mark.parametrize(("loaded", "scenario", "store"), list(scenarios()))
def test_scenario(loaded: dict[str, Any], scenario: dict[str, Any], store: str, folder: Path) -> None:
    world = World(loaded, scenario, folder if store == "file" else None)
    try:
        run_steps(world, scenario["steps"])
    except Differs as differs:
        pytest.fail(f"{differs}\nrules: {', '.join(scenario['rules'])}", pytrace=False)
    well(world)
    world.end()
