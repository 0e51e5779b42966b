"""A small model of the example and its training, as a module of a person."""

from __future__ import annotations

from harness import EXAMPLES

TEXT = f"""
import sys
sys.path.insert(0, {EXAMPLES!r})
import torch
from torch import nn
from vim_pytorch import VisionMamba

def make():
    torch.manual_seed(0)
    return VisionMamba(img_size=8, patch_size=4, stride=4, depth=2, embed_dim=16, num_classes=3,
                       drop_path_rate=0.0)

def train(model, steps, spoil=None):
    torch.manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for i in range(steps):
        images, labels = torch.randn(4, 3, 8, 8), torch.randint(0, 3, (4,))
        if spoil:
            spoil(i, model, images)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().clone())
    return losses
"""
