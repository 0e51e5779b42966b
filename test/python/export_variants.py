"""Writes weights, input and logits of Vim variants, computed by PyTorch, for the embedded runtime to agree with.

    python export_variants.py FOLDER

One safetensors file per variant: the state dict, ``input`` and ``logits``; the constructor's arguments as metadata.
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from vim_pytorch import VisionMamba

SMALL = {
    "img_size": 24,
    "patch_size": 8,
    "stride": 8,
    "depth": 2,
    "embed_dim": 16,
    "num_classes": 5,
    "drop_path_rate": 0.0,
}
VARIANTS = {
    "layer_norm": {"rms_norm": False},
    "pool_mean": {"if_cls_token": False, "final_pool_type": "mean"},
    "pool_max": {"if_cls_token": False, "final_pool_type": "max"},
    "pool_all": {"if_cls_token": False, "final_pool_type": "all"},
    "pool_none": {"if_cls_token": False, "final_pool_type": "none"},
    "head_token_without_position": {"use_middle_cls_token": False, "if_abs_pos_embed": False},
    "double_token_v2": {"use_double_cls_token": True, "if_divide_out": False},
    "v1_layer_scale": {"bimamba_type": "v1", "init_layer_scale": 0.3},
    "rope_without_residual": {"img_size": 32, "if_rope": True, "pt_hw_seq_len": 5},
    "rope_residual_paired": {
        "img_size": 32,
        "if_rope": True,
        "if_rope_residual": True,
        "bimamba_type": "none",
        "if_bidirectional": True,
    },
    "paired_layer_norm": {"bimamba_type": "none", "if_bidirectional": True, "rms_norm": False},
    "other_sizes": {"d_state": 5, "ssm_cfg": {"d_conv": 3, "expand": 3, "dt_rank": 7}},
    "biases": {"ssm_cfg": {"bias": True, "conv_bias": False}},
    "grey": {"channels": 1, "num_classes": 0},
}


def main(folder: Path) -> None:
    """Builds each variant with seeded weights that are far from the initial ones, and runs it once."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for number, (name, changes) in enumerate(VARIANTS.items()):
        torch.manual_seed(number)
        args = SMALL | changes
        model = VisionMamba(**args).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
            image = torch.randn(2, args.get("channels", 3), args["img_size"], args["img_size"])
            logits = model(image)
        tensors = {key: value.contiguous() for key, value in model.state_dict().items()}
        tensors |= {"input": image, "logits": logits.contiguous()}
        save_file(tensors, folder / f"{name}.safetensors", metadata={"model": json.dumps(args)})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
