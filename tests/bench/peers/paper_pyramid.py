"""The pyramid VisionLLaMA after its paper and the skeleton of Twins-SVT: windows and sub-sampled keys in turn."""
import torch
from torch import nn

import paper_parts as parts


class Windows(parts.SelfAttention):
    def __init__(self, width, heads, side):
        super().__init__(width, heads)
        self.side = side

    def forward(self, x, grid, tables):
        side, (height, width), channels = self.side, grid, x.shape[-1]
        rows, columns = -(-height // side), -(-width // side)
        image = nn.functional.pad(x.unflatten(1, grid), (0, 0, 0, columns * side - width, 0, rows * side - height))
        windows = image.unflatten(1, (rows, side)).unflatten(3, (columns, side)).transpose(2, 3).reshape(-1, side * side, channels)
        out = super().forward(windows, tables[0])
        out = out.view(-1, rows, columns, side, side, channels).transpose(2, 3).reshape(-1, rows * side, columns * side, channels)
        return out[:, :height, :width].flatten(1, 2)


class Cells(nn.Module):
    def __init__(self, width, heads, reduction, eps):
        super().__init__()
        self.heads, self.reduction = heads, reduction
        self.q = nn.Linear(width, width)
        self.kv = nn.Linear(width, 2 * width)
        self.proj = nn.Linear(width, width)
        if reduction > 1:
            self.sr = nn.Conv2d(width, width, reduction, reduction)
            self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, x, grid, tables):
        q = self.q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        cells = x
        if self.reduction > 1:
            cells = self.norm(self.sr(x.transpose(1, 2).unflatten(2, grid)).flatten(2).transpose(1, 2))
        k, v = self.kv(cells).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.proj(parts.attend(tables[1](q), tables[2](k), v))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, eps, attention, layer_scale):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=eps), nn.LayerNorm(width, eps=eps)
        self.attn = attention
        self.mlp = parts.SwiGlu(width, hidden, ("c_fc1", "c_fc2", "c_proj"))
        self.is_scaled = layer_scale
        if layer_scale:
            self.gamma_1, self.gamma_2 = (nn.Parameter(torch.full((width,), 1e-4)) for _ in range(2))

    def forward(self, x, grid, tables):
        branch = self.attn(self.norm1(x), grid, tables)
        x = x + (self.gamma_1 * branch if self.is_scaled else branch)
        branch = self.mlp(self.norm2(x))
        return x + (self.gamma_2 * branch if self.is_scaled else branch)


class StageEmbed(parts.PatchEmbed):
    def __init__(self, channels, patch, width, eps):
        super().__init__(channels, patch, width)
        self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, images):
        return self.norm(super().forward(images))


class Pyramid(nn.Module):
    def __init__(self, model):
        super().__init__()
        parts.require(model, mlp="swiglu", gsa_key_pos="calibrated", final_norm="single")
        parts.require(model["rope"], mode="2d", ratio=1.0, shared=True, axis_order="col_first")
        eps, side, scaled = model["norm"]["eps"], model["window"], bool(model["layer_scale"])
        grid = [size // parts.pair(model["patch_size"])[0] for size in parts.pair(model["image_size"])]
        hidden = model.get("mlp_width") or [-(-8 * w // 3 // 256) * 256 for w in model["width"]]
        self.patch_embeds, self.blocks, self.grids, self.tables = nn.ModuleList(), nn.ModuleList(), [], nn.ModuleList()
        channels, patch = model["in_channels"], parts.pair(model["patch_size"])[0]
        for s, (width, depth, heads, reduction) in enumerate(
                zip(model["width"], model["depth"], model["heads"], model["gsa_reduction"])):
            self.patch_embeds.append(StageEmbed(channels, patch, width, eps))
            attention = lambda i: Cells(width, heads, reduction, eps) if i % 2 else Windows(width, heads, side)
            self.blocks.append(nn.ModuleList(
                Block(width, heads, hidden[s], eps, attention(i), scaled) for i in range(depth)))
            self.grids.append(tuple(grid))
            angles = lambda rows, columns: parts.Table(parts.grid_angles(rows, columns, width // heads, model["rope"]["base"]))
            rows, columns = parts.grid_places(grid[0] // reduction, grid[1] // reduction)
            centre = (reduction - 1) / 2
            self.tables.append(nn.ModuleList((
                angles(*parts.grid_places(side, side)), angles(*parts.grid_places(*grid)),
                angles(rows * reduction + centre, columns * reduction + centre))))
            channels, patch, grid = width, 2, [size // 2 for size in grid]
        self.has_peg = model.get("pe") == "peg"
        if self.has_peg:
            self.pegs = nn.ModuleList(
                parts.module(proj=nn.Sequential(nn.Conv2d(w, w, 3, 1, 1, groups=w))) for w in model["width"])
        self.norm = nn.LayerNorm(channels, eps=eps)
        self.head = nn.Linear(channels, model["num_classes"])

    def forward(self, images):
        x = images
        for s, (embed, blocks, grid, tables) in enumerate(zip(self.patch_embeds, self.blocks, self.grids, self.tables)):
            x = embed(x)
            for i, block in enumerate(blocks):
                x = block(x, grid, tables)
                if self.has_peg and i == 0:
                    image = x.transpose(1, 2).unflatten(2, grid)
                    x = (self.pegs[s].proj(image) + image).flatten(2).transpose(1, 2)
            if s + 1 < len(self.grids):
                x = x.transpose(1, 2).unflatten(2, grid)
        return self.head(self.norm(x).mean(1))


FAMILIES = {"visionllama_pyramid": Pyramid}
