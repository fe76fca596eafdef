"""Vision-LSTM after its paper and package: mLSTM blocks that scan the patches in turns from two corners."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import paper_parts as parts

cell = "pairs"  # or a name of mlstm_kernels, with a chunk


def pairs(q, k, v, i, f, eps):
    """All pairs of tokens, as the authors' code computes it."""
    sums = F.logsigmoid(f).cumsum(-1)
    later = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).triu(1)
    logs = (sums[..., :, None] - sums[..., None, :] + i[..., None, :]).masked_fill(later, -math.inf)
    largest = logs.amax(-1, keepdim=True)
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 * torch.exp(logs - largest)
    divisor = torch.maximum(scores.sum(-1, keepdim=True).abs(), torch.exp(-largest)) + eps
    return (scores / divisor) @ v


def native(q, k, v, i, f, eps):
    from mlstm_kernels.torch.chunkwise import registry

    tokens = q.shape[2]
    chunk = next(c for c in range(min(tokens, 64), 0, -1) if tokens % c == 0)
    return registry[cell](q, k, v, i, f, chunk_size=chunk, eps=eps)


class OffsetNorm(nn.Module):
    """Gains are 1 + weight."""

    def __init__(self, width, eps):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], 1 + self.weight, self.bias, self.eps)


class HeadNorm(OffsetNorm):
    """[batch, heads, tokens, channels]; a group norm of tokens is a layer norm of each head."""

    def forward(self, x):
        batch, heads, tokens, channels = x.shape
        rows = x.transpose(1, 2).reshape(batch * tokens, heads * channels)
        return F.group_norm(rows, heads, 1 + self.weight, self.bias, self.eps).view(batch, tokens, -1)


class Headwise(nn.Module):
    """A block-diagonal map."""

    def __init__(self, width, block):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width // block, block, block) * (2 / 5 / block) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        groups = x.unflatten(-1, self.weight.shape[:2])
        return torch.einsum("...gi,goi->...go", groups, self.weight).flatten(-2) + self.bias


class Memory(nn.Module):
    def __init__(self, width, heads, eps):
        super().__init__()
        self.igate, self.fgate = nn.Linear(3 * width, heads), nn.Linear(3 * width, heads)
        self.outnorm = HeadNorm(width, eps)


class Layer(nn.Module):
    def __init__(self, model, grid):
        super().__init__()
        width, self.heads, self.grid, self.eps = model["dim"], model["heads"], grid, model["cell_eps"]
        inner = 2 * width
        self.learnable_skip = nn.Parameter(torch.ones(inner))
        self.proj_up, self.proj_down = nn.Linear(width, 2 * inner), nn.Linear(inner, width)
        self.q_proj, self.k_proj, self.v_proj = (Headwise(inner, model["qkv_block"]) for _ in range(3))
        self.conv = nn.Conv2d(inner, inner, model["conv_kernel"], padding=model["conv_kernel"] // 2, groups=inner)
        self.mlstm_cell = Memory(inner, self.heads, model["out_norm_eps"])

    def forward(self, x):
        a, z = self.proj_up(x).chunk(2, -1)
        c = F.silu(self.conv(a.transpose(1, 2).unflatten(2, self.grid)).flatten(2).transpose(1, 2))
        q, k, v = self.q_proj(c), self.k_proj(c), self.v_proj(a)
        together = torch.cat((q, k, v), -1)
        i, f = (gate(together).transpose(1, 2) for gate in (self.mlstm_cell.igate, self.mlstm_cell.fgate))
        q, k, v = (rows.unflatten(-1, (self.heads, -1)).transpose(1, 2) for rows in (q, k, v))
        h = (pairs if cell == "pairs" else native)(q, k, v, i, f, self.eps)
        return self.proj_down((self.mlstm_cell.outnorm(h) + self.learnable_skip * c) * F.silu(z))


class Scan(nn.Module):
    def __init__(self, model, grid, is_reversed):
        super().__init__()
        self.norm, self.layer = OffsetNorm(model["dim"], model["block_norm_eps"]), Layer(model, grid)
        self.is_reversed = is_reversed

    def forward(self, x):
        y = self.norm(x)
        return x + (self.layer(y.flip(1)).flip(1) if self.is_reversed else self.layer(y))


class VisionLstm(nn.Module):
    def __init__(self, model):
        super().__init__()
        parts.require(model, conv="conv2d", directions="bi", concurrency="sequential", pooling="bilateral_concat",
                      pos_embed="learned", forget_gate="sigmoid", input_gate="exp", head_norm=True, bias=True)
        (height, width), patch = parts.pair(model["image_size"]), parts.pair(model["patch"])
        grid, dim = (height // patch[0], width // patch[1]), model["dim"]
        self.patch_embed = parts.PatchEmbed(model["in_channels"], patch, dim)
        self.pos_embed = parts.module(embed=nn.Parameter(torch.randn(1, *grid, dim) * 0.02))
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"rowwise_from_top_left": Scan(model, grid, False), "rowwise_from_bot_right": Scan(model, grid, True)})
            for _ in range(model["depth"] // 2))
        self.norm = OffsetNorm(dim, model["norm_eps"])
        self.legacy_norm = nn.LayerNorm(2 * dim, eps=model["head_norm_eps"])
        self.head = nn.Linear(2 * dim, model["num_classes"])

    def forward(self, images):
        x = self.patch_embed(images) + self.pos_embed.embed.flatten(1, 2)
        for block in self.blocks:
            x = block["rowwise_from_bot_right"](block["rowwise_from_top_left"](x))
        x = self.norm(x)
        return self.head(self.legacy_norm(torch.cat((x[:, 0], x[:, -1]), -1)))


FAMILIES = {"vision_lstm": VisionLstm}
