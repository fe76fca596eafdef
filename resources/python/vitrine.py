"""Logs the runs of any training script into a Vitrine database, through the program `vitrine log`.

    import vitrine

    with vitrine.start("CIFAR-10", variant="resnet18", seed=0, config={"lr": 0.1}, steps=1000) as run:
        for step in range(1, 1001):
            loss = train_one_step()
            run.log({"train/loss": loss}, step=step)
            if run.should_stop:
                break

One file, the standard library alone, Python 3.8 and later, Linux. When a call has returned, its record is in a pipe
to `vitrine log` and is stored even if this process is killed. Where that program is slow, records wait in memory,
and a call waits no longer than `patience` seconds. resources/docs/python.md has a whole example.
"""
import atexit
import base64
import collections
import fcntl
import io
import json
import os
import select
import shlex
import shutil
import struct
import subprocess
import sys
import threading
import time
import warnings
import weakref
import zlib

__all__ = ["LogError", "Run", "png", "start"]

_PIPE_BYTES = 1 << 20     # asked of the kernel
_BUFFER_BYTES = 64 << 20  # that wait here when the pipe is full
_F_SETPIPE_SZ = 1031
_STOPS = ("stop", "pause", "interrupt")
_ENDS = ("done", "failed", "stopped", "interrupted")
_MOST_STEPS = 1 << 53
_LONGEST_SIDE, _MOST_PIXELS = 32_768, 50_000_000  # of an image


class LogError(RuntimeError):
    """The run cannot be logged; one sentence with the remedy."""


def start(experiment=None, *, name="", variant="", seed=0, config=None, steps=0, tags=(), note="", device=None,
          environment=None, resume=None, step=None, database=None, program=None, patience=1.0):
    """Starts a run, or continues one. Raises LogError where it cannot be stored.

    experiment, variant   titles: runs of one variant differ in their seed, and Compare takes their mean
    config                values by name: a mapping, a dataclass or an argparse.Namespace
    steps                 in all, 0 where that is not known
    resume, step          id or UUID of a run that a script logged before, and the step behind which it continues
    database, program     else $VITRINE_DB or the user's own; else $VITRINE_PROGRAM, beside this file or in PATH
    patience              seconds that a call waits at most when 64 MiB of records wait already
    """
    facts = _facts(device)
    facts.update(_plain(environment or {}))
    line = {"type": "run", "steps": _integer("steps", steps), "environment": facts}
    if resume is not None:
        line["resume"] = resume
        if step is not None:
            line["step"] = _integer("step", step)
    else:
        if not experiment:
            raise LogError("a run needs the title of its experiment: vitrine.start('CIFAR-10')")
        values = _plain(config) if config is not None else {}
        if not isinstance(values, dict):
            raise LogError(f"config is a {type(config).__name__}; pass a mapping, a dataclass or a Namespace")
        if not isinstance(tags, collections.abc.Iterable):
            raise ValueError(f"tags is {tags!r:.60}; it has to be a text or a list of texts")
        tags = [tags] if isinstance(tags, str) else [str(tag) for tag in tags]
        line.update(experiment=str(experiment), name=_words(name), variant=_words(variant), seed=_seed(seed),
                    config=values, tags=tags, note=_words(note))
    return Run(line, database, program, _real("patience", patience, float("inf")))


