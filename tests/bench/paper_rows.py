"""Models of the papers against the same models in PyTorch. See README.md."""
import itertools
import json
import os
import statistics
import subprocess
import sys

# Words of the row, architecture, preset, batch, modes, further options, floor. Demos are what the experiments train, the others
# the smallest named size of each family.
ROWS = [
    ("illama demo", "illama", "illama/demo", 128, ("train", "infer"), []),
    ("illama T", "illama", "illama/tiny", 8, ("train",), []),
    ("plain demo", "visionllama_plain", "visionllama/demo", 128, ("train", "infer"), []),
    ("plain S", "visionllama_plain", "visionllama/plain_s", 8, ("train",), []),
    ("pyramid demo", "visionllama_pyramid", "visionllama/pyramid_demo", 128, ("train", "infer"), []),
    ("pyramid S", "visionllama_pyramid", "visionllama/pyramid_s", 8, ("train",), []),
    ("dit demo", "dit", "dit/demo", 64, ("train",), []),
    ("sit plain demo", "sit", "sit/demo", 64, ("train",), []),
    ("dit llama demo", "dit_llama", "dit_llama/demo", 64, ("train",), []),
    ("sit demo", "sit_llama", "sit_llama/demo", 64, ("train",), []),
    ("dit S/2", "dit", "dit/s2", 8, ("train",), []),
    ("sit plain S/2", "sit", "sit/s2", 8, ("train",), []),
    ("dit llama S/2", "dit_llama", "dit_llama/s2", 8, ("train",), []),
    ("sit S/2", "sit_llama", "sit_llama/s2", 8, ("train",), []),
    ("sit demo batch 1", "sit_llama", "sit_llama/demo", 1, ("sample",), []),
    ("sit demo batch 16", "sit_llama", "sit_llama/demo", 16, ("sample",), []),
    ("sit S/2 batch 1", "sit_llama", "sit_llama/s2", 1, ("sample",), []),
    ("sit S/2 batch 16", "sit_llama", "sit_llama/s2", 16, ("sample",), []),
    ("dit llama demo batch 1", "dit_llama", "dit_llama/demo", 1, ("sample",), []),
    ("dit llama demo batch 16", "dit_llama", "dit_llama/demo", 16, ("sample",), []),
    ("vil demo", "vision_lstm", "vision_lstm/demo", 64, ("train", "infer"), []),
    ("vil T", "vision_lstm", "vision_lstm/t", 8, ("train",), []),
    ("llama demo", "llama", "llama/bytes_64", 64, ("train",), ["--tokens", "192"]),
    ("llama 15M", "llama", "llama/stories_15m", 8, ("train",), ["--tokens", "255"]),
    ("llama demo", "llama", "llama/bytes_64", 1, ("decode",), ["--tokens", "240"]),
    ("llama 15M", "llama", "llama/stories_15m", 1, ("decode",), ["--tokens", "240"]),
    ("llamafusion demo", "llamafusion", "llamafusion/bytes_64", 32, ("train",), ["--tokens", "24"]),
    ("llamafusion demo batch 1", "llamafusion", "llamafusion/bytes_64", 1, ("sample",), ["--tokens", "24"]),
    ("llamafusion demo batch 16", "llamafusion", "llamafusion/bytes_64", 16, ("sample",), ["--tokens", "24"]),
]
FLOORS = {"train": 1.05, "infer": 1.05, "sample": 1.2, "decode": 1.5}
# A step that leaves the text's part alone, over one that trains everything.
FROZEN_FLOOR = 1.2

# Below tests/golden: what the peers are held to before anything is timed.
CASES = ("illama/illama_alpha_0.3", "visionllama/plain_cls", "visionllama/pyramid_peg_nols", "dit/dit_tiny", "sit/sit_llama_tiny",
         "vision_lstm/v2_grey_single_pair", "llama/mha_untied_theta1e4", "llamafusion/full_deep_linear_image_first")


