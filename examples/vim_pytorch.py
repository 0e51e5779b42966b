"""Vision Mamba (Vim) in plain PyTorch: no CUDA extension, no Triton, nothing to compile.

It reads like the two papers it implements: Mamba (Gu & Dao 2023, arXiv:2312.00752) and Vim (Zhu et
al. 2024, arXiv:2401.09417).

The constructor takes the arguments of the published `VisionMamba` and the parameters carry its
names, so published checkpoints load with `load_state_dict`.

Shapes are given in comments. B: batch, L: tokens in the sequence, D: d_inner (channels inside the
mixer), N: d_state (numbers kept per channel). The scan's tensors have the papers' names: u, delta,
A, B, C, D, z, h, y. So B and D name both an axis and a tensor there; the axes are only in comments.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def selective_scan(
    u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor, z: Tensor
) -> Tensor:
    """The selective state space model, from left to right (Mamba, section 3.2, Algorithm 2).

        h_t = exp(delta_t A) h_{t-1} + delta_t B_t u_t
        y_t = C_t h_t + D u_t                            gated: y_t silu(z_t)

    A is discretised exactly (zero-order hold) and B to first order, as all Mamba kernels do.

    u, delta, z: (B, D, L), delta after its softplus.  A: (D, N).  B, C: (B, N, L).  D: (D,).
    Returns the gated y: (B, D, L).
    """
    # Everything that does not depend on h is computed for all t at once. Time is moved to the
    # front so that each step of the loop reads one contiguous block.
    delta_t = delta.permute(2, 0, 1).unsqueeze(-1)  # (L, B, D, 1)
    u_t = u.permute(2, 0, 1).unsqueeze(-1)  # (L, B, D, 1)
    B_t = B.permute(2, 0, 1).unsqueeze(2)  # (L, B, 1, N)
    decays = torch.exp(delta_t * A)  # (L, B, D, N)
    inputs = (delta_t * u_t) * B_t  # (L, B, D, N)

    h = torch.zeros_like(inputs[0])  # (B, D, N)
    states = []
    for decay, new in zip(decays.unbind(0), inputs.unbind(0)):
        h = decay * h + new
        states.append(h)

    y = torch.einsum("lbdn,bnl->bdl", torch.stack(states), C.to(h.dtype))  # (B, D, L)
    y = y + D.unsqueeze(-1) * u
    return (y * F.silu(z)).to(u.dtype)


def causal_conv1d(x: Tensor, conv: nn.Conv1d) -> Tensor:
    """Depthwise convolution that sees only the past, then SiLU (Mamba, section 3.4).

    x: (B, D, L) -> (B, D, L). `conv` pads both ends; cutting the result at L keeps it causal.
    """
    return F.silu(conv(x)[..., : x.shape[-1]])


class Mamba(nn.Module):
    """The mixer: (B, L, d_model) -> (B, L, d_model) (Mamba, section 3.4; Vim, Algorithm 1).

    `bimamba_type` says what the scan from right to left has of its own (Vim, ablation study):
    "none": no such scan. "v1": its A only ("Bidirectional SSM"). "v2": everything but in_proj and
    out_proj ("Bidirectional SSM + Conv1d", the published one).
    """

    # fmt: off
    def __init__(
        self,
        d_model: int, d_state: int = 16, d_conv: int = 4, expand: int = 2,
        dt_rank: int | str = "auto", dt_min: float = 0.001, dt_max: float = 0.1,
        conv_bias: bool = True, bias: bool = False, bimamba_type: str = "none",
        if_divide_out: bool = False, init_layer_scale: float | None = None,
    ) -> None:
        # fmt: on
        super().__init__()
        if bimamba_type not in ("none", "v1", "v2"):
            raise ValueError(f"bimamba_type must be 'none', 'v1' or 'v2', not {bimamba_type!r}")
        d_inner = int(expand * d_model)
        self.d_state = d_state
        self.dt_rank = math.ceil(d_model / 16) if dt_rank == "auto" else int(dt_rank)
        self.bimamba_type, self.if_divide_out = bimamba_type, if_divide_out
        scale = init_layer_scale
        self.gamma = None if scale is None else nn.Parameter(torch.full((d_model,), float(scale)))

        self.in_proj = nn.Linear(d_model, 2 * d_inner, bias=bias)
        for suffix in ("", "_b") if bimamba_type == "v2" else ("",):
            padding = d_conv - 1
            conv1d = nn.Conv1d(d_inner, d_inner, d_conv, 1, padding, 1, d_inner, conv_bias)
            dt_proj = nn.Linear(self.dt_rank, d_inner)
            init_dt_proj(dt_proj, dt_min, dt_max)
            setattr(self, "conv1d" + suffix, conv1d)
            setattr(self, "x_proj" + suffix, nn.Linear(d_inner, self.dt_rank + 2 * d_state, False))
            setattr(self, "dt_proj" + suffix, dt_proj)
            setattr(self, "D" + suffix, nn.Parameter(torch.ones(d_inner)))

        # A = -(1, 2, ..., N) in every channel: S4D-Real (Mamba, section 3.6). Learnt as a logarithm
        # so that A stays negative and h cannot grow without a new input.
        a_log = torch.log(torch.arange(1, d_state + 1, dtype=torch.float32)).repeat(d_inner, 1)
        self.A_log = nn.Parameter(a_log)  # (D, N)
        if bimamba_type != "none":
            self.A_b_log = nn.Parameter(a_log.clone())  # (D, N)
        self.out_proj = nn.Linear(d_inner, d_model, bias=bias)

    def select(
        self, x: Tensor, conv1d: nn.Conv1d, x_proj: nn.Linear, dt_proj: nn.Linear
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What makes the scan selective: delta, B and C follow from the input (Algorithm 2).

        x: (B, D, L) -> u (B, D, L), delta (B, D, L), B (B, N, L), C (B, N, L).
        """
        u = causal_conv1d(x, conv1d)  # (B, D, L)
        sizes = [self.dt_rank, self.d_state, self.d_state]
        dt, B, C = x_proj(u.transpose(1, 2)).split(sizes, dim=-1)  # (B, L, dt_rank | N | N)
        delta = F.softplus(dt_proj(dt))  # (B, L, D)
        return u, delta.transpose(1, 2), B.transpose(1, 2), C.transpose(1, 2)

    def forward(self, hidden_states: Tensor) -> Tensor:
        """(B, L, d_model) -> (B, L, d_model)."""
        xz = self.in_proj(hidden_states).transpose(1, 2)  # (B, 2 D, L)
        x, z = xz.chunk(2, dim=1)  # (B, D, L) each

        A = -torch.exp(self.A_log.float())  # (D, N)
        u, delta, B, C = self.select(x, self.conv1d, self.x_proj, self.dt_proj)
        y = selective_scan(u, delta, A, B, C, self.D, z)  # (B, D, L)

        # The scan from right to left is the same scan over the reversed sequence.
        if self.bimamba_type == "v1":
            A_b = -torch.exp(self.A_b_log.float())
            u_b, delta_b, B_b, C_b, z_b = (t.flip(-1) for t in (u, delta, B, C, z))
            y = y + selective_scan(u_b, delta_b, A_b, B_b, C_b, self.D, z_b).flip(-1)
        elif self.bimamba_type == "v2":
            A_b = -torch.exp(self.A_b_log.float())
            x_b, z_b = x.flip(-1), z.flip(-1)
            u_b, delta_b, B_b, C_b = self.select(x_b, self.conv1d_b, self.x_proj_b, self.dt_proj_b)
            y = y + selective_scan(u_b, delta_b, A_b, B_b, C_b, self.D_b, z_b).flip(-1)
            if self.if_divide_out:
                y = y / 2

        out = self.out_proj(y.transpose(1, 2))  # (B, L, d_model)
        return out if self.gamma is None else out * self.gamma


