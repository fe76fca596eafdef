"""Weighs a window that watches runs write, each minute, and says how it grows once it is warm.

Some runs in progress write every half second (tests/ui/support/live_runs_main.cpp) while vitrine-studio shows their curves on
a frame buffer (Xvfb). Every minute: the resident set of the window and the points of the pinned metrics in the database.
The slope is that of a straight line through the minutes after the first third. Pages of the database that the window has mapped
are taken off, and curves that grow take memory: the window keeps --bytes a point, up to the limit of its cache
(monitor/cache_mb, shown under Plots). Exit 1 when what is left is steeper than the limit.
"""
import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--build", required=True, help="build folder with bin/vitrine-studio and tests/live_runs")
parser.add_argument("--studio", help="another vitrine-studio than that of the build folder")
parser.add_argument("--minutes", type=int, default=15)
parser.add_argument("--runs", type=int, default=12)
parser.add_argument("--bytes", type=float, default=56, help="that a point of a curve takes: five numbers, and room to grow")
parser.add_argument("--limit", type=float, default=6, help="MB an hour beyond the points")
arguments = parser.parse_args()
PINNED = ("train/loss", "test/top1", "optimizer/learning_rate")


def resident(pid):
    """MB that are resident, and of them those that are the pages of files: programs, the database and its log."""
    with open(f"/proc/{pid}/status") as file:
        sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in file if line.startswith(("VmRSS", "RssFile", "RssShmem"))}
    return sizes["VmRSS"], sizes["RssFile"] + sizes["RssShmem"]


def points(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        marks = ",".join("?" * len(PINNED))
        return store.execute(f"SELECT COUNT(*) FROM metrics WHERE name IN ({marks})", PINNED).fetchone()[0]


def slope(rows):
    """Of a straight line through (minute, value), an hour."""
    middle = [sum(column) / len(rows) for column in zip(*rows)]
    across = sum((x - middle[0]) ** 2 for x, _ in rows)
    return 60 * sum((x - middle[0]) * (y - middle[1]) for x, y in rows) / across if across else 0.0


with tempfile.TemporaryDirectory() as folder:
    database = os.path.join(folder, "live.sqlite")
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
                              pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    writer = subprocess.Popen([os.path.join(arguments.build, "tests", "live_runs"), database, str(arguments.runs)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    window = None
    try:
        with os.fdopen(reading) as answer:
            display = answer.readline().strip()
        writer.stdout.readline()  # the runs are there
        studio = arguments.studio or os.path.join(arguments.build, "bin", "vitrine-studio")
        window = subprocess.Popen(
            [studio, "--db", database, "--page", "monitor", "--run", ",".join(str(i + 1) for i in range(arguments.runs))],
            env=dict(os.environ, DISPLAY=":" + display, QT_QPA_PLATFORM="xcb", XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder,
                     XDG_DATA_HOME=folder), stderr=subprocess.DEVNULL)
        weighed = []
        begin = time.monotonic()
        print("minute   resident, MB   of it files, MB   points of the pinned metrics", flush=True)
        for minute in range(1, arguments.minutes + 1):
            time.sleep(max(0.0, begin + 60 * minute - time.monotonic()))
            if window.poll() is not None or writer.poll() is not None:
                raise SystemExit("bench: the window or the writer ended")
            weighed.append((minute, *resident(window.pid), points(database)))
            print("{:6d} {:14.1f} {:17.1f} {:30,d}".format(*weighed[-1]), flush=True)
    finally:
        for process in (window, writer, server):
            if process is not None:
                process.kill()
                process.wait()

warm = weighed[len(weighed) // 3:]
growth = slope([(minute, megabytes) for minute, megabytes, _, _ in warm])
files = slope([(minute, megabytes) for minute, _, megabytes, _ in warm])
grown = slope([(minute, number * arguments.bytes / 1e6) for minute, _, _, number in warm])
print(f"after warm-up {growth:.1f} MB an hour, of which pages of files {files:.1f} and the points {grown:.1f}: "
      f"{growth - files - grown:.1f} beyond them "
      f"(limit {arguments.limit}); {arguments.runs} runs, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
sys.exit(0 if growth - files - grown <= arguments.limit else 1)
