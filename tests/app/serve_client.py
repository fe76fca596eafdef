"""A client of `vitrine serve` written from resources/docs/serve.md alone, with the standard library.

serve_client.py PROGRAM DATABASE EXPERIMENT: plays through the page and prints what failed; exit 1 when something did.
"""

import json
import struct
import subprocess
import sys
import threading


def encode(value):
    """CBOR (RFC 8949) of None, bool, int, float, str, bytes, list and dict."""
    def head(major, number):
        for code, size, form in ((24, 1, ">B"), (25, 2, ">H"), (26, 4, ">I"), (27, 8, ">Q")):
            if number < 24:
                return bytes([major << 5 | number])
            if number < 1 << (8 * size):
                return bytes([major << 5 | code]) + struct.pack(form, number)
        raise ValueError(number)

    if value is None:
        return b"\xf6"
    if value is True or value is False:
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return head(3, len(data)) + data
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(encode(one) for one in value)
    return head(5, len(value)) + b"".join(encode(k) + encode(v) for k, v in value.items())


def decode(data, at=0):
    """One CBOR value; returns it and where the next one begins."""
    major, low = data[at] >> 5, data[at] & 31
    at += 1
    if major == 7:
        if low in (20, 21):
            return low == 21, at
        if low == 22:
            return None, at
        form, size = {25: (">e", 2), 26: (">f", 4), 27: (">d", 8)}[low]
        return struct.unpack(form, data[at:at + size])[0], at + size
    if low < 24:
        number = low
    else:
        size = 1 << (low - 24)
        number = int.from_bytes(data[at:at + size], "big")
        at += size
    if major == 0:
        return number, at
    if major == 1:
        return -1 - number, at
    if major in (2, 3):
        part = data[at:at + number]
        return (bytes(part) if major == 2 else part.decode()), at + number
    if major == 4:
        out = []
        for _ in range(number):
            one, at = decode(data, at)
            out.append(one)
        return out, at
    out = {}
    for _ in range(number):
        key, at = decode(data, at)
        out[key], at = decode(data, at)
    return out, at


class Client:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.answers, self.arrived, self.ended = {}, threading.Condition(), False
        self.next = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        out = self.process.stdout
        while True:
            head = out.read(4)
            if len(head) < 4:
                break
            size = struct.unpack("<I", head)[0]
            if size > 64 << 20:
                break  # no frame: the conversation is over
            data = out.read(size)
            answer, end = decode(data)
            assert end == len(data), "bytes behind the map"
            with self.arrived:
                self.answers.setdefault(answer["id"], []).append(answer)
                self.arrived.notify_all()
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def send(self, **request):
        self.next += 1
        request.setdefault("id", self.next)
        self.raw(encode(request))
        return request["id"]

    def raw(self, data):
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()

    def wait(self, found, seconds=60):
        with self.arrived:
            assert self.arrived.wait_for(lambda: found() or self.ended, seconds), "no answer in time"
            assert found(), "the program ended"

    def all(self, request):
        """Every answer to a request, once the last one is there."""
        def is_done():
            got = self.answers.get(request, [])
            return got and (got[-1].get("error") or not got[-1]["more"])
        self.wait(is_done)
        return self.answers.pop(request)

    def ask(self, **request):
        return self.all(self.send(**request))[-1]

    def close(self):
        self.process.stdin.close()
        return self.process.wait(60)


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def error_of(answer):
    return answer.get("error", {}).get("kind")


def greet(command):
    client = Client(command)
    hello = client.ask(op="hello", protocol=1)
    check(hello["protocol"] == 1 and hello["database"]["uuid"], hello)
    check({"copy", "log", "devices", "command", "edit", "cancel"} <= set(hello["operations"]), "all operations are named")
    return client, hello


