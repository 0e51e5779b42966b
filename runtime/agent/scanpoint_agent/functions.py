"""Functions that a condition may use beside Python's: the list of runtime/expression/functions.ts.

They take tensors and plain numbers alike and leave the tensor's device with one number at most.
"""

from __future__ import annotations

import builtins
import math

from .guarded import is_tensor, torch


def _number(value: object) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    raise TypeError(f"a tensor is needed, not {type(value).__name__}")


def nan(x):
    """How many elements are NaN."""
    return x.isnan().sum() if is_tensor(x) else int(math.isnan(_number(x)))


def inf(x):
    """How many elements are infinite."""
    return x.isinf().sum() if is_tensor(x) else int(math.isinf(_number(x)))


def nonfinite(x):
    """How many elements are NaN or infinite."""
    if is_tensor(x):
        return x.numel() - x.isfinite().sum()
    return int(not math.isfinite(_number(x)))


def absmax(x, dim=None, keepdim=False):
    """The largest magnitude; of an empty tensor it has no value."""
    if not is_tensor(x):
        return builtins.abs(x)
    if dim is not None:
        return x.abs().amax(dim, keepdim)
    low, high = x.aminmax() if not x.is_complex() else (x.abs().min(), x.abs().max())
    return torch().maximum(low.abs(), high.abs())


def norm(x, *args, **kwargs):
    """The Euclidean norm."""
    return x.norm(*args, **kwargs) if is_tensor(x) else builtins.abs(x)


def mean(x):
    """The mean."""
    return x.mean() if is_tensor(x) else x


def std(x):
    """The standard deviation, unbiased; of one number it has no value."""
    return x.std() if is_tensor(x) else math.nan


def isnan(x):
    """Where NaN is."""
    return x.isnan() if is_tensor(x) else math.isnan(x)


def isinf(x):
    """Where an infinity is."""
    return x.isinf() if is_tensor(x) else math.isinf(x)


def isfinite(x):
    """Where neither NaN nor an infinity is."""
    return x.isfinite() if is_tensor(x) else math.isfinite(x)


def _of_one_or_many(name: str):
    """Python's function of several values, which is the method where it gets one tensor."""
    plain = getattr(builtins, name)

    def function(*values, **named):
        if len(values) == 1 and is_tensor(values[0]):
            return getattr(values[0], name)(**named)
        return plain(*values, **named)

    function.__name__ = name
    return function


def _along(name: str):
    """A reduction whose values only are meant along a dim, where PyTorch gives indices too."""

    def method(x, *args, **kwargs):
        result = getattr(x, name)(*args, **kwargs)
        return result.values if is_tensor(x) and isinstance(result, tuple) else result

    return method


def round(x, ndigits=None):
    """Rounds half to even."""
    if is_tensor(x):
        return x.round(decimals=ndigits or 0)
    return builtins.round(x, ndigits)


def cosine(a, b):
    """The cosine of the angle between two tensors seen as vectors; 0 when one of them is zero."""
    a, b = a.double().flatten(), b.double().flatten()
    dot = (a @ b).item()
    return 0.0 if dot == 0 else dot / math.sqrt((a @ a).item() * (b @ b).item())


def rel(a, b):
    """max |a - b| / max |b|; 0 for equal tensors, NaN when a NaN is in one of them."""
    same = a == b
    difference = torch().where(same, 0.0, (a.double() - b.double()).abs()).max().item()
    return 0.0 if difference == 0 else difference / b.double().abs().max().item()


# Called by name, in place of the builtins of that name.
FUNCTIONS = {
    function.__name__: function
    for function in (
        nan, inf, nonfinite, absmax, norm, mean, std, isnan, isinf, isfinite, round, cosine,
        rel,
        *(_of_one_or_many(name) for name in ("sum", "any", "all", "max", "min")),
    )
}  # fmt: skip

# Called as `x.name(...)`, in place of a method that PyTorch lacks or that gives indices too.
METHODS = {"absmax": absmax, **{name: _along(name) for name in ("max", "min", "median")}}