class Run:
    """A run in progress. Every method may be called from any thread."""

    def __init__(self, line, database, program, patience):
        program = _find_program(program)
        command = [program, "log"] + (["--db", os.fspath(database)] if database is not None else [])
        try:
            # In a session of its own: Ctrl-C is for the script, which says how the run ends.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                             start_new_session=True)
        except OSError as problem:
            raise LogError(f"'{program}' cannot be started: {problem.strerror}; pass program= or set "
                           "VITRINE_PROGRAM") from problem
        self._owner = os.getpid()
        self._pipe = self._process.stdin.fileno()
        try:
            fcntl.fcntl(self._pipe, _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            pass  # the kernel's own size does, too
        os.set_blocking(self._pipe, False)
        self._patience = patience
        self._lock = threading.Lock()
        self._filled = threading.Condition(self._lock)   # there is something to write
        self._emptied = threading.Condition(self._lock)  # there is room again
        self._answered = threading.Condition(self._lock)
        self._backlog = collections.deque()
        self._waiting = 0
        self._answers = {}
        self._request = ""
        self._problem = ""       # why nothing is stored any more
        self._has_ended = False  # the script has said how
        self._has_told = False   # the script was told to stop
        self._is_closing = False
        self._warned = set()
        self._flushes = 0
        self._keys = {}
        self.dropped = 0  # records that found no room
        self.id = self.uuid = self.name = self.experiment = self.database = None
        self.step = 0  # of the newest record
        self._begin = time.monotonic()
        threading.Thread(target=self._read, name="vitrine-answers", daemon=True).start()
        self._writer = threading.Thread(target=self._drain, name="vitrine-records", daemon=True)
        self._writer.start()
        _runs.add(self)
        self._send(_encoded(line))
        answer = self._await("run", 120)
        if answer is None:
            problem = self._problem or "it did not answer within two minutes"
            self._close(0)
            raise LogError(f"the run cannot be stored: {problem}")
        for key in ("id", "uuid", "name", "experiment", "database", "step"):
            setattr(self, key, answer[key])
        atexit.register(self._at_exit)

    # --- records

    def log(self, values, step=None, epoch=None):
        """Numbers by name: floats, ints, NumPy and PyTorch scalars, and mappings of them ({"train": {"loss": 1}} is
        "train/loss"). Without `step` it is the one after the newest."""
        if not hasattr(values, "items"):
            raise TypeError(f"log() takes numbers by name, as {{'train/loss': 0.5}}, and not a {type(values).__name__}")
        parts = []
        keys = self._keys
        for name, value in values.items():
            kind = type(value)
            if kind is float or kind is int:
                parts.append((keys.get(name) or self._key(name)) + _number(value))
            else:
                self._flatten(name, value, parts)
        if not parts:
            return
        if step is not None and (type(step) is not int or not 0 <= step <= _MOST_STEPS):
            step = _integer("step", step)
        self._require_owner()  # in a forked child the lock may be held for ever
        with self._lock:
            if step is None:
                step = self.step + 1
            if step > self.step:
                self.step = step
        when = "" if epoch is None else f'"epoch":{_real("epoch", epoch, 1e10)!r},'
        seconds = time.monotonic() - self._begin
        self._send(f'{{"type":"metrics","step":{step},{when}"time":{seconds:.3f},"values":{{{",".join(parts)}}}}}\n'
                   .encode(errors="replace"))

    def define(self, name, *, better="none", unit="", title="", definition=""):
        """What a metric means. name: "val/acc", or "val/*"; better: "higher", "lower" or "none"; unit: "fraction" is
        shown in percent. What the database knows already stays."""
        if better not in ("higher", "lower", "none"):
            raise ValueError(f"better is {better!r}; it has to be 'higher', 'lower' or 'none'")
        self._put("metric", name, better=better, unit=_words(unit), title=_words(title),
                  definition=_words(definition))

    def image(self, name, image, step=None, *, title="", titles=(), shape=None):
        """A picture, or several of one size. image: bytes of a PNG, a PIL image, a NumPy or PyTorch array or lists
        ([H, W], [H, W, C], [C, H, W], with one axis more for several; floats from 0 to 1 or integers from 0 to 255),
        or raw bytes with `shape` ([H, W], [H, W, C] or [N, H, W, C])."""
        picture = _picture(image, shape)
        titles = [str(each) for each in titles]
        if titles and len(titles) != picture.get("shape", [1])[0]:
            raise ValueError(f"there are {len(titles)} titles for {picture.get('shape', [1])[0]} images")
        self._put("image", name, step, title=_words(title), titles=titles, **picture)

    def sample(self, image, step=None, *, seed=0, shape=None, **recipe):
        """An image that the model made, with what it was made with: prompt="a cat", guidance=4."""
        picture = _picture(image, shape)
        if "shape" in picture:
            raise ValueError("a sample is one image; call sample() for each")
        self._put("sample", None, step, seed=_seed(seed), recipe=_plain(recipe), **picture)

    def text(self, text, step=None, *, prompt="", seed=0, **recipe):
        """A text that the model made."""
        self._put("text", None, step, text=str(text), prompt=_words(prompt), seed=_seed(seed),
                  recipe=_plain(recipe))

    def table(self, name, columns, rows, step=None, *, title=""):
        columns, rows = [str(column) for column in columns], [list(row) for row in rows]
        _require_rows(rows, len(columns))
        self._put("table", name, step, title=_words(title), columns=columns, rows=_plain(rows))

    def matrix(self, name, values, step=None, *, rows=(), columns=(), title=""):
        """A matrix with labels of its rows and columns, as a confusion matrix."""
        values = [[None if cell is None else float(cell) for cell in row] for row in values]
        rows, columns = [str(row) for row in rows], [str(column) for column in columns]
        _require_rows(values, len(columns) or len(values[0]) if values else 0)
        if rows and len(rows) != len(values):
            raise ValueError(f"there are {len(rows)} labels for {len(values)} rows")
        self._put("matrix", name, step, title=_words(title), values=_plain(values), row_labels=rows,
                  column_labels=columns)

    def event(self, text, step=None, **data):
        """Something that happened, one sentence."""
        self._put("event", None, step, text=str(text), data=_plain(data))

    def print(self, *values):
        """A line for the terminal and for the log of the run."""
        self._put("print", None, text=" ".join(str(value) for value in values))

    # --- requests and the end

    @property
    def request(self):
        """What the window asks of the run: "", "stop", "pause", "interrupt" or "checkpoint"."""
        return self._request

    @property
    def should_stop(self):
        """Whether the run is asked to end. A script that reads True ends its loop."""
        if self._request in _STOPS:
            self._has_told = True
            return True
        return False

    def flush(self, timeout=60.0):
        """Returns when everything logged so far is in the database, or in its side file while it cannot be written.
        Raises LogError where it cannot be stored."""
        self._require_owner()
        with self._lock:
            if "finished" in self._answers:
                return  # all of it is
            self._flushes += 1
            number = self._flushes
        self._put("flush", None, id=number)
        if self._await(f"flushed {number}", timeout) is None:
            raise LogError(self._problem or f"the records were not stored within {timeout:g} seconds")

    def finish(self, state=None, reason="", timeout=60.0):
        """Ends the run as "done", "failed", "stopped" or "interrupted"; without a state as stopped where the script
        read `should_stop`, else as done. Raises LogError where that cannot be stored."""
        if self._has_ended:
            return
        self._require_owner()
        state = state or ("stopped" if self._has_told else "done")
        if state not in _ENDS:
            raise ValueError(f"state is {state!r}; it has to be one of {', '.join(_ENDS)}")
        self._has_ended = True
        self._put("finish", None, state=state, reason=_words(reason))
        answer = self._await("finished", timeout)
        self._close(timeout)
        if answer is None:
            raise LogError(self._problem or f"the end of the run was not stored within {timeout:g} seconds")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None or (kind is SystemExit and value.code in (None, 0)):
            self.finish()
            return
        state = "interrupted" if kind is KeyboardInterrupt else "failed"
        try:
            self.finish(state, _sentence(value))
        except LogError as problem:  # the error of the script is the one to see
            self._warn(str(problem))

    # --- what happens below

    def _put(self, kind, name, step=None, **fields):
        line = {"type": kind}
        if name is not None:
            line["name"] = _checked_name(name)
        if kind not in ("metric", "print", "flush", "finish"):
            line["step"] = self.step if step is None else _integer("step", step)
        line.update(fields)
        self._send(_encoded(line), may_drop=kind not in ("flush", "finish"))

    def _key(self, name):
        key = self._keys[name] = json.dumps(_checked_name(name), ensure_ascii=False) + ":"
        return key

    def _flatten(self, name, value, parts):
        if isinstance(value, collections.abc.Mapping):
            for key, inner in value.items():
                self._flatten(f"{name}/{key}", inner, parts)
            return
        if isinstance(value, (str, bytes)):
            raise TypeError(f"the metric '{name}' is {value!r}; it has to be a number")
        try:
            number = float(value.detach() if hasattr(value, "detach") else value)
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"the metric '{name}' is a {type(value).__name__} and not one number; log a mean of it, or "
                            "a number for each") from None
        parts.append((self._keys.get(name) or self._key(name)) + _number(number))

    def _require_owner(self):
        if self._owner != os.getpid():
            raise LogError(f"the run was started by process {self._owner}; another process cannot log into it")

    def _send(self, data, may_drop=True):
        self._require_owner()
        with self._lock:
            if self._has_ended and may_drop:
                raise LogError("the run has ended and takes nothing more; log before finish(), or continue it: "
                               f"vitrine.start(resume={self.id})")
            if self._problem or self._is_closing:
                return
            rest = data if self._backlog else self._write(data)
            if not rest:
                return
            end = time.monotonic() + self._patience
            # What has begun to be written has to follow; so does what finds an empty buffer.
            while may_drop and len(rest) == len(data) and self._waiting + len(data) > max(_BUFFER_BYTES, len(data)):
                if self._problem:  # said where it was found
                    return
                left = end - time.monotonic()
                if left <= 0:
                    self.dropped += 1
                    break
                self._emptied.wait(left)
            else:
                if not self._is_closing:
                    self._keep(rest)
                return
        self._warn("'vitrine log' cannot store the records as fast as they come; some are left out (run.dropped counts "
                   "them): log less often")

    def _keep(self, data):
        self._backlog.append(data)
        self._waiting += len(data)
        self._filled.notify()

    def _write(self, data):
        """Into the pipe; returns what it did not take."""
        try:
            return data[os.write(self._pipe, data):]
        except BlockingIOError:
            return data
        except OSError:
            # Why `vitrine log` has ended is on its way to the other thread.
            self._backlog.clear()
            self._waiting = 0
            return b""

    def _drain(self):
        while True:
            with self._lock:
                while not self._backlog and not self._is_closing:
                    self._filled.wait()
                if not self._backlog:
                    return
            poll = select.poll()
            poll.register(self._pipe, select.POLLOUT)
            poll.poll(1000)
            with self._lock:
                while self._backlog:
                    data = self._backlog[0]
                    rest = self._write(data)
                    if not self._backlog:
                        break
                    self._waiting -= len(data) - len(rest)
                    if rest:
                        self._backlog[0] = rest
                        break
                    self._backlog.popleft()
                self._emptied.notify_all()

    def _read(self):
        for text in self._process.stdout:
            try:
                answer = json.loads(text)
            except ValueError:
                continue
            kind = answer.get("type")
            with self._lock:
                if kind == "request":
                    self._request = answer["request"]
                elif kind == "error":
                    self._problem = answer["message"]
                elif kind == "flushed":
                    self._answers[f"flushed {answer['id']}"] = answer
                else:
                    self._answers[kind] = answer
                self._answered.notify_all()
        code = self._process.wait()
        with self._lock:
            has_finished = "finished" in self._answers
            if not has_finished and not self._problem:
                self._problem = "'vitrine log' ended " + (f"by signal {-code}" if code < 0 else f"with exit code {code}")
            self._answered.notify_all()
            self._emptied.notify_all()
            is_told = not has_finished and not self._is_closing and self.id is not None
        if is_told:
            self._warn(f"{self._problem}; what follows is not stored. The run can be continued: "
                       f"vitrine.start(resume={self.id})")

    def _await(self, what, timeout):
        end = time.monotonic() + timeout
        with self._lock:
            while what not in self._answers and not self._problem:
                left = end - time.monotonic()
                if left <= 0:
                    return None
                self._answered.wait(left)
            return self._answers.pop(what, None) if what != "finished" else self._answers.get(what)

    def _warn(self, text):
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(f"vitrine: {text}", RuntimeWarning, stacklevel=4)

    def _close(self, timeout):
        with self._lock:
            self._is_closing = True
            self._filled.notify_all()
        self._writer.join(timeout)
        with self._lock:
            # What was not taken is given up: the number of the pipe may be that of another file from here on.
            self._backlog.clear()
            self._waiting = 0
            self._emptied.notify_all()
            try:
                self._process.stdin.close()
            except OSError:
                pass
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            pass  # it stores what it has and ends by itself
        _runs.discard(self)
        atexit.unregister(self._at_exit)

    def _at_exit(self):
        if self._has_ended or self._owner != os.getpid():
            return
        problem = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        try:
            if problem is not None:
                state = "interrupted" if isinstance(problem, KeyboardInterrupt) else "failed"
                self.finish(state, _sentence(problem), 10)
            else:
                self._close(10)  # the run is interrupted: its script did not say how it ended
        except LogError as error:
            sys.stderr.write(f"vitrine: {error}\n")

    def _leave_to_parent(self):
        """In a forked child: the pipe must end with the process that logs."""
        self._process.stdin.close()
        self._process.stdout.close()


