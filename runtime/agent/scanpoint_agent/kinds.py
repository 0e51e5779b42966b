"""Every kind of tensor as a plain one that can be read, or the reason why it has no numbers."""

from __future__ import annotations

import sys
from typing import NamedTuple

from . import guarded


class Readable(NamedTuple):
    """Numbers to read, if any, and what a person must know about them."""

    data: object | None
    note: str | None = None
    # Elements that are zero without being stored.
    implied_zeros: int = 0


def readable(tensor) -> Readable:
    """The numbers of a tensor of any kind; never raises. To be called inside `quiet`."""
    try:
        return _readable(tensor)
    except Exception as error:  # noqa: BLE001 - a kind that we don't know may raise anything
        return Readable(None, f"cannot be read: {type(error).__name__}")


def has_storage(tensor) -> bool:
    """Whether the tensor holds memory of its own whose address means something."""
    torch = guarded.torch()
    return not (_without_numbers(tensor, torch) or _dispatches(tensor, torch))


def _readable(tensor) -> Readable:
    torch = guarded.torch()
    if _is_common(tensor, torch):
        return Readable(tensor)
    unread = _without_numbers(tensor, torch)
    if unread:
        return Readable(None, unread)
    if tensor.is_nested:
        return _nested(tensor)
    local = getattr(tensor, "_local_tensor", None)
    if local is not None and type(tensor).__name__ == "DTensor":
        inner = _readable(local)
        return Readable(inner.data, f"this rank's shard {list(local.shape)}")
    if _dispatches(tensor, torch):
        return Readable(None, f"{type(tensor).__name__} has no numbers of its own")
    if tensor.layout is torch._mkldnn:
        return Readable(None, "MKL-DNN layout")
    return _plain(tensor.detach(), torch)


def _is_common(tensor, torch) -> bool:
    """Whether it is what nearly all tensors are: numbers to read as they are."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.device.type in ("cpu", "cuda")
        and tensor.layout is torch.strided
        and not (tensor.is_complex() or tensor.is_quantized or tensor.is_nested)
        and not (tensor.is_neg() or _is_wrapped(tensor, torch))
    )


def _is_wrapped(tensor, torch) -> bool:
    """Whether a transform of torch.func stands between us and the numbers."""
    functorch = getattr(torch._C, "_functorch", None)
    check = getattr(functorch, "is_functorch_wrapped_tensor", None)
    return bool(check and check(tensor))


def _without_numbers(tensor, torch) -> str | None:
    fake = sys.modules.get("torch._subclasses.fake_tensor")
    if fake and isinstance(tensor, fake.FakeTensor):
        return "fake: no data"
    if "Uninitialized" in type(tensor).__name__:
        return "not initialised"
    if tensor.device.type == "meta":
        return "meta: no data"
    if _is_wrapped(tensor, torch):
        return "inside a torch.func transform"
    return None


def _nested(tensor) -> Readable:
    if str(tensor.layout) == "torch.jagged":
        values = tensor._values.detach()
    else:
        parts = [part.detach().reshape(-1) for part in tensor.unbind()]
        values = guarded.torch().cat(parts)
    return Readable(values, f"nested, {tensor.size(0)} tensors")


def _dispatches(tensor, torch) -> bool:
    """Whether every operation on the tensor would run Python code of its class."""
    own = getattr(type(tensor), "__torch_dispatch__", None)
    plain = getattr(torch.Tensor, "__torch_dispatch__", None)
    disabled = getattr(torch._C, "_disabled_torch_dispatch_impl", None)
    return own not in (None, plain, disabled)


def _plain(tensor, torch) -> Readable:
    if tensor.layout is not torch.strided:
        return _sparse(tensor)
    if tensor.is_quantized:
        return Readable(tensor.dequantize(), "of the dequantised values")
    if tensor.is_complex():
        return Readable(tensor.resolve_conj().abs(), "of the magnitude")
    return Readable(tensor.resolve_neg())


def _sparse(tensor) -> Readable:
    values = tensor._values() if str(tensor.layout) == "torch.sparse_coo" else tensor.values()
    if values.is_complex():
        values = values.abs()
    note = f"of the {values.numel():,} stored values"
    return Readable(values, note, tensor.numel() - values.numel())
