"""Which operation made a tensor, as far as autograd remembers."""

from __future__ import annotations

# These only show or copy what another one has computed.
_SHOW = (
    "Transpose", "Permute", "View", "UnsafeView", "ReshapeAlias", "Alias", "T", "ToCopy", "Clone",
    "Slice", "Select", "Split", "Unsqueeze", "Squeeze", "Expand", "Flip", "Unbind",
)  # fmt: skip
_FURTHEST = 8


def made_by(tensor) -> str:
    """`made by AddBackward0, then ToCopyBackward0, TransposeBackward0`."""
    node = getattr(tensor, "grad_fn", None)
    if node is None:
        return "made without autograd"
    names = [node.name()]
    while node.name().split("Backward")[0] in _SHOW and len(names) < _FURTHEST:
        node = node.next_functions[0][0] if node.next_functions else None
        if node is None or node.name().endswith("AccumulateGrad"):
            break
        names.append(node.name())
    then = f", then {', '.join(reversed(names[:-1]))}" if len(names) > 1 else ""
    return f"made by {names[-1]}{then}"
