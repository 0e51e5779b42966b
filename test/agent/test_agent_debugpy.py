"""The agent in a real debugpy: brought in, stopping, stepping, leaving the program as it is."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from dap import Session, environment
from harness import boundary

SCRIPT = """
import sys
import torch
from torch import nn


def selective_scan(u, delta, A):
    decay = torch.exp(delta * A)
    y = (u * decay).cumsum(-1)
    return y


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.D = nn.Parameter(torch.ones(4))

    def forward(self, x):
        y = selective_scan(x * self.D, x.abs(), -x)
        z = y + 1
        return z


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Mixer() for _ in range(2))
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


if __name__ == "__main__":
    model = Model()
    out = model(torch.arange(4.0).view(1, 4))
    out.square().sum().backward()
    print("D", [round(v, 4) for v in model.layers[0].D.grad.tolist()])
    print(sys.argv[1:], sorted(n for n in vars() if "scan" in n or n.startswith("_a")))
    sys.exit(3)
"""
LINES = {text.strip(): i for i, text in enumerate(SCRIPT.splitlines(), 1)}
SCAN = LINES["def selective_scan(u, delta, A):"]
DECAY = LINES["decay = torch.exp(delta * A)"]
RETURN = LINES["return y"]
CALL = LINES["y = selective_scan(x * self.D, x.abs(), -x)"]
AFTER = LINES["z = y + 1"]
MODEL = LINES["x = layer(x)"]
NORM = LINES["return self.norm(x)"]
BACKWARD = LINES["out.square().sum().backward()"]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def session():
    with Session() as session:
        yield session


def spec(number: int, **more) -> dict:
    return {"id": number, **boundary(**more)}


def lines(stack: list[dict]) -> list[tuple[str, int]]:
    return [(frame["name"], frame["line"]) for frame in stack]


def expected_end() -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "--lr", "1"],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    return done.returncode, done.stdout


def test_entry_exit_and_stepping(session, script):
    answer = session.launch(
        script,
        probes=[spec(1, condition="layer == 0"), spec(2, phase="exit", condition="layer == 1")],
        args=["--lr", "1"],
    )
    assert answer["started"]["torch"] is None  # it is not imported for us
    assert answer["started"]["fallback"] is False
    assert [probe["verified"] for probe in answer["probes"]] == [False, False]
    below = [("forward", CALL), ("forward", MODEL)]

    thread, stack = session.stopped()
    stop = session.ours("stop")
    assert stop["threadId"] == thread
    assert stop["probeIds"] == [1]
    assert stop["site"] == {"module": "layers.0", "op": "selective_scan"}
    assert lines(stack)[:3] == [("selective_scan", SCAN), *below]
    assert stack[0]["source"]["path"] == str(script)
    shown = session.variables(stack[0])
    assert {"u", "delta", "A", "layer", "direction", "step", "rank"} <= set(shown)
    assert shown["layer"]["value"] == "0"
    assert shown["u"]["type"] == "Tensor"
    assert session.ask("lastStop", threadId=thread) == stop
    value = session.request("evaluate", expression="u.sum().item()", frameId=stack[0]["id"])
    assert value["result"] == "6.0"

    session.resume(thread, "next")
    thread, stack = session.stopped()
    assert lines(stack)[:3] == [("selective_scan", DECAY), *below]
    session.resume(thread, "stepOut")
    thread, stack = session.stopped()
    assert lines(stack)[0] == ("forward", CALL)
    session.resume(thread, "next")
    thread, stack = session.stopped()
    assert lines(stack)[0] == ("forward", AFTER)

    session.resume(thread)
    thread, stack = session.stopped()
    assert session.ours("stop")["description"] == "Paused at selective_scan exit"
    assert lines(stack)[:3] == [("selective_scan", RETURN), *below]
    assert "y" in session.variables(stack[0])
    session.resume(thread)
    assert session.end() == expected_end()


def test_modules_of_libraries_and_gradients(session, script):
    session.launch(
        script,
        probes=[
            {"id": 1, "target": {"kind": "module", "glob": "norm", "phase": "exit"}},
            {"id": 2, "target": {"kind": "gradient", "glob": "layers.0.D"}},
            spec(3, grad=True, condition="layer == 1"),
        ],
        args=["--lr", "1"],
    )
    thread, stack = session.stopped()  # justMyCode is on, and the norm is PyTorch's own
    assert [frame["name"] for frame in stack[:2]] == ["forward", "forward"]
    assert stack[0]["source"]["path"].endswith("normalization.py")
    assert stack[1]["line"] == NORM
    assert {"input", "output", "self"} <= set(session.variables(stack[0]))
    session.resume(thread)

    thread, stack = session.stopped()
    assert lines(stack) == [("selective_scan", SCAN), ("<module>", BACKWARD)]
    assert "grad_y" in session.variables(stack[0])
    session.resume(thread)

    thread, stack = session.stopped()
    assert lines(stack)[1] == ("<module>", BACKWARD)
    assert {"grad", "D", "param"} <= set(session.variables(stack[0]))
    session.resume(thread)
    assert session.end() == expected_end()


def test_a_wrong_condition_is_told_and_the_program_goes_on(session, script):
    session.launch(script, probes=[spec(1, condition="delta > 0")], args=["--lr", "1"])
    said = [session.ours("probe") for _ in range(2)]
    assert [probe["verified"] for probe in said] == [True, False]
    assert "no single truth value" in said[1]["message"]
    assert session.end() == expected_end()


def test_log_messages_while_it_runs(session, script):
    session.launch(script, probes=[spec(1, logMessage="{layer}: {u.max()}")], args=["--lr", "1"])
    assert session.ours("output")["text"] == "0: 3\n"
    assert session.ours("output")["text"].startswith("1: ")
    assert session.end() == expected_end()


def test_detached_it_runs_to_its_end(session, script):
    session.launch(script, probes=[spec(1)], args=["--lr", "1"])
    thread, _ = session.stopped()
    assert session.ask("detach") == {}
    session.resume(thread)
    assert session.end() == expected_end()


def test_the_public_way_to_stop(session, script):
    session.launch(script, probes=[spec(1)], args=["--lr", "1"])
    thread, stack = session.stopped()
    assert lines(stack)[0] == ("selective_scan", SCAN)
    session.evaluate("__import__('scanpoint_agent').pydevd._Names.complete = False")
    session.resume(thread)
    thread, stack = session.stopped()
    assert lines(stack)[:2] == [("selective_scan", SCAN), ("forward", CALL)]
    assert session.variables(stack[0])["layer"]["value"] == "1"
    session.resume(thread)
    assert session.end() == expected_end()


LISTENER = """
import sys, time
import debugpy
from train import Model, selective_scan
import torch

_, port = debugpy.listen(("127.0.0.1", 0))
print(port, flush=True)
model = Model()
while True:
    model(torch.ones(1, 4))
    time.sleep(0.02)
"""


def test_attached_while_it_runs(script):
    listener = script.parent / "listener.py"
    listener.write_text(LISTENER)
    process = subprocess.Popen(
        [sys.executable, str(listener)], stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        with Session(int(process.stdout.readline())) as session:
            answer = session.attach(probes=[spec(1, condition="layer == 1")])
            assert answer["started"]["torch"].startswith("2.")
            assert answer["probes"] == [{"id": 1, "verified": True}]
            _, stack = session.stopped()
            place = [("selective_scan", SCAN), ("forward", CALL), ("forward", MODEL)]
            assert lines(stack)[:3] == place
            session.ask("detach")
            session.request("disconnect", terminateDebuggee=False)
        time.sleep(0.3)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
