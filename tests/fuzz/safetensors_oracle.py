"""Compares Vitrine's safetensors reader with the reference one, Python's `safetensors`, over changed files.

    safetensors_oracle.py SAFETENSORS_VERDICTS [COUNT]

Vitrine may refuse more, each time for a reason that it gives and that stands in STRICTER. It must never take what the
reference refuses. Exit 77, with the reason, where no interpreter has the package (VITRINE_ORACLE_PYTHON names one).
"""

import json
import os
import random
import struct
import subprocess
import sys

# What Vitrine refuses and the reference takes: parts of the refusal, and why.
STRICTER = {
    "is there twice": "the reference keeps the last of two equal keys",
    "is not known; known are": "types that a tensor here cannot have",
    "above the limit": "a header above 16 MiB",
    "of its shape is too large": "a side above 63 bits, which only a side of 0 beside it makes possible",
    "its rank is above": "rank above 16",
    "is longer than 1,024": "a name above 1 KiB",
    "is nested deeper than": "JSON deeper than 8",
    "does not end with '}' and spaces": "other white space behind the header",
    "is null, not an object": "__metadata__ of null",
    "does not begin with '{'": "white space before the header, which the format forbids",
}


def find_reference():
    """This interpreter, or another that has the package: becomes it."""
    try:
        import safetensors

        return safetensors
    except ImportError:
        pass
    if os.environ.get("VITRINE_ORACLE_TRIED"):
        return None
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "vitrine")
    for python in (
        os.environ.get("VITRINE_ORACLE_PYTHON"),
        os.environ.get("VITRINE_PYTHON"),
        os.path.join(cache, "fuzz-oracle/bin/python"),
        os.path.join(cache, "torch-2.11.0/bin/python"),
    ):
        if python and os.access(python, os.X_OK):
            probe = subprocess.run([python, "-c", "import safetensors"], capture_output=True)
            if probe.returncode == 0:
                os.environ["VITRINE_ORACLE_TRIED"] = "1"
                os.execv(python, [python] + sys.argv)
    return None


def header(entries, metadata=None):
    table = {} if metadata is None else {"__metadata__": metadata}
    offset = 0
    for name, dtype, shape, size in entries:
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    return json.dumps(table, separators=(",", ":")).encode(), offset


def packed(text, data):
    return struct.pack("<Q", len(text)) + text + data


def seeds():
    for entries, metadata in (
        ([("a", "F32", [2], 8)], None),
        ([("a", "F32", [2, 3], 24), ("b", "I64", [], 8), ("c", "BOOL", [0, 5], 0)], {"format": "pt"}),
        ([("w.%d" % i, "U8", [i], i) for i in range(6)], {}),
        ([("h", "BF16", [1, 1, 2], 4), ("\u00e9\"\\", "F16", [3], 6)], {"k": "v", "\n": ""}),
    ):
        text, size = header(entries, metadata)
        yield packed(text, bytes(size))
        yield packed(text + b" " * (-len(text) % 8), bytes(size))


NUMBERS = [b"0", b"1", b"2", b"4", b"8", b"24", b"-1", b"-0", b"1.0", b"1e1", b"4294967296", b"9223372036854775807",
           b"9223372036854775808", b"18446744073709551615", b"18446744073709551616", b"1e999", b"NaN", b"null", b"\"1\"",
           b"[1]", b"{}", b"01", b"true"]
TYPES = [b"F64", b"F32", b"F16", b"BF16", b"I64", b"I32", b"I16", b"I8", b"U8", b"BOOL", b"U16", b"F8_E4M3", b"f32", b""]
PIECES = [b",", b"}", b"{", b"[", b"]", b"\"", b":", b" ", b"\n", b"\0", b"\xff", b"\\u0000", b"\\ud800", b"null",
          b"\"x\":1,", b"\"x\":[[[[[[[[[[1]]]]]]]]]],", b"\"__metadata__\":{\"a\":\"b\"},", b"\"__metadata__\":null,"]


