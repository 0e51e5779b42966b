"""The digits example: its committed model reads held-out digits, and its files belong together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import train_digits


def read_png(path: Path, preprocess: dict) -> Tensor:
    """A picture of the model's own size as the configuration says: (1, 1, size, size)."""
    image = Image.open(path)
    assert image.mode == "L"
    assert image.size == (preprocess["crop"], preprocess["crop"])
    values = torch.from_numpy(np.array(image)).float()[None, None] / 255
    return (values - preprocess["mean"][0]) / preprocess["std"][0]


@pytest.fixture(scope="module")
def config() -> dict:
    return json.loads((EXAMPLES / "vim_digits.json").read_text())


@pytest.fixture(scope="module")
def heldout() -> dict[str, Tensor]:
    return load_file(EXAMPLES / "digits" / "heldout.safetensors")


def test_the_committed_config_is_the_one_that_training_writes(config: dict) -> None:
    assert config == train_digits.CONFIG


def test_the_split_is_fixed_and_has_no_digit_on_both_sides() -> None:
    training, held_out = train_digits.split(1797)
    assert sorted(training.tolist() + held_out.tolist()) == list(range(1797))
    assert len(held_out) == 360
    assert held_out[:5].tolist() == [4, 5, 6, 9, 14]


def test_the_committed_model_reads_held_out_digits(
    heldout: dict[str, Tensor], tmp_path: Path
) -> None:
    path = tmp_path / "heldout.safetensors"
    command = [sys.executable, EXAMPLES / "train_digits.py", "--export-heldout", path]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    fresh = load_file(path)
    assert set(fresh) == {"input", "labels", "logits", "predicted", "index"}
    for name in ("input", "labels", "predicted", "index"):
        assert torch.equal(fresh[name], heldout[name]), name
    assert torch.allclose(fresh["logits"], heldout["logits"], rtol=0, atol=1e-4)
    assert torch.equal(fresh["predicted"], fresh["logits"].argmax(dim=1))
    assert (fresh["predicted"] == fresh["labels"]).float().mean() >= 0.97


def test_each_picture_is_a_held_out_input_bit_for_bit(
    config: dict, heldout: dict[str, Tensor]
) -> None:
    model = train_digits.load_model(EXAMPLES).eval()
    pictures = sorted((EXAMPLES / "digits").glob("digit_*.png"))
    assert len(pictures) >= 10
    for path in pictures:
        # digit_7.png is a 7 that is read as 7, digit_8_read_as_7.png an 8 that is read as 7.
        label, read_as = int(path.stem.split("_")[1]), int(path.stem.split("_")[-1])
        image = read_png(path, config["preprocess"])
        matches = (heldout["input"] == image).flatten(1).all(dim=1).nonzero()
        assert len(matches) == 1, f"{path.name} is not one of the held-out digits"
        i = int(matches[0])
        assert heldout["labels"][i] == label
        with torch.no_grad():
            logits = model(image)[0]
        assert int(logits.argmax()) == read_as
        assert torch.allclose(logits, heldout["logits"][i], rtol=0, atol=1e-4)


def test_training_learns_and_repeats() -> None:
    """A few steps on a few digits: the loss falls, and a second run gives the same numbers."""
    pixels, labels = train_digits.load_pixels()
    images, labels = train_digits.to_input(pixels[:32]), labels[:32]
    outcomes = []
    for _ in range(2):
        torch.manual_seed(train_digits.SEED)
        model = train_digits.VisionMamba(**train_digits.CONFIG["model"])
        before = torch.nn.functional.cross_entropy(train_digits.predict(model, images), labels)
        train_digits.train(model, images, labels, epochs=4)
        after = torch.nn.functional.cross_entropy(train_digits.predict(model, images), labels)
        assert after < before
        outcomes.append(after)
    assert torch.allclose(*outcomes)


def test_what_ships_is_small() -> None:
    limits = {"vim_digits.safetensors": 400, "digits/heldout.safetensors": 1000, "photo.jpg": 150}
    for name, kilobytes in limits.items():
        assert (EXAMPLES / name).stat().st_size < kilobytes * 1024, name
    with Image.open(EXAMPLES / "photo.jpg") as photo:
        assert photo.format == "JPEG"
        assert photo.mode == "RGB"
        assert min(photo.size) >= 224
