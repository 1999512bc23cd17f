"""The scenarios that every language runs: bindings/conformance, in memory and on a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .steps import Differs, run_steps, well
from .world import World

FOLDER = Path(__file__).resolve().parents[3] / "conformance"
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


@pytest.mark.parametrize(("loaded", "scenario", "store"), list(scenarios()))
def test_scenario(loaded: dict[str, Any], scenario: dict[str, Any], store: str, tmp_path: Path) -> None:
    world = World(loaded, scenario, tmp_path if store == "file" else None)
    try:
        run_steps(world, scenario["steps"])
    except Differs as differs:
        pytest.fail(f"{differs}\nrules: {', '.join(scenario['rules'])}", pytrace=False)
    well(world)
    world.end()
