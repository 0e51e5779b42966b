"""Trains a small Vision Mamba on the handwritten digits that ship with scikit-learn.

    python train_digits.py                          trains, then writes the checkpoint and pictures
    python train_digits.py --export-heldout FILE    writes every held-out digit with its logits

Training takes five to ten minutes on one CPU core. It writes, beside this file or into --out:
vim_digits.safetensors (weights), vim_digits.json (model, preprocessing, labels) and digits/*.png
(held-out digits as the model takes them).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file, save_file
from sklearn.datasets import load_digits
from torch import Tensor
from vim_pytorch import VisionMamba

HERE = Path(__file__).parent
SEED = 0
HELD_OUT = 360  # of 1797 digits
BATCH = 32
LEARNING_RATE = 4e-3
WEIGHT_DECAY = 0.05

CONFIG = {
    # The constructor's arguments: the published recipe, made small. One token per pixel of the
    # original 8 x 8 digit, and the class token in the middle of them.
    "model": {
        "img_size": 16,
        "patch_size": 2,
        "stride": 2,
        "depth": 3,
        "embed_dim": 48,
        "d_state": 8,
        "channels": 1,
        "num_classes": 10,
        "drop_path_rate": 0.0,
        "rms_norm": True,
        "residual_in_fp32": True,
        "fused_add_norm": True,
        "final_pool_type": "mean",
        "if_abs_pos_embed": True,
        "if_rope": False,
        "if_rope_residual": False,
        "bimamba_type": "v2",
        "if_cls_token": True,
        "if_divide_out": True,
        "use_middle_cls_token": True,
    },
    # input = (pixel / 255 - mean) / std. With this mean and std the last two steps change nothing,
    # so a picture of the model's own size gives the training input bit for bit.
    "preprocess": {
        "resize": 16,
        "crop": 16,
        "interpolation": "bilinear",
        "mean": [0.0],
        "std": [1.0],
    },
    "labels": [str(digit) for digit in range(10)],
}


def load_pixels() -> tuple[Tensor, Tensor]:
    """All digits as 8-bit pictures, uint8 (1797, 1, 16, 16), and their labels, int64 (1797,).

    The 8 x 8 digits have 17 grey levels. They are doubled in size bilinearly, which is exact here
    (all weights are quarters), then rounded to 8 bits: a PNG of a digit loses nothing.
    """
    digits = load_digits()
    grey = torch.from_numpy(digits.images).unsqueeze(1)  # float64 (1797, 1, 8, 8), 0 ... 16
    grey = F.interpolate(grey, scale_factor=2, mode="bilinear", align_corners=False)
    pixels = (grey * 255 / 16).round().to(torch.uint8)
    return pixels, torch.from_numpy(digits.target).long()


def to_input(pixels: Tensor) -> Tensor:
    """uint8 (N, 1, 16, 16) -> float32 of the same shape, as CONFIG["preprocess"] says."""
    mean, std = CONFIG["preprocess"]["mean"][0], CONFIG["preprocess"]["std"][0]
    return (pixels.float() / 255 - mean) / std


def split(count: int) -> tuple[Tensor, Tensor]:
    """Indices into load_digits() of the training digits and of the held-out ones, each ascending.

    RandomState keeps its sequence in every version of numpy, so the split is always the same.
    """
    order = torch.from_numpy(np.random.RandomState(SEED).permutation(count))
    return order[HELD_OUT:].sort().values, order[:HELD_OUT].sort().values


def augment(images: Tensor) -> Tensor:
    """Turns (about 8 degrees), scales and slants (about 8 %) and shifts (about 1 pixel) at random.

    (B, 1, H, W) -> (B, 1, H, W)
    """
    b = images.shape[0]
    angle = torch.randn(b) * 0.14
    cos, sin = angle.cos(), angle.sin()
    turn = torch.stack((cos, -sin, sin, cos), dim=-1).view(b, 2, 2)
    stretch = torch.eye(2) + torch.randn(b, 2, 2) * 0.08
    shift = torch.randn(b, 2, 1) * 0.12  # half the picture is 1
    grid = F.affine_grid(torch.cat((turn @ stretch, shift), dim=-1), images.shape, False)
    return F.grid_sample(images, grid, align_corners=False)


def make_optimizer(model: VisionMamba) -> torch.optim.Optimizer:
    """AdamW; no decay on A, D, biases, norms and embeddings, as usual for Mamba and Vim."""
    decayed, free = [], []
    for name, parameter in model.named_parameters():
        is_matrix = parameter.dim() >= 2 and name.endswith("weight")
        (decayed if is_matrix else free).append(parameter)
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": free}]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=(0.9, 0.99), weight_decay=0.0)


def train(model: VisionMamba, images: Tensor, labels: Tensor, epochs: int) -> None:
    """One cycle: a short linear warm-up, then a cosine down to zero."""
    optimizer = make_optimizer(model)
    steps = epochs * math.ceil(len(images) / BATCH)
    warm_up = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda i: min((i + 1) / warm_up, 0.5 + 0.5 * math.cos(math.pi * i / steps)),
    )
    model.train()
    start = time.monotonic()
    for epoch in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(images)).split(BATCH):
            logits = model(augment(images[batch]))
            loss = F.cross_entropy(logits, labels[batch], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
        elapsed = time.monotonic() - start
        mean = total / len(images)
        print(f"epoch {epoch + 1}/{epochs}  loss {mean:.4f}  {elapsed:.0f} s", flush=True)


@torch.no_grad()
def predict(model: VisionMamba, images: Tensor) -> Tensor:
    """(N, 1, 16, 16) -> logits (N, 10)."""
    model.eval()
    return torch.cat([model(part) for part in images.split(BATCH)])


def load_model(folder: Path) -> VisionMamba:
    """The trained model, from the two files that training wrote."""
    config = json.loads((folder / "vim_digits.json").read_text())
    model = VisionMamba(**config["model"])
    model.load_state_dict(load_file(folder / "vim_digits.safetensors"))
    return model


def export_heldout(model: VisionMamba, path: Path) -> float:
    """Writes all held-out digits and what PyTorch makes of them; returns the share it reads right.

    input float32 (N, 1, 16, 16), labels int64 (N), logits float32 (N, 10), predicted int64 (N), and
    index int64 (N): which digit of load_digits() it is.
    """
    pixels, labels = load_pixels()
    _, held_out = split(len(labels))
    images, labels = to_input(pixels[held_out]), labels[held_out]
    logits = predict(model, images)
    tensors = {"input": images, "labels": labels, "logits": logits, "index": held_out}
    tensors["predicted"] = logits.argmax(dim=1)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    return (tensors["predicted"] == labels).float().mean().item()


def export_images(model: VisionMamba, folder: Path) -> None:
    """Writes the first held-out digit of each class that is read right, and the worst mistake."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("digit_*.png"):
        old.unlink()
    pixels, labels = load_pixels()
    _, held_out = split(len(labels))
    pixels, labels = pixels[held_out], labels[held_out]
    confidence, predicted = predict(model, to_input(pixels)).softmax(dim=1).max(dim=1)
    right = predicted == labels
    chosen = {}
    for digit in range(10):
        found = (right & (labels == digit)).nonzero()
        if len(found):
            chosen[f"digit_{digit}"] = int(found[0])
    if not right.all():
        worst = int(confidence.masked_fill(right, -1.0).argmax())
        chosen[f"digit_{labels[worst]}_read_as_{predicted[worst]}"] = worst
    for name, i in chosen.items():
        Image.fromarray(pixels[i, 0].numpy()).save(folder / f"{name}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--export-heldout", type=Path, metavar="FILE")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the model's files")
    options = parser.parse_args()

    torch.set_num_threads(1)  # these tensors are too small for more to pay; also reproducible
    if options.export_heldout:
        accuracy = export_heldout(load_model(options.out), options.export_heldout)
        print(f"held-out accuracy {accuracy:.2%}")
        return

    torch.manual_seed(SEED)
    pixels, labels = load_pixels()
    training, held_out = split(len(labels))
    model = VisionMamba(**CONFIG["model"])
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(training)} digits")
    train(model, to_input(pixels[training]), labels[training], options.epochs)

    predicted = predict(model, to_input(pixels[held_out])).argmax(dim=1)
    accuracy = (predicted == labels[held_out]).float().mean().item()
    print(f"held-out accuracy {accuracy:.2%} of {len(held_out)} digits")
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), options.out / "vim_digits.safetensors")
    (options.out / "vim_digits.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    export_images(model, options.out / "digits")


if __name__ == "__main__":
    main()
