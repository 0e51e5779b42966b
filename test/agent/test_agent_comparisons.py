"""The text of a stop holds the numbers that made its condition true."""

import pytest
import torch
from scanpoint_agent.comparisons import numbers

NAMES = {
    "delta": torch.tensor([0.01, 0.4213]),
    "y": torch.tensor([1.0, float("nan")]),
    "layer": 3,
    "direction": "backward",
}


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("delta.max() > 0.1", "delta.max() = 0.421 > 0.1"),
        ("layer == 3 and delta.max() > 0.1", "delta.max() = 0.421 > 0.1"),
        ("0 < delta.min() < delta.max()", "0 < delta.min() = 0.01 < delta.max() = 0.421"),
        ("delta.max() < 0 or nan(y) > 0", "nan(y) = 1 > 0"),
        ("delta.max() > 0.4212", "delta.max() = 0.42129999 > 0.4212"),
        ("y.isnan().any()", "y.isnan().any()"),
        ("layer == 3", "layer == 3"),
        ("direction in ('backward',)", "direction in ('backward',)"),
        ("delta.sum() > -1", "delta.sum() = 0.431 > -1"),
    ],
)
def test_numbers(condition, text):
    assert numbers(condition, NAMES) == text


def test_a_part_that_fails_leaves_the_condition():
    assert numbers("delta.max() > missing", NAMES) == "delta.max() > missing"
