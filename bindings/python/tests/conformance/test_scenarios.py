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
# What Python has of what scenarios need: text that may hold half a surrogate pair, and negative spans. It has no text
# of bytes.
HAS = {"negative_durations", "lone_surrogates"}


def scenarios() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*.json")):
        loaded = json.loads(path.read_text())
        for scenario in loaded.get("scenarios", []):
            needs = set(scenario.get("needs", []))
            stores = ["file"] if "file" in needs else ["memory", "file"]
            marks = [pytest.mark.skip(reason="no text of bytes in Python")] if needs - HAS - {"file"} else []
            for store in stores:
                name = f"{path.stem}: {scenario['name']} ({store})"
                yield pytest.param(loaded, scenario, store, id=name, marks=marks)


@pytest.mark.parametrize(("loaded", "scenario", "store"), list(scenarios()))
def test_scenario(loaded: dict[str, Any], scenario: dict[str, Any], store: str, tmp_path: Path) -> None:
    world = World(loaded, scenario, tmp_path if store == "file" else None)
    try:
        run_steps(world, scenario["steps"])
    except Differs as differs:
        pytest.fail(f"{differs}\nrules: {', '.join(scenario['rules'])}", pytrace=False)
    well(world)
    world.end()