def init_dt_proj(dt_proj: nn.Linear, dt_min: float, dt_max: float) -> None:
    """Start delta log-uniformly in [dt_min, dt_max] (Mamba, section 3.6), in both directions.

    The published Vim code leaves the right-to-left direction's bias at zero, where delta starts at
    softplus(0) = 0.69 and the state forgets almost at once. Loaded checkpoints are not affected.
    """
    bound = dt_proj.in_features**-0.5
    nn.init.uniform_(dt_proj.weight, -bound, bound)
    low, high = math.log(dt_min), math.log(dt_max)
    delta = torch.exp(torch.rand(dt_proj.out_features) * (high - low) + low)
    with torch.no_grad():
        dt_proj.bias.copy_(delta + torch.log(-torch.expm1(-delta)))  # the inverse of softplus


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang & Sennrich 2019)."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., d_model)."""
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def drop_path(x: Tensor, rate: float, training: bool) -> Tensor:
    """Stochastic depth (Huang et al. 2016): in training, drops a branch for some samples."""
    if rate == 0.0 or not training:
        return x
    kept = x.new_empty(x.shape[0], 1, 1).bernoulli_(1.0 - rate)
    return x * kept / (1.0 - rate)  # scaled so that the expectation stays


class Block(nn.Module):
    """Add, normalise, mix (Vim, section 3.3).

    The residual stream travels beside the mixer's output and is added at the start of the next
    block, which is where a fused kernel would add and normalise in one go.
    """

    def __init__(self, mixer: Mamba, norm: nn.Module, drop_rate: float, residual_in_fp32: bool):
        super().__init__()
        self.mixer, self.norm = mixer, norm
        self.drop_rate, self.residual_in_fp32 = drop_rate, residual_in_fp32

    def forward(self, hidden_states: Tensor, residual: Tensor | None) -> tuple[Tensor, Tensor]:
        """hidden_states, residual: (B, L, d_model) -> the same two, after this block."""
        hidden_states = drop_path(hidden_states, self.drop_rate, self.training)
        residual = hidden_states if residual is None else residual + hidden_states
        if self.residual_in_fp32:
            residual = residual.float()
        hidden_states = self.norm(residual.to(self.norm.weight.dtype))
        return self.mixer(hidden_states), residual


