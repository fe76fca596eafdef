"""Times training steps or forward passes of a timm ViT, in turns.

Reads one line per turn from stdin, a number of iterations; answers with one line, their milliseconds. Started by run.py.
"""
import argparse
import sys
import time

import timm
import torch
from timm.layers import set_fused_attn
from timm.models.vision_transformer import VisionTransformer

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=["demo", "ti16", "s16", "b16"], required=True)
parser.add_argument("--mode", choices=["train", "infer"], required=True)
parser.add_argument("--precision", choices=["fp32", "bf16"], required=True)
parser.add_argument("--variant", choices=["fused", "unfused", "compile", "compile_unfused"], required=True)
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--layer-scale", type=float, default=None)
parser.add_argument("--dropout", type=float, default=0.0, help="after positions, attention projection and both MLP maps")
arguments = parser.parse_args()

torch.set_num_threads(arguments.threads)
torch.manual_seed(0)
set_fused_attn(not arguments.variant.endswith("unfused"))
options = dict(init_values=arguments.layer_scale, pos_drop_rate=arguments.dropout, proj_drop_rate=arguments.dropout)
if arguments.model == "demo":
    model = VisionTransformer(img_size=28, patch_size=7, in_chans=1, embed_dim=64, depth=4, num_heads=4, num_classes=10, **options)
    shape, classes = (1, 28, 28), 10
else:
    size = {"ti16": "tiny", "s16": "small", "b16": "base"}[arguments.model]
    model = timm.create_model(f"vit_{size}_patch16_224", **options)
    shape, classes = (3, 224, 224), 1000
images = torch.randn(arguments.batch, *shape)
labels = torch.randint(0, classes, (arguments.batch,))
run = torch.compile(model) if arguments.variant.startswith("compile") else model
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)
autocast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=arguments.precision == "bf16")


def train():
    with autocast:
        loss = torch.nn.functional.cross_entropy(run(images), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def infer():
    with torch.inference_mode(), autocast:
        run(images)


step = train if arguments.mode == "train" else infer
model.train(arguments.mode == "train")
for _ in range(3):
    step()
print("ready", flush=True)
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    print(" ".join(f"{t:.4f}" for t in times), flush=True)
