"""What can be seen at a stop, asked through a real debugpy."""

from __future__ import annotations

import base64
import struct
from pathlib import Path

import pytest
from dap import Session
from harness import EXAMPLES, boundary

PROGRAM = f"""
import sys
sys.path.insert(0, {EXAMPLES!r})
import collections
import torch
from vim_pytorch import VisionMamba
torch.manual_seed(0)
model = VisionMamba(img_size=8, patch_size=4, stride=4, depth=2, embed_dim=16, num_classes=3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(images, labels):
    big = torch.zeros(3000, 10)
    pair = [images, {{"labels": labels}}]
    state = model.state_dict()
    number = 5
    for i in range(2):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss
train(torch.randn(2, 3, 8, 8), torch.tensor([0, 2]))
"""


class At:
    """A program that is stopped at its second step's first scan, and the frames there."""

    def __init__(self, session: Session):
        self.session = session
        self.thread, self.stack = session.stopped()
        self.frame = self.stack[0]
        self.train = next(frame for frame in self.stack if frame["name"] == "train")

    def locals_of(self, frame: dict) -> int:
        """debugpy's reference of a frame's local variables."""
        return self.session.request("scopes", frameId=frame["id"])["scopes"][0][
            "variablesReference"
        ]

    def ask(self, method: str, **args):
        return self.session.ask(method, **args)

    def children(self, reference: int, *names: str, **page) -> dict[str, dict]:
        found = self.ask("children", path={"reference": reference, "names": names}, **page)
        return {entry["name"]: entry for entry in found}


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory):
    program = Path(tmp_path_factory.mktemp("inspect")) / "train.py"
    program.write_text(PROGRAM)
    probe = boundary(condition='step == 1 and layer == 1 and direction == "backward"')
    with Session() as session:
        session.launch(program, probes=[{"id": 1, **probe}])
        yield At(session)


def test_lines_of_a_frame_replace_those_of_debugpy(at: At) -> None:
    reference = at.locals_of(at.train)
    names = [
        variable["name"]
        for variable in at.session.request("variables", variablesReference=reference)["variables"]
    ]
    lines = at.ask("rewrite", reference=reference, names=[*names, "gone"])
    assert lines["big"] == {
        "value": "[3000, 10] all 0", "type": "Tensor", "hasOwnChildren": True, "indexed": 3000,
    }  # fmt: skip
    assert lines["images"]["value"].startswith("[2, 3, 8, 8] ∈ [")
    assert lines["pair"]["value"] == "[float32 [2, 3, 8, 8], dict of 1]"
    assert " tensors, " in lines["state"]["value"]
    assert "number" not in lines
    assert "gone" not in lines
    assert at.ask("variables", reference=reference) is None


def test_globals_have_lines_too(at: At) -> None:
    scopes = at.session.request("scopes", frameId=at.train["id"])["scopes"]
    reference = next(s for s in scopes if s["name"] == "Globals")["variablesReference"]
    lines = at.ask("rewrite", reference=reference, names=["model", "optimizer", "torch"])
    assert " parameters, " in lines["model"]["value"]
    assert lines["optimizer"]["value"].startswith("SGD · lr 0.1 · ")
    assert set(lines) == {"model", "optimizer"}
    assert at.children(reference, "model", "layers", "0")["mixer"]["type"] == "Mamba"


def test_children_by_path_at_every_depth(at: At) -> None:
    reference = at.locals_of(at.train)
    assert at.children(reference, "pair")["0"]["type"] == "Tensor"
    assert at.children(reference, "pair", "1", "'labels'")["[1]"]["value"] == "2"
    assert at.children(reference, "images", "[1]", "[2]")["shape"]["value"] == "[8, 8]"
    assert at.children(reference, "images", "statistics")["NaN"]["value"] == "0 NaN, 0 %"
    page = at.children(reference, "big", filter="indexed", start=2998, count=10)
    assert list(page) == ["[2998]", "[2999]"]
    with pytest.raises(RuntimeError, match="There is no nothing any more"):
        at.children(reference, "nothing")


def test_a_debugpy_reference_of_a_tensor(at: At) -> None:
    variable = at.session.variables(at.train)["images"]
    entries = at.ask("variables", reference=variable["variablesReference"], filter="named")
    assert "statistics" in [entry["name"] for entry in entries]
    result = at.session.request(
        "evaluate", expression="images[0] * 2", frameId=at.train["id"], context="hover"
    )
    line = at.ask("rewrite", reference=result["variablesReference"], names=[""])[""]
    assert line["value"].startswith("[3, 8, 8] ∈ [")
    inside = at.session.variables(at.train)["pair"]["variablesReference"]
    lines = at.ask("rewrite", reference=inside, names=["0", "1"])
    assert lines["0"]["value"].startswith("[2, 3, 8, 8] ∈ [")


