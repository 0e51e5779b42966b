"""A tensor in pieces that stay in the cache, in the order in which they lie in memory."""

from __future__ import annotations

from collections.abc import Iterator

# Below this PyTorch does not spread one operation over threads, which costs more than it gives.
ONE_THREAD = 32_512
# From this size on threads pay, four pieces at a time.
LARGE = 1 << 21
LARGE_PIECE = 1 << 17
# Shorter samples cost more to take than to look at.
SHORTEST = 2048


def in_memory_order(tensor) -> tuple[object, int]:
    """The same elements, each once: expanded axes dropped, axes by stride; and how often each is."""
    repeats = 1
    kept = []
    for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        if stride == 0 and size > 1:
            repeats *= size
            tensor = tensor.narrow(axis, 0, 1)
        kept.append((-stride, axis))
    return tensor.permute([axis for _, axis in sorted(kept)]), repeats


def pieces(tensor, size: int) -> Iterator[object]:
    """Parts of at most `size` elements, one after the other, each with one axis; no large copy."""
    if tensor.numel() <= size:
        if tensor.numel():
            yield tensor.reshape(-1)
    elif tensor.is_contiguous():
        yield from tensor.view(-1).split(size)
    else:
        rows = size // (tensor.numel() // tensor.shape[0])
        for part in tensor.split(max(1, rows)):
            yield from pieces(part[0] if rows < 1 else part, size)


def piece_size(numel: int) -> int:
    """How large the pieces of a tensor on the CPU are best."""
    return ONE_THREAD if numel < LARGE else LARGE_PIECE


def sample(tensor, size: int, wanted: int) -> Iterator[object]:
    """About `wanted` elements out of evenly spread pieces; all of a tensor that has no more."""
    if tensor.numel() <= wanted:
        yield from pieces(tensor, size)
        return
    count = -(-tensor.numel() // size)
    part = max(SHORTEST, wanted // count)
    every = max(1, count * part // wanted)
    for i, piece in enumerate(pieces(tensor, size)):
        if i % every == 0:
            yield piece[:part]
