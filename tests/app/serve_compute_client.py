"""What `vitrine serve` computes, beside what the verbs of the command line give.

serve_compute_client.py PROGRAM DATABASE PART SCRATCH PLUGIN: plays one part; exit 1 when something did not hold.
"""

import array
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

from serve_client import Client, check, encode, error_of, greet

SIZES = "image_size=8 patch_size=4 in_channels=1 num_classes=4 width=16 depth=2 heads=2"
LONG = 400_000  # passes that take minutes: a client that waits for them has not been cancelled


class Lab:
    """A program, a database, and a conversation with `serve` on it."""

    def __init__(self, program, database, scratch, options=()):
        self.program, self.database, self.scratch = program, database, scratch
        self.client, hello = greet([program, "serve", "--db", database, *options])
        wanted = {"load", "unload", "models", "infer", "analyse", "sample", "samples"}
        check(wanted <= set(hello["operations"]), "what computes is among the operations")

    def verb(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, done.stderr)
        return json.loads(done.stdout)

    def rows(self, sql):
        return self.client.ask(op="query", sql=sql)["rows"]

    def load(self, run=1, **more):
        answer = self.client.ask(op="load", run=run, **more)
        check("error" not in answer, answer)
        del answer["id"]
        return answer

    def infer(self, model, **request):
        """The last answer, and its outputs: {name: (dtype, shape, bytes)}."""
        return self.joined(self.client.send(op="infer", model=model, **request))

    def joined(self, request):
        answers = self.client.all(request)
        outputs = {}
        for one in (answer["output"] for answer in answers if "output" in answer):
            known = outputs.setdefault(one["name"], (one["dtype"], one["shape"], bytearray()))
            check(one["offset"] == len(known[2]), "pieces come in order")
            known[2].extend(one["bytes"])
            check(len(known[2]) <= one["size"], "and are no more than the whole")
        return answers[-1], {name: (d, s, bytes(b)) for name, (d, s, b) in outputs.items()}

    def begin_long(self, model):
        """A request that has begun and would continue for minutes."""
        ids = [i % 64 for i in range(LONG)]
        request = self.client.send(op="infer", model=model, sample_ids=ids, batch_size=1)
        self.client.wait(lambda: any("done" in one for one in self.client.answers.get(request, [])))
        return request

    def models(self):
        return self.client.ask(op="models")

    def weights(self, run=1):
        uuid = self.rows("SELECT uuid FROM runs WHERE id = %d" % run)[0][0]
        folder = os.path.join(self.database[:-len(".sqlite")] + ".files", "run-" + uuid)
        newest = sorted(name for name in os.listdir(folder) if name.startswith("step-"))[-1]
        return os.path.join(folder, newest, "model.safetensors")


def images(count, side=8):
    values = array.array("f", (((i * 37) % 101) / 50 - 1 for i in range(count * side * side)))
    return {"shape": [count, 1, side, side], "bytes": values.tobytes()}


def write_safetensors(path, name, tensor):
    head = json.dumps({name: {"dtype": "F32", "shape": tensor["shape"], "data_offsets": [0, len(tensor["bytes"])]}})
    head = head.encode() + b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + tensor["bytes"])


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    head, body = json.loads(data[8:8 + size]), data[8 + size:]
    return {name: (one["shape"], body[slice(*one["data_offsets"])])
            for name, one in head.items() if name != "__metadata__"}