def play_copy(client, run):
    tables = {}

    def take(known=None):
        """Everything that is sent of the run into `tables`; which tables that were."""
        sent, done = set(), False
        while not done:
            parts = client.all(client.send(op="copy", run=run, **({"known": known} if known else {})))
            for part in parts[:-1]:
                rows = [dict(zip(part["columns"], row)) for row in part["rows"]]
                tables[part["table"]] = rows if part["again"] else tables.get(part["table"], []) + rows
                sent.add(part["table"])
            done = parts[-1]["all"]
        return sent

    take()
    check(tables["run"][0]["id"] == run and tables["run"][0]["state"] == "done", "the row of the run")
    points = client.ask(op="query", sql="SELECT count(*) FROM metrics WHERE run_id = %d" % run)["rows"][0][0]
    here = len(tables.get("metric_tail", [])) + sum(row["count"] for row in tables.get("metric_chunk", []))
    check(here == points, "every point: %d of %d" % (here, points))
    check(all(isinstance(row["data"], bytes) for row in tables.get("metric_chunk", [])), "blobs are bytes")
    known = {}
    for table in ("edit", "event", "clock_chunk", "metric_chunk", "artifact", "generated_image", "generated_text", "metric_tail"):
        key = "sequence" if table == "metric_tail" else "id"
        rows = tables.get(table, [])
        total = sum(row["last_sequence"] for row in rows) if table == "metric_chunk" else 0
        known[table] = {"rows": len(rows), "last": max([row[key] for row in rows], default=-1), "check": total}
    check(not take(known) & set(known), "what is known is not sent again")
    shared = {part["table"] for part in client.all(client.send(op="copy", run=0))[:-1]}
    check({"experiment", "metric_name"} <= shared, "what belongs to no run")

    log = client.ask(op="log", run=run)
    check(log["from"] + len(log["data"]) == log["size"], "the end of the log")
    check(client.ask(op="log", run=run, **{"from": log["size"]})["data"] == b"", "nothing behind it")
    check(error_of(client.ask(op="copy", run="x")) == "protocol", "a run that is not a number")


def play_curve_notes(client, run):
    note = lambda step, text: {"metric": "train/loss", "step": step, "text": text}
    edit = lambda notes, based_on: client.ask(op="edit", run=run, field="curve_notes", text=json.dumps(notes), based_on=based_on)
    seen = edit([note(3, "old")], -1)["version"]
    check(edit([note(3, "old"), note(9, "mine")], seen)["version"] == seen + 1, "a note that is added")
    check(edit([note(4, "theirs")], seen)["version"] == seen + 2, "a note that another client adds at the same time")
    rows = client.ask(op="query", sql="SELECT step, text FROM curve_notes WHERE run_id = %d" % run)["rows"]
    check(rows == [[4, "theirs"], [9, "mine"]], rows)
    refused = client.ask(op="edit", run=run, field="curve_notes", text="[1]")
    check(error_of(refused) == "config" and "JSON list" in refused["error"]["message"], "a list that is none")


def play_image_tags(client, run):
    star = {"step": 3, "sha256": "ab", "tag": "*"}
    edit = lambda tags: client.ask(op="edit", run=run, field="image_tags", text=json.dumps(tags))
    check("version" in edit([star]), "a star on an image")
    rows = client.ask(op="query", sql="SELECT step, sha256, tag FROM image_tags WHERE run_id = %d" % run)["rows"]
    check(rows == [[3, "ab", "*"]], rows)
    check(error_of(edit([{"step": 3}])) == "config", "a tag without an image")


def play_orders(client, run):
    devices = client.ask(op="devices")["devices"]
    check(devices[0]["name"] == "cpu" and devices[0]["total_bytes"] > devices[0]["used_bytes"] > 0, "the processor")
    seen = client.ask(op="edit", run=run, field="note", text="mine")["version"]
    check(client.ask(op="edit", run=run, field="note", text="theirs", based_on=seen)["version"] == seen + 1, "an edit")
    late = client.ask(op="edit", run=run, field="note", text="late", based_on=seen)
    check(late["theirs"] == "theirs" and late["version"] == seen + 1, "an edit that came too late")
    check(error_of(client.ask(op="edit", run=run, field="shape", text="")) == "protocol", "a field that is none")
    play_curve_notes(client, run)
    play_image_tags(client, run)
    paused = client.ask(op="command", command={"what": "mode", "mode": "paused"})
    check(paused["mode"] == "paused" and paused["runs"] == [], "the queue is paused")
    check(client.ask(op="command", command={"what": "mode", "mode": "running"})["mode"] == "running", "and continues")
    check(error_of(client.ask(op="command", command={"what": "dance"})) == "config", "a command that does not exist")
    check(error_of(client.ask(op="command", command={"what": "stop", "runs": [run]})) == "refused", "it has ended")


