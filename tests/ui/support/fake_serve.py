"""Stands in for `vitrine serve`: answers requests as a Python file of the test says.

fake_serve.py ANSWERS: ANSWERS defines a function for each operation. It takes the request, a dictionary, and returns the last
answer; a generator yields the answers before that. `hello` and `cancel` are answered here; a cancelled request ends between two
answers, and `request["is_cancelled"]()` tells of it. What ANSWERS does not define is answered as `protocol`; every model loads.
`here(name)` is a file beside ANSWERS, and log() adds a line to the file "log" there.
"""

import os
import struct
import sys
import threading
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "app"))
from serve_client import decode, encode  # noqa: E402

writing = threading.Lock()
cancelled = set()


def send(answer):
    data = encode(answer)
    with writing:
        sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
        sys.stdout.buffer.flush()


def answer(handler, request):
    number = request["id"]
    request["is_cancelled"] = lambda: number in cancelled
    last = handler(request)
    if not isinstance(last, dict):
        parts = last
        while True:
            try:
                part = next(parts)
            except StopIteration as end:
                last = end.value or {}
                break
            send({**part, "id": number, "more": True})
            if number in cancelled:
                last = {"error": {"kind": "cancelled", "message": "a cancel ended it"}}
                break
    send({**last, "id": number} if "error" in last else {**last, "id": number, "more": False})


def whole(fields, data):
    """A part whose bytes come in one piece."""
    return {**fields, "size": len(data), "offset": 0, "bytes": data}


def png(grey, side=8):
    """A square of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes([grey] * side)) * side
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main():
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))

    def here(name):
        return os.path.join(folder, name)

    def log(text):
        with open(here("log"), "a") as file:
            file.write(text + "\n")

    handlers = {"here": here, "log": log, "whole": whole, "png": png, "load": lambda request: {"model": "m"}}
    with open(sys.argv[1], encoding="utf-8") as file:
        exec(compile(file.read(), sys.argv[1], "exec"), handlers)
    source = sys.stdin.buffer
    while True:
        head = source.read(4)
        if len(head) < 4:
            os._exit(0)
        request, _ = decode(source.read(struct.unpack("<I", head)[0]))
        if request["op"] == "hello":
            send({"id": request["id"], "more": False, "protocol": 1})
        elif request["op"] == "cancel":
            cancelled.add(request["of"])
            send({"id": request["id"], "more": False, "known": True})
        elif request["op"] in handlers:
            threading.Thread(target=answer, args=(handlers[request["op"]], request), daemon=True).start()
        else:
            send({"id": request["id"],
                  "error": {"kind": "protocol", "message": "there is no operation '" + request["op"] + "'"}})


main()
