"""Trains a small Vision Mamba on digits for one epoch, and fails: after some steps the loss is NaN.

    python train_overflow.py

The fault is a common one. To save memory, the mixer keeps the outputs of its two scans in float16
and adds them there, instead of taking their mean in float32; the largest float16 is 65504. The
tutorial in the README finds the place with Scanpoint, without a change of this file.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
import vim_pytorch
from sklearn.datasets import load_digits
from torch import Tensor
from vim_pytorch import Mamba, VisionMamba, selective_scan

SEED = 0
BATCH = 32
LEARNING_RATE = 0.035


class HalfPrecisionMamba(Mamba):
    """The bidirectional mixer with the sum of its directions in float16."""

    def forward(self, hidden_states: Tensor) -> Tensor:
        """(B, L, d_model) -> (B, L, d_model)."""
        x, z = self.in_proj(hidden_states).transpose(1, 2).chunk(2, dim=1)  # (B, D, L) each
        u, delta, B, C = self.select(x, self.conv1d, self.x_proj, self.dt_proj)
        y = selective_scan(u, delta, -torch.exp(self.A_log), B, C, self.D, z)

        x_b, z_b = x.flip(-1), z.flip(-1)
        u_b, delta_b, B_b, C_b = self.select(x_b, self.conv1d_b, self.x_proj_b, self.dt_proj_b)
        y_b = selective_scan(u_b, delta_b, -torch.exp(self.A_b_log), B_b, C_b, self.D_b, z_b)

        y = y.half() + y_b.flip(-1).half()  # overflows where the two are large
        return self.out_proj(y.float().transpose(1, 2))


def make_model() -> VisionMamba:
    """A Vim of three layers whose mixers add their directions in float16."""
    torch.manual_seed(SEED)
    mixer, vim_pytorch.Mamba = vim_pytorch.Mamba, HalfPrecisionMamba
    try:
        return VisionMamba(
            img_size=16,
            patch_size=4,
            stride=4,
            depth=3,
            embed_dim=48,
            d_state=8,
            channels=1,
            num_classes=10,
            bimamba_type="v2",
            final_pool_type="mean",
        )
    finally:
        vim_pytorch.Mamba = mixer


def load_images() -> tuple[Tensor, Tensor]:
    """Digits as float32 (1797, 1, 16, 16) in 0 ... 1, and their labels (1797,)."""
    digits = load_digits()
    images = torch.from_numpy(digits.images).float().unsqueeze(1) / 16
    return F.interpolate(images, scale_factor=2), torch.from_numpy(digits.target).long()


def train() -> None:
    """One epoch; prints the loss of each step until it is no number any more."""
    images, labels = load_images()
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for step, batch in enumerate(torch.randperm(len(images)).split(BATCH)):
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}  loss {loss.item():.4f}", flush=True)
        if not torch.isfinite(loss):
            raise SystemExit("The loss is not finite.")


if __name__ == "__main__":
    train()
