"""Runs pairs of programs in turns and prints ratios. See README.md."""
import argparse
import itertools
import json
import os
import statistics
import sys

import paper_rows
import sides
import trackers
from sides import Skipped

parser = argparse.ArgumentParser()
parser.add_argument("what", nargs="*", default=["step", "papers", "gemm", "store", "saves", "rope", "mlstm", "loader", "metrics", "open"],
                    help="step, papers, gemm, store, saves, rope, mlstm, loader, metrics, open")
parser.add_argument("--programs", required=True, help="folder of the benchmark programs")
parser.add_argument("--trackers", default="", help="Python with TensorBoard, MLflow and Trackio, for metrics and open")
parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
parser.add_argument("--turns", type=int, default=8)
parser.add_argument("--only", default="", help="only rows whose name contains this")
parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out: minutes less a row")
parser.add_argument("--json", default="", help="also write the rows to this file")
arguments = parser.parse_args()
here = os.path.dirname(os.path.abspath(__file__))
rows = []


def Side(name, command, environment=None):
    return sides.Side(name, command, {"OMP_NUM_THREADS": str(arguments.threads), **(environment or {})})


compiled = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "vitrine", "bench-compiled")

# What every library of both sides is held to, so that this machine is one of the path: the processor's flag, the limits.
PATHS = {
    "avx512": ("avx512f", {}),
    "avx2": ("avx2", {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
                      "MKL_ENABLE_INSTRUCTIONS": "AVX2", "LIBXSMM_TARGET": "hsw",
                      "CXX": os.path.join(here, "peers", "avx2_compiler.sh"), "TORCHINDUCTOR_CACHE_DIR": compiled + "-avx2"}),
    "baseline": ("sse2", {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "SSE41",
                          "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}),
}

# model, batch, options, modes, precisions, paths, floor. Rows of the table's second half have no floor against PyTorch, but
# like all of them they may not be slower than our own layers.
BOTH = ("avx512", "avx2")
STEPS = [
    ("demo", 128, [], ("train", "infer"), ("fp32",), BOTH, 1.05),
    ("ti16", 16, [], ("train", "infer"), ("fp32",), BOTH, 1.05),
    ("demo", 128, [], ("train", "infer"), ("bf16",), ("avx512",), 1.05),
    ("ti16", 16, [], ("train", "infer"), ("bf16",), ("avx512",), 1.0),
    ("demo", 8, [], ("train", "infer"), ("fp32",), BOTH, 1.0),
    ("demo", 128, ["--layer-scale", "0.1"], ("train",), ("fp32",), BOTH, 1.0),
    ("demo", 128, ["--dropout", "0.1"], ("train",), ("fp32",), BOTH, 1.0),
    ("s16", 8, [], ("train", "infer"), ("fp32",), BOTH, 0),
    ("b16", 8, [], ("train", "infer"), ("fp32",), BOTH, 0),
    ("demo", 128, [], ("train", "infer"), ("fp32",), ("baseline",), 0),
    ("ti16", 16, [], ("train", "infer"), ("fp32",), ("baseline",), 0),
]


VARIANTS = ("fused", "unfused", "compile", "compile_unfused")


def step_pairs():
    with open("/proc/cpuinfo") as file:
        flags = next((line for line in file if line.startswith("flags")), "").split()
    for model, batch, options, modes, precisions, paths, floor in STEPS:
        for path, mode, precision in itertools.product(paths, modes, precisions):
            words = [path, model, mode, precision, *(["batch 8"] if (model, batch) == ("demo", 8) else []), *options]
            name = " ".join(words).replace("--", "")
            if arguments.only not in name:
                continue
            flag, limits = PATHS[path]
            if flag not in flags:
                print(f"{name:<42} skipped: this processor has no {flag}", flush=True)
                continue
            step_rows(name, step_options(model, mode, precision, batch) + options, floor, path, limits)


def step_options(model, mode, precision, batch):
    return ["--model", model, "--mode", mode, "--precision", precision, "--batch", str(batch),
            "--threads", str(arguments.threads)]


def step_rows(name, options, floor, path, limits):
    """Ours against the best peer, and against our own layers, which it may never be slower than."""
    program = [os.path.join(arguments.programs, "bench_step"), *options]
    ours = Side("vitrine", program, {"VITRINE_CPU": path, **limits})
    peers = [Side(v, [sys.executable, os.path.join(here, "peers", "timm_step.py"), *options, "--variant", v], limits)
             for v in VARIANTS if arguments.compile or not v.startswith("compile")]
    layers = Side("layer by layer", program, {"VITRINE_CPU": "reference", **limits})
    for side in (ours, *peers, layers):
        side.wait()
    iterations = iterations_of(ours)
    # The best peer is found first, then the two take turns.
    trial = {p.name: statistics.median(p.turn(iterations) for _ in range(3)) for p in peers}
    best = min(peers, key=lambda p: trial[p.name])
    for peer in peers:
        if peer is not best:
            peer.close()
    report(name, ours, best, iterations, floor, trial)
    report(name, ours, layers, iterations, 1.0)
    for side in (ours, best, layers):
        side.close()


def iterations_of(side):
    """How many of them make a turn of about half a second."""
    iterations = 1
    while side.turn(iterations) * iterations < 400 and iterations < 64:
        iterations *= 2
    return iterations


def report(name, ours, peer, iterations, floor, trial=None):
    a, b = [], []
    for _ in range(arguments.turns):
        a.append(ours.turn(iterations))
        b.append(peer.turn(iterations))
    ratio = statistics.median(y / x for x, y in zip(a, b))
    own = sorted(x / y for x, y in zip(a, a[1:]))
    low, high = own[0], own[-1]
    counted = 1.0 if low <= ratio <= high else ratio
    row = {"row": name, "ours_ms": statistics.median(a), "peer_ms": statistics.median(b), "peer": peer.name, "ratio": ratio,
           "own_spread": [low, high], "counted": counted, "floor": floor, "trial_ms": trial or {},
           "ok": max(ratio, counted) >= floor}
    rows.append(row)
    verdict = "ok" if row["ok"] else "UNDER ITS FLOOR"
    print(f"{name:<42} ours {row['ours_ms']:9.3f} ms   {peer.name:<16} {row['peer_ms']:9.3f} ms   ratio {ratio:5.2f}"
          f"   own spread {low:4.2f}..{high:4.2f}   floor {floor:4.2f}   {verdict}", flush=True)


def gemm_pairs():
    """All products of one block on one thread, as a fused block has them: a few images at once."""
    for path, library in itertools.product(BOTH, ("libxsmm", "onednn", "aten")):
        for model, part in itertools.product(("demo", "ti16", "s16", "b16"), ("forward", "input", "weight")):
            name = f"gemm {path} {model} {part} {library}"
            if arguments.only not in name:
                continue
            limits = PATHS[path][1]
            program = os.path.join(arguments.programs, "bench_gemm")
            options = ["--model", model, "--pass", part, "--library"]
            ours = Side("ours", [program, *options, "ours"], {"VITRINE_CPU": path, **limits, "OMP_NUM_THREADS": "1"})
            theirs = Side(library, [program + ("_onednn" if library == "onednn" else ""), *options, library],
                          {"VITRINE_CPU": path, **limits, "OMP_NUM_THREADS": "1"})
            try:
                ours.wait()
                theirs.wait()
                report(name, ours, theirs, iterations_of(ours), 0)
            except Skipped as why:
                print(f"{name:<42} {why}", flush=True)
            ours.close()
            theirs.close()


def loader_rows():
    """Images a second on one core; nothing stands beside it, so there is no floor."""
    for augment in ("off", "on"):
        side = Side("loader", [os.path.join(arguments.programs, "bench_loader"), "--augment", augment]).wait()
        millions = statistics.median(side.turn(1) for _ in range(arguments.turns))
        side.close()
        rows.append({"row": f"loader, augment {augment}", "million_images_per_second": millions, "ok": True})
        print(f"loader, augment {augment:<26} {millions:9.3f} million images of 28 px a second", flush=True)


def store_pair():
    program = os.path.join(arguments.programs, "bench_store")
    off = Side("off", [program, "--store", "off", "--threads", str(arguments.threads)]).wait()
    on = Side("on", [program, "--store", "on", "--threads", str(arguments.threads)]).wait()
    # off / on: the share of the plain speed that is left with everything recorded.
    report("store on vs off", on, off, 1, 0.98)
    on.close()
    off.close()


def save_pair():
    program = os.path.join(arguments.programs, "bench_store")
    off = Side("no saves", [program, "--saves", "off", "--threads", str(arguments.threads)]).wait()
    on = Side("saves", [program, "--saves", "on", "--threads", str(arguments.threads)]).wait()
    # A step may take 1.1 times as long while checkpoints are written.
    report("saves on vs off", on, off, 1, 1 / 1.1)
    on.close()
    off.close()


def rope_pairs():
    for device, batch in (("cpu", 8), ("cuda", 256)):
        for precision in ("fp32", "bf16"):
            name = f"rope {device} {precision}"
            if arguments.only not in name:
                continue
            command = [os.path.join(arguments.programs, "bench_rope"), "--device", device, "--precision", precision,
                       "--batch", str(batch), "--threads", str(arguments.threads), "--with"]
            try:
                kernel = Side("kernel", [*command, "kernel"]).wait()
            except Skipped as why:
                print(f"{name:<22} {why}", flush=True)
                continue
            operations = Side("ATen operations", [*command, "operations"]).wait()
            report(name, kernel, operations, iterations_of(kernel), 1.0)
            kernel.close()
            operations.close()


def mlstm_pairs():
    """The chunkwise cell at widths of ViL-T and ViL-S, against mlstm_kernels and the matrix of all pairs."""
    # Chunks of mlstm_kernels divide the tokens; ours are as the cell chooses, and as theirs.
    for path, width, (tokens, batch, chunks) in itertools.product(BOTH, (96, 192), ((196, 16, (49, 196)), (1024, 4, (64, 128)))):
        name = f"mlstm {path} width {width} tokens {tokens}"
        if arguments.only not in name:
            continue
        limits = PATHS[path][1]
        options = ["--batch", str(batch), "--tokens", str(tokens), "--width", str(width), "--threads", str(arguments.threads)]
        ours = Side("vitrine", [os.path.join(arguments.programs, "bench_mlstm"), *options, "--chunk", "0"],
                    {"VITRINE_CPU": path, **limits})
        peer = [sys.executable, os.path.join(here, "peers", "mlstm_cell.py"), *options]
        variants = [(v, c) for v in ("native_autograd", "native_custbw") for c in chunks] + [("pairs", 1)]
        if arguments.compile:
            variants += [("pairs_compiled", 1), *(("native_compiled", c) for c in chunks)]
        sides = [Side(f"{v} {c}" if c > 1 else v, [*peer, "--variant", v, "--chunk", str(c)], limits) for v, c in variants]
        for side in (ours, *sides):
            side.wait()
        iterations = iterations_of(ours)
        trial = {s.name: statistics.median(s.turn(iterations) for _ in range(3)) for s in sides}
        best = min(sides, key=lambda s: trial[s.name])
        report(name, ours, best, iterations, 2.0, trial)
        for side in (ours, *sides):
            side.close()


if "step" in arguments.what:
    step_pairs()
if "papers" in arguments.what:
    paper_rows.Papers(sys.modules[__name__]).run()
if "gemm" in arguments.what:
    gemm_pairs()
if "store" in arguments.what:
    store_pair()
if "saves" in arguments.what:
    save_pair()
if "rope" in arguments.what:
    rope_pairs()
if "mlstm" in arguments.what:
    mlstm_pairs()
if "loader" in arguments.what:
    loader_rows()
if "metrics" in arguments.what:
    trackers.Trackers(arguments, rows).metrics()
if "open" in arguments.what:
    trackers.Trackers(arguments, rows).open()
if arguments.json:
    with open(arguments.json, "w") as file:
        json.dump(rows, file, indent=1)
sys.exit(0 if all(r["ok"] for r in rows) else 1)
