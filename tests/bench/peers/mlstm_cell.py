"""Times the mLSTM cell, forward and backward, of mlstm_kernels' native backends or as a matrix of all pairs of tokens.

Reads one line per turn from stdin, a number of iterations; answers with one line, their milliseconds. Started by run.py.
"""
import argparse
import math
import sys
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--tokens", type=int, required=True)
parser.add_argument("--width", type=int, required=True)
parser.add_argument("--chunk", type=int, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--variant", choices=["native_autograd", "native_custbw", "native_compiled", "pairs", "pairs_compiled"], required=True)
arguments = parser.parse_args()

torch.set_num_threads(arguments.threads)
torch.manual_seed(0)
shape = (arguments.batch, 4, arguments.tokens, arguments.width)


def leaf(*sizes, offset=0.0):
    return (torch.randn(*sizes) + offset).requires_grad_()


q, k, v = leaf(*shape), leaf(*shape), leaf(*shape)
i, f = leaf(*shape[:3]), leaf(*shape[:3], offset=3.0)
slope = torch.randn(*shape)
later = torch.ones(arguments.tokens, arguments.tokens, dtype=torch.bool).triu(1)


def pairs(q, k, v, i, f):
    sums = torch.nn.functional.logsigmoid(f).cumsum(-1)
    logs = (sums[..., :, None] - sums[..., None, :] + i[..., None, :]).masked_fill(later, -math.inf)
    largest = logs.amax(-1, keepdim=True)
    scores = q @ k.transpose(-2, -1) / math.sqrt(arguments.width) * torch.exp(logs - largest)
    divisor = torch.maximum(scores.sum(-1, keepdim=True).abs(), torch.exp(-largest)) + 1e-6
    return (scores / divisor) @ v


if arguments.variant.startswith("native"):
    from mlstm_kernels.torch.chunkwise import registry

    is_compiled = arguments.variant == "native_compiled"
    kernel = registry["native_autograd" if is_compiled else arguments.variant]

    def cell(*inputs):
        return kernel(*inputs, chunk_size=arguments.chunk)

    if is_compiled:
        cell = torch.compile(cell)
else:
    cell = torch.compile(pairs) if arguments.variant == "pairs_compiled" else pairs


def step():
    torch.autograd.grad(cell(q, k, v, i, f), [q, k, v, i, f], slope)


for _ in range(3):
    step()
print("ready", flush=True)
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    print(*times, flush=True)
