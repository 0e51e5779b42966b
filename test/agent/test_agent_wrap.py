"""What a wrapped function looks like to the program: like the function it is."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import timeit
import traceback

import cloudpickle
import pytest
import torch
from dap import AGENT
from scanpoint_agent import wrap

pytest_plugins = ["agent_fixtures"]

TEXT = '''
import torch

def selective_scan(u, delta, A=2.0, *, gain: float = 1.0):
    """Documented."""
    if gain < 0:
        raise ValueError("negative gain")
    return u * delta * A * gain

def plain_selective_scan(u: torch.Tensor, delta: torch.Tensor, A: torch.Tensor):
    return (u * delta * A).cumsum(-1)

def model(x):
    return plain_selective_scan(x, x, x) + 1
'''


@pytest.fixture
def user(agent, packages):
    agent.start()
    return packages("user_wrapped", TEXT)


def test_signature_source_and_documentation_are_the_originals(user):
    function = user.selective_scan
    assert str(inspect.signature(function)) == "(u, delta, A=2.0, *, gain: float = 1.0)"
    assert inspect.getsource(function).startswith("def selective_scan(u, delta, A=2.0")
    assert (function.__doc__, function.__name__) == ("Documented.", "selective_scan")
    assert function.__defaults__ == (2.0,)


def test_defaults_and_keywords_reach_the_original(user):
    assert user.selective_scan(1.0, 2.0) == 4.0
    assert user.selective_scan(1.0, delta=2.0, gain=3.0, A=1.0) == 6.0
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'delta'"):
        user.selective_scan(1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        user.selective_scan(1.0, 2.0, k=1)


@pytest.mark.parametrize("observed", [False, True])
def test_tracebacks_show_the_users_frames_only(agent, user, observed):
    if observed:
        agent.observe()
    with pytest.raises(ValueError, match="negative gain") as error:
        user.selective_scan(torch.ones(2), torch.ones(2), gain=-1.0)
    files = [frame.filename for frame in traceback.extract_tb(error.value.__traceback__)]
    # One frame of ours stays before Python 3.11.
    left = [file for file in files if "scanpoint_agent" in file]
    assert len(left) == (0 if sys.version_info >= (3, 11) else 1)
    assert [file for file in files if file not in left] == [__file__, user.__file__]


def test_pickles_by_reference_and_by_value_need_no_agent(agent, user, tmp_path):
    assert pickle.loads(pickle.dumps(user.selective_scan)) is user.selective_scan
    assert b"scanpoint_agent" not in pickle.dumps(user.selective_scan)
    cloudpickle.register_pickle_by_value(user)
    file = tmp_path / "function.pickle"
    file.write_bytes(cloudpickle.dumps(user.selective_scan))
    program = f"import pickle; print(pickle.load(open({str(file)!r}, 'rb'))(1.0, 2.0))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("4.0\n", "")


def test_compile_follows_it_without_a_break_and_tells_nothing(agent, user):
    seen = agent.observe()
    x = torch.ones(4)
    compiled = torch.compile(user.model, backend="eager", fullgraph=True)
    assert torch.equal(compiled(x), torch.tensor([2.0, 3.0, 4.0, 5.0]))
    assert seen == []
    user.model(x)
    assert len(seen) == 2


def test_tracing_and_scripting_work_and_tell_nothing(agent, user):
    seen = agent.observe()
    x = torch.ones(4)
    traced = torch.jit.trace(user.model, (x,), check_trace=False)
    scripted = torch.jit.script(user.plain_selective_scan)
    assert torch.equal(traced(x), scripted(x, x, x) + 1)
    assert seen == []


def test_detached_functions_are_as_before(agent, user, packages):
    agent.ask("detach")
    function = user.selective_scan
    assert function.__code__.co_filename == user.__file__
    assert function.__kwdefaults__ == {"gain": 1.0}
    assert not hasattr(function, "__wrapped__")
    assert function(1.0, 2.0) == 4.0


def test_a_call_costs_under_a_third_of_a_microsecond(agent):
    def selective_scan_fn(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
        return u

    def call():
        selective_scan_fn(1, 2, 3, 4, 5, 6, z=7, delta_bias=None, delta_softplus=True)

    def microseconds() -> float:
        return min(timeit.repeat(call, number=20_000, repeat=15)) / 20_000 * 1e6

    before = microseconds()
    from scanpoint_agent import imports

    imports.consider(selective_scan_fn, __name__, "selective_scan_fn")
    assert wrap.wrapped(selective_scan_fn)
    assert microseconds() - before < 0.3


TRACE = f"""
import sys
sys.path.append({AGENT!r})
import scanpoint_agent as _a; _a.call('{{"id": 1, "method": "start", "args": {{}}}}'); del _a
import runpy
sys.argv = [SCRIPT, "--lr", "1"]
runpy.run_path(SCRIPT, run_name="__main__")
"""

SCRIPT = """
import pickle, sys
class Config: pass
def selective_scan(u, delta):
    return u * delta
print(sys.argv[1:], sorted(n for n in vars() if not n.startswith("__")))
print(__name__, Config.__module__, selective_scan(3, 4), selective_scan.__module__)
selective_scan(None, 4)
"""


def test_the_script_sees_nothing_of_us(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    program = TRACE.replace("SCRIPT", repr(str(script)))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout == (
        "['--lr', '1'] ['Config', 'pickle', 'selective_scan', 'sys']\n"
        "__main__ __main__ 12 __main__\n"
    )
    assert done.returncode == 1
    if sys.version_info >= (3, 11):
        assert "scanpoint" not in done.stderr
    assert "TypeError" in done.stderr