def play_infer(lab):
    loaded = lab.load()
    check(loaded["step"] == 24 and loaded["run"] == 1 and loaded["device"] == "cpu", loaded)
    check(loaded["image"] == [1, 8, 8] and "image_classifier" in loaded["capabilities"], loaded)
    check(loaded["parameters"] * 4 <= loaded["bytes"], "float32")
    check(lab.load() == loaded, "the same again is the same model")
    check(lab.load(precision="fp32") == loaded, "and so is the run's own precision, named")
    check(len(lab.models()["models"]) == 1, "and is there once")

    # The tensors of `vitrine infer`, to the last bit.
    given = images(5)
    write_safetensors(lab.scratch + "/in.safetensors", "image", given)
    words = ["model.architecture=vit"] + ["model." + word for word in SIZES.split()]

    def written(*options):
        lab.verb("infer", "--weights", lab.weights(), "--input", lab.scratch + "/in.safetensors", "--output",
                 lab.scratch + "/out.safetensors", *options, "--json", *words)
        return read_safetensors(lab.scratch + "/out.safetensors")

    wanted = written("--blocks", "--attention")
    check(set(wanted) == {"logits", "features", "block_0", "block_1", "attention_0", "attention_1"}, sorted(wanted))
    everything = ["logits", "features", "blocks", "attention"]
    last, outputs = lab.infer(loaded["model"], image=given, outputs=everything)
    check(set(last["outputs"]) == set(wanted) == set(outputs) and last["images"] == 5, last)
    for name, (shape, data) in wanted.items():
        check(outputs[name] == ("float32", shape, data), name + " is what the verb writes")
    # Without taps a model may take another path, with other last bits.
    plain = {"logits": ("float32", *written()["logits"])}
    check(lab.infer(loaded["model"], image=given)[1] == plain, "logits alone unless told otherwise")

    # The same weights without their run.
    file = lab.client.ask(op="load", weights=lab.weights(), overrides=words)
    check(file["run"] is None and file["weights_sha256"] == loaded["weights_sha256"], file)
    check(lab.infer(file["model"], image=given)[1] == plain, "a file of weights")
    folder = lab.scratch + "/weights"
    os.makedirs(folder, exist_ok=True)
    shutil.copy(lab.weights(), folder + "/model.safetensors")
    there = lab.client.ask(op="load", weights=folder, overrides=words)
    check(there.get("model") == file["model"], "a folder of the same weights is the same model")
    refused = lab.client.ask(op="analyse", model=file["model"], item="calibration")
    check(error_of(refused) == "refused" and "needs a run" in refused["error"]["message"], refused)

    # Samples of the data by number: as many are right as `evaluate` counts.
    top1 = lab.verb("evaluate", "1", "--json", "--db", lab.database)["scores"]["top1"]
    _, outputs = lab.infer(loaded["model"], sample_ids=list(range(64)), batch_size=7)
    logits = array.array("f", outputs["logits"][2])
    rows = [logits[4 * i:4 * i + 4] for i in range(64)]
    right = sum(max(range(4), key=lambda c: row[c]) == i % 4 for i, row in enumerate(rows))
    check(right == round(64 * top1), "%d right of 64, top1 %f" % (right, top1))

    # What a frame cannot hold comes in pieces.
    _, outputs = lab.infer(loaded["model"], sample_ids=[i % 64 for i in range(60_000)], outputs=["blocks"],
                           batch_size=4096)
    _, shape, data = outputs["block_0"]
    check(shape[0] == 60_000 and len(data) == 4 * shape[0] * shape[1] * shape[2] > 16 << 20, "more than one piece")
    check(data[:4 * shape[1] * shape[2]] == data[64 * 4 * shape[1] * shape[2]:][:4 * shape[1] * shape[2]],
          "image 64 is image 0 again")


