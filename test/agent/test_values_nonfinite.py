"""The filters NaN, Inf, exploding and vanishing on a small model, with recorded stops."""

from __future__ import annotations

import math

import pytest
import torch
from scanpoint_agent import calls, extremes, gradient_health, guarded, modules, nonfinite
from scanpoint_agent.badvalues import bad_of, index_text, tensors_in
from scanpoint_agent.made_by import made_by
from values_model import TEXT

pytest_plugins = ["agent_fixtures"]


@pytest.fixture
def user(agent, packages):
    agent.start()
    yield packages("user_train", TEXT)
    agent.ask("setFilters", filters=[])


def filters(agent, *names: str, **thresholds: float) -> None:
    specs = [{"filter": name} for name in names]
    specs += [{"filter": name, "threshold": value} for name, value in thresholds.items()]
    assert agent.ask("setFilters", filters=specs) == {}


def test_a_healthy_run_does_not_stop(agent, user) -> None:
    filters(agent, "nan", "inf")
    user.train(user.make(), 2)
    assert agent.stops == []
    assert agent.output() == ""


def test_nan_born_in_a_module(agent, user) -> None:
    filters(agent, "nan", "inf")
    model = user.make()
    layer = model.layers[1].mixer.dt_proj_b
    layer.forward = lambda x: (
        type(layer).forward(layer, x).index_fill(2, torch.tensor([3]), math.nan)
    )
    user.train(model, 1)
    (stop,) = agent.stops
    assert (stop["reason"], stop["description"]) == ("exception", "NaN produced")
    text = stop["text"]
    assert text.startswith(
        "layers.1.mixer.dt_proj_b: output has 20 NaN, first at [0, 0, 3], born here."
    )
    assert "all inputs are finite" in text
    assert "Largest magnitudes before it: " in text
    assert text.rsplit("before it: ", 1)[1].count(",") == nonfinite.RUN_UP - 1


def test_nan_from_a_parameter(agent, user) -> None:
    filters(agent, "nan")
    model = user.make()
    with torch.no_grad():
        model.layers[0].mixer.in_proj.weight[2, 1] = math.nan
    user.train(model, 1)
    assert len(agent.stops) == 1
    text = agent.stops[0]["text"]
    assert "layers.0.mixer.in_proj: output has " in text
    assert "It comes from the parameter: weight has 1 NaN, first at [2, 1]." in text


def test_nan_that_came_in_at_a_boundary(agent, user) -> None:
    filters(agent, "nan")
    model = user.make()
    with torch.no_grad():
        model.layers[0].mixer.A_log[5, 2] = math.nan
    user.train(model, 1)
    (stop,) = agent.stops
    text = stop["text"]
    assert text.startswith(
        "layers.0.mixer:selective_scan forward: A has 1 NaN, first at [D 5, N 2]"
    )
    assert "passed on" in text
    assert "It came in, made by NegBackward0 before this boundary." in text
    assert stop["call"].phase == "entry"


def test_inf_born_inside_the_scan(agent, user) -> None:
    filters(agent, "nan", "inf")
    scan = __import__("vim_pytorch").selective_scan
    x = {
        "u": torch.ones(1, 2, 6), "delta": torch.full((1, 2, 6), 0.1), "A": -torch.ones(2, 3),
        "B": torch.ones(1, 3, 6), "C": torch.ones(1, 3, 6), "D": torch.ones(2),
        "z": torch.ones(1, 2, 6),
    }  # fmt: skip
    x["u"][0, 1, 4], x["B"][0, 2, 4] = 1e30, 1e30
    scan(**x)
    (stop,) = agent.stops
    assert stop["description"] == "Inf produced"
    assert (
        "y has 2 Inf, first at [B 0, D 1, L 4], born here in written at t=4 d=1 n=2" in stop["text"]
    )
    assert "written = delta_t B_t u_t is Inf, from delta_t 0.1, B_t 1e30, u_t 1e30." in stop["text"]


def test_one_stop_per_filter_and_step(agent, user) -> None:
    filters(agent, "nan")

    def spoil(i, _model, images):
        if i > 0:
            images[0, 0, 0, 0] = math.nan

    model = user.make()
    optimizer_step = torch.optim.AdamW.step
    user.train(model, 3, spoil)
    assert [stop["call"].step for stop in agent.stops] == sorted(
        {stop["call"].step for stop in agent.stops}
    )
    assert len(agent.stops) == 2
    text = agent.stops[0]["text"]
    assert "It comes from the input: input[0] has 1 NaN, first at [0, 0, 0, 0], made with" in text
    assert torch.optim.AdamW.step is optimizer_step


def test_nan_that_comes_from_an_infinity_says_so(agent, user) -> None:
    filters(agent, "nan", "inf")
    model = user.make()
    mixer = model.layers[0].mixer
    select = type(mixer).select
    mixer.select = lambda *args: select(mixer, *args)
    mixer.out_proj.register_forward_pre_hook(lambda _m, args: (args[0] + math.inf - 0,))
    user.train(model, 1)
    (stop,) = agent.stops
    text = stop["text"]
    assert text.startswith("layers.0.mixer.out_proj: output has ")
    assert "It comes from the input: input[0] has 640 Inf, first at [0, 0, 0], made by " in text
    assert "This is step " in text


def test_filters_are_told_apart(agent, user) -> None:
    filters(agent, "nan")
    user.train(user.make(), 1, lambda _i, _m, images: images.fill_(math.inf))
    assert {stop["description"] for stop in agent.stops} == {"NaN produced"}


