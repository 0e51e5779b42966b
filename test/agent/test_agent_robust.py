"""Nothing of ours may change what the program does: its numbers, its result, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from dap import AGENT, environment
from harness import EXAMPLES, boundary
from scanpoint_agent import calls, guarded, wrap

pytest_plugins = ["agent_fixtures"]

TRAIN = f"""
import sys
sys.path[:0] = [{AGENT!r}, {EXAMPLES!r}]
import json
from scanpoint_agent import call, channel
MODE = sys.argv[1]
def ask(method, **args):
    call(json.dumps({{"id": 1, "method": method, "args": args}}))
if MODE != "plain":
    channel.record([])
    ask("start", settings={{}})
import torch, vim_pytorch
torch.manual_seed(0)
torch.set_num_threads(1)
model = vim_pytorch.VisionMamba(img_size=16, patch_size=8, stride=8, depth=2, embed_dim=16,
                                num_classes=3, drop_path_rate=0.3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
boundary = {{"kind": "boundary", "boundary": "selective_scan"}}
if MODE == "armed":
    ask("setProbes", probes=[
        {{"id": 1, "target": {{**boundary, "phase": "entry"}}, "condition": "delta.max() > 1e9"}},
        {{"id": 2, "target": {{**boundary, "phase": "exit"}}, "logMessage": "{{y.absmax()}}"}},
        {{"id": 3, "target": {{**boundary, "phase": "entry", "pass": "backward"}}}},
        {{"id": 4, "target": {{"kind": "module", "glob": "**", "phase": "exit"}},
         "condition": "nan(output) > 0"}},
        {{"id": 5, "target": {{"kind": "gradient", "glob": "**"}}, "condition": "nan(grad) > 0"}},
    ])
if MODE == "broken":
    import broken
    broken.everything()
for _ in range(20):
    x = torch.randn(4, 3, 16, 16)
    loss = torch.nn.functional.cross_entropy(model(x), torch.randint(3, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
import hashlib
digest = hashlib.sha256()
for value in (loss.detach(), *model.state_dict().values()):
    digest.update(value.numpy().tobytes())
print(loss.item(), digest.hexdigest())
sys.exit(7)
"""

# Every function and method of the agent's modules, except those that the program itself calls: it is
# they that guard the others.
BROKEN = """
import importlib, json, pkgutil, types
import scanpoint_agent
from scanpoint_agent import calls, modules, channel

def everything():
    def boom(*args, **kwargs):
        raise RuntimeError("broken on purpose")
    target = {"kind": "boundary", "boundary": "selective_scan", "phase": "entry"}
    scanpoint_agent.call(json.dumps({"id": 1, "method": "setProbes", "args": {"probes": [
        {"id": 1, "target": target}, {"id": 2, "target": {**target, "phase": "exit"}},
        {"id": 3, "target": {"kind": "module", "glob": "**", "phase": "entry"}},
        {"id": 4, "target": {"kind": "gradient", "glob": "**"}}]}}))
    calls.observers.append(boom)
    modules.observers.append(boom)
    for name in ("calls", "channel", "conditions", "directions", "gradients", "modules", "probes",
                 "pydevd", "steps", "stops", "unfuse", "module_hooks", "imports", "targets"):
        module = importlib.import_module("scanpoint_agent." + name)
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
                if value.__name__ not in ("_before", "_after", "_compiling", "_after_step"):
                    value.__code__ = _code(value)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                for method, function in list(vars(value).items()):
                    if isinstance(function, types.FunctionType) and method != "find_spec":
                        function.__code__ = _code(function)

def _code(function):
    free = function.__code__.co_freevars
    text = f"def outer({', '.join(free)}):\\n def inner(*a, **k):\\n  raise RuntimeError('broken')\\n"
    text += f"  {', '.join(free)}\\n"
    outer = compile(text, "broken", "exec").co_consts[0]
    return next(c for c in outer.co_consts if isinstance(c, types.CodeType))
"""


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    (folder / "train.py").write_text(TRAIN)
    (folder / "broken.py").write_text(BROKEN)

    def run(mode: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "train.py", mode],
            capture_output=True, text=True, check=False, cwd=folder, env=environment(),
        )  # fmt: skip
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


@pytest.fixture(scope="module")
def plain(train):
    code, text = train("plain")
    assert code == 7
    return text


@pytest.mark.parametrize("mode", ["idle", "armed", "broken"])
def test_20_steps_give_the_same_bits_and_exit_code(train, plain, mode):
    assert train(mode) == (7, plain)


TEXT = "def selective_scan(u, delta):\n    return u * delta\n"


def test_an_observer_that_raises_is_told_once_and_taken_out(agent, packages):
    agent.start()
    user = packages("user_scan", TEXT)

    def broken_observer(call):
        raise RuntimeError("broken on purpose")

    guarded._told.clear()
    calls.observers.append(broken_observer)
    x = torch.ones(2)
    for _ in range(3):
        assert torch.equal(user.selective_scan(x, x), x)
    assert agent.output().count("broken on purpose") == 1
    assert broken_observer not in calls.observers


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_and_exit_pass(agent, packages, error):
    agent.start()
    user = packages("user_scan", TEXT)

    def interrupted(call):
        raise error

    calls.observers.append(interrupted)
    with pytest.raises(error):
        user.selective_scan(torch.ones(2), torch.ones(2))


def test_a_wrapper_that_fails_goes_inert(agent, packages, monkeypatch):
    agent.start()
    user = packages("user_scan", TEXT)
    agent.observe()
    monkeypatch.setattr(calls, "begin", None)
    x = torch.ones(2)
    assert torch.equal(user.selective_scan(x, x), x)
    assert wrap.guards[-1].live == ()


def test_tensors_that_show_shapes_only_are_passed_over(agent, packages):
    from torch._subclasses.fake_tensor import FakeTensorMode

    agent.start()
    user = packages("user_scan", TEXT)
    agent.probes(boundary(condition="u.max() > 0"))
    with FakeTensorMode():
        user.selective_scan(torch.ones(2), torch.ones(2))
    user.selective_scan(torch.ones(2, device="meta"), torch.ones(2, device="meta"))
    assert agent.stops == []
    user.selective_scan(torch.ones(2), torch.ones(2))
    assert len(agent.stops) == 1


def test_threads_have_their_own_depth(agent, packages):
    agent.start()
    user = packages("user_scan", TEXT)
    seen = agent.observe()
    x = torch.ones(2)
    threads = [
        threading.Thread(target=lambda: [user.selective_scan(x, x) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 400


def test_a_forked_child_goes_on(agent, packages):
    agent.start()
    user = packages("user_scan", TEXT)
    agent.probes(boundary())
    child = os.fork()
    if child == 0:
        user.selective_scan(torch.ones(2), torch.ones(2))
        os._exit(len(agent.stops))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert agent.stops == []


def test_what_a_condition_calls_is_not_looked_at(agent, packages):
    agent.start()
    user = packages("user_scan", TEXT)
    agent.probes(boundary(condition="selective_scan(u, delta).max() > 0"))
    user.selective_scan(torch.ones(2), torch.ones(2))
    assert len(agent.stops) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not json", "JSONDecodeError|Expecting"),
        ('{"id": 1, "method": "nothing"}', "no method 'nothing'"),
        ('{"id": 1, "method": "setProbes", "args": {"probes": [{}]}}', "KeyError"),
        ("[]", "TypeError"),
    ],
)
def test_a_wrong_request_is_answered_by_an_error(agent, text, says):
    import re

    from scanpoint_agent import call

    assert call(text) is None
    assert re.search(says, agent.sent[-1]["reply"]["error"])


def test_answers_are_strict_json(agent):
    from scanpoint_agent import channel

    channel.send({"reply": {"id": 1, "result": [float("nan"), float("inf"), {2: torch.float32}]}})
    assert agent.sent[-1]["reply"]["result"] == [None, None, {"2": "torch.float32"}]
    json.dumps(agent.sent[-1], allow_nan=False)


def test_importing_the_agent_imports_no_torch():
    program = f"import sys; sys.path.append({AGENT!r}); import scanpoint_agent; "
    program += (
        'scanpoint_agent.call(\'{"id": 1, "method": "start"}\'); print(\'torch\' in sys.modules)'
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
    assert Path(AGENT, "scanpoint_agent", "__init__.py").exists()


RANKS = f"""
import sys
sys.path[:0] = [{AGENT!r}]
import json
from scanpoint_agent import call, calls, channel
channel.record([])
call(json.dumps({{"id": 1, "method": "start"}}))
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from user_scan import selective_scan

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Mixer()])

    def forward(self, x):
        return self.layers[0](x)

class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return selective_scan(x, self.weight)

distributed.init_process_group("gloo")
seen = []
calls.observers.append(lambda call: seen.append((call.module, call.phase, call.rank)))
DistributedDataParallel(Model())(torch.ones(3, 2)).sum().backward()
rank = distributed.get_rank()
assert seen == [("layers.0", phase, rank) for phase in ("entry", "exit")], seen
distributed.barrier()
distributed.destroy_process_group()
"""


def test_two_ranks_under_torchrun(tmp_path):
    (tmp_path / "user_scan.py").write_text(TEXT)
    (tmp_path / "ranks.py").write_text(RANKS)
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "ranks.py"]
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
