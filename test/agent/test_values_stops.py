"""Stops of the filters and of the look at every operation, through a real debugpy."""

from __future__ import annotations

from pathlib import Path

import pytest
from dap import Session
from harness import EXAMPLES

PROGRAM = f"""
import sys
sys.path.insert(0, {EXAMPLES!r})
import torch
from vim_pytorch import VisionMamba
torch.manual_seed(0)
model = VisionMamba(img_size=8, patch_size=4, stride=4, depth=2, embed_dim=16, num_classes=3)
def spoil(gradient):
    return gradient * 1e9
def both(x):
    half = x.half() * 40000
    return (half + half).float()  # fault
def train(steps):
    for i in range(steps):
        logits = model(torch.ones(2, 3, 8, 8))
        if i > 0:
            logits = both(logits.abs() * 0 + 1)
        loss = logits.sum()
        loss.backward()  # backward
    return loss
if "explode" in sys.argv:
    model.head.weight.register_hook(spoil)
print("last", float(train(3).detach()))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def line_of(text: str) -> int:
    return 1 + next(i for i, line in enumerate(PROGRAM.splitlines()) if text in line)


def first_scan(session: Session) -> int:
    """Lets the program go on from its first stop, at a scan."""
    thread, _ = session.stopped()
    session.ask("setProbes", probes=[])
    return thread


SCAN = {"id": 1, "target": {"kind": "boundary", "boundary": "selective_scan", "phase": "entry"}}


def test_an_exploding_gradient_stops_at_the_line_of_backward(program: Path) -> None:
    with Session() as session:
        session.launch(program, probes=[SCAN], args=["explode"])
        thread = first_scan(session)
        session.ask("setFilters", filters=[{"filter": "exploding"}])
        session.resume(thread)
        thread, stack = session.stopped()
        stop = session.ask("lastStop", threadId=thread)
        assert stop["reason"] == "exception"
        assert stop["description"] == "Exploding gradient"
        assert stop["text"].startswith("head.weight: the norm of its gradient is ")
        assert (stack[0]["name"], stack[0]["line"]) == ("train", line_of("# backward"))
        tensors = session.ask("tensors", frameId=stack[0]["id"])["tensors"]
        assert "grad" in {tensor["name"] for tensor in tensors}
        session.ask("setFilters", filters=[])
        session.resume(thread)
        code, written = session.end()
        assert code == 0
        assert "last" in written


def test_the_origin_of_an_overflow(program: Path) -> None:
    with Session() as session:
        session.launch(program, probes=[SCAN])
        thread = first_scan(session)
        assert "looked at" in session.ask("findOrigin")["text"]
        session.resume(thread)
        thread, stack = session.stopped()
        stop = session.ask("lastStop", threadId=thread)
        assert stop["description"] == "Inf produced"
        assert stop["text"].startswith(
            f"add.Tensor at {program}:{line_of('# fault')}: output has 6 Inf"
        )
        assert (stack[0]["name"], stack[0]["line"]) == ("both", line_of("# fault"))
        tensors = {t["name"]: t for t in session.ask("tensors", frameId=stack[0]["id"])["tensors"]}
        assert tensors["self"]["summary"]["max"] == 40000
        assert tensors["output"]["summary"]["posInf"] == 6
        session.resume(thread)
        code, written = session.end()
        assert (code, written) == (0, "last inf\n")