class PatchEmbed(nn.Module):
    """Patches of the image, each projected to d_model (Vim, 3.2); stride < patch_size overlaps."""

    def __init__(self, img_size: Any, patch_size: Any, stride: int, channels: int, d_model: int):
        super().__init__()
        self.img_size, patch_size = pair(img_size), pair(patch_size)
        self.grid_size = tuple((i - p) // stride + 1 for i, p in zip(self.img_size, patch_size))
        self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.proj = nn.Conv2d(channels, d_model, kernel_size=patch_size, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, height, width) -> (B, num_patches, d_model), row by row."""
        if tuple(x.shape[-2:]) != self.img_size:
            raise ValueError(f"the model takes {self.img_size} images, not {tuple(x.shape[-2:])}")
        return self.proj(x).flatten(2).transpose(1, 2)


class Rope(nn.Module):
    """Rotary position embedding over a 2-D grid (Su et al. 2021; axial as in EVA-02).

    The first half of the channels turns with the row, the second half with the column.
    """

    def __init__(self, d_model: int, grid_size: tuple[int, int], pretrained_grid: int) -> None:
        super().__init__()
        half = d_model // 2
        freqs = 10000.0 ** (-torch.arange(0, half, 2).float() / half)  # (half / 2,)

        def angles(n: int) -> Tensor:
            # Positions are stretched to the grid of pre-training; each angle serves two channels.
            positions = torch.arange(n) / n * pretrained_grid
            return torch.outer(positions, freqs).repeat_interleave(2, dim=1)  # (n, half)

        rows, columns = grid_size
        by_row = angles(rows)[:, None].expand(rows, columns, half)
        by_column = angles(columns)[None].expand(rows, columns, half)
        theta = torch.cat((by_row, by_column), dim=-1).flatten(0, 1)  # (num_patches, d_model)
        self.register_buffer("freqs_cos", theta.cos())
        self.register_buffer("freqs_sin", theta.sin())

    def forward(self, x: Tensor) -> Tensor:
        """(B, L, d_model) -> the same, each pair of channels (a, b) of a patch rotated by theta."""
        # One token more than patches is taken for a class token at the head, even where the model
        # has it in the middle: the published code does the same.
        n = self.freqs_cos.shape[0]
        skip = 1 if x.shape[1] > n else 0
        head, patches, tail = x[:, :skip], x[:, skip : skip + n], x[:, skip + n :]
        a, b = patches.unflatten(-1, (-1, 2)).unbind(-1)
        turned = torch.stack((-b, a), dim=-1).flatten(-2)
        patches = patches * self.freqs_cos + turned * self.freqs_sin
        return torch.cat((head, patches, tail), dim=1)


class VisionMamba(nn.Module):
    """Vim (Vim, section 3.2): patches -> tokens -> `depth` blocks -> one vector -> classes.

    Argument names are those of the published class. `fused_add_norm` is accepted and makes no
    difference: fusing changes the speed, not the numbers.
    """

    # fmt: off
    def __init__(
        self,
        # the image and what it becomes
        img_size: Any = 224, patch_size: Any = 16, stride: int = 16, channels: int = 3,
        num_classes: int = 1000,
        # the blocks
        depth: int = 24, embed_dim: int = 192, d_state: int = 16,
        ssm_cfg: dict[str, Any] | None = None, bimamba_type: str = "v2", if_bimamba: bool = False,
        if_bidirectional: bool = False, if_divide_out: bool = True,
        init_layer_scale: float | None = None,
        # norms and the residual stream
        rms_norm: bool = True, norm_epsilon: float = 1e-5, fused_add_norm: bool = True,
        residual_in_fp32: bool = True, drop_rate: float = 0.0, drop_path_rate: float = 0.1,
        # tokens and positions
        if_cls_token: bool = True, use_middle_cls_token: bool = True,
        use_double_cls_token: bool = False, final_pool_type: str = "none",
        if_abs_pos_embed: bool = True, if_rope: bool = False, if_rope_residual: bool = False,
        pt_hw_seq_len: int = 14,
        **unused: Any,
    ) -> None:
        # fmt: on
        super().__init__()
        if unused:
            warnings.warn(f"VisionMamba ignores {', '.join(sorted(unused))}", stacklevel=2)
        if final_pool_type not in ("none", "mean", "max", "all"):
            raise ValueError(f"unknown final_pool_type {final_pool_type!r}")
        self.if_bidirectional, self.if_rope_residual = if_bidirectional, if_rope_residual
        self.if_cls_token, self.use_middle_cls_token = if_cls_token, use_middle_cls_token
        self.use_double_cls_token, self.final_pool_type = use_double_cls_token, final_pool_type
        self.drop_path_rate = drop_path_rate

        def make_norm() -> nn.Module:
            return (RMSNorm if rms_norm else nn.LayerNorm)(embed_dim, eps=norm_epsilon)

        def make_block(drop_rate: float) -> Block:
            cfg = dict(ssm_cfg or {}, bimamba_type="v1" if if_bimamba else bimamba_type)
            cfg.update(if_divide_out=if_divide_out, init_layer_scale=init_layer_scale)
            return Block(Mamba(embed_dim, d_state, **cfg), make_norm(), drop_rate, residual_in_fp32)

        self.patch_embed = PatchEmbed(img_size, patch_size, stride, channels, embed_dim)
        tokens = self.patch_embed.num_patches
        if if_cls_token:
            names = ["cls_token_head", "cls_token_tail"] if use_double_cls_token else ["cls_token"]
            tokens += len(names)
            for name in names:
                setattr(self, name, nn.Parameter(torch.zeros(1, 1, embed_dim)))
        pos_embed = torch.zeros(1, tokens, embed_dim)
        self.pos_embed = nn.Parameter(pos_embed) if if_abs_pos_embed else None
        self.pos_drop = nn.Dropout(drop_rate)
        grid = self.patch_embed.grid_size
        self.rope = Rope(embed_dim, grid, pt_hw_seq_len) if if_rope else None
        self.head = nn.Linear(embed_dim, num_classes) if num_classes > 0 else nn.Identity()
        # The first two blocks never drop; after them the rate grows with depth.
        rates = [0.0] + torch.linspace(0, drop_path_rate, depth).tolist()
        self.layers = nn.ModuleList(make_block(rate) for rate in rates[:depth])
        self.norm_f = make_norm()
        self.init_weights()

    def init_weights(self) -> None:
        """What PyTorch's and the mixer's own defaults do not already set."""
        for name, parameter in self.named_parameters():
            if name == "pos_embed" or name.startswith("cls_token") or name == "head.weight":
                nn.init.trunc_normal_(parameter, std=0.02)
            elif name in ("head.bias", "patch_embed.proj.bias"):
                nn.init.zeros_(parameter)
            elif name == "patch_embed.proj.weight":
                nn.init.trunc_normal_(parameter, std=parameter[0].numel() ** -0.5)
            elif name.endswith("out_proj.weight"):
                # Each block adds to the residual stream: keep the sum's size independent of depth.
                parameter.data /= math.sqrt(len(self.layers))

    def add_class_tokens(self, x: Tensor) -> tuple[Tensor, list[int]]:
        """(B, num_patches, d_model) -> the sequence with its class tokens, and where they are."""
        batch, n, d_model = x.shape
        if not self.if_cls_token:
            return x, []
        if self.use_double_cls_token:
            first = self.cls_token_head.expand(batch, 1, d_model)
            last = self.cls_token_tail.expand(batch, 1, d_model)
            return torch.cat((first, x, last), dim=1), [0, n + 1]
        at = n // 2 if self.use_middle_cls_token else 0
        token = self.cls_token.expand(batch, 1, d_model)
        return torch.cat((x[:, :at], token, x[:, at:]), dim=1), [at]

    def turn(self, x: Tensor, residual: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Applies the rotary embedding before a block, if the model has one."""
        if self.rope is None:
            return x, residual
        if residual is not None and self.if_rope_residual:
            residual = self.rope(residual)
        return self.rope(x), residual

    def forward_features(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) -> (B, d_model), or (B, L, d_model) if tokens are pooled later."""
        x = self.patch_embed(x)  # (B, num_patches, d_model)
        x, cls_positions = self.add_class_tokens(x)  # (B, L, d_model)
        if self.pos_embed is not None:
            x = self.pos_drop(x + self.pos_embed)

        residual = None
        if not self.if_bidirectional:
            for layer in self.layers:
                x, residual = self.turn(x, residual)
                x, residual = layer(x, residual)
        else:  # "Bidirectional Layer" (Vim, ablation study): one block per direction, then their sum
            for forward, backward in zip(self.layers[::2], self.layers[1::2]):
                x, residual = self.turn(x, residual)
                x_f, residual_f = forward(x, residual)
                flipped = None if residual is None else residual.flip(1)
                x_b, residual_b = backward(x.flip(1), flipped)
                x, residual = x_f + x_b.flip(1), residual_f + residual_b.flip(1)

        x = residual + drop_path(x, self.drop_path_rate, self.training)
        x = self.norm_f(x.to(self.norm_f.weight.dtype))  # (B, L, d_model)
        if cls_positions:
            return x[:, cls_positions].mean(dim=1)
        if self.final_pool_type == "none":
            return x[:, -1]
        return x.mean(dim=1) if self.final_pool_type == "mean" else x

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, height, width) -> (B, num_classes)."""
        x = self.head(self.forward_features(x))
        # The maximum is over tokens, so it needs their axis: a class token leaves none.
        return x.amax(dim=1) if self.final_pool_type == "max" and x.dim() == 3 else x


def pair(size: Any) -> tuple[int, int]:
    """One number for a square, or (height, width)."""
    return (size, size) if isinstance(size, int) else tuple(size)
