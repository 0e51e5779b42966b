"""What is a boundary: the functions of the Mamba family, known by their names.

Names are enough: the forks (Vim, VMamba, and many more) copy them, into modules of any name.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from .guarded import is_tensor

SCAN = "selective_scan"
CONV = "causal_conv1d"

# The paper's names for what the codebases call otherwise.
_PAPER = {
    SCAN: {
        "x": "u", "us": "u", "xs": "u", "hidden_states": "u", "X_in": "u", "A_in": "A",
        "dt": "delta", "dts": "delta", "As": "A", "Bs": "B", "Cs": "C", "Ds": "D",
        "dt_bias": "delta_bias", "state": "h",
    },
    CONV: {"hidden_states": "x", "xBC": "x"},
}  # fmt: skip


class Target:
    """How the calls of one function are read."""

    def __init__(
        self,
        boundary: str,
        results: tuple[str, ...] = ("y", "h"),
        note: str = "",
        both_directions: bool = False,
        opened: str | None = None,
        from_module: tuple[str, ...] = (),
        names: dict[str, str] | None = None,
    ):
        self.boundary = boundary
        self.result_names = results
        self.note = note
        self.both_directions = both_directions
        self.opened = opened
        self.from_module = from_module
        self.names = names or _PAPER[boundary]

    def tensors(self, arguments: dict[str, object]) -> dict[str, object]:
        """The tensors among the arguments, by the paper's names, and those of a passed module."""
        found: dict[str, object] = {}
        for name, value in arguments.items():
            if is_tensor(value):
                found[self._paper(name, arguments)] = value
            elif self.boundary == CONV and name != "self":
                self._of_module(value, ("weight", "bias"), found)
        self._of_module(arguments.get("self"), self.from_module, found)
        return found

    def _paper(self, name: str, arguments: dict[str, object]) -> str:
        paper = self.names.get(name, name)
        return name if paper != name and paper in arguments else paper

    def _of_module(self, module: object, names: tuple[str, ...], into: dict[str, object]) -> None:
        for name in names:
            value = getattr(module, name, None)
            if is_tensor(value):
                into[name] = value

    def results(self, result: object) -> dict[str, object]:
        """The tensors that the function returned, by the paper's names."""
        parts = result if isinstance(result, (tuple, list)) else (result,)
        named = zip(self.result_names, parts)
        return {name: value for name, value in named if is_tensor(value)}


_FUSED = "one fused call: u and delta exist inside it only; `unfuse` opens it"
_OUT = ("out", "h")
_SCAN = Target(SCAN)
_CONV = Target(CONV, ("y", "conv_state"))
_SPLIT = Target(SCAN, _OUT, _FUSED, opened="split_conv1d")
_SLOW = Target(
    SCAN,
    _OUT,
    note="the mixer's own forward: it scans in its own lines, with no function to stop at",
    from_module=("A_log", "D", "dt_bias"),
    names={"input_states": "hidden_states"},
)

_FUNCTIONS = {
    "mamba_inner_fn": Target(SCAN, _OUT, _FUSED, opened="mamba_inner"),
    "mamba_inner_ref": Target(SCAN, _OUT, _FUSED),
    "mamba_inner_fn_no_out_proj": Target(SCAN, ("y",), _FUSED, opened="mamba_inner"),
    "bimamba_inner_fn": Target(SCAN, _OUT, _FUSED, True, opened="bimamba_inner"),
    "bimamba_inner_ref": Target(SCAN, _OUT, _FUSED, True),
}

# Methods: (class glob, method) -> target.
_METHODS = (
    ("*Mixer", "slow_forward", _SLOW),
    ("*Mixer", "torch_forward", _SLOW),
    ("PScan", "forward", Target(SCAN, ("h",))),
)

_PATTERNS = (
    ("*selective_scan*", _SCAN),
    ("*selective_state_update*", _SCAN),
    ("*split_conv1d_scan*", _SPLIT),
    ("*chunk_scan*", _SCAN),
    ("*causal_conv1d*", _CONV),
)
_NOT = (
    "test_*", "build_*", "import_*", "print_*", "*flop*", "*kernel*", "*fwd*", "*bwd*", "*backward*",
    "*_cuda",
)  # fmt: skip


def find(module: str, qualname: str, extra: list[str]) -> Target | None:
    """The target that a function is, by its name, or None. `extra`: globs of `scanFunctions`."""
    owner, _, name = qualname.rpartition(".")
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    owner = owner.rpartition(".")[2]
    for owners, method, target in _METHODS:
        if name == method and owner and fnmatchcase(owner, owners):
            return target
    spellings = (name, qualname, f"{module}.{qualname}", f"{module}:{qualname}")
    if any(fnmatchcase(spelling, glob) for spelling in spellings for glob in extra):
        return _SCAN
    if any(fnmatchcase(name, glob) for glob in _NOT):
        return None
    return next((target for glob, target in _PATTERNS if fnmatchcase(name, glob)), None)


def mentioned(source: str, extra: list[str]) -> bool:
    """Whether a module's text may define a target: a cheap look before it is parsed."""
    words = (
        SCAN,
        CONV,
        "mamba_",
        "_scan",
        "slow_forward",
        "torch_forward",
        "PScan",
        "state_update",
    )
    own = (glob.replace(":", ".").rpartition(".")[2].strip("*?") for glob in extra)
    return any(word in source for word in (*words, *own))
