"""Times eager PyTorch for `scanpoint bench`: reads a question a line as JSON, answers seconds."""

import json
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F

sys.path.insert(0, sys.argv[1])
import vim_pytorch


def reference_scan(u, delta, A, B, C, D, z):
    """The scan as the Mamba reference computes it: one slice of (B, D, L, N) per time step.

    u, delta, z: (B, D, L). A: (D, N). B, C: (B, N, L). D: (D). Returns (B, D, L).
    """
    decay = torch.exp(torch.einsum("bdl,dn->bdln", delta, A))
    written = torch.einsum("bdl,bnl,bdl->bdln", delta, B, u)
    h = torch.zeros(u.shape[0], u.shape[1], A.shape[1])
    ys = []
    for t in range(u.shape[2]):
        h = decay[:, :, t] * h + written[:, :, t]
        ys.append(torch.einsum("bdn,bn->bd", h, C[:, :, t]))
    y = torch.stack(ys, dim=2) + u * D[:, None]
    return y * F.silu(z)


SCANS = {"reference": reference_scan, "unbind": vim_pytorch.selective_scan}


def scan_tensors(batch, channels, length, states):
    torch.manual_seed(0)
    u, z = torch.randn(batch, channels, length), torch.randn(batch, channels, length)
    delta = F.softplus(torch.randn(batch, channels, length) - 4)
    A = -torch.arange(1, states + 1.0).repeat(channels, 1)
    B, C = torch.randn(batch, states, length), torch.randn(batch, states, length)
    return [u, delta, A, B, C, torch.ones(channels), z]


def best(run: Callable[[], float], seconds: float) -> float:
    """The fastest of as many runs as fit into the time, at least one after one to warm up."""
    run()
    end = time.perf_counter() + seconds
    fastest = run()
    while time.perf_counter() < end:
        fastest = min(fastest, run())
    return fastest


def timed(body: Callable[[], object]) -> Callable[[], float]:
    def run():
        start = time.perf_counter()
        body()
        return time.perf_counter() - start

    return run


def backward_of(loss: Callable[[], torch.Tensor]) -> Callable[[], float]:
    def run():
        value = loss()
        start = time.perf_counter()
        value.backward()
        return time.perf_counter() - start

    return run


def scan(shape, scan, backward):
    tensors = scan_tensors(*shape)
    if not backward:
        return timed(torch.no_grad()(lambda: SCANS[scan](*tensors)))
    leaves = [t.requires_grad_() for t in tensors]
    return backward_of(lambda: SCANS[scan](*leaves).sum())


def vim(scan, backward):
    torch.manual_seed(0)
    vim_pytorch.selective_scan = SCANS[scan]
    model = vim_pytorch.VisionMamba(
        img_size=224, patch_size=16, stride=16, depth=24, embed_dim=192, bimamba_type="v2",
        if_divide_out=True, final_pool_type="mean", if_abs_pos_embed=True,
        if_cls_token=True, use_middle_cls_token=True,
    )  # fmt: skip
    image = torch.randn(1, 3, 224, 224)
    if not backward:
        return timed(torch.no_grad()(lambda: model(image)))
    label = torch.tensor([1])
    return backward_of(lambda: F.cross_entropy(model(image), label))


def summary(count):
    x = torch.randn(count)

    def reductions():
        stats = [x.amin(), x.amax(), x.mean(), x.std(), x.abs().amax()]
        counts = [x.isnan().sum(), x.isinf().sum(), (x == 0).sum()]
        return [v.item() for v in stats + counts], torch.histc(x, 64)

    return timed(reductions)


MEASURES = {"scan": scan, "vim": vim, "summary": summary}

for line in sys.stdin:
    question = json.loads(line)
    torch.set_num_threads(question["threads"])
    run = MEASURES[question["what"]](**question["arguments"])
    once = question["seconds"] == 0
    print(json.dumps(run() if once else best(run, question["seconds"])), flush=True)