def play_farewell(command, run):
    """What was accepted is done although the client has closed its end."""
    client, _ = greet(command)
    before = client.ask(op="edit", run=run, field="note", text="first")["version"]
    for number in range(50):
        client.send(op="edit", run=run, field="note", text="note %d" % number)
    check(client.close() == 0, "it ends with 0")
    client, _ = greet(command)
    check(client.ask(op="edit", run=run, field="note", text="last")["version"] == before + 51, "all edits were stored")
    check(client.close() == 0, "it ends with 0")


def play(program, database, experiment):
    command = [program, "serve", "--db", database]

    # The first request is hello.
    client = Client(command)
    check(error_of(client.ask(op="query", sql="SELECT 1")) == "protocol", "a query before hello")
    check(client.process.wait(60) == 2, "the program ends with 2")
    client = Client(command)
    check(error_of(client.ask(op="hello", protocol=7)) == "protocol", "an unknown protocol")
    check(client.process.wait(60) == 2, "the program ends with 2")
    # The example of the page, byte by byte.
    client = Client(command)
    client.raw(bytes.fromhex("a362696401626f706568656c6c6f6870726f746f636f6c01"))
    check(client.all(1)[0]["protocol"] == 1, "the example of the page")

    check(error_of(client.ask(op="dance")) == "protocol", "an unknown operation")
    check(error_of(client.ask(op="query")) == "protocol", "a query without sql")
    check(error_of(client.ask(op="query", sql="DELETE FROM run")) == "refused", "a statement that writes")
    check(error_of(client.ask(op="query", sql="SELECT nothing")) == "failed", "a statement with an error")
    check(error_of(client.ask(op="request", run=10**6, what="stop")) == "not_found", "a run that is not there")
    client.raw(b"\xff\xff")
    client.wait(lambda: None in client.answers)
    check(error_of(client.answers.pop(None)[0]) == "protocol", "a frame that is not CBOR")
    client.raw(encode({"id": "deep", "op": "query", "sql": "SELECT 1", "x": eval("[" * 40 + "]" * 40)}))
    client.wait(lambda: None in client.answers)
    check(error_of(client.answers.pop(None)[0]) == "protocol", "a map of 41 levels")
    for piece in (b"\x7f", b"\x5f"):
        client.raw(b"\xa1\x61a" + piece * 500_000)
        client.wait(lambda: None in client.answers)
        check(error_of(client.answers.pop(None)[0]) == "protocol", "strings within each other")
    client.send(id="x" * 201, op="query", sql="SELECT 1")
    client.wait(lambda: None in client.answers)
    check(error_of(client.answers.pop(None)[0]) == "protocol", "an id that is too long")
    check(client.ask(op="query", sql="SELECT 1")["rows"] == [[1]], "the conversation continues after those")

    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) SELECT i, 'x' AS t FROM n"
    parts = client.all(client.send(op="query", sql=numbers % 1234))
    check(parts[0]["columns"] == ["i", "t"] and len(parts) == 3, "a long answer comes in parts")
    check([row[0] for part in parts for row in part["rows"]] == list(range(1, 1235)), "all rows, in order")
    check(parts[-1]["cut"] is False, "nothing was cut")
    check(client.all(client.send(op="query", sql=numbers % 1234, rows=10))[-1]["cut"] is True, "rows were cut")

    # Of two queries that wait, the newer one is answered.
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    while True:
        first = client.send(op="query", sql=endless)
        second = client.send(op="query", sql="SELECT 2")
        client.ask(op="cancel", of="none")  # answered after both were taken
        if first not in client.answers:
            break  # it runs: it was not replaced
        for one in (first, second):
            client.all(one)
    third = client.send(op="query", sql="SELECT 3")
    check(error_of(client.all(second)[0]) == "replaced", "the older one that waits is replaced")
    check(client.ask(op="cancel", of=first)["known"] is True, "the one that runs is known")
    check(error_of(client.all(first)[0]) == "cancelled", "the one that runs is cancelled")
    check(client.all(third)[0]["rows"] == [[3]], "the newest is answered")
    check(client.ask(op="cancel", of=first)["known"] is False, "it is over")

    # An id belongs to its request until that is answered, whatever else names it.
    busy = client.send(op="query", sql=endless)
    for wrong in ({}, {"op": "dance"}, {"op": "cancel", "of": busy}, {"op": "hello", "protocol": 1},
                  {"op": "query", "sql": "SELECT 1"}):
        client.send(id=busy, **wrong)
    client.wait(lambda: len(client.answers.get(busy, [])) == 5)
    check(all(error_of(one) == "protocol" for one in client.answers.pop(busy)), "an id that is in use")
    check(client.ask(op="cancel", of=busy)["known"] is True, "its request is still known")
    check(error_of(client.all(busy)[0]) == "cancelled", "and ends once")

    # No frame is above the limit: rows are cut by bytes, and one that cannot be sent is an error.
    parts = client.all(client.send(op="query", sql=(numbers % 280).replace("'x'", "hex(zeroblob(130000))")))
    check([row[0] for part in parts for row in part["rows"]] == list(range(1, 281)), "large rows, in order")
    large = client.ask(op="query", sql="SELECT hex(zeroblob(17500000)), hex(zeroblob(17500000))")
    check(error_of(large) == "refused" and "of a frame" in large["error"]["message"], "a row above a frame")

    kinds = {item["kind"] for item in client.ask(op="describe")["catalog"]["items"]}
    check("architecture" in kinds, "the catalog has architectures")

    # Watch, enqueue, lose the link, come back, and miss nothing.
    watch = client.send(op="watch")
    client.wait(lambda: any("change" in one for one in client.answers.get(watch, [])))
    before = client.answers[watch][-1]["change"]
    check(error_of(client.ask(op="check")) == "protocol", "a check of nothing")
    check(client.ask(op="check", experiment="title = ")["report"]["problems"][0]["line"] == 1, "a check finds the line")
    report = client.ask(op="check", experiment=experiment)["report"]
    check(report["problems"] == [] and len(report["runs"]) >= 1, "a check tells the runs")
    check(error_of(client.ask(op="enqueue", experiment="title = ")) == "config", "an experiment that is none")
    check(error_of(client.ask(op="enqueue", plan={"plan": 1})) == "config", "a plan that is none")
    ids = client.ask(op="enqueue", plan=report)["ids"]
    check(len(ids) >= 1, "runs were stored")
    client.wait(lambda: {run["id"] for one in client.answers[watch] for run in one["runs"]} >= set(ids))
    client.process.kill()  # the link drops

    client, hello = greet(command)
    watch = client.send(op="watch", after=before)
    known = {}

    def are_done():
        for one in client.answers.get(watch, []):
            known.update({run["id"]: run for run in one["runs"]})
        return all(known.get(run, {}).get("state") == "done" for run in ids)
    client.wait(are_done, 100)
    check(set(known) == set(ids), "after that change there were those runs, and no others")
    rows = client.ask(op="query", sql="SELECT count(*) FROM metrics WHERE run_id = %d AND name = 'train/loss'" % ids[0])
    check(rows["rows"][0][0] > 0, "its curve is there")
    check(error_of(client.ask(op="request", run=ids[0], what="stop")) == "refused", "it has ended")
    check(error_of(client.ask(op="request", run=ids[0], what="dance")) == "protocol", "an unknown request")
    play_copy(client, ids[0])
    play_orders(client, ids[0])
    play_farewell(command, ids[0])
    check(client.ask(op="request", run=ids[0], what="delete")["state"] is None, "it is deleted")
    check(error_of(client.ask(op="copy", run=ids[0])) == "not_found", "no copy of a run that is gone")
    client.wait(lambda: any(ids[0] in one.get("deleted", []) for one in client.answers[watch]))
    check(client.ask(op="cancel", of=watch)["known"] is True, "the watch is known")
    client.wait(lambda: client.answers[watch][-1].get("ended"))
    check(client.close() == 0, "it ends with 0")

    # A length that cannot be.
    client, _ = greet(command)
    client.process.stdin.write(struct.pack("<I", (64 << 20) + 1))
    client.process.stdin.flush()
    client.wait(lambda: None in client.answers)
    check(error_of(client.answers[None][0]) == "protocol", "a frame that is too large")
    check(client.process.wait(60) == 1, "it ends with 1")
    # An end within a frame.
    client, _ = greet(command)
    client.process.stdin.write(b"\x10\x00\x00\x00abc")
    check(client.close() == 1, "an end within a frame")


if __name__ == "__main__":
    with open(sys.argv[3], encoding="utf-8") as file:
        play(sys.argv[1], sys.argv[2], file.read())
    print("every line of the page held")
