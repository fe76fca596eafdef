"""Parts of log_python_test.cpp: log_client.py MODULE_FOLDER DATABASE PART. An assertion that fails ends it with 1."""
import argparse
import enum
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import warnings

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import vitrine  # noqa: E402

DATABASE = sys.argv[2]


def begin(**words):
    return vitrine.start("Python", database=DATABASE, **words)


def raises(kind, call, *words, **named):
    try:
        call(*words, **named)
    except kind as problem:
        return str(problem)
    raise AssertionError(f"{kind.__name__} was not raised")


class Tensor:
    """As a scalar of another library: nothing but what a number can be asked."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


class Array(list):
    """As an array of another library, which is neither true nor false."""

    def __bool__(self):
        raise ValueError("the truth of an array is ambiguous")


class Colour(enum.Enum):
    RED = 1


def loop():
    config = {"lr": 0.1, "nested": {"path": pathlib.Path("data"), "list": (1, 2)}, "colour": Colour.RED,
              "nan": float("nan"), "big": 1 << 70}
    with begin(variant="loop", seed=7, config=config, steps=100, tags=["first"], note="a note", device="cpu") as run:
        assert run.id == 1 and run.step == 0, run.id
        run.define("train/err", better="lower", unit="fraction", title="Error")
        for step in range(1, 101):
            run.log({"train/loss": 1 / step, "train": {"err": Tensor(0.5)}, "n": step, "ok": True}, step=step,
                    epoch=step / 10)
        run.log({"odd": float("inf")})  # the step after the newest
        assert run.step == 101
        run.flush()
        assert not run.should_stop
    run.finish()  # has ended already: nothing
    run.flush(5)
    for late in (lambda: run.log({"late": 1}), lambda: run.event("late"), lambda: run.print("late")):
        assert f"start(resume={run.id})" in raises(vitrine.LogError, late)


def objects():
    namespace = argparse.Namespace(width=64, activation="gelu")
    with begin(config=namespace, name="named", tags="one tag") as run:
        run.image("bytes", bytes(range(12)), 3, shape=(2, 2, 3))
        run.image("list", [[0.0, 1.0], [0.5, 2.0]], 3, title=7)
        assert vitrine._pixels([[float("nan"), 1.0]]) == (bytes([0, 255]), [1, 2])
        assert vitrine._pixels([[True, False]]) == (bytes([255, 0]), [1, 2])
        run.image("several", bytes(24), 3, shape=(2, 2, 2, 3), titles=Array(["a", "b"]))
        run.image("png", vitrine.png(bytes([9, 8, 7, 6]), 1, 1, 4), 3)
        run.sample(vitrine.png(bytes(6), 1, 2, 3), 3, seed=4, prompt="a cat")
        run.text("upon a time", prompt="Once")
        run.define("still", title=None)
        run.table("worst", ["file", "loss"], [["a.png", 1.5], ["b.png", float("nan")]])
        names = Array(["cat", "dog"])
        run.matrix("confusion", Array([Array([9, 1]), Array([2, 8])]), rows=names, columns=names)
        run.event("learning rate lowered", lr=0.01)
        run.print("seen", 3)
        for wrong in ({"a": "high"}, {"a": [1, 2]}, {"a": None}):
            assert "'a'" in raises(TypeError, run.log, wrong)
        raises(ValueError, run.log, {"": 1})
        raises(ValueError, run.log, {"a": 1}, step=-1)
        raises(ValueError, run.log, {"a": 1}, step=1 << 60)
        assert "step is 'x'" in raises(ValueError, run.log, {"a": 1}, step="x")
        for wrong in (float("nan"), -1, 1e11, "x"):
            assert f"epoch is {wrong!r}" in raises(ValueError, run.log, {"a": 1}, epoch=wrong)
        assert "numbers by name" in raises(TypeError, run.log, 0.5)
        raises(OverflowError, run.log, {"a": 10 ** 400})
        run.log({"big": 10 ** 30}, step=5)
        raises(ValueError, run.image, "x", b"abc")
        raises(ValueError, run.image, "x", b"abc", shape=(2, 2))
        raises(ValueError, run.image, "x", b"", shape=(0, 2, 2, 3))
        raises(ValueError, run.image, "x", vitrine.png(bytes(40_000), 40_000, 1))
        raises(ValueError, run.image, "x", [[1, 2], [3]])
        raises(TypeError, run.image, "x", object())
        raises(ValueError, run.table, "x", ["a"], [[1, 2]])
        raises(ValueError, run.matrix, "x", [[1], [1, 2]])
        raises(ValueError, run.matrix, "x", [["high"]])
        raises(ValueError, run.text, "x", seed=1 << 64)
        raises(ValueError, run.finish, "won")
        raises(ValueError, run.define, "x", better="bigger")
        run.log({"still": 1}, step=5)


def threads():
    def newest(run):
        step = run._newest
        time.sleep(0)  # another thread may continue here
        return step

    vitrine.Run.step = property(newest, lambda run, step: setattr(run, "_newest", step))
    with begin() as run:
        def work(number):
            for step in range(2000):
                run.log({f"thread{number}": step}, step=step)

        def count(number):
            for _ in range(500):
                run.log({"counted": number})

        for task in (work, count):
            each = [threading.Thread(target=task, args=(number,)) for number in range(4)]
            for one in each:
                one.start()
            for one in each:
                one.join()
        assert run.dropped == 0
        assert run.step == 1999 + 2000, run.step


def killed():
    """Says each step after its call has returned; ends when it is killed."""
    run = begin(name="killed")
    print(run.id, flush=True)
    step = 0
    while True:
        step += 1
        run.log({"train/loss": 1 / step}, step=step)
        os.write(1, b"%d\n" % step)


def fails():
    with begin(name="failing") as run:
        run.log({"a": 1}, step=1)
        raise ValueError("the batch is empty\nsecond line")


def interrupted():
    with begin(name="interrupted"):
        raise KeyboardInterrupt


def silent():
    run = begin(name="silent")
    run.log({"a": 1}, step=1)


def crashes():
    run = begin(name="crashing")
    run.log({"a": 1}, step=1)
    raise RuntimeError("no context manager")


def breaks():
    run = begin(name="breaking")
    run.log({"a": 1}, step=1)
    raise KeyboardInterrupt


def stopped():
    with begin(name="stopped") as run:
        print(run.id, flush=True)
        step = 0
        while not run.should_stop:
            step += 1
            run.log({"a": step}, step=step)
            time.sleep(0.01)
        assert run.request in ("stop", "interrupt"), run.request


def lost():
    """`vitrine log` is killed: the script continues and is told."""
    run = begin(name="lost")
    run.log({"a": 1}, step=1)
    run.flush()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        os.kill(run._process.pid, signal.SIGKILL)
        run._process.wait()
        for step in range(2, 100_000):
            run.log({"a": 1}, step=step)
            if heard:
                break
            time.sleep(0.001)
        assert "is not stored" in str(heard[0].message) and "resume=" in str(heard[0].message), heard
    assert "signal 9" in raises(vitrine.LogError, run.flush)
    assert "signal 9" in raises(vitrine.LogError, run.finish)
    with begin(resume=run.id) as again:
        assert again.id == run.id and again.step == 1
        again.log({"a": 2})


def slow():
    """A program that reads nothing: a call waits no longer than `patience`, then records are left out."""
    run = begin(name="slow", patience=0.2)
    os.kill(run._process.pid, signal.SIGSTOP)
    vitrine._BUFFER_BYTES = 100_000
    longest = 0
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for step in range(1, 1_000_000):
            before = time.monotonic()
            run.log({"a": step}, step=step)
            longest = max(longest, time.monotonic() - before)
            if run.dropped:
                break
        assert run.dropped == 1 and "left out" in str(heard[0].message)
    stored = run.step - run.dropped
    os.kill(run._process.pid, signal.SIGCONT)
    run.finish()
    print(stored, longest, flush=True)
    assert longest >= 0.2, longest


def waits():
    """A call that waits for room returns when nothing is stored any more, and blames nothing else."""
    run = begin(name="waits", patience=600)
    os.kill(run._process.pid, signal.SIGSTOP)
    vitrine._BUFFER_BYTES = 100_000

    def end():
        while not run._emptied._waiters:
            time.sleep(0.001)
        with run._lock:
            run._problem = "'vitrine log' ended"
            run._emptied.notify_all()

    threading.Thread(target=end).start()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        while not run._problem:
            run.log({"a": 1})
        assert not heard and run.dropped == 0, heard
    os.kill(run._process.pid, signal.SIGKILL)


def stuck():
    """A program that takes nothing: after finish() nothing is written to a file with the number of its pipe."""
    run = begin(name="stuck")
    os.kill(run._process.pid, signal.SIGSTOP)
    while not run._backlog:
        run.log({"a": 1})
    assert "was not stored within" in raises(vitrine.LogError, run.finish, timeout=0.2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), run._pipe)
        run._writer.join(30)
        assert not run._writer.is_alive()
        assert os.fstat(file.fileno()).st_size == 0
    os.kill(run._process.pid, signal.SIGCONT)


def forked():
    """A child keeps no end of the pipe, and cannot log."""
    run = begin(name="forked")
    with run._lock:  # as another thread may at the fork
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            raises(vitrine.LogError, run.flush)
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    child = os.fork()
    if child == 0:
        raises(vitrine.LogError, run.log, {"a": 1})
        time.sleep(600)
        os._exit(0)
    print(run.id, child, flush=True)
    run.log({"a": 1}, step=1)
    os.kill(os.getpid(), signal.SIGKILL)


def missing():
    assert "cannot be started" in raises(vitrine.LogError, begin, program="/nowhere/vitrine")
    assert "the title" in raises(vitrine.LogError, vitrine.start, database=DATABASE)
    assert "config is a list" in raises(vitrine.LogError, begin, config=[1])
    for name, wrong in (("seed", "x"), ("seed", 1.5), ("steps", "many"), ("tags", 5), ("patience", None)):
        assert f"{name} is {wrong!r}; it has to be" in raises(ValueError, begin, **{name: wrong})
    assert "step is 'x'" in raises(ValueError, begin, resume=99, step="x")
    problem = raises(vitrine.LogError, vitrine.start, "x", database="/proc/none/log.sqlite")
    assert "cannot be stored" in problem, problem
    assert "no run 99" in raises(vitrine.LogError, begin, resume=99)
    del os.environ["VITRINE_PROGRAM"]
    os.environ["PATH"] = "/nowhere"
    here = vitrine.__file__
    vitrine.__file__ = "/nowhere/vitrine.py"
    problem = raises(vitrine.LogError, begin)
    assert "was not found" in problem and "VITRINE_PROGRAM" in problem, problem
    vitrine.__file__ = here


def pytorch():
    import torch

    torch.manual_seed(0)
    labels = torch.arange(256) % 2
    inputs = 0.5 * torch.rand(256, 3, 8, 8) + 0.5 * labels.view(-1, 1, 1, 1)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 16), torch.nn.GELU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=32, num_workers=2,
                                         persistent_workers=True)
    config = {"optimizer": {"name": "AdamW", "lr": 1e-2}, "shape": inputs.shape, "dtype": inputs.dtype}
    with begin(variant="mlp", config=config, steps=40) as run:
        step = 0
        for epoch in range(5):
            for images, wanted in loader:
                step += 1
                loss = torch.nn.functional.cross_entropy(model(images), wanted)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                run.log({"train/loss": loss, "optimizer/learning_rate": optimizer.param_groups[0]["lr"],
                         "gradient": model[1].weight.grad.norm()}, step=step, epoch=step / 8)
            correct = (model(inputs).argmax(1) == labels).float().mean()
            run.log({"test/top1": correct}, step=step)
        run.image("inputs", inputs[:4], titles=["a", "b", "c", "d"])
        run.image("first", inputs[0])
        run.image("grey", inputs[0, 0])
        run.image("double", inputs[0].double())
        run.image("bytes", (inputs[0] * 255).byte())
        run.image("mask", inputs[0, 0] > 0.5)
        if "numpy" in sys.modules:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                holes = sys.modules["numpy"].array([[float("nan"), 1.0]])
                assert vitrine._pixels(holes) == (bytes([0, 255]), [1, 2])
        assert "not one number" in raises(TypeError, run.log, {"a": inputs})


if __name__ == "__main__":
    globals()[sys.argv[3]]()