def play_analyse(lab):
    model = lab.load()["model"]
    for item, settings in (("calibration", {"bins": 7}), ("attention_map", {"ids": [3, 1]})):
        words = ["%s=%s" % (key, json.dumps(value)) for key, value in settings.items()]
        stored = lab.verb("analyse", "1", item, *words, "--json", "--db", lab.database)
        known = {row[0]: row[1:] for row in lab.rows("SELECT id, name, kind, meta, hex(data) FROM artifacts")}
        answers = lab.client.all(lab.client.send(op="analyse", model=model, item=item, settings=settings))
        found = [answer["artifact"] for answer in answers[:-1]]
        check(len(found) == len(stored["artifacts"]) == answers[-1]["artifacts"] > 0, answers[-1])
        check(answers[-1]["scores"] == stored["scores"], "the scores of the verb")
        for one, its in zip(found, stored["artifacts"]):
            name, kind, meta, data = known[its["id"]]
            check((one["name"], one["kind"], one["meta"]) == (name, kind, json.loads(meta)), one["name"])
            check(one["bytes"].hex().upper() == data and "stored" not in one, "the bytes of " + name)
        check(len(lab.rows("SELECT id FROM artifacts")) == len(known), "nothing was stored")

        answers = lab.client.all(lab.client.send(op="analyse", model=model, item=item, settings=settings, store=True))
        check("error" not in answers[-1], answers[-1])
        for one in (answer["artifact"] for answer in answers[:-1]):
            row = lab.rows("SELECT name, hex(data) FROM artifacts WHERE id = %d" % one["stored"])
            check(row == [[one["name"], one["bytes"].hex().upper()]], "it is stored when asked for")
    before = len(lab.rows("SELECT id FROM artifacts"))
    for within in (1, 10**9):
        answers = lab.client.all(lab.client.send(op="analyse", model=model, item="attention_map", settings={"ids": [4]},
                                                 store=True, store_within=within))
        check(all(("stored" in one["artifact"]) == (within > 1) for one in answers[:-1]), "stored where it is small")
    check(len(lab.rows("SELECT id FROM artifacts")) == before + len(answers) - 1, "once")

    # Probes look at the split that is named, and say so.
    def pixels_of(**more):
        answers = lab.client.all(lab.client.send(op="analyse", model=model, item="attention_map", settings={"ids": [3]}, **more))
        check("error" not in answers[-1], answers[-1])
        return [one["artifact"] for one in answers[:-1] if one["artifact"]["kind"] == "image"][0], answers[-1]

    (usual, _), (train, last) = pixels_of(), pixels_of(split="train")
    check(train["meta"]["split"] == last["split"] == "train" and usual["meta"]["split"] == "test", train["meta"])
    check(train["name"] == "train " + usual["name"] and train["bytes"] != usual["bytes"], "another image")
    stored = lab.verb("analyse", "1", "attention_map", "ids=[3]", "--split", "train", "--json", "--db", lab.database)
    check({one["meta"]["split"] for one in stored["artifacts"]} == {"train"}, "as the verb does")

    # An image from anywhere, as evaluations would see it: grey, resized, normalised.
    def maps_of(height, width, pixel):
        image = {"shape": [height, width, 3], "bytes": bytes(pixel) * (height * width)}
        answers = lab.client.all(lab.client.send(op="analyse", model=model, item="attention_map", image=image,
                                                 settings={"query": "all"}))
        check("error" not in answers[-1], answers[-1])
        return {one["artifact"]["kind"]: one["artifact"] for one in answers[:-1]}

    own = maps_of(8, 8, (90, 90, 90))
    check(own["attention"]["name"] == "image -1" and own["attention"]["meta"]["image"] == -1, own["attention"]["meta"])
    check(own["image"]["meta"]["shape"] == [8, 8, 1], "the image as the model reads it is shown")
    check(maps_of(24, 16, (90, 90, 90))["attention"]["bytes"] == own["attention"]["bytes"], "it is resized")
    check(maps_of(8, 8, (0, 0, 255))["attention"]["bytes"] == maps_of(8, 8, (29, 29, 29))["attention"]["bytes"],
          "blue is a dark grey")
    check(maps_of(8, 8, (250, 250, 250))["attention"]["bytes"] != own["attention"]["bytes"], "and it is looked at")
    grey = {"shape": [8, 8, 3], "bytes": bytes(192)}
    for kind, request in (
            ("refused", {"item": "calibration", "image": grey}),
            ("config", {"item": "attention_map", "image": grey, "store": True}),
            ("config", {"item": "attention_map", "image": dict(grey, shape=[8, 9, 3])}),
            ("config", {"item": "attention_map", "image": dict(grey, shape=[2**40, 2**40, 3])}),
            ("config", {"item": "attention_map", "image": dict(grey, shape=[192])}),
            ("protocol", {"item": "attention_map", "image": "cat.png"})):
        answer = lab.client.ask(op="analyse", model=model, **request)
        check(error_of(answer) == kind, "%s: %s" % (request, answer))
    other = lab.load(overrides=["data.test_samples=32"])
    check(other["model"] != model, "other data, another model")
    answers = lab.client.all(lab.client.send(op="analyse", model=other["model"], item="calibration"))
    check(answers[0]["artifact"]["meta"]["overrides"] == ["data.test_samples=32"], "what was overridden is said")