def test_scopes_of_the_boundary(at: At) -> None:
    scopes = at.ask("scopes", frameId=at.frame["id"])
    assert [scope["name"] for scope in scopes] == ["Scan", "Module", "Run"]
    assert at.ask("scopes", frameId=at.train["id"]) == []
    scan = {e["name"]: e for e in at.ask("entries", id=scopes[0]["id"])}
    assert scan["delta"]["tensorId"] == "scan:delta"
    assert scan["delta"]["value"].startswith("[2, 32, 5] ∈ [")
    module = {e["name"]: e for e in at.ask("entries", id=scopes[1]["id"])}
    assert module["A_b_log"]["value"].startswith("[32, 16] ∈ [")
    run = {e["name"]: e["value"] for e in at.ask("entries", id=scopes[2]["id"])}
    assert run["layer"] == "1"
    assert run["direction"] == "backward"
    assert run["step"] == "1"
    assert run["module"] == "layers.1.mixer"
    by_id = at.ask("children", path={"id": "scan:delta", "names": []}, filter="named")
    assert by_id[0] == {"name": "shape", "value": "[2, 32, 5]", "type": "", "children": False}


def test_tensors_of_the_boundary(at: At) -> None:
    reply = at.ask("tensors", frameId=at.frame["id"])
    assert reply["site"] == {
        "module": "layers.1.mixer", "op": "selective_scan", "direction": "backward",
        "occurrence": 2,
    }  # fmt: skip
    assert reply["leftOut"] == 0
    tensors = {t["name"]: t for t in reply["tensors"]}
    assert tensors["u"]["axes"] == ["B", "D", "L"]
    assert tensors["B"]["axes"] == ["B", "N", "L"]
    assert tensors["A"]["role"] == "scan"
    assert tensors["A_log"]["role"] == "parameter"
    assert tensors["A"]["summary"]["max"] < 0
    assert sum(tensors["u"]["summary"]["histogram"]) == 2 * 32 * 5
    assert at.ask("tensors")["stop"] == reply["stop"]


def test_a_budget_of_nothing_leaves_all_summaries_out(at: At) -> None:
    reply = at.ask("tensors", frameId=at.frame["id"], budget=0)
    assert all(tensor["summary"] is None for tensor in reply["tensors"])
    assert reply["leftOut"] == len(reply["tensors"])


def test_tensors_of_a_frame(at: At) -> None:
    reply = at.ask("tensors", frameId=at.train["id"])
    names = {tensor["name"]: tensor for tensor in reply["tensors"]}
    assert names["images"]["id"] == f"frame:{at.train['id']}:images"
    assert names["images"]["role"] == "local"
    assert "pair" not in names
    data = at.ask("tensorData", id=names["big"]["id"], maxRows=5, maxColumns=2)
    assert (data["rows"], data["columns"], data["reduced"]) == (5, 2, True)


def test_tensor_data(at: At) -> None:
    stop = at.ask("tensors", frameId=at.frame["id"])["stop"]
    data = at.ask("tensorData", id="scan:A", stop=stop, maxRows=2, maxColumns=16)
    assert (data["rows"], data["columns"], data["axes"]) == (2, 16, ["D", "N"])
    cells = struct.unpack("<32f", base64.b64decode(data["data"]))
    assert all(cell < 0 for cell in cells)
    with pytest.raises(RuntimeError, match="belongs to a stop that is over"):
        at.ask("tensorData", id="scan:A", stop=stop - 1)
    with pytest.raises(RuntimeError, match="belongs to a stop that is over"):
        at.ask("tensorData", id="scan:nothing")


def test_gradients_and_sites(at: At) -> None:
    sites = at.ask("sites")
    assert sites["layers"] == 2
    assert "layers.1.mixer.conv1d_b" in sites["modules"]
    assert "delta" in sites["names"]["selective_scan"]
    gradients = {g["name"]: g for g in at.ask("gradients")["gradients"]}
    assert gradients["layers.0.mixer.A_log"]["norm"] > 0
    assert gradients["head.weight"]["absmax"] >= abs(gradients["head.weight"]["mean"])


def test_the_open_scan(at: At) -> None:
    opened = at.ask("openScan", threadId=at.thread)
    assert (opened["length"], opened["t"]) == (5, 0)
    assert "difference to the kernel" in opened["text"]
    assert "not known" not in opened["text"]
    before = at.ask("tensors", frameId=at.frame["id"])
    at.ask("stepScan", by=1)
    scopes = at.ask("scopes", frameId=at.frame["id"])
    assert scopes[0]["name"] == "Step"
    step = {e["name"]: e for e in at.ask("entries", id=scopes[0]["id"])}
    assert step["t"]["value"] == "1"
    assert step["h"]["tensorId"] == "step:h"
    after = at.ask("tensors", frameId=at.frame["id"])
    assert after["stop"] != before["stop"]
    assert after["site"]["t"] == 1
    h = next(t for t in after["tensors"] if t["id"] == "step:h")
    assert (h["axes"], h["role"]) == (["B", "D", "N"], "step")
    assert at.ask("tensorData", id="step:h")["shape"] == [2, 32, 16]
    found = at.ask("runScan", condition="t == 3", by=1)
    assert (found["t"], found["stopped"]) == (3, True)
    at.ask("closeScan")
    assert at.ask("scopes", frameId=at.frame["id"])[0]["name"] == "Scan"


def test_after_the_stop_nothing_is_left(at: At) -> None:
    at.ask("openScan", threadId=at.thread)
    at.ask("setProbes", probes=[])
    at.session.resume(at.thread)
    code, written = at.session.end()
    assert (code, written) == (0, "")
