"""Metrics into TensorBoard, MLflow or Trackio: the same turns as ../bench_metrics.cpp."""
import argparse
import os
import resource
import shutil
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--peer", required=True, help="tensorboard, mlflow, trackio")
parser.add_argument("--mode", required=True, help="call, ingest")
parser.add_argument("--values", type=int, required=True)
parser.add_argument("--pause", type=int, required=True, help="as in bench_metrics.cpp")
arguments = parser.parse_args()

os.environ["HF_HUB_OFFLINE"] = "1"
root = tempfile.mkdtemp(prefix="vitrine-bench-")
os.environ["TRACKIO_DIR"] = os.path.join(root, "trackio")
answers = os.fdopen(os.dup(1), "w")  # Trackio and MLflow talk on stdout
os.dup2(2, 1)

import numpy  # noqa: E402

NAMES = ["train/loss", "train/loss/label", "optimizer/learning_rate", "optimizer/gradient_norm",
         "system/images_per_second", "system/memory", "system/device_seconds", "model/mask_alpha"]


def values_of(step):
    return [1.0 / (step + 1 + k) for k in range(arguments.values)]


class TensorBoard:
    """A record is one add_scalar per value: it has no other call."""

    def __init__(self, folder):
        from torch.utils.tensorboard import SummaryWriter
        self.writer = SummaryWriter(folder)

    def log(self, step):
        for name, value in zip(NAMES, values_of(step)):
            self.writer.add_scalar(name, value, step)

    def finish(self):
        self.writer.flush()
        self.writer.close()


class MLflow:
    """1,000 metrics a call, the most it takes: its fastest way."""

    def __init__(self, folder):
        from mlflow import MlflowClient
        self.client = MlflowClient(tracking_uri="sqlite:///" + os.path.join(folder, "mlflow.db"))
        experiment = self.client.create_experiment("bench")
        self.run = self.client.create_run(experiment).info.run_id
        self.waiting = []
        self.log(0)
        self.finish()

    def log(self, step):
        from mlflow.entities import Metric
        now = int(time.time() * 1000)
        self.waiting += [Metric(n, v, now, step) for n, v in zip(NAMES, values_of(step))]
        if len(self.waiting) + arguments.values > 1000:
            self.finish()

    def finish(self):
        self.client.log_batch(self.run, metrics=self.waiting)
        self.waiting = []


class Trackio:
    def __init__(self, folder):
        import trackio
        self.trackio = trackio
        trackio.init(project=os.path.basename(folder), name="run")

    def log(self, step):
        self.trackio.log(dict(zip(NAMES, values_of(step))))

    def finish(self):
        self.trackio.finish()


PEER = {"tensorboard": TensorBoard, "mlflow": MLflow, "trackio": Trackio}[arguments.peer]


def cpu_seconds():
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    return total


def bytes_below(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def say(*numbers):
    print(*numbers, file=answers, flush=True)


def main():
    if arguments.mode == "call":
        peer = PEER(tempfile.mkdtemp(dir=root))
        work = numpy.ones(max(1, arguments.pause << 17))
        step = 0

        def turn(calls):
            nonlocal step
            taken = []
            for _ in range(calls):
                work.sum()
                step += 1
                begin = time.perf_counter_ns()
                peer.log(step)
                taken.append(time.perf_counter_ns() - begin)
            return sorted(taken)

        turn(200)
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            taken = turn(int(line))
            say(taken[len(taken) // 2], taken[len(taken) * 99 // 100], sum(taken) / len(taken))
        return
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        records = int(line)
        points = records * arguments.values
        folder = tempfile.mkdtemp(dir=root)
        peer = PEER(folder)
        where = os.environ["TRACKIO_DIR"] if arguments.peer == "trackio" else folder
        before, cpu, begin = bytes_below(where), cpu_seconds(), time.perf_counter()
        for step in range(1, records + 1):
            if arguments.pause > 0:
                time.sleep(arguments.pause / 1000)
            peer.log(step)
        peer.finish()
        say(points / (cpu_seconds() - cpu), points / (time.perf_counter() - begin), (bytes_below(where) - before) / points)


try:
    main()
finally:
    shutil.rmtree(root, ignore_errors=True)