def ece_of(meta, data, bins):
    """By the rule of the analysis, from the stored answers alone."""
    rows, columns = meta["shape"]
    values = array.array("f", data)
    sums = [[0, 0.0, 0] for _ in range(bins)]
    for i in range(rows):
        label, logits = int(values[i * columns + 1]), values[i * columns + 2:(i + 1) * columns]
        largest = max(logits)
        confidence = 1 / sum(math.exp(z - largest) for z in logits)
        one = sums[min(bins - 1, math.ceil(confidence * bins) - 1)]
        one[0], one[1], one[2] = one[0] + 1, one[1] + confidence, one[2] + (logits.index(largest) == label)
    return sum(abs(right - sure) for _, sure, right in sums) / rows


def play_samples(lab):
    model = lab.load()["model"]
    answers = lab.client.all(lab.client.send(op="samples", model=model, sample_ids=[5, 2]))
    last, found = answers[-1], [answer["sample"] for answer in answers[:-1]]
    check(last["samples"] == 2 and last["split"] == "test" and last["model"] == model, last)
    check([one["sample_id"] for one in found] == [5, 2], "in the order asked for")
    check([one["label"] for one in found] == [1, 2], "with their labels")
    check(all(one["bytes"][1:4] == b"PNG" and one["size"] == len(one["bytes"]) for one in found), "as PNG")
    check(all((one["width"], one["height"]) == (8, 8) for one in found), "of the size the model reads")

    # The answers that `calibration` stores say the score again.
    answers = lab.client.all(lab.client.send(op="analyse", model=model, item="calibration", settings={"bins": 7}))
    rows = [answer["artifact"] for answer in answers[:-1] if answer["artifact"]["name"] == "predictions"][0]
    meta = rows["meta"]
    check(meta["split"] == "test" and meta["form"] == "logits" and meta["shape"] == [64, 2 + 4], meta)
    again, score = ece_of(meta, rows["bytes"], 7), answers[-1]["scores"]["ece"]
    check(abs(again - score) < 1e-6, "ECE %r of the rows, %r scored" % (again, score))


def play_queue(lab):
    client, model, second = lab.client, lab.load()["model"], lab.load(run=3)["model"]
    busy = lab.begin_long(model)
    check(len(lab.models()["models"]) == 2, "models are listed meanwhile")
    check(lab.rows("SELECT 1") == [[1]], "and other requests are answered")
    older = client.send(op="infer", model=model, sample_ids=[0])
    other_model = client.send(op="infer", model=second, sample_ids=[0])
    other_kind = client.send(op="analyse", model=model, item="calibration")
    dropped = client.send(op="analyse", model=second, item="calibration")
    newer = client.send(op="infer", model=model, sample_ids=[1])
    check(error_of(client.all(older)[0]) == "replaced", "the older of two that wait")
    check(client.ask(op="cancel", of=dropped)["known"] is True, "what waits is known")
    check(error_of(client.all(dropped)[0]) == "cancelled", "and is cancelled at once")
    check(not any(client.answers.get(one) for one in (newer, other_model, other_kind)), "the rest waits")
    check(client.ask(op="cancel", of=busy)["known"] is True, "what computes is known")
    check(error_of(client.all(busy)[-1]) == "cancelled", "and is cancelled between two passes")
    check(client.ask(op="cancel", of=busy)["known"] is False, "it is over")
    for one in (other_model, other_kind, newer):
        check("error" not in client.all(one)[-1], "what waited is done")
    first, wide = lab.infer(model, image=images(2)), lab.infer(second, image=images(2))
    check(first[1]["logits"][1] == wide[1]["logits"][1] == [2, 4], "two models at once")
    check(first[1]["logits"][2] != wide[1]["logits"][2], "each with its own weights")

    # An evaluation hears of it between its batches.
    looked = client.send(op="analyse", model=model, item="gate", settings={"folder": lab.scratch})
    wait_for(lambda: os.path.exists(lab.scratch + "/begun"), "the first batch")
    client.ask(op="cancel", of=looked)
    lab.models()  # answered after the cancel has arrived
    with open(lab.scratch + "/go", "wb"):
        pass
    check(error_of(client.all(looked)[-1]) == "cancelled", "an analysis is cancelled after a batch")
    check(client.ask(op="analyse", model=model, item="gate", settings={"folder": lab.scratch})["scores"] == {"heard": 1.0},
          "and ends when it is not")

    # Serve ends in the middle of something long.
    lab.begin_long(model)
    process = lab.models()["process"]["pid"]
    check(client.close() == 0, "it ends with 0")
    wait_for(lambda: has_ended(process), "it takes the process that computes with it")


