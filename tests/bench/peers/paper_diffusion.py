"""DiT, SiT, DiT-LLaMA and SiT-LLaMA after their papers: adaLN-Zero blocks, the latter two with SwiGLU and rotary positions, and a
guided sampler."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import paper_parts as parts

WAVES = 256


class Adaptive(nn.Sequential):
    def __init__(self, width, chunks):
        super().__init__(nn.SiLU(), nn.Linear(width, chunks * width))


def modulate(x, shift, scale):
    return x * (1 + scale[:, None]) + shift[:, None]


class Gelu(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, eps, is_gelu):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=eps, elementwise_affine=False)
        self.attn = parts.SelfAttention(width, heads)
        self.mlp = Gelu(width, hidden) if is_gelu else parts.SwiGlu(width, hidden, ("c_fc1", "c_fc2", "c_proj"))
        self.adaLN_modulation = Adaptive(width, 6)

    def forward(self, x, condition, table):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.adaLN_modulation(condition).chunk(6, 1)
        x = x + gate1[:, None] * self.attn(modulate(self.norm(x), shift1, scale1), table)
        return x + gate2[:, None] * self.mlp(modulate(self.norm(x), shift2, scale2))


class Denoiser(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.is_gelu = model["mlp"] == "gelu_tanh"
        parts.require(model, mlp="gelu_tanh" if self.is_gelu else "swiglu", pe="sincos" if self.is_gelu else "none")
        if self.is_gelu:
            parts.require(model.get("rope", {}), mode="none")
        else:
            parts.require(model["rope"], mode="2d", ratio=1.0, axis_order="col_first", scale="none")
        parts.require(model["norm"], kind="ln", affine=False)
        self.size, self.patch = parts.pair(model["input_size"]), parts.pair(model["patch_size"])
        self.grid = tuple(s // p for s, p in zip(self.size, self.patch))
        width, heads, eps = model["width"], model["heads"], model["norm"]["eps"]
        self.channels, self.classes = model["in_channels"], model["num_classes"]
        self.out = self.channels * (2 if model["learn_sigma"] else 1)
        hidden = model.get("mlp_width") or (4 * width if self.is_gelu else -(-8 * width // 3 // 256) * 256)
        self.x_embedder = parts.PatchEmbed(self.channels, self.patch, width)
        self.t_embedder = parts.module(mlp=nn.Sequential(nn.Linear(WAVES, width), nn.SiLU(), nn.Linear(width, width)))
        self.y_embedder = parts.module(
            embedding_table=nn.Embedding(self.classes + (model["class_dropout_prob"] > 0), width))
        self.blocks = nn.ModuleList(Block(width, heads, hidden, eps, self.is_gelu) for _ in range(model["depth"]))
        self.final_layer = parts.module(
            linear=nn.Linear(width, math.prod(self.patch) * self.out), adaLN_modulation=Adaptive(width, 2))
        self.final_norm = nn.LayerNorm(width, eps=eps, elementwise_affine=False)
        # In the files of all of these models, and unused where positions are rotary.
        self.register_buffer("pos_embed", torch.zeros(1, math.prod(self.grid), width))
        self.table = None if self.is_gelu else parts.Table(
            parts.grid_angles(*parts.grid_places(*self.grid), width // heads, model["rope"]["base"]))
        half = WAVES // 2
        self.register_buffer("waves", torch.exp(-math.log(1e4) * torch.arange(half).double() / half).float(), persistent=False)

    def forward(self, x, t, y):
        angles = t.float()[:, None] * self.waves
        condition = self.t_embedder.mlp(torch.cat((angles.cos(), angles.sin()), 1)) + self.y_embedder.embedding_table(y)
        x = self.x_embedder(x)
        if self.is_gelu:
            x = x + self.pos_embed
        for block in self.blocks:
            x = block(x, condition, self.table)
        shift, scale = self.final_layer.adaLN_modulation(condition).chunk(2, 1)
        x = self.final_layer.linear(modulate(self.final_norm(x), shift, scale))
        x = x.view(-1, *self.grid, *self.patch, self.out).permute(0, 5, 1, 3, 2, 4)
        return x.reshape(-1, self.out, *self.size)


class Velocity(Denoiser):
    """The half of the head that would be a variance is dropped."""

    def forward(self, x, t, y):
        return super().forward(x, t, y)[:, :self.channels]


def flow_loss(run, model, batch):
    """Of a straight path from noise to data, its labels left out as often as in training."""
    data, labels = batch
    noise, t = torch.randn_like(data), torch.rand(len(data))
    kept = torch.where(torch.rand(len(data)) < 0.1, model.classes, labels)
    at = t.view(-1, 1, 1, 1)
    made = run(at * data + (1 - at) * noise, t, kept)[:, :model.channels]  # without a head's half for the variance
    return F.mse_loss(made, data - noise)


def guided(run, model, x, t, guidance):
    """Both predictions of a step go through the network in one batch."""
    labels = torch.arange(len(x)) % model.classes
    both = torch.cat((labels, torch.full_like(labels, model.classes)))
    conditional, plain = run(torch.cat((x, x)), torch.full((2 * len(x),), t), both)[:, :model.channels].chunk(2)
    return plain + guidance * (conditional - plain)


@torch.inference_mode()
def flow_samples(run, model, batch, steps, guidance):
    """Euler steps."""
    x = torch.randn(batch, model.channels, *model.size)
    for i in range(steps):
        x = x + guided(run, model, x, i / steps, guidance) / steps
    return x


@torch.inference_mode()
def diffusion_samples(run, model, batch, steps, guidance):
    """Steps of DDIM without noise, evenly from a diffusion of 1,000 with linear betas."""
    kept = (1 - torch.linspace(1e-4, 0.02, 1000).double()).cumprod(0)[::1000 // steps].tolist()
    x = torch.randn(batch, model.channels, *model.size)
    for i in reversed(range(steps)):
        noise = guided(run, model, x, float(i * (1000 // steps)), guidance)
        start = (x - (1 - kept[i]) ** 0.5 * noise) / kept[i] ** 0.5
        before = kept[i - 1] if i > 0 else 1
        x = before ** 0.5 * start + (1 - before) ** 0.5 * noise
    return x


FAMILIES = {"sit": Velocity, "dit": Denoiser, "sit_llama": Velocity, "dit_llama": Denoiser}
