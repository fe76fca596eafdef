"""Metrics and the experiment database against TensorBoard, MLflow and Trackio. See README.md."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from sides import Side

HERE = os.path.dirname(os.path.abspath(__file__))
GIGABYTE = 1 << 30


class Trackers:
    """\\param rows  what run.py writes and judges: each row has `row` and `ok`"""

    def __init__(self, arguments, rows):
        self.programs, self.python, self.turns, self.rows = arguments.programs, arguments.trackers, arguments.turns, rows
        if not self.python:
            raise SystemExit("bench: --trackers names the Python that has them; tests/bench/run.sh installs one")

    # --- what they have in common

    def program(self, name, *words):
        return [os.path.join(self.programs, name), *map(str, words)]

    def peer(self, name, *words):
        return [self.python, os.path.join(HERE, "peers", name), *map(str, words)]

    def report(self, name, text, limits, **numbers):
        """\\param limits  of (what, value, "<=" or ">=", limit); None has no limit"""
        misses = [f"{what} {value:.4g} is not {sign} {limit:g}" for what, value, sign, limit in limits
                  if not (value <= limit if sign == "<=" else value >= limit)]
        self.rows.append({"row": name, "ok": not misses, **numbers})
        verdict = "; ".join(misses).upper() if misses else "ok" if limits else ""
        print(f"{name:<44} {text}   {verdict}", flush=True)

    # --- metrics

    def metrics(self):
        for values, pause, calls in ((1, 0, 5000), (8, 0, 5000), (1, 8, 400), (8, 8, 400)):
            self.call(values, pause, calls)
        self.ingest(0, {"vitrine": 125000, "tensorboard": 2500, "mlflow": 1000, "trackio": 2000}, self.turns,
                    {"tensorboard": 100, "mlflow": 1000})
        self.ingest(5, {"vitrine": 600, "tensorboard": 600, "trackio": 600}, 3, {})

    def sides(self, mode, values, pause, peers):
        words = ["--mode", mode, "--values", values, "--pause", pause]
        started = [Side("vitrine", self.program("bench_metrics", *words))]
        started += [Side(p, self.peer("tracker_metrics.py", "--peer", p, *words)) for p in peers]
        return [side.wait() for side in started]

    def rounds(self, sides, amounts, turns):
        """side -> its answers, column by column; the sides take turns."""
        answers = {side.name: [] for side in sides}
        for _ in range(turns):
            for side in sides:
                answers[side.name].append(side.ask(amounts[side.name]))
        for side in sides:
            side.close()
        return {name: list(zip(*taken)) for name, taken in answers.items()}

    def call(self, values, pause, calls):
        sides = self.sides("call", values, pause, ["tensorboard", "trackio"])
        amounts = {"vitrine": calls, "tensorboard": min(calls, 1000), "trackio": min(calls, 1000)}
        got = self.rounds(sides, amounts, self.turns)
        middle = statistics.median
        ours, p99 = middle(got["vitrine"][0]), middle(got["vitrine"][1])
        ratios = {p: middle(b / a for a, b in zip(got["vitrine"][0], got[p][0])) for p in ("tensorboard", "trackio")}
        between = f", {pause} MB read between" if pause else ", one after another"
        self.report(f"call with {values} metric{'s' * (values > 1)}{between}",
                    f"median {ours:5.0f} ns   p99 {p99:6.0f} ns   "
                    f"tensorboard {middle(got['tensorboard'][0]) / 1e3:7.1f} us, {ratios['tensorboard']:6.0f} times   "
                    f"trackio {middle(got['trackio'][0]) / 1e3:5.1f} us, {ratios['trackio']:4.0f} times",
                    [("median", ours, "<=", 200), ("p99", p99, "<=", 2000), ("ratio", ratios["tensorboard"], ">=", 100)]
                    if values == 1 and pause == 0 else [],
                    median_ns=ours, p99_ns=p99, ratios=ratios, medians={p: got[p][0] for p in got})

    def ingest(self, pause, amounts, turns, floors):
        names = [name for name in amounts if name != "vitrine"]
        got = self.rounds(self.sides("ingest", 8, pause, names), amounts, turns)
        middle = statistics.median
        ours, size = middle(got["vitrine"][0]), middle(got["vitrine"][2])
        ratios = {p: middle(a / b for a, b in zip(got["vitrine"][0], got[p][0])) for p in names}
        how = f"a record each {pause} ms" if pause else "as fast as it goes"
        self.report(f"durable ingest, {how}",
                    f"{ours / 1e6:7.3f} M points per CPU s, {middle(got['vitrine'][1]) / 1e6:.3f} M a second, {size:.2f} bytes a point   " +
                    "   ".join(f"{p} {middle(got[p][0]) / 1e3:.1f} k, {ratios[p]:.0f} times" for p in names),
                    [(p, ratios[p], ">=", floor) for p, floor in floors.items()] + ([] if pause else [("bytes", size, "<=", 9)]),
                    points_per_cpu_second={p: got[p][0] for p in got}, bytes_a_point=size, ratios=ratios)

    # --- opening

    def open(self):
        folder = tempfile.mkdtemp(prefix="vitrine-bench-")
        try:
            free = shutil.disk_usage(folder).free
            self.against_tensorboard(folder)
            if free < 6 * GIGABYTE:
                print(f"skipped: large databases need 6 GB in {folder}, {free / GIGABYTE:.1f} are free", flush=True)
                return
            self.large(folder)
            self.long(folder)
            self.by_size(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def make(self, folder, runs, points):
        file = os.path.join(folder, f"{runs}x{points}.sqlite")
        subprocess.run(self.program("bench_open", "--make", file, "--runs", runs, "--points", points), check=True)
        return file

    def remove(self, file):
        for end in ("", "-wal", "-shm", ".gate"):
            if os.path.exists(file + end):
                os.remove(file + end)

    def once(self, file, what):
        """Milliseconds of a process from its start to its answer."""
        begin = time.perf_counter()
        subprocess.run(self.program("bench_open", "--file", file, "--what", what, "--once", 1), check=True,
                       stdout=subprocess.DEVNULL)
        return (time.perf_counter() - begin) * 1e3

    def timed(self, file, what, turns, *words):
        side = Side(what, self.program("bench_open", "--file", file, "--what", what, *words)).wait()
        taken = [side.turn(1) for _ in range(turns)]
        side.close()
        return statistics.median(taken)

    def against_tensorboard(self, folder):
        file = self.make(folder, 1000, 1000)
        board = Side("tensorboard", self.peer("tensorboard_open.py", "--database", file)).wait()
        self.once(file, "curves")
        seen, listed, served = [], [], []
        for _ in range(max(5, self.turns)):
            listed.append(self.once(file, "list"))
            seen.append(self.once(file, "curves"))
            served.append(board.turn(1))
        board.close()
        middle = statistics.median
        ratio = middle(b / a for a, b in zip(seen, served))
        self.report("open 1,000 runs x 1,000 points",
                    f"list {middle(listed):5.1f} ms   every point {middle(seen):5.1f} ms   "
                    f"tensorboard serves them after {middle(served):6.0f} ms   {ratio:4.0f} times   "
                    f"list alone {middle(b / a for a, b in zip(listed, served)):4.0f} times",
                    [("ratio", ratio, ">=", 200)], ours_ms=seen, list_ms=listed, tensorboard_ms=served, ratio=ratio)
        self.remove(file)

    def large(self, folder):
        file = self.make(folder, 1000, 100000)
        size = os.path.getsize(file) / GIGABYTE
        cold = self.timed(file, "list", 5, "--cold", 1)
        warm = self.timed(file, "list", 9)
        self.report("list 1,000 runs x 100,000 points", f"cold {cold:6.1f} ms   warm {warm:5.1f} ms   ({size:.2f} GB)",
                    [("cold", cold, "<=", 1000), ("warm", warm, "<=", 100)], cold_ms=cold, warm_ms=warm)
        self.remove(file)

    def long(self, folder):
        file = self.make(folder, 1, 1000000)
        warm = self.timed(file, "curve", 15, "--run", 1)
        self.report("one curve of 1,000,000 points", f"{warm:5.1f} ms", [("time", warm, "<=", 20)], ms=warm)
        self.remove(file)

    def by_size(self, folder):
        files = {points: self.make(folder, 200, points) for points in (10000, 1000000)}
        sides = {points: Side(str(points), self.program("bench_open", "--file", file, "--what", "open")).wait()
                 for points, file in files.items()}
        taken = {points: [] for points in files}
        for _ in range(3 * max(5, self.turns)):
            for points, side in sides.items():
                taken[points].append(side.turn(5))
        for side in sides.values():
            side.close()
        small, big = (statistics.median(taken[p]) for p in files)
        cold = {p: self.timed(file, "open", 5, "--cold", 1) for p, file in files.items()}
        sizes = [os.path.getsize(file) / 1e6 for file in files.values()]
        self.report(f"open {sizes[1] / 1e3:.1f} GB against {sizes[0]:.0f} MB",
                    f"{big:5.2f} ms against {small:5.2f} ms, {big / small:4.2f} times   "
                    f"cold {cold[1000000]:5.1f} against {cold[10000]:5.1f} ms",
                    [("ratio", big / small, "<=", 1.5)], big_ms=big, small_ms=small, cold_ms=cold)
        for file in files.values():
            self.remove(file)