_runs = weakref.WeakSet()


def _after_fork():
    for run in list(_runs):
        run._leave_to_parent()
    _runs.clear()


os.register_at_fork(after_in_child=_after_fork)


# --- values


def _encoded(line):
    return json.dumps(line, ensure_ascii=False, allow_nan=False).encode(errors="replace") + b"\n"


def _number(value):
    """JSON of a float or an int."""
    if value - value == 0:  # an integer without a place in JSON's readers is a float, or an OverflowError
        return repr(value if -(1 << 63) <= value < 1 << 64 else float(value))
    return '"nan"' if value != value else '"inf"' if value > 0 else '"-inf"'


def _checked_name(name):
    if not isinstance(name, str) or not 0 < len(name.encode(errors="replace")) <= 1000:
        raise ValueError(f"the name {str(name)[:60]!r} has to be a text of 1 to 1000 bytes")
    return name


def _require_rows(rows, width):
    if not rows or not width:
        raise ValueError("there are no rows and columns")
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise ValueError(f"row {number} has {len(row)} cells; it has to have {width}")


def _integer(what, value, most=_MOST_STEPS):
    try:
        number = int(value)
        is_good = number == value and 0 <= number <= most
    except (TypeError, ValueError, OverflowError, RuntimeError):
        is_good = False
    if not is_good:
        raise ValueError(f"{what} is {value!r:.60}; it has to be an integer from 0 to {most}")
    return number


