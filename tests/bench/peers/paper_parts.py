"""Parts that several peers share. Every one is plain PyTorch: eager runs them as they are, torch.compile fuses them."""
import torch
import torch.nn.functional as F
from torch import nn

is_fused = True  # attention through scaled_dot_product_attention
is_compiled = False  # torch.compile does not take complex numbers; eager turns pairs fastest as such


def module(**children):
    """A module that only lends its name."""
    holder = nn.Module()
    for name, child in children.items():
        if isinstance(child, nn.Parameter):
            holder.register_parameter(name, child)
        else:
            holder.add_module(name, child)
    return holder


class Table(nn.Module):
    """Angles of rotary positions, [tokens, pairs], as cosine and sine and as complex numbers."""

    def __init__(self, angles):
        super().__init__()
        self.register_buffer("cosine", angles.cos().float(), persistent=False)
        self.register_buffer("sine", angles.sin().float(), persistent=False)

    def forward(self, x):
        """Turns the pairs (2m, 2m + 1) of x, [.., tokens, channels]."""
        pairs = x.unflatten(-1, (-1, 2))
        if not is_compiled:
            turn = torch.complex(self.cosine, self.sine)
            return torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * turn).flatten(-2)
        a, b = pairs.unbind(-1)
        return torch.stack((a * self.cosine - b * self.sine, a * self.sine + b * self.cosine), -1).flatten(-2)


def frequencies(channels, base, axes=1):
    step = 2 * axes
    return base ** (-torch.arange(0, channels, step, dtype=torch.float64) / channels)


def grid_angles(rows, columns, channels, base):
    """Column first: even pairs turn with the column, odd ones with the row. rows, columns: of each token."""
    speed = frequencies(channels, base, 2)
    return torch.stack((columns.double()[:, None] * speed, rows.double()[:, None] * speed), -1).flatten(1)


def grid_places(height, width):
    index = torch.arange(height * width)
    return index // width, index % width


class SwiGlu(nn.Module):
    """out(silu(gate x) * up x) under the names given."""

    def __init__(self, width, hidden, names):
        super().__init__()
        self.names = names
        for name, sizes in zip(names, ((width, hidden), (width, hidden), (hidden, width))):
            self.add_module(name, nn.Linear(*sizes, bias=False))

    def forward(self, x):
        gate, up, out = (getattr(self, name) for name in self.names)
        return out(F.silu(gate(x)) * up(x))


def attend(q, k, v, factor=None, mask=None, causal=False):
    """[batch, heads, tokens, channels] to [batch, queries, heads x channels]. factor: after the softmax."""
    if is_fused and factor is None:
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])
        return out.transpose(1, 2).flatten(2)
    if q.shape[1] != k.shape[1]:
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1)
    if causal:
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if factor is not None:
        weights = weights * factor
    return (weights @ v).transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    """One map for queries, keys and values."""

    def __init__(self, width, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=bias)
        self.proj = nn.Linear(width, width)

    def forward(self, x, table=None, factor=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if table is not None:
            q, k = table(q), table(k)
        return self.proj(attend(q, k, v, factor))


class PatchEmbed(nn.Module):
    def __init__(self, channels, patch, width):
        super().__init__()
        self.proj = nn.Conv2d(channels, width, patch, patch)

    def forward(self, images):
        return self.proj(images).flatten(2).transpose(1, 2)


def pair(size):
    return (size, size) if isinstance(size, int) else tuple(size)


def require(model, **wanted):
    """The options that a peer is written for."""
    for key, value in wanted.items():
        given = model.get(key, value)
        if given != value:
            raise SystemExit(f"bench: the peer has no {key} = {given!r}, only {value!r}")
