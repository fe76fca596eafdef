#!/usr/bin/env python3
"""What a run costs that a Python script logs, next to a native one.

    python3 tests/bench/log_python.py build/release/bin/vitrine [build/release/bench/bench_metrics] [RECORDS]

Metrics a second of wall time and of CPU time, from the first call until all is stored, script and `vitrine log`
together, and what a call takes of the training loop. bench_metrics stores as many as a native run does.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../resources/python"))
sys.dont_write_bytecode = True
import vitrine  # noqa: E402

VALUES = ("train/loss", "train/loss/label", "optimizer/learning_rate", "optimizer/gradient_norm",
          "system/images_per_second", "system/memory", "system/device_seconds", "model/mask_alpha")
TURNS = 3


def cpu_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def python_turn(program, records, values):
    """Metrics a CPU second and a second, median and 99th percentile of a call in microseconds."""
    folder = tempfile.mkdtemp(prefix="vitrine-bench-")
    try:
        run = vitrine.start("bench", database=os.path.join(folder, "log.sqlite"), program=program)
        record = {name: 0.5 for name in VALUES[:values]}
        calls = []
        used, begin = cpu_seconds(), time.perf_counter()
        for step in range(1, records + 1):
            record["train/loss"] = 1 / step
            before = time.perf_counter()
            run.log(record, step=step)
            calls.append(time.perf_counter() - before)
        run.flush()
        seconds = time.perf_counter() - begin
        run.finish()
        used = cpu_seconds() - used
        if run.dropped:
            raise SystemExit(f"bench: {run.dropped} records were dropped")
        calls.sort()
        return (records * values / used, records * values / seconds, statistics.median(calls) * 1e6,
                calls[len(calls) * 99 // 100] * 1e6)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def native_turns(bench, records, values):
    """Metrics a CPU second and a second, turn by turn."""
    side = subprocess.Popen([bench, "--mode", "ingest", "--values", str(values), "--pause", "0"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    side.stdout.readline()  # ready
    for _ in range(TURNS):
        side.stdin.write(f"{records}\n")
        side.stdin.flush()
        yield [float(word) for word in side.stdout.readline().split()[:2]]
    side.stdin.close()
    side.wait()


def main():
    words = sys.argv[1:]
    records = int(words.pop()) if words[-1].isdigit() else 100_000
    for values in (1, 8):
        turns = [python_turn(words[0], records, values) for _ in range(TURNS)]
        cpu, rate, call, late = (statistics.median(column) for column in zip(*turns))
        text = (f"{values} metric{'s' * (values > 1)} a record: {cpu / 1e3:6.0f} k metrics a CPU second, "
                f"{rate / 1e3:6.0f} k a second, a call {call:.1f} us, 99th percentile {late:.1f} us")
        if len(words) > 1:
            native, fast = (statistics.median(column) for column in zip(*native_turns(words[1], records, values)))
            text += (f"; native {native / 1e3:.0f} k a CPU second, {fast / 1e3:.0f} k a second, "
                     f"{native / cpu:.1f} times")
        print(text, flush=True)


main()