def test_exploding_and_vanishing_gradients(agent, user) -> None:
    filters(agent, exploding=1e-6)
    user.train(user.make(), 1)
    (stop,) = agent.stops
    assert stop["description"] == "Exploding gradient"
    assert stop["text"].startswith("head.bias: the norm of its gradient is ")
    assert stop["text"].endswith(" > 1e-6.")
    assert stop["site"]["pass"] == "backward"
    agent.stops.clear()
    filters(agent, vanishing=1e6)
    user.train(user.make(), 1)
    assert [stop["description"] for stop in agent.stops] == ["Vanishing gradient"]


def test_a_threshold_of_nothing_is_one(agent, user) -> None:
    filters(agent, exploding=0.0)
    user.train(user.make(), 1)
    assert agent.stops[0]["text"].endswith(" > 0.")


def test_thresholds_by_default(agent, user) -> None:
    filters(agent, "exploding", "vanishing")
    user.train(user.make(), 1)
    assert agent.stops == []


def test_nan_in_a_gradient(agent, user) -> None:
    filters(agent, "nan")
    model = user.make()
    model.layers[1].mixer.out_proj.weight.register_hook(lambda grad: grad * math.nan)
    user.train(model, 1)
    (stop,) = agent.stops
    assert stop["text"].startswith("the gradient of layers.1.mixer.out_proj.weight has 512 NaN")


def test_a_backward_pass_that_raises_leaves_nothing_behind(agent, user) -> None:
    filters(agent, "nan")
    model = user.make()

    def fail(_grad):
        raise ValueError("of the program")

    handle = model.patch_embed.proj.weight.register_hook(fail)
    for _ in range(12):
        with pytest.raises(ValueError, match="of the program"):
            user.train(model, 1)
    assert len(gradient_health._State.norms) <= gradient_health._AT_ONCE + 1
    handle.remove()
    user.train(model, 1)
    assert agent.stops == []


def test_no_filter_leaves_nothing(agent, user) -> None:
    filters(agent, "nan", "exploding")
    user.train(user.make(), 1)
    filters(agent)
    assert nonfinite.on_call not in calls.observers
    assert nonfinite.on_module not in modules.observers
    model = user.make()
    user.train(model, 1, lambda _i, _m, images: images.fill_(math.nan))
    assert agent.stops == []
    assert not any(parameter._backward_hooks for parameter in model.parameters())


def test_an_unknown_filter_is_refused(agent) -> None:
    with pytest.raises(RuntimeError, match="There is no filter everything."):
        filters(agent, "everything")


def test_numbers_are_the_same_with_all_filters_on(agent, user) -> None:
    """Losses and weights after 20 steps, bit by bit."""
    plain = user.make()
    losses = user.train(plain, 20)
    filters(agent, "nan", "inf", "exploding", "vanishing")
    agent.ask("trace", level="modules")
    watched = user.make()
    watched_losses = user.train(watched, 20)
    agent.ask("trace", level="off")
    assert torch.equal(torch.stack(losses), torch.stack(watched_losses))
    for (name, a), b in zip(plain.named_parameters(), watched.parameters()):
        assert torch.equal(a, b), name
        assert torch.equal(a.grad, b.grad), name


def test_one_synchronisation_per_site(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    original = torch.Tensor.tolist
    monkeypatch.setattr(torch.Tensor, "tolist", lambda x: fetched.append(1) or original(x))
    monkeypatch.setattr(torch.Tensor, "item", lambda _: pytest.fail("waited for one number"))
    found = extremes.extremes(
        [torch.ones(3), torch.arange(3), torch.tensor([1.0, math.nan]), torch.ones(2).bfloat16()]
    )
    assert len(fetched) == 1
    assert found[0] == (1, 1)
    assert found[1] is None
    assert not found[2].finite
    assert found[3].absmax == 1


def test_a_failing_filter_is_switched_off(agent, user, monkeypatch: pytest.MonkeyPatch) -> None:
    filters(agent, "nan")

    def fail(_tensors):
        raise RuntimeError("ours")

    monkeypatch.setattr(nonfinite, "extremes", fail)
    monkeypatch.setattr(guarded, "_told", set())
    losses = user.train(user.make(), 1)
    assert torch.isfinite(losses[0])
    assert "is switched off: RuntimeError: ours" in agent.output()
    assert nonfinite.on_call not in calls.observers


def test_small_things() -> None:
    assert index_text(23, (2, 3, 4), "BDL") == "[B 1, D 2, L 3]"
    assert index_text(0, ()) == "[]"
    x = torch.zeros(2, 3)
    x[1, 2] = x[0, 1] = -math.inf
    assert bad_of("x", x, "inf").text() == "x has 2 Inf, first at [0, 1]"
    assert bad_of("x", x, "nan") is None
    assert bad_of("x", torch.empty(0), "nan") is None
    assert bad_of("x", torch.tensor([math.nan]).to(torch.float8_e5m2), "nan").count == 1
    assert list(tensors_in({"a": [x, (x,)], "b": 3}, "out")) == ["out.a[0]", "out.a[1][0]"]


def test_made_by_names_what_computed_it() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    assert made_by(x) == "made without autograd"
    assert made_by(x + 1) == "made by AddBackward0"
    y = (x * 2).half().t()[1:]
    assert made_by(y) == "made by MulBackward0, then ToCopyBackward0, TBackward0, SliceBackward0"
    assert made_by(x.t()) == "made by TBackward0"