def change(text, dice):
    import re

    kind = dice.randrange(7)
    if kind <= 1:
        numbers = list(re.finditer(rb"\d+", text))
        if numbers:
            at = dice.choice(numbers)
            return text[: at.start()] + dice.choice(NUMBERS) + text[at.end():]
    elif kind == 2:
        types = list(re.finditer(rb"(F64|F32|F16|BF16|I64|I32|I16|I8|U8|BOOL)", text))
        if types:
            at = dice.choice(types)
            return text[: at.start()] + dice.choice(TYPES) + text[at.end():]
    elif kind == 3:
        at = dice.randrange(len(text) + 1)
        return text[:at] + dice.choice(PIECES) + text[at:]
    elif kind == 4 and text:
        at = dice.randrange(len(text))
        return text[:at] + bytes([text[at] ^ 1 << dice.randrange(8)]) + text[at + 1:]
    elif kind == 5 and text:
        at = dice.randrange(len(text))
        return text[:at] + text[at + dice.randrange(1, 9):]
    elif kind == 6:
        entries = list(re.finditer(rb"\"[^\"]*\":\{[^{}]*\},?", text))
        if entries:
            at = dice.choice(entries)
            part = at.group(0)
            if dice.randrange(2):
                return text[: at.start()] + text[at.end():]
            return text[: at.start()] + part.rstrip(b",") + b"," + text[at.start():]
    return text


def changed(seed, dice):
    length = struct.unpack("<Q", seed[:8])[0]
    text, data = seed[8 : 8 + length], seed[8 + length :]
    for _ in range(dice.randrange(3)):
        text = change(text, dice)
    if dice.randrange(4) == 0:
        data = data[: dice.randrange(len(data) + 1)] if dice.randrange(2) else data + bytes(dice.randrange(9))
    out = packed(text, data)
    if dice.randrange(16) == 0:
        out = struct.pack("<Q", dice.choice([0, 1, len(text) + 1, len(out), 2**63, 2**64 - 1])) + out[8:]
    if dice.randrange(16) == 0:
        out = out[: dice.randrange(len(out) + 1)]
    return out


def main():
    reference = find_reference()
    if reference is None:
        print("skipped: no interpreter here has the package safetensors; set VITRINE_ORACLE_PYTHON to one that has it, "
              "or run tests/fuzz/run.sh, which installs it into an environment of its own")
        return 77
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    dice = random.Random(1)
    files = list(seeds())
    files += [changed(dice.choice(files), dice) for _ in range(count - len(files))]
    theirs = []
    for content in files:
        try:
            reference.deserialize(content)
            theirs.append("ok")
        except Exception as refusal:  # the package raises its own class and, for text, UnicodeDecodeError
            theirs.append(str(refusal))
    stream = b"".join(struct.pack("<I", len(content)) + content for content in files)
    run = subprocess.run([sys.argv[1]], input=stream, capture_output=True)
    ours = run.stdout.decode(errors="replace").split("\n")[:-1]
    if run.returncode != 0 or len(ours) != len(files):
        print("FAILED: %d verdicts for %d files, exit code %d: %s"
              % (len(ours), len(files), run.returncode, run.stderr.decode(errors="replace")[:2000]))
        return 1

    taken, stricter, wrong = 0, {}, []
    for content, their, our in zip(files, theirs, ours):
        if our == "ok" and their == "ok":
            taken += 1
        elif our == "ok":
            wrong.append("taken, and the reference says: %s\n  %r" % (their, content[:400]))
        elif their == "ok":
            reasons = [part for part in STRICTER if part in our]
            if reasons:
                stricter[reasons[0]] = stricter.get(reasons[0], 0) + 1
            else:
                wrong.append("refused, and the reference takes it: %s\n  %r" % (our, content[:400]))
    for sentence in wrong[:5]:
        print("FAILED: " + sentence)
    print("%d files against safetensors %s: %d taken by both, %d refused by both, %d refused by Vitrine alone %s, %d wrong"
          % (len(files), reference.__version__, taken, len(files) - taken - sum(stricter.values()) - len(wrong),
             sum(stricter.values()), stricter, len(wrong)))
    if taken < count // 50:
        print("FAILED: too few files were taken for the comparison to mean anything")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
