"""A frame with twenty tensors, one of them of 1e8 elements."""

import torch


def frame():
    tensors = [torch.randn(2, 1536, 197) for _ in range(19)]
    # Only there to be looked at.
    a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t = tensors  # noqa: RUF059
    large = torch.randn(100_000_000)
    return len(tensors) + large.numel()


large = torch.zeros(1)
frame()
