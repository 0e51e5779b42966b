"""Summaries and windows are those of the embedded target's kernels, number by number.

The fixture holds what runtime/kernels/summary.ts and window.ts give; a unit test over there checks
that they still do.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
import torch
from scanpoint_agent.ondevice import Waiting
from scanpoint_agent.quiet import quiet
from scanpoint_agent.summary import summarize
from scanpoint_agent.window import window

FIXTURE = Path(__file__).parent / "fixtures" / "values_kernels.json"
CASES = {case["name"]: case for case in json.loads(FIXTURE.read_text("utf-8"))}
EXACT = ("dtype", "device", "shape", "strides", "contiguous", "numel", "nan", "posInf", "negInf")
OF_ELEMENTS = ("zeros", "min", "max", "absmax", "histogram")


def tensor_of(case: dict) -> torch.Tensor:
    raw = bytearray(base64.b64decode(case["data"]))
    data = torch.frombuffer(raw, dtype=torch.float32) if raw else torch.zeros(0)
    return data.as_strided(case["shape"], case["strides"], case["offset"])


@pytest.mark.parametrize("name", CASES)
def test_summary(name: str) -> None:
    case = CASES[name]
    summary, expected = summarize(tensor_of(case)), case["summary"]
    for field in (*EXACT, *OF_ELEMENTS):
        assert summary[field] == expected[field], field
    if expected["mean"] is not None:
        scale = expected["absmax"]
        assert summary["mean"] == pytest.approx(expected["mean"], rel=1e-6, abs=1e-7 * scale)
        assert summary["std"] == pytest.approx(expected["std"], rel=1e-5, abs=1e-7 * scale)


@pytest.mark.parametrize("name", CASES)
def test_summary_in_the_form_for_devices(name: str) -> None:
    expected, waiting = CASES[name]["summary"], Waiting()
    with quiet():
        waiting.add(tensor_of(CASES[name]), 64, torch)
        (s,) = waiting.collect(torch)
    assert s.histogram == (expected["histogram"] if s.count else [0] * 64)
    assert s.zeros == expected["zeros"]
    if s.count:
        assert (s.min, s.max) == (expected["min"], expected["max"])


@pytest.mark.parametrize("name", CASES)
def test_window(name: str) -> None:
    reply = window(tensor_of(CASES[name]), [], CASES[name]["arguments"])
    assert {key: reply[key] for key in CASES[name]["window"]} == CASES[name]["window"]
