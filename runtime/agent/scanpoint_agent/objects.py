"""Lines and children of PyTorch's own objects: Module, Optimizer, DataLoader, Generator."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .facts import Fact, Rows, attempt, short
from .text import format_bytes, format_count, format_number


def module_line(module) -> str:
    """`Linear(in_features=4, ...) · 20 parameters, 80 B · cuda:0 · eval`; nothing is computed."""
    parameters = list(module.parameters())
    numel = sum(_numel(p) for p in parameters)
    words = [f"{type(module).__name__}({attempt(module.extra_repr, '')})"]
    if parameters:
        size = sum(_numel(p) * p.element_size() for p in parameters)
        words.append(f"{format_count(numel)} parameters, {format_bytes(size)}")
        words += _unusual(parameters)
    words.append("training" if module.training else "eval")
    return " · ".join(words)


def _numel(parameter) -> int:
    return attempt(lambda: int(parameter.numel()), 0)


def _unusual(parameters: list) -> Iterator[str]:
    for name, usual in (("dtype", "torch.float32"), ("device", "cpu")):
        found = sorted({str(getattr(p, name)) for p in parameters})
        if found != [usual]:
            yield ", ".join(text.replace("torch.", "") for text in found)
    frozen = sum(not p.requires_grad for p in parameters)
    if frozen:
        yield f"{frozen} of {len(parameters)} frozen"


def module_children(module) -> list[tuple[str, object]]:
    """Submodules, parameters and buffers by name, then the module's own attributes."""
    inner = module.__dict__
    tensors = {**inner.get("_parameters", {}), **inner.get("_buffers", {})}
    own = [(name, value) for name, value in inner.items() if not name.startswith("_")]
    return [
        *inner.get("_modules", {}).items(),
        *tensors.items(),
        *((name, Fact(short(v)) if isinstance(v, bool) else v) for name, v in own),
        ("class", Fact(f"{type(module).__module__}.{type(module).__qualname__}")),
    ]


def optimizer_line(optimizer) -> str:
    """`AdamW · lr 0.001 · 52 parameters in 2 groups · 12 with state`."""
    groups = optimizer.param_groups
    rates = sorted({float(group["lr"]) for group in groups if _is_number(group.get("lr"))})
    words = [type(optimizer).__name__]
    if rates:
        words.append("lr " + ", ".join(format_number(rate) for rate in rates))
    total = sum(len(group["params"]) for group in groups)
    words.append(f"{total} parameters" + (f" in {len(groups)} groups" if len(groups) > 1 else ""))
    words.append(f"{len(optimizer.state)} with state" if optimizer.state else "no step yet")
    return " · ".join(words)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def optimizer_children(optimizer) -> list[tuple[str, object]]:
    """Each group, then the state of each parameter in the groups' order."""
    groups = [(f"param_groups[{i}]", group) for i, group in enumerate(optimizer.param_groups)]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    kept = [(i, p) for i, p in enumerate(parameters) if p in optimizer.state]
    states = [(f"state[{i}]", optimizer.state[p]) for i, p in kept]
    state = Rows(states, f"of {len(states)} parameters")
    return [*groups, ("state", state), ("defaults", optimizer.defaults)]


def loader_line(loader) -> str:
    """`45 batches of 32 · 1,437 samples · 2 workers · shuffled`; no sample is loaded."""
    batches = attempt(lambda: len(loader), None)
    samples = attempt(lambda: len(loader.dataset), None)
    words = ["streamed" if batches is None else f"{format_count(batches)} batches"]
    if loader.batch_size is not None:
        words[0] += f" of {loader.batch_size}"
    if samples is not None:
        words.append(f"{format_count(samples)} samples")
    words.append(f"{loader.num_workers} workers" if loader.num_workers else "no workers")
    if type(loader.sampler).__name__ == "RandomSampler":
        words.append("shuffled")
    return " · ".join(words)


_LOADER = (
    "dataset", "batch_size", "num_workers", "sampler", "batch_sampler", "collate_fn",
    "pin_memory", "drop_last", "persistent_workers", "prefetch_factor", "generator",
)  # fmt: skip


def loader_children(loader) -> list[tuple[str, object]]:
    """What it was made with."""
    return [(name, getattr(loader, name)) for name in _LOADER if hasattr(loader, name)]


def generator_line(generator) -> str:
    """`cpu · seed 0`; its state is not touched."""
    return f"{generator.device} · seed {generator.initial_seed()}"


def generator_children(generator) -> list[tuple[str, object]]:
    """Device and seed."""
    return [
        ("device", Fact(str(generator.device))),
        ("initial_seed", Fact(str(generator.initial_seed()))),
    ]


def class_of(module: str, name: str) -> type | None:
    """A class of a module that the program has imported."""
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None