def _seed(value):
    return _integer("seed", value, (1 << 64) - 1)


def _real(what, value, most):
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        number = -1.0
    if not 0 <= number <= most:
        raise ValueError(f"{what} is {value!r:.60}; it has to be a number from 0 to {most:g}")
    return number


def _words(value):
    return "" if value is None else str(value)


def _sentence(problem):
    text = str(problem).strip().split("\n")[0]
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def _plain(value, depth=0):
    """What JSON can hold of a value: of others their text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    kind = type(value)
    if kind is int:
        return value if -(1 << 63) <= value < 1 << 64 else str(value)
    if kind is float:
        return value if value - value == 0 else str(value)
    if depth > 60:
        return str(value)
    if isinstance(value, collections.abc.Mapping):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each, depth + 1) for each in value]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: _plain(getattr(value, name), depth + 1) for name in value.__dataclass_fields__}
    if hasattr(value, "tolist"):  # NumPy, PyTorch: scalars and arrays
        return _plain(value.tolist(), depth + 1)
    if kind.__name__ == "Namespace":
        return _plain(vars(value), depth + 1)
    if isinstance(value, (int, float)):  # of an enumeration
        return _plain(int(value) if isinstance(value, int) else float(value), depth + 1)
    return str(value)


# --- images


def png(pixels, height, width, channels=1):
    """A PNG of bytes [height, width, channels], channels 1 (grey), 3 (RGB) or 4 (RGBA)."""
    colour = {1: 0, 3: 2, 4: 6}.get(channels)
    if colour is None:
        raise ValueError(f"an image has {channels} channels; 1 (grey), 3 (RGB) and 4 (RGBA) can be stored")
    if len(pixels) != height * width * channels:
        raise ValueError(f"an image of {height} x {width} x {channels} cannot have {len(pixels)} bytes")
    row = width * channels
    lines = b"".join(b"\0" + pixels[at:at + row] for at in range(0, len(pixels), row))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 3)) +
            chunk(b"IEND", b""))


def _picture(image, shape):
    """The fields of a line: "png" of one image, "pixels" and "shape" of several."""
    if hasattr(image, "save") and hasattr(image, "mode"):  # PIL
        stream = io.BytesIO()
        image.save(stream, "PNG")
        image = stream.getvalue()
    if isinstance(image, (bytes, bytearray, memoryview)):
        data = bytes(image)
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            _require_sides([int.from_bytes(data[at:at + 4], "big") for at in (20, 16)])
            return {"png": base64.b64encode(data).decode()}
        if shape is None:
            raise ValueError("these bytes are not a PNG; pass their shape: [height, width, channels]")
        shape = [int(side) for side in shape]
    else:
        data, shape = _pixels(image)
    _require_sides(shape)
    if len(shape) == 4:
        if shape[3] not in (1, 3, 4) or len(data) != shape[0] * shape[1] * shape[2] * shape[3]:
            raise ValueError(f"{len(data)} bytes are not images of shape {shape}: [N, H, W, C], C 1, 3 or 4")
        return {"pixels": base64.b64encode(data).decode(), "shape": shape}
    if len(shape) not in (2, 3):
        raise ValueError(f"an image has shape {shape}; it has to have 2 to 4 axes")
    return {"png": base64.b64encode(png(data, *shape)).decode()}


def _require_sides(shape):
    is_large = len(shape) in (2, 3) and shape[0] * shape[1] > _MOST_PIXELS
    if is_large or not all(1 <= side <= _LONGEST_SIDE for side in shape):
        raise ValueError(f"an image has shape {shape}; each side has to be from 1 to {_LONGEST_SIDE}, with at most "
                         f"{_MOST_PIXELS} pixels")


def _pixels(image):
    """Bytes and shape, channels last, of an array or of lists."""
    if isinstance(image, (list, tuple)):
        flat, shape = _nested(image)
        if any(isinstance(value, (bool, float)) for value in flat):
            flat = [round(min(max(0.0, value), 1.0) * 255) for value in flat]  # not a number is 0
        return bytes(min(max(int(value), 0), 255) for value in flat), shape
    if hasattr(image, "detach"):  # PyTorch
        image = image.detach().cpu()
        if image.is_floating_point():
            image = (image.float().nan_to_num(0).clamp(0, 1) * 255).round()
        elif str(image.dtype) == "torch.bool":
            image = image.int() * 255
        image, shape = _channels_last(image.clamp(0, 255).byte(), "permute")
        try:
            return image.contiguous().numpy().tobytes(), shape
        except (RuntimeError, TypeError):  # without NumPy
            return bytes(image.flatten().tolist()), shape
    if hasattr(image, "dtype") and hasattr(image, "tobytes"):  # NumPy
        if image.dtype.kind == "f":
            image = sys.modules["numpy"].nan_to_num(image).clip(0, 1) * 255 + 0.5
        elif image.dtype.kind == "b":
            image = image * 255
        image, shape = _channels_last(image.clip(0, 255).astype("uint8"), "transpose")
        return image.tobytes(), shape
    raise TypeError(f"an image is a {type(image).__name__}; pass PNG bytes, a PIL image, an array or bytes with a shape")


def _nested(values):
    """Numbers of nested lists, and their shape."""
    if not isinstance(values, (list, tuple)):
        return [values], []
    parts = [_nested(each) for each in values]
    if not parts or any(shape != parts[0][1] for _, shape in parts):
        raise ValueError("the rows of an image have to be of one length")
    return [number for flat, _ in parts for number in flat], [len(parts)] + parts[0][1]


def _channels_last(image, turn):
    """An array with its channels behind height and width, and its shape."""
    shape = [int(side) for side in image.shape]
    if len(shape) in (3, 4) and shape[-3] in (1, 3, 4) and shape[-1] not in (1, 3, 4):
        order = list(range(len(shape) - 3)) + [len(shape) - 2, len(shape) - 1, len(shape) - 3]
        image, shape = getattr(image, turn)(*order), [shape[axis] for axis in order]
    return image, shape


# --- surroundings


def _find_program(program):
    if program is not None:
        return os.fspath(program)
    named = os.environ.get("VITRINE_PROGRAM")
    if named:
        return named
    here = os.path.dirname(os.path.abspath(__file__))
    for beside in ("../../../bin/vitrine", "../../build/release/bin/vitrine", "../../build/dev/bin/vitrine"):
        file = os.path.normpath(os.path.join(here, beside))
        if os.access(file, os.X_OK) and os.path.isfile(file):
            return file
    found = shutil.which("vitrine")
    if found:
        return found
    raise LogError("the program 'vitrine' was not found: install Vitrine and add its folder bin to PATH, set "
                   "VITRINE_PROGRAM, or pass program=")


def _facts(device):
    """What the run was made with."""
    script = os.path.basename(sys.executable or "python3")
    facts = {"script": shlex.join([script] + sys.argv) if sys.argv else script,
             "versions": {"python": ".".join(str(part) for part in sys.version_info[:3])}}
    for module in ("torch", "numpy", "jax", "tensorflow"):  # those that the script has imported already
        version = getattr(sys.modules.get(module), "__version__", None)
        if version is not None:
            facts["versions"][module] = str(version)
    if device is not None:
        facts["device"] = str(device)
    folder = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv and sys.argv[0] else os.getcwd()

    def git(*words):
        done = subprocess.run(["git", "-C", folder, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=5)
        return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None

    try:
        commit = git("rev-parse", "HEAD")
        if commit:
            facts["commit"] = commit
            facts["dirty"] = bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.TimeoutExpired):
        pass  # no git, no commit
    return facts