def wait_for(holds, what):
    until = time.monotonic() + 60
    while not holds():
        check(time.monotonic() < until, what)
        time.sleep(0.005)


def has_ended(process):
    """Gone, or a zombie."""
    try:
        with open("/proc/%d/stat" % process, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def play_kill(lab):
    client = lab.client
    check(lab.models()["process"] is None, "nothing runs before it is needed")
    check(client.ask(op="unload")["unloaded"] == [], "and there is nothing to unload")
    check(error_of(client.ask(op="infer", model="0123456789abcdef", sample_ids=[0])) == "not_found", "no such model")
    loaded = lab.load()
    before = lab.infer(loaded["model"], image=images(2))[1]
    busy = lab.begin_long(loaded["model"])
    waiting = client.send(op="analyse", model=loaded["model"], item="calibration")
    process = lab.models()["process"]["pid"]
    os.kill(process, signal.SIGKILL)
    for one in (busy, waiting):
        error = client.all(one)[-1]["error"]
        check(error["kind"] == "failed" and "signal 9" in error["message"], error)
        check("load the models again" in error["message"], "it says what to do")
    check(lab.rows("SELECT 1") == [[1]], "the conversation continues")
    gone = client.ask(op="infer", model=loaded["model"], image=images(2))
    check(error_of(gone) == "not_found" and "load it again" in gone["error"]["message"], gone)
    check(lab.load() == loaded, "the same model has the same name")
    check(lab.infer(loaded["model"], image=images(2))[1] == before, "and computes the same")
    after = lab.models()["process"]["pid"]
    check(after != process, "in a process of its own")
    # Serve itself is killed: a process without a server ends.
    lab.begin_long(loaded["model"])
    client.process.kill()
    wait_for(lambda: has_ended(after), "the process that computes ends with serve")


def play_memory(lab):
    client = lab.client
    first, second = lab.load(), lab.load(run=2)
    listed = lab.models()
    check({one["model"] for one in listed["models"]} == {first["model"], second["model"]}, "both are loaded")
    check(all(one["bytes"] > 0 and one["last_used"].endswith("Z") for one in listed["models"]), listed)
    check(listed["process"]["resident_bytes"] > 0 and listed["devices"][0]["name"] == "cpu", listed)
    check(listed["devices"][0]["total_bytes"] > listed["devices"][0]["free_bytes"] > 0, listed)
    check(client.ask(op="unload", model=first["model"])["unloaded"] == [first["model"]], "one is unloaded")
    check(error_of(client.ask(op="infer", model=first["model"], sample_ids=[0])) == "not_found", "it is gone")
    check(error_of(client.ask(op="unload", model=first["model"])) == "not_found", "and cannot go twice")
    check("error" not in lab.infer(second["model"], sample_ids=[0])[0], "the other is there")
    check(client.ask(op="unload")["unloaded"] == [second["model"]], "all are unloaded")
    check(lab.models()["models"] == [], "none is left")
    check(client.close() == 0, "it ends with 0")

    room = ["--model-memory", f"{first['bytes'] * 1.6e-3}KB"]  # one has room, two have not
    tight = Lab(lab.program, lab.database, lab.scratch, room)
    one = tight.load()
    refused = tight.client.ask(op="load", run=2)
    check(error_of(refused) == "refused" and "unload a model" in refused["error"]["message"], refused)
    check("that models may take" in refused["error"]["message"], "with numbers")
    check([each["model"] for each in tight.models()["models"]] == [one["model"]], "the one in use stays")
    tight.client.ask(op="unload", model=one["model"])
    check(tight.load(run=2)["run"] == 2, "then there is room")
    check(tight.client.close() == 0, "it ends with 0")

    idle = Lab(lab.program, lab.database, lab.scratch, room + ["--idle-minutes", "0"])
    idle.load()
    other = idle.load(run=2)
    check([each["model"] for each in idle.models()["models"]] == [other["model"]], "what was not used goes")
    check(idle.client.close() == 0, "it ends with 0")


def play_sample(lab):
    client = lab.client
    model = lab.load()["model"]

    def sample(**request):
        return client.all(client.send(op="sample", model=model, **request))

    answers = sample(settings={"count": 3, "seed": 5})
    made = [answer["image"] for answer in answers if "image" in answer]
    check([one["seed"] for one in made] == [5, 6, 7], "one image after the other")
    check(all(one["bytes"].startswith(b"\x89PNG") and one["size"] == len(one["bytes"]) for one in made), "PNG")
    check(answers[0]["done"] == 1 and answers[0]["total"] == 12, answers[0])
    last = answers[-1]
    check((last["sampler"], last["images"], last["scores"], last["step"]) == ("painter", 3, {"painted": 3.0}, 24), last)
    recipe = made[1]["recipe"]
    check(recipe["seed"] == 6 and recipe["step"] == 24 and recipe["settings"]["steps"] == 4, recipe)
    check(not any("preview" in answer for answer in answers), "previews when asked for")
    again = sample(sampler="painter", settings={"count": 1, "seed": 6}, previews=True)
    check(any("preview" in answer for answer in again), "a preview")
    alone = next(answer["image"] for answer in again if "image" in answer)
    check((alone["sha256"], alone["bytes"]) == (made[1]["sha256"], made[1]["bytes"]), "an equal recipe, equal bytes")

    busy = client.send(op="sample", model=model, settings={"steps": 1_000_000_000})
    client.wait(lambda: any("done" in one for one in client.answers.get(busy, [])))
    client.ask(op="cancel", of=busy)
    check(error_of(client.all(busy)[-1]) == "cancelled", "cancelled between two steps")

    wrong = sample(settings={"stps": 3})[-1]
    check(error_of(wrong) == "config" and "steps" in wrong["error"]["message"], wrong)
    check(error_of(sample(sampler="engraver")[-1]) == "not_found", "a sampler that is not there")

    kept = [a["image"] for a in sample(settings={"count": 1}, store=True) if "image" in a]
    check(kept and "stored" in kept[0], kept)
    row = lab.rows("SELECT sha256 FROM generated_images WHERE id = %d" % kept[0]["stored"])
    check(row == [[kept[0]["sha256"]]], "it is stored when asked for")

    crashed = sample(settings={"crash": True})[-1]
    check(error_of(crashed) == "failed" and "signal 6" in crashed["error"]["message"], crashed)
    check(error_of(sample()[-1]) == "not_found", "its models are gone")
    check(lab.load()["model"] == model and sample()[-1]["images"] == 16, "and everything continues")
    check(client.close() == 0, "it ends with 0")


def play_wrong(lab):
    client, model = lab.client, lab.load()["model"]
    for kind, request in (
            ("not_found", {"op": "load", "run": 10**6}),
            ("not_found", {"op": "load", "run": 1, "checkpoint": "7"}),
            ("not_found", {"op": "load", "weights": "/nowhere/model.safetensors"}),
            ("config", {"op": "load", "run": 1, "checkpoint": "newest"}),
            ("config", {"op": "load", "run": 1, "device": "abacus"}),
            ("config", {"op": "load", "run": 1, "precision": "fp7"}),
            ("config", {"op": "load", "run": 1, "overrides": ["train.seed=3"]}),
            ("protocol", {"op": "load"}),
            ("protocol", {"op": "load", "run": "one"}),
            ("protocol", {"op": "load", "run": 1, "overrides": "data.test_samples=3"}),
            ("protocol", {"op": "infer", "sample_ids": [0]}),
            ("protocol", {"op": "infer", "model": model}),
            ("protocol", {"op": "infer", "model": model, "image": {"shape": [1, 1, 8, 8], "bytes": "text"}}),
            ("protocol", {"op": "infer", "model": model, "sample_ids": ["0"]}),
            ("config", {"op": "infer", "model": model, "sample_ids": []}),
            ("config", {"op": "infer", "model": model, "sample_ids": [0], "outputs": ["thoughts"]}),
            ("config", {"op": "infer", "model": model, "sample_ids": [0], "batch_size": 0}),
            ("config", {"op": "infer", "model": model, "sample_ids": [0], "split": "exam"}),
            ("refused", {"op": "infer", "model": model, "sample_ids": [0], "split": "validation"}),
            ("config", {"op": "infer", "model": model, "image": dict(images(1), shape=[1, 1, 8, 9])}),
            ("config", {"op": "infer", "model": model, "image": dict(images(1), shape=[2**40, 1, 8, 8])}),
            ("config", {"op": "infer", "model": model, "image": dict(images(1), shape=[-1, 1, 8, 8])}),
            ("protocol", {"op": "samples", "model": model}),
            ("config", {"op": "samples", "model": model, "sample_ids": []}),
            ("config", {"op": "samples", "model": model, "sample_ids": [0] * 1025}),
            ("refused", {"op": "samples", "model": model, "sample_ids": [0], "split": "validation"}),
            ("not_found", {"op": "analyse", "model": model, "item": "horoscope"}),
            ("config", {"op": "analyse", "model": model, "item": "calibration", "settings": {"bns": 3}}),
            ("config", {"op": "analyse", "model": model, "item": "calibration", "settings": {"bins": "many"}}),
            ("protocol", {"op": "analyse", "model": model, "item": "calibration", "settings": [3]})):
        answer = client.ask(**request)
        check(error_of(answer) == kind, "%s: %s" % (request, answer))
    for sample in (-1, 64, 2**62):
        check("error" in client.ask(op="infer", model=model, sample_ids=[sample]), "no sample %d" % sample)
    nearest = client.ask(op="analyse", model=model, item="calibration", settings={"bns": 3})
    check("'bins'" in nearest["error"]["message"], nearest)

    # Hostile frames are refused while something computes, and it continues.
    busy = lab.begin_long(model)
    for raw in (b"\xff\xff", encode({"id": "deep", "op": "infer", "model": eval("[" * 40 + "]" * 40)})):
        client.raw(raw)
        client.wait(lambda: None in client.answers)
        check(error_of(client.answers.pop(None)[0]) == "protocol", "a frame that cannot be")
    client.send(id=busy, op="infer", model=model, sample_ids=[0])
    client.wait(lambda: any(error_of(one) == "protocol" for one in client.answers.get(busy, [])))
    client.answers.pop(busy)
    check(client.ask(op="cancel", of=busy)["known"] is True, "it still computes")
    check(error_of(client.all(busy)[-1]) == "cancelled", "until it is cancelled")
    check("error" not in lab.infer(model, sample_ids=[0])[0], "and the model is as it was")
    check(client.close() == 0, "it ends with 0")


def main(program, database, part, scratch, plugin):
    os.makedirs(scratch, exist_ok=True)
    if part in ("queue", "sample"):
        subprocess.run([program, "plugins", "--trust", plugin], check=True, capture_output=True, timeout=120)
    play = {"infer": play_infer, "analyse": play_analyse, "samples": play_samples, "queue": play_queue, "kill": play_kill,
            "memory": play_memory, "sample": play_sample, "wrong": play_wrong}[part]
    play(Lab(program, database, scratch))
    print("every line of the page held")


if __name__ == "__main__":
    main(*sys.argv[1:])
