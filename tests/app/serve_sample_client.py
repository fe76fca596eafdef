"""Images of a generative run through `vitrine serve`, step by step.

serve_sample_client.py PROGRAM DATABASE RUN FOLDER: exit 1 when something did not hold.
"""

import json
import subprocess
import sys

from serve_client import check, error_of, greet


def main(program, database, run, folder):
    client, _ = greet([program, "serve", "--db", database])
    loaded = client.ask(op="load", run=int(run))
    check("error" not in loaded and "denoiser" in loaded["capabilities"], loaded)
    model = loaded["model"]

    def sample(**request):
        return client.all(client.send(op="sample", model=model, **request))

    settings = {"count": 2, "seed": 5, "steps": 4, "solver": "euler", "previews": 100, "attention": [0, 1]}
    answers = sample(settings=settings, previews=True)
    check("error" not in answers[-1] and answers[-1]["images"] == 2, answers[-1])
    shown = [answer["preview"] for answer in answers if "preview" in answer]
    grids = [one for one in shown if one["kind"] == "image_grid"]
    maps = [one for one in shown if one["kind"] == "attention"]
    check([one["meta"]["time"] for one in grids] == [0, 0.25, 0.5, 0.75], "one picture a step")
    check(all(one["meta"]["shape"] == [2, 8, 8, 1] for one in grids), "of both images")
    check([(one["meta"]["time"], one["meta"]["seed"]) for one in maps]
          == [(time, seed) for time in (0, 0.25, 0.5, 0.75) for seed in (5, 6)], "attention of each at each step")
    kinds = ["preview" if "preview" in one else "image" for one in answers if "preview" in one or "image" in one]
    check(kinds == ["preview"] * 12 + ["image"] * 2, "the way comes before the images")
    check(all(answer["total"] == 2000 for answer in answers if "done" in answer), "progress")
    check(not any("preview" in answer for answer in sample(settings=settings)), "previews when asked for")

    # The images of the verb.
    words = ["sampler=euler", "count=2", "seed=5", "steps=4", "previews=100", "attention=[0,1]"]
    done = subprocess.run([program, "sample", run, "--db", database, "--output", folder, "--json", *words],
                          capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, done.stderr)
    made = [answer["image"]["sha256"] for answer in answers if "image" in answer]
    check([one["sha256"] for one in json.loads(done.stdout)["made"]] == made, "the bytes of the verb")

    # The way of an image becomes artifacts of the run, where there is room for it.
    way = {"count": 1, "seed": 5, "steps": 4, "solver": "euler", "previews": 2, "attention": [0, 1]}
    check(sample(settings=way, store_steps=1 << 20)[-1]["stored_steps"] == 3, "a strip, and the attention of two steps")
    check(sample(settings=way, store_steps=10)[-1]["stored_steps"] == 0, "ten bytes have no room for it")
    check(sample(settings=way)[-1]["stored_steps"] == 0, "stored when asked for")

    # Cancelled in the middle of one image: it would take minutes.
    busy = client.send(op="sample", model=model, previews=True,
                       settings={"count": 1, "steps": 100_000, "solver": "euler", "previews": 100_000})
    client.wait(lambda: any("preview" in one for one in client.answers.get(busy, [])))
    check(client.ask(op="cancel", of=busy)["known"] is True, "it is at work")
    ended = client.all(busy)
    check(error_of(ended[-1]) == "cancelled" and not any("image" in one for one in ended), ended[-1])

    for wrong, words in (({"class": 4}, "take 0 to 3"), ({"attention": [4, 0]}, "a row from 0 to 3"),
                         ({"attention": [4]}, "names no patch"), ({"guidance": -1}, "guidance")):
        answer = sample(settings=wrong)[-1]
        check(error_of(answer) == "config" and words in answer["error"]["message"], answer)
    refused = sample(sampler="ddim")[-1]
    check(error_of(refused) == "config" and "take sampler ode or sde" in refused["error"]["message"], refused)
    check(sample(settings={"count": 1, "steps": 2})[-1]["images"] == 1, "and everything continues")
    check(client.close() == 0, "it ends with 0")
    print("every line of the page held")


if __name__ == "__main__":
    main(*sys.argv[1:])
