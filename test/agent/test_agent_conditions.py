"""Conditions, hit counts and log messages, as the embedded target reads them."""

from __future__ import annotations

import math

import pytest
import torch
from scanpoint_agent.conditions import ConditionError, Expression, LogMessage, hit_condition

X = torch.tensor([[1.0, -4.0, 2.0], [0.5, 3.0, -1.0]])
BAD = torch.tensor([1.0, math.nan, math.inf, -math.inf])
NAMES = {"x": X, "bad": BAD, "layer": 3, "direction": "backward", "none": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.absmax()", 4.0),
        ("absmax(x)", 4.0),
        ("x.abs().max()", 4.0),
        ("max(x)", 3.0),
        ("min(x)", -4.0),
        ("max(1, layer)", 3),
        ("x.max(1)", [2.0, 3.0]),
        ("x.max(dim=0)", [1.0, 3.0, 2.0]),
        ("x.median(1)", [1.0, 0.5]),
        ("nan(bad)", 1),
        ("inf(bad)", 2),
        ("nonfinite(bad)", 3),
        ("nan(layer)", 0),
        ("norm(x)", X.norm().item()),
        ("mean(x)", 0.25),
        ("std(x)", X.std().item()),
        ("sum(x)", 1.5),
        ("any(x > 2)", True),
        ("all(x > 2)", False),
        ("x[0, 1:3].mean()", -1.0),
        ("round(x)[0, 0]", 1.0),
        ("round(2.5)", 2),
        ("len(x)", 2),
        ("cosine(x, x)", 1.0),
        ("cosine(x, 0 * x)", 0.0),
        ("rel(x, x)", 0.0),
        ("rel(x + 1, x)", 0.25),
        ("math.sqrt(layer + 1)", 2.0),
        ("torch.zeros(2).sum()", 0.0),
        ("abs(-2)", 2),
        ("none is None", True),
        ("x.absmax() if layer == 3 else 0", 4.0),
        ("[t.absmax() for t in (x, -x)][0]", 4.0),
    ],
)
def test_values(text, expected):
    value = Expression(text).value(NAMES)
    value = value.tolist() if isinstance(value, torch.Tensor) else value
    assert value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('layer == 3 and direction == "backward" and x.max() > 0.1', True),
        ("layer in (1, 2)", False),
        ("not nan(bad)", False),
        ("0 < x.mean() < 1", True),
        ("x.absmax() > 3.9", True),
    ],
)
def test_truth(text, expected):
    assert Expression(text).truth(NAMES) is expected


@pytest.mark.parametrize("text", ["x >", "x = 3", "import os", "(x := 3)", "await x", ""])
def test_wrong_text_is_refused_when_it_is_set(text):
    with pytest.raises(ConditionError):
        Expression(text)


@pytest.mark.parametrize("text", ["x > 0", "x > 0 and layer == 3", "not x", "0 < x < 1"])
def test_several_elements_have_no_truth(text):
    with pytest.raises(ConditionError, match=r"no single truth value; write .*\.any\(\)"):
        Expression(text).truth(NAMES)


def test_an_unknown_name_says_what_is_known():
    with pytest.raises(ConditionError, match="name 'w' is not defined; a boundary knows"):
        Expression("w > 0").truth(NAMES)


def test_names_win_over_functions_and_these_over_the_program():
    assert Expression("norm").value({"norm": 2}, {"norm": 3}) == 2
    assert Expression("scale").value({}, {"scale": 3}) == 3
    assert Expression("nan(layer)").value(NAMES, {"nan": len}) == 0


def test_gradients_are_not_recorded_and_inputs_not_changed():
    x = torch.ones(2, requires_grad=True)
    before = x._version
    assert Expression("(x * 2).sum()").value({"x": x}).requires_grad is False
    assert x._version == before


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("3", [3]),
        ("== 3", [3]),
        (">= 4", [4, 5, 6]),
        ("> 4", [5, 6]),
        ("<= 2", [1, 2]),
        ("< 2", [1]),
        ("% 3", [3, 6]),
    ],
)
def test_hit_counts(text, hits):
    test = hit_condition(text)
    assert [n for n in range(1, 7) if test(n)] == hits


@pytest.mark.parametrize("text", ["x", "% 0", ">=", "-1"])
def test_wrong_hit_counts(text):
    with pytest.raises(ConditionError, match="write 5, >= 5 or % 10"):
        hit_condition(text)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("max {x.max()} at {layer}", "max 3 at 3"),
        ("{{literal}} {direction}", "{literal} backward"),
        ("{ {'a': 1}['a'] }", "1"),
        ("{x.mean() / 3}", "0.0833333"),
    ],
)
def test_log_messages(message, expected):
    assert LogMessage(message).text(NAMES) == expected


def test_an_expression_that_fails_stands_in_the_log_as_its_error():
    assert "`w`: name 'w' is not defined" in LogMessage("a {w} b").text(NAMES)


def test_a_brace_without_its_end():
    with pytest.raises(ConditionError, match='without its "}"'):
        LogMessage("a {x")
