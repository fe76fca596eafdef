"""Llama after its papers, with a cache of keys and values, and LlamaFusion: image modules beside those of the text."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import paper_parts as parts


class HalfSplit(parts.Table):
    """Turns the pairs (m, m + channels / 2)."""

    def forward(self, x, first=0):
        cosine, sine = (t.narrow(0, first, x.shape[-2]) for t in (self.cosine, self.sine))
        a, b = x.chunk(2, -1)
        return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)


class Maps(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.heads, self.key_heads = model["heads"], model["kv_heads"]
        self.channels = model.get("head_dim") or model["dim"] // model["heads"]
        rows, key_rows = self.heads * self.channels, self.key_heads * self.channels
        self.q_proj = nn.Linear(model["dim"], rows, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(model["dim"], key_rows, bias=False) for _ in range(2))
        self.o_proj = nn.Linear(rows, model["dim"], bias=False)

    def forward(self, x):
        """[batch, heads, tokens, channels], not turned."""
        return tuple(map_(x).unflatten(-1, (-1, self.channels)).transpose(1, 2)
                     for map_ in (self.q_proj, self.k_proj, self.v_proj))


class Layer(nn.Module):
    def __init__(self, model, has_image=False):
        super().__init__()
        norm = lambda: nn.RMSNorm(model["dim"], eps=model["rms_eps"])
        self.input_layernorm, self.post_attention_layernorm = norm(), norm()
        self.self_attn = Maps(model)
        self.mlp = parts.SwiGlu(model["dim"], model["ffn_hidden"], ("gate_proj", "up_proj", "down_proj"))
        if has_image:
            self.img = Layer(model)

    def finish(self, x, values):
        x = x + self.self_attn.o_proj(values)
        return x + self.mlp(self.post_attention_layernorm(x))

    def forward(self, x, table, cache=None, first=0):
        """cache: keys and values of all places, of which `first` are known."""
        q, k, v = self.self_attn(self.input_layernorm(x))
        q, k = table(q, first), table(k, first)
        if cache is None:
            return self.finish(x, parts.attend(q, k, v, causal=True))
        last = first + x.shape[1]
        for kept, new in zip(cache, (k, v)):
            kept[:, :, first:last] = new
        return self.finish(x, parts.attend(q, cache[0][:, :, :last], cache[1][:, :, :last], causal=x.shape[1] > 1))


class Llama(nn.Module):
    def __init__(self, model, has_image=False):
        super().__init__()
        parts.require(model, rope_scaling=None)
        self.dim = model["dim"]
        self.model = parts.module(
            embed_tokens=nn.Embedding(model["vocab"], self.dim),
            layers=nn.ModuleList(Layer(model, has_image) for _ in range(model["depth"])),
            norm=nn.RMSNorm(self.dim, eps=model["rms_eps"]))
        self.lm_head = nn.Linear(self.dim, model["vocab"], bias=False)
        if model["tied"]:
            self.lm_head.weight = self.model.embed_tokens.weight
        maps = self.model.layers[0].self_attn
        context = model.get("max_positions", 2048)
        places = torch.arange(context).double()
        self.table = HalfSplit(places[:, None] * parts.frequencies(maps.channels, model["rope_theta"]))
        self.sizes = (maps.key_heads, context, maps.channels)

    def forward(self, ids):
        x = self.model.embed_tokens(ids)
        for layer in self.model.layers:
            x = layer(x, self.table)
        return self.lm_head(self.model.norm(x))

    def cache(self, batch):
        return [tuple(torch.zeros(batch, *self.sizes) for _ in range(2)) for _ in self.model.layers]

    def step(self, ids, cache, first):
        """Logits of the last token of `ids`, whose places begin at `first`."""
        x = self.model.embed_tokens(ids)
        for layer, kept in zip(self.model.layers, cache):
            x = layer(x, self.table, kept, first)
        return self.lm_head(self.model.norm(x[:, -1:]))


def one_token(self, token, cache, place, seen):
    """The same for torch.compile, with the place as a tensor: every step has the same shapes. seen: [places] bool."""
    x = self.model.embed_tokens(token)
    cosine, sine = self.table.cosine[place], self.table.sine[place]
    for layer, kept in zip(self.model.layers, cache):
        q, k, v = layer.self_attn(layer.input_layernorm(x))
        q, k = (torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1) for a, b in (x.chunk(2, -1) for x in (q, k)))
        for all_, new in zip(kept, (k, v)):
            all_.index_copy_(2, place, new)
        x = layer.finish(x, parts.attend(q, *kept, mask=seen.view(1, 1, 1, -1)))
    return self.lm_head(self.model.norm(x))


@torch.inference_mode()
def greedy(model, prompt, count, compiled=None):
    """`count` likeliest tokens after the prompt, one at a time. compiled: of one_token, for the steps after the prompt."""
    cache, length = model.cache(len(prompt)), prompt.shape[1]
    if compiled is not None:  # as far as this text goes, in whole hundreds
        places = min(-(-(length + count) // 128) * 128, model.sizes[1])
        cache = [tuple(kept[:, :, :places].contiguous() for kept in layer) for layer in cache]
        seen = torch.arange(places) < length
    logits, made = model.step(prompt, cache, 0), []
    for i in range(count):
        made.append(logits[:, -1].argmax(-1, keepdim=True))
        if i + 1 == count:
            break
        if compiled is None:
            logits = model.step(made[-1], cache, length + i)
        else:
            seen[length + i] = True
            logits = compiled(model, made[-1], cache, torch.tensor([length + i]), seen)
    return torch.cat(made, 1)


def next_token_loss(run, ids):
    return F.cross_entropy(run(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


class LinearIo(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.channels, self.patch = model["latent_channels"], model["image_patch"]
        self.grid = tuple(size // self.patch for size in parts.pair(model["latent_size"]))
        width, dim = self.channels * self.patch ** 2, model["dim"]
        self.proj_in, self.proj_out = nn.Linear(width, dim), nn.Linear(dim, width)
        self.time = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        half = dim // 2
        self.register_buffer("waves", torch.exp(-math.log(1e4) * torch.arange(half).double() / half), persistent=False)

    def enter(self, images, t):
        angles = t.double()[:, None] * self.waves
        time = self.time(torch.cat((angles.cos(), angles.sin()), 1).float())
        p, (rows, columns) = self.patch, self.grid
        patches = images.view(-1, self.channels, rows, p, columns, p).permute(0, 2, 4, 1, 3, 5).reshape(len(images), rows * columns, -1)
        return self.proj_in(patches) + time[:, None]

    def leave(self, hidden):
        p, (rows, columns) = self.patch, self.grid
        images = self.proj_out(hidden).view(-1, rows, columns, self.channels, p, p).permute(0, 3, 1, 4, 2, 5)
        return images.reshape(-1, self.channels, rows * p, columns * p)


class LlamaFusion(Llama):
    """One image a sample, in the same places of every row; text before it and text after it."""

    def __init__(self, model):
        super().__init__(model, True)
        parts.require(model, separation="deep", mask="hybrid", image_positions="sequential", image_io="linear")
        self.model.img = parts.module(norm=nn.RMSNorm(model["dim"], eps=model["rms_eps"]))
        self.img_io = LinearIo(model)

    def freeze_text(self):
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(".img." in name or name.startswith("img_io."))

    def forward(self, ids, images, t, begin):
        """Logits of all places, zero in those of the image, and the predicted noise. The image begins at `begin`."""
        tokens = self.img_io.enter(images, t)
        end, count = begin + tokens.shape[1], ids.shape[1]
        place = torch.arange(count)
        last = torch.where((place >= begin) & (place < end), end - 1, place)
        mask = (place[None, :] <= last[:, None])[None, None]
        text = torch.cat((self.model.embed_tokens(ids[:, :begin]), self.model.embed_tokens(ids[:, end:])), 1)
        # Rows of the text and of the image by themselves; they meet in the attention.
        joined = lambda t, i: torch.cat((t[:, :, :begin], i, t[:, :, begin:]), 2)
        for layer in self.model.layers:
            q, k, v = (joined(a, b) for a, b in zip(layer.self_attn(layer.input_layernorm(text)),
                                                    layer.img.self_attn(layer.img.input_layernorm(tokens))))
            values = parts.attend(self.table(q), self.table(k), v, mask=mask)
            text = layer.finish(text, torch.cat((values[:, :begin], values[:, end:]), 1))
            tokens = layer.img.finish(tokens, values[:, begin:end])
        logits = self.lm_head(self.model.norm(text))
        blank = logits.new_zeros(len(ids), end - begin, logits.shape[2])
        return torch.cat((logits[:, :begin], blank, logits[:, begin:]), 1), self.img_io.leave(self.model.img.norm(tokens))

    def text_cache(self, ids):
        """Keys and values of a text, and no room after it."""
        heads, _, channels = self.sizes
        cache = [tuple(torch.zeros(len(ids), heads, ids.shape[1], channels) for _ in range(2)) for _ in self.model.layers]
        self.step(ids, cache, 0)
        return cache

    def noise_after(self, images, t, cache):
        """The predicted noise of images that follow the texts of a cache."""
        tokens, first = self.img_io.enter(images, t), cache[0][0].shape[2]
        for layer, (keys, values) in zip(self.model.layers, cache):
            q, k, v = layer.img.self_attn(layer.img.input_layernorm(tokens))
            q, k = self.table(q, first), self.table(k, first)
            tokens = layer.img.finish(tokens, parts.attend(q, torch.cat((keys, k), 2), torch.cat((values, v), 2)))
        return self.img_io.leave(self.model.img.norm(tokens))


def cosine_shares(steps=1000, offset=0.008):
    """alpha bar of the cosine schedule."""
    f = torch.cos((torch.arange(steps + 1).double() / steps + offset) / (1 + offset) * math.pi / 2) ** 2
    return (1 - (1 - f[1:] / f[:-1]).clamp_max(0.999)).cumprod(0).float()


def mixed_loss(run, batch, weight, shares):
    ids, targets, images, begin = batch
    noise, t = torch.randn_like(images), torch.randint(0, len(shares), (len(images),))
    kept = shares[t].view(-1, 1, 1, 1)
    logits, predicted = run(ids, kept.sqrt() * images + (1 - kept).sqrt() * noise, t, begin)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100) + weight * F.mse_loss(predicted, noise)


@torch.inference_mode()
def drawn_images(noise_after, model, ids, size, shares, steps, guidance):
    """Images of a caption between its two marks, `ids`, in steps of DDPM; the other prediction has the marks alone."""
    texts = [model.text_cache(tokens) for tokens in (ids, ids[:, [0, -1]])]
    times = torch.linspace(0, len(shares) - 1, steps).round().long()
    kept, x = shares[times].tolist(), torch.randn(len(ids), *size)
    for i in reversed(range(steps)):
        t = times[i].expand(len(ids))
        conditional, plain = (noise_after(x, t, cache) for cache in texts)
        noise = plain + guidance * (conditional - plain)
        start = ((x - (1 - kept[i]) ** 0.5 * noise) / kept[i] ** 0.5).clamp(-1, 1)
        before = kept[i - 1] if i > 0 else 1
        alpha = kept[i] / before
        x = ((1 - alpha) * before ** 0.5 * start + (1 - before) * alpha ** 0.5 * x) / (1 - kept[i])
        if i > 0:
            x = x + ((1 - alpha) * (1 - before) / (1 - kept[i])) ** 0.5 * torch.randn_like(x)
    return x


FAMILIES = {"llama": Llama, "llamafusion": LlamaFusion}
