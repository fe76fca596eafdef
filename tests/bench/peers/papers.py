"""Times models of the papers in PyTorch, in turns, or holds them to reference cases. Started by run.py.

--case FOLDER compares outputs with those of a case and ends. Otherwise reads one line per turn from stdin, a number of
iterations, and answers with one line, their milliseconds; "parameters" is answered with their number.
"""
import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F

import paper_diffusion
import paper_encoders
import paper_language
import paper_memory
import paper_parts
import paper_pyramid

FAMILIES = {name: build for file in (paper_diffusion, paper_encoders, paper_language, paper_memory, paper_pyramid)
            for name, build in file.FAMILIES.items()}


def check(folder):
    """Outputs of the case against the peer's; the tolerance of a float32 implementation."""
    from safetensors.torch import load_file

    with open(f"{folder}/case.json") as file:
        case = json.load(file)
    io, values = load_file(f"{folder}/io.safetensors"), case["model"]
    name = case["architecture"]
    values["mlp"] = str(values.get("mlp", "")).split()[0] if "mlp" in values else "swiglu"
    if arguments.package and name != "llama":
        return
    model = (paper_packages.FAMILIES if arguments.package else FAMILIES)[name](values).eval()
    weights = load_file(f"{folder}/weights.safetensors")
    if values.get("tied"):
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights)
    with torch.no_grad():
        if "input/image" in io:
            made = {"logits": model(io["input/image"])}
        elif name == "llama":
            made = {"logits": model(io["input/ids"])}
            new = io["output/greedy"].shape[1] - io["input/prompt"].shape[1]
            ways = [lambda m, p, n: paper_packages.greedy(m, p, n)] if arguments.package else [
                lambda m, p, n, c=c: paper_language.greedy(m, p, n, c) for c in (None, paper_language.one_token)]
            for way in ways:
                tokens = torch.cat((io["input/prompt"], way(model, io["input/prompt"], new)), 1)
                if not torch.equal(tokens, io["output/greedy"]):
                    raise SystemExit(f"bench: the peer of {folder} continues its prompt differently")
        elif name == "llamafusion":
            begin = int((io["input/image_index"] > 0).nonzero()[0])
            logits, noise = model(io["input/ids"], io["output/x_t"], io["input/t"], begin)
            made = {"logits": logits, "eps": noise}
            after = model.noise_after(io["output/x_t"], io["input/t"], model.text_cache(io["input/ids"][:, :begin]))
            if not torch.allclose(after, noise, atol=1e-5):
                raise SystemExit(f"bench: the peer of {folder} predicts another noise behind a cache")
        else:
            made = {"prediction": model(io["input/latent"], io["input/t"], io["input/y"])}
    for output, value in made.items():
        wanted = io[f"output/{output}"]
        error = ((value - wanted).abs().max() / wanted.abs().max()).item()
        print(f"{folder.rsplit('/golden/')[-1]}: {output} of {name} in PyTorch differs by {error:.1e}")
        if not error < 3e-4:
            raise SystemExit(f"bench: the peer of {folder} computes something else")


parser = argparse.ArgumentParser()
parser.add_argument("--case", action="append", default=[])
parser.add_argument("--package", action="store_true", help="also holds the model of transformers to the cases of Llama")
parser.add_argument("--architecture", choices=sorted(FAMILIES))
parser.add_argument("--model", type=json.loads, help="the resolved table, of bench_papers --mode describe")
parser.add_argument("--mode", choices=["train", "infer", "sample", "decode"])
parser.add_argument("--variant", choices=["fused", "unfused", "compile", "compile_unfused", "native_autograd", "native_custbw",
                                          "package"])
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--tokens", type=int, default=256, help="of a text; of a decoded one, after a prompt of 16")
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--frozen", action="store_true", help="the text's part of a LlamaFusion is not trained")
parser.add_argument("--threads", type=int, default=2)
arguments = parser.parse_args()

torch.set_num_threads(arguments.threads)
torch.manual_seed(0)
if arguments.package:
    import paper_packages
for folder in arguments.case:
    check(folder)
if arguments.case:
    sys.exit(0)

variant = arguments.variant
paper_parts.is_fused = not variant.endswith("unfused")
paper_parts.is_compiled = variant.startswith("compile")
if variant.startswith("native"):
    paper_memory.cell = variant
name, sizes, batch = arguments.architecture, arguments.model, arguments.batch
if variant == "package":
    import paper_packages

    FAMILIES |= paper_packages.FAMILIES
model = FAMILIES[name](sizes).train(arguments.mode == "train")
run = torch.compile(model, dynamic=False) if paper_parts.is_compiled else model


def loss():
    return F.cross_entropy(run(images), labels)


if name == "llama":
    ids = torch.randint(0, sizes["vocab"], (batch, arguments.tokens + 1))
    prompt = ids[:, :16]
    loss = lambda: paper_language.next_token_loss(run, ids)
elif name == "llamafusion":
    if arguments.frozen:
        model.freeze_text()
    count = model.img_io.grid[0] * model.img_io.grid[1]
    begin = arguments.tokens
    ids = torch.randint(0, sizes["vocab"], (batch, begin + count + 1))
    targets = torch.full_like(ids, -100)
    targets[:, :begin - 1] = ids[:, 1:begin]
    drawn = torch.randn(batch, sizes["latent_channels"], *paper_parts.pair(sizes["latent_size"]))
    shares = paper_language.cosine_shares()
    loss = lambda: paper_language.mixed_loss(run, (ids, targets, drawn, begin), sizes["lambda"], shares)
    noise_after = torch.compile(model.noise_after, dynamic=False) if paper_parts.is_compiled else model.noise_after
    draw = lambda steps, guidance: paper_language.drawn_images(noise_after, model, ids[:, :begin], drawn.shape[1:], shares, steps, guidance)
elif name in paper_diffusion.FAMILIES:  # a package's model has the same interface
    images = torch.randn(batch, model.channels, *model.size)
    labels = torch.randint(0, model.classes, (batch,))
    loss = lambda: paper_diffusion.flow_loss(run, model, (images, labels))
    samples = paper_diffusion.diffusion_samples if name.startswith("dit") else paper_diffusion.flow_samples
    draw = lambda steps, guidance: samples(run, model, batch, steps, guidance)
else:
    images = torch.randn(batch, sizes["in_channels"], *paper_parts.pair(sizes["image_size"]))
    labels = torch.randint(0, sizes["num_classes"], (batch,))

trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-3, weight_decay=0.05, fused=True)


def train():
    optimizer.zero_grad(set_to_none=True)
    loss().backward()
    optimizer.step()


def infer():
    with torch.inference_mode():
        run(images)


one_token = torch.compile(paper_language.one_token, dynamic=False) if paper_parts.is_compiled else None
step = {"train": train, "infer": infer,
        "sample": lambda: draw(arguments.steps, 2.0),
        "decode": lambda: (paper_packages.greedy(model, prompt, arguments.tokens) if variant == "package" else
                           paper_language.greedy(model, prompt, arguments.tokens, one_token))}[arguments.mode]
warm = step if arguments.mode != "sample" else lambda: draw(2, 2.0)  # a sample's steps are all alike
for _ in range(3):
    warm()
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "parameters":
        print(sum(parameter.numel() for parameter in model.parameters()), flush=True)
        continue
    times = []
    for _ in range(int(line)):
        begin_time = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin_time) * 1e3)
    print(" ".join(f"{t:.4f}" for t in times), flush=True)
