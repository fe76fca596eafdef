"""iLLaMA and the plain VisionLLaMA after their papers: pre-norm encoders of image patches with SwiGLU and rotary positions."""
import torch
from torch import nn

import paper_parts as parts


class Block(nn.Module):
    def __init__(self, width, heads, hidden, norm, names, layer_scale):
        super().__init__()
        self.norm1, self.norm2 = norm(width), norm(width)
        self.attn = parts.SelfAttention(width, heads)
        self.mlp = parts.SwiGlu(width, hidden, names)
        if layer_scale:
            self.gamma_1, self.gamma_2 = (nn.Parameter(torch.full((width,), 1e-4)) for _ in range(2))
        self.is_scaled = layer_scale

    def forward(self, x, table, factor):
        branch = self.attn(self.norm1(x), table, factor)
        x = x + (self.gamma_1 * branch if self.is_scaled else branch)
        branch = self.mlp(self.norm2(x))
        return x + (self.gamma_2 * branch if self.is_scaled else branch)


class Illama(nn.Module):
    """The class token at the end reads through a causal mask that multiplies the probabilities."""

    def __init__(self, model):
        super().__init__()
        parts.require(model, class_token="last", pool="cls", pos_embed="learned", norm="rmsnorm")
        (height, width), patch = parts.pair(model["image_size"]), parts.pair(model["patch_size"])
        count, dim, heads = height // patch[0] * (width // patch[1]) + 1, model["width"], model["heads"]
        self.patch_embed = parts.PatchEmbed(model["in_channels"], patch, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, count, dim) * 0.02)
        norm = lambda size: nn.RMSNorm(size, eps=model.get("norm_eps", 1e-6))
        self.blocks = nn.ModuleList(
            Block(dim, heads, model["mlp_width"], norm, ("fc1", "fc3", "fc2"), False) for _ in range(model["depth"]))
        self.norm = norm(dim)
        self.head = nn.Linear(dim, model["num_classes"])
        speed = parts.frequencies(dim // heads, model["rope"].get("theta", 1e4))
        self.table = parts.Table(torch.arange(count).double()[:, None] * speed)
        alpha = (model.get("mask") or {}).get("alpha") or 0.0
        self.register_buffer("factor", torch.ones(count, count).tril().clamp_min(alpha), persistent=False)

    def forward(self, images):
        patches = self.patch_embed(images)
        x = torch.cat((patches, self.cls_token.expand(len(patches), -1, -1)), 1) + self.pos_embed
        for block in self.blocks:
            x = block(x, self.table, self.factor)
        return self.head(self.norm(x[:, -1]))


class Plain(nn.Module):
    def __init__(self, model):
        super().__init__()
        parts.require(model, mlp="swiglu", pe="none")
        parts.require(model["rope"], mode="2d", ratio=1.0, shared=True, axis_order="col_first")
        parts.require(model["norm"], kind="ln")
        (height, width), patch = parts.pair(model["image_size"]), parts.pair(model["patch_size"])
        grid, dim, heads = (height // patch[0], width // patch[1]), model["width"], model["heads"]
        self.has_class = model["pool"] == "cls"
        self.patch_embed = parts.PatchEmbed(model["in_channels"], patch, dim)
        if self.has_class:
            self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        norm = lambda size: nn.LayerNorm(size, eps=model["norm"]["eps"])
        hidden = model.get("mlp_width") or -(-8 * dim // 3 // 256) * 256
        self.blocks = nn.ModuleList(
            Block(dim, heads, hidden, norm, ("c_fc1", "c_fc2", "c_proj"), bool(model["layer_scale"]))
            for _ in range(model["depth"]))
        self.norm = norm(dim)
        self.head = nn.Linear(dim, model["num_classes"])
        rows, columns = parts.grid_places(*grid)
        if self.has_class:  # raster index -1
            rows, columns = torch.cat((torch.tensor([-1]), rows)), torch.cat((torch.tensor([grid[1] - 1]), columns))
        self.table = parts.Table(parts.grid_angles(rows, columns, dim // heads, model["rope"]["base"]))

    def forward(self, images):
        x = self.patch_embed(images)
        if self.has_class:
            x = torch.cat((self.cls_token.expand(len(x), -1, -1), x), 1)
        for block in self.blocks:
            x = block(x, self.table, None)
        return self.head(self.norm(x[:, 0] if self.has_class else x.mean(1)))


FAMILIES = {"illama": Illama, "visionllama_plain": Plain}
