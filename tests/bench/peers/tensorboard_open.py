"""Starts TensorBoard on the curves of an experiment database and waits until it serves them all.

Reads one line per turn from stdin, a number of starts, and answers with their milliseconds.
"""
import argparse
import json
import os
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

METRIC = "train/loss"
parser = argparse.ArgumentParser()
parser.add_argument("--database", required=True, help="made by bench_open --make")
arguments = parser.parse_args()


def curves(path):
    """Run and values, read from the packed chunks (resources/docs/database.md, "Packing")."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for (run,) in connection.execute("SELECT id FROM run ORDER BY id").fetchall():
        values = []
        for count, data in connection.execute(
                "SELECT c.count, c.data FROM metric_chunk c JOIN metric_name n ON n.id = c.metric_id "
                "WHERE c.run_id = ? AND n.name = ? ORDER BY c.last_sequence", (run, METRIC)):
            values += struct.unpack(f">{count}d", data)
        yield run, values
    connection.close()


def write_events(folder):
    """What SummaryWriter.add_scalar writes, one file a run."""
    points = {}
    for run, values in curves(arguments.database):
        at = os.path.join(folder, f"run{run:05}")
        os.makedirs(at)
        with open(os.path.join(at, "events.out.tfevents.1700000000.bench"), "wb") as file:
            writer = RecordWriter(file)
            writer.write(event_pb2.Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString())
            for step, value in enumerate(values):
                summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=METRIC, simple_value=value)])
                writer.write(event_pb2.Event(wall_time=1.7e9 + 0.03 * step, step=step, summary=summary).SerializeToString())
        points[f"run{run:05}"] = len(values)
    return points


def ask(url, form=None):
    data = urllib.parse.urlencode(form, doseq=True).encode() if form else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=60) as answer:
            return json.load(answer)
    except OSError:  # not there yet
        return None


def once(folder, points):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    begin = time.perf_counter()
    server = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", str(port)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    base = f"http://127.0.0.1:{port}/data/plugin/scalars/"
    names = list(points)

    def one(name):
        return base + "scalars?" + urllib.parse.urlencode({"tag": METRIC, "run": name})

    def isServed(curve, name):
        return curve is not None and len(curve) >= min(points[name], 1000)  # it keeps 1,000 of each

    try:
        while True:
            if server.poll() is not None:
                raise SystemExit("bench: tensorboard ended")
            # Cheap questions first: the answer to the dear one is 40 MB.
            tags = ask(base + "tags")
            isListed = tags and all(METRIC in tags.get(name, {}) for name in names)
            if isListed and all(isServed(ask(one(name)), name) for name in (names[-1], names[0])):
                got = ask(base + "scalars_multirun", {"tag": METRIC, "runs": names}) or {}
                if all(isServed(got.get(name), name) for name in names):
                    return (time.perf_counter() - begin) * 1e3
            time.sleep(0.02)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


folder = tempfile.mkdtemp(prefix="vitrine-bench-")
try:
    points = write_events(folder)
    print("ready", flush=True)
    for line in sys.stdin:
        print(*[once(folder, points) for _ in range(int(line))], flush=True)
finally:
    shutil.rmtree(folder, ignore_errors=True)
