"""Trains with and without a window that watches, turn and turn about, and says what the window costs.

Each turn trains one small run on the CPU into a database of its own. With the window, vitrine-studio shows the curves of
that run (with --page live, the inside of its model) on a frame buffer (Xvfb), live, from before the first step until after
the last. Speed is the median of system/images_per_second over the points of the run; with --page live also the frames that
the trainer hands out each second. Exit 1 when the ratio of medians is below the limit.
"""
import argparse
import glob
import os
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--build", required=True, help="build folder with bin/vitrine and bin/vitrine-studio")
parser.add_argument("--experiment", required=True, help="experiment file of one run")
parser.add_argument("--turns", type=int, default=5)
parser.add_argument("--limit", type=float, default=0.98)
parser.add_argument("--page", default="monitor", help="monitor: the curves; live: frames from inside the model, limit 0.9")
parser.add_argument("overrides", nargs="*")
arguments = parser.parse_args()


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS:"))


def frames(trainer):
    """Number of the newest frame in the shared memory of the run; None before there is any."""
    pids = [trainer]
    for pid in pids:
        for children in glob.glob(f"/proc/{pid}/task/*/children"):
            with open(children) as file:
                pids += [int(child) for child in file.read().split()]
    newest = 240  # of Head in core/live/layout.h
    for pid in pids:
        for segment in glob.glob(f"/dev/shm/vitrine-live-{pid}-*"):
            with open(segment, "rb") as file:
                file.seek(newest)
                return struct.unpack("<Q", file.read(8))[0]
    return None


def train(folder, turn, has_window, display):
    database = os.path.join(folder, f"turn{turn}-{int(has_window)}.sqlite")
    environment = dict(os.environ, XDG_DATA_HOME=folder, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
    program = os.path.join(arguments.build, "bin", "vitrine")
    subprocess.run([program, "enqueue", arguments.experiment, "--db", database, *arguments.overrides], env=environment, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # The run is started below, not by the queue of the window.
    subprocess.run([program, "pause", "--queue", "--db", database], env=environment, check=True, stdout=subprocess.DEVNULL)
    window, weighed, counted = None, [], []
    if has_window:
        window = subprocess.Popen([os.path.join(arguments.build, "bin", "vitrine-studio"), "--db", database, "--page", arguments.page,
                                   "--run", "1"],
                                  env=dict(environment, DISPLAY=":" + display, QT_QPA_PLATFORM="xcb"), stderr=subprocess.DEVNULL)
        time.sleep(2)
    try:
        trainer = subprocess.Popen([program, "run", "--id", "1", "--db", database], env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while trainer.poll() is None:
            time.sleep(0.5)
            if window is not None:
                weighed.append(memory(window.pid))
                number = frames(trainer.pid) if arguments.page == "live" else None
                if number:
                    counted.append((time.monotonic(), number))
        if trainer.returncode != 0:
            raise SystemExit("bench: the training failed")
        if window is not None and window.poll() is not None:
            raise SystemExit("bench: the window ended")
    finally:
        if window is not None:
            window.kill()
            window.wait()
    with sqlite3.connect(database) as store:
        speeds = [value for (value,) in store.execute(
            "SELECT value FROM metrics WHERE name = 'system/images_per_second' AND value IS NOT NULL ORDER BY step")]
    rate = None
    if len(counted) > 1:
        rate = (counted[-1][1] - counted[0][1]) / (counted[-1][0] - counted[0][0])
    return statistics.median(speeds[len(speeds) // 5:]), weighed, rate  # the first fifth warms up


with tempfile.TemporaryDirectory() as folder:
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
                              pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    speeds, growth, rates = {False: [], True: []}, [], []
    try:
        with os.fdopen(reading) as answer:
            display = answer.readline().strip()
        for turn in range(arguments.turns):
            for has_window in (False, True):
                speed, weighed, rate = train(folder, turn, has_window, display)
                speeds[has_window].append(speed)
                if weighed:
                    growth.append((weighed[len(weighed) // 4], weighed[-1]))
                if rate is not None:
                    rates.append(rate)
    finally:
        server.terminate()
        server.wait()
without, beside = statistics.median(speeds[False]), statistics.median(speeds[True])
spread = max(speeds[False]) / min(speeds[False])
print(f"images/s without a window {without:.0f}, with one {beside:.0f}: ratio {beside / without:.3f} "
      f"(limit {arguments.limit}); without against without spreads by {spread:.3f}")
print(f"memory of the window: {statistics.median(a for a, _ in growth):.1f} MB after a quarter of the run, "
      f"{statistics.median(b for _, b in growth):.1f} MB at its end")
if rates:
    print(f"frames/s from the trainer: median {statistics.median(rates):.1f}, {min(rates):.1f} to {max(rates):.1f}")
print(f"median of {arguments.turns} turns; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
sys.exit(0 if beside / without >= arguments.limit else 1)
