"""The selective scan as the paper writes it (Gu & Dao 2023, Algorithm 2), recomputed in chunks.

What does not depend on h is computed for a chunk of steps at once, on the device of the inputs.
The state before each chunk is kept, so that going back is bit-equal and costs one chunk.
"""

from __future__ import annotations

from . import guarded
from .scaninputs import ScanInputs

# Steps per chunk.
CHUNK = 16


class Recurrence:
    """A scan that stands at a time step; `t` is -1 before the first. To be used inside `quiet`."""

    def __init__(self, inputs: ScanInputs):
        self.inputs = inputs
        self.length = inputs.length
        self.t = -1
        self._first = inputs.h if inputs.h is not None else self._zeros()
        # The state before each chunk, in their order.
        self._before = [self._first]
        self._chunk: tuple[int, dict[str, object]] | None = None

    def _zeros(self):
        torch, A = guarded.torch(), self.inputs.A
        batch, channels = self.inputs.u.shape[:2]
        return torch.zeros(batch, channels, A.shape[1], dtype=A.dtype, device=A.device)

    def seek(self, t: int) -> None:
        """Goes to step t, backwards too; bit-equal to the first time. Raises ValueError."""
        if not 0 <= t < self.length:
            raise ValueError(f"The scan has no step {t}; it has 0 to {self.length - 1}.")
        self.t = t
        self.chunk(t // CHUNK)

    def chunk(self, number: int) -> dict[str, object]:
        """The tensors of 16 steps: h, decay, kept, written (T, B, D, N) and y_t (T, B, D)."""
        while len(self._before) <= number:
            self._before.append(self._computed(len(self._before) - 1)["h"][-1].clone())
        if self._chunk is None or self._chunk[0] != number:
            self._chunk = (number, self._computed(number))
        return self._chunk[1]

    def _computed(self, number: int) -> dict[str, object]:
        torch = guarded.torch()
        u_t, delta_t, B_t, C_t, z_t = self._slices(number)
        decay = torch.exp(delta_t[..., None] * self.inputs.A)  # (T, B, D, N)
        written = (delta_t * u_t)[..., None] * B_t  # (T, B, D, N)
        h = torch.empty_like(decay)
        kept = torch.empty_like(decay)
        state = self._before[number]
        for i in range(len(h)):
            torch.mul(decay[i], state, out=kept[i])
            state = torch.add(kept[i], written[i], out=h[i])
        y_t = (h * C_t).sum(-1)  # (T, B, D)
        if y_t.is_complex():
            y_t = y_t.real * 2
        if self.inputs.D is not None:
            y_t = y_t + self.inputs.D * u_t
        if z_t is not None:
            y_t = y_t * torch.nn.functional.silu(z_t)
        found = {"h": h, "u_t": u_t, "delta_t": delta_t, "decay": decay, "kept": kept}
        return {**found, "written": written, "B_t": B_t, "C_t": C_t, "z_t": z_t, "y_t": y_t}

    def _slices(self, number: int) -> list[object]:
        start = number * CHUNK
        stop = min(start + CHUNK, self.length)
        x = self.inputs
        u, delta, z = (None if v is None else v[..., start:stop] for v in (x.u, x.delta, x.z))
        B, C = (v if v.shape[-1] < self.length else v[..., start:stop] for v in (x.B, x.C))
        found = [None if v is None else v.movedim(-1, 0) for v in (u, delta, B, C, z)]
        found[2:4] = (_per_channel(v, u.shape[1]) for v in found[2:4])
        return found

    def tensors(self) -> dict[str, object]:
        """What there is to see at this step, by the names of runtime/models/recurrence.ts."""
        chunk = self.chunk(self.t // CHUNK)
        at = self.t % CHUNK
        found = {}
        for name, values in chunk.items():
            if values is not None:
                value = values[min(at, len(values) - 1)]
                shared = name in ("B_t", "C_t") and value.shape[-2] == 1
                found[name] = value.squeeze(-2) if shared else value
        return found


def _per_channel(x, channels: int):
    """B or C of some steps (T, B, G, N), each group for its channels; one group serves all."""
    groups = x.shape[2]
    return x if groups in (1, channels) else x.repeat_interleave(channels // groups, dim=2)