class Papers:
    """\\param bench  what run.py gives: arguments, PATHS, Side, iterations_of, report"""

    def __init__(self, bench):
        self.bench, self.arguments = bench, bench.arguments
        here = os.path.dirname(os.path.abspath(__file__))
        self.program = os.path.join(self.arguments.programs, "bench_papers")
        self.peer = [sys.executable, os.path.join(here, "peers", "papers.py")]
        self.golden = os.path.join(here, "..", "golden")
        with open("/proc/cpuinfo") as file:
            self.flags = next((line for line in file if line.startswith("flags")), "").split()

    def run(self):
        self.hold_peers()
        for (words, architecture, preset, batch, modes, more), path in itertools.product(ROWS, ("avx512", "avx2")):
            for mode in modes:
                name = f"papers {path} {words} {mode}"
                options = ["--architecture", architecture, "--preset", preset, "--batch", str(batch), "--mode", mode, *more]
                if self.is_wanted(name, path):
                    self.row(name, options, path, FLOORS[mode])
                if (architecture, mode) == ("llamafusion", "train") and self.is_wanted(name + " frozen", path):
                    self.row(name + " frozen", [*options, "--text", "frozen"], path, FLOORS[mode])
                    self.against_all(name + " frozen", options, path)

    def is_wanted(self, name, path):
        if self.arguments.only not in name:
            return False
        flag = self.bench.PATHS[path][0]
        if flag not in self.flags:
            print(f"{name:<42} skipped: this processor has no {flag}", flush=True)
        return flag in self.flags

    def hold_peers(self):
        cases = [word for case in CASES for word in ("--case", os.path.join(self.golden, case))]
        for way in ([], ["--package"]):
            if subprocess.run([*self.peer, *way, *cases]).returncode != 0:
                raise SystemExit("bench: a peer is not the model of its paper; nothing was timed")

    def ours(self, options, path):
        return self.bench.Side("vitrine", [self.program, *options, "--threads", str(self.arguments.threads)],
                               {"VITRINE_CPU": path, **self.bench.PATHS[path][1]})

    def variants(self, architecture, mode):
        if architecture == "vision_lstm":  # all pairs of tokens, and the chunks of mlstm_kernels
            return ["fused", "native_autograd"] + (["compile"] if self.arguments.compile else [])
        if architecture == "illama":  # its mask multiplies probabilities, which no fused attention does
            return ["unfused"] + (["compile_unfused"] if self.arguments.compile else [])
        # What PyPI's transformers and diffusers have, as they have it.
        package = ["package"] if architecture == "llama" or (architecture, mode) == ("dit", "train") else []
        return ["fused", "unfused"] + package + (["compile", "compile_unfused"] if self.arguments.compile else [])

    def row(self, name, options, path, floor):
        table = subprocess.run([self.program, *options, "--mode", "describe"], check=True, capture_output=True, text=True)
        table = json.loads(table.stdout)
        given = dict(zip(options[::2], options[1::2]))
        words = [*self.peer, "--model", json.dumps(table), "--threads", str(self.arguments.threads)]
        for option in ("--architecture", "--batch", "--mode", "--tokens"):
            words += [option, given[option]] if option in given else []
        words += ["--frozen"] if given.get("--text") == "frozen" else []
        ours = self.ours(options, path)
        peers = [self.bench.Side(v, [*words, "--variant", v], self.bench.PATHS[path][1])
                 for v in self.variants(given["--architecture"], given["--mode"])]
        for side in (ours, *peers):
            side.wait()
        # diffusers' DiT keeps an embedding of labels and time in each block: it is timed with more parameters.
        same = [side for side in (ours, *peers) if (side.name, given["--architecture"]) != ("package", "dit")]
        counts = {side.name: int(side.ask("parameters")[0]) for side in same}
        if len(set(counts.values())) != 1:
            raise SystemExit(f"bench: {name}: the models have different numbers of parameters: {counts}")
        iterations = self.bench.iterations_of(ours)
        tries = 3 if iterations > 1 else 1  # a minute each: the fastest is known after one
        trial = {p.name: statistics.median(p.turn(iterations) for _ in range(tries)) for p in peers}
        best = min(peers, key=lambda p: trial[p.name])
        for peer in peers:
            if peer is not best:
                peer.close()
        self.bench.report(name, ours, best, iterations, floor, trial)
        for side in (ours, best):
            side.close()

    def against_all(self, name, options, path):
        frozen, everything = self.ours([*options, "--text", "frozen"], path), self.ours(options, path)
        everything.name = "all trained"
        for side in (frozen, everything):
            side.wait()
        self.bench.report(name, frozen, everything, self.bench.iterations_of(frozen), FROZEN_FLOOR)
        for side in (frozen, everything):
            side.close()
