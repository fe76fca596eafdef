// Models that draw, as a catalog and as a program that draws for them.
#pragma once

#include <QByteArray>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "tests/ui/support/item_card.h"

namespace vitrine::ui {

/// A model that draws, with two samplers, one that talks, and one that does neither.
inline Catalog drawingCatalog() {
  Catalog catalog;
  const auto add = [&](ItemKind kind, const char* id, std::vector<std::string> offers,
                       std::vector<std::string> needs, std::vector<Field> fields = {}) {
    catalog.items.push_back(
        withFields(cardWith(kind, id, std::move(offers), std::move(needs)), std::move(fields)));
  };
  add(ItemKind::Architecture, "painter", {"painting", "looking"}, {});
  add(ItemKind::Architecture, "talker", {"talking"}, {});
  add(ItemKind::Architecture, "judge", {"judging"}, {});
  add(ItemKind::Task, "paint", {}, {"painting", "image"});
  add(ItemKind::Task, "talk", {}, {"talking", "text"});
  add(ItemKind::Task, "choose", {}, {"judging", "image"});
  add(ItemKind::Dataset, "clothes", {"image", "label"}, {});
  const Field steps = integerField("steps", 4, "steps").titled("Steps").range(2, 1000);
  const Field previews = integerField("previews", 0, "pictures").titled("Previews").range(0, 1000);
  add(ItemKind::Sampler, "slow", {}, {"painting"},
      {steps, previews, realField("eta", 0.0, "noise").titled("Eta").range(0, 1)});
  add(ItemKind::Sampler, "quick", {}, {"painting"},
      {integerField("class", nullptr, "which class").titled("Class").atLeast(0).orNone(), steps,
       realField("guidance", 1.0, "how much it counts").titled("Guidance").range(0, 100), previews,
       listField("attention", FieldType::Integer, Json::array(), "a patch").titled("Attention")});
  add(ItemKind::Sampler, "speaker", {}, {"talking"},
      {textField("prompt", "", "what is drawn").titled("Prompt"),
       textField("image", nullptr, "what is described").titled("Image").orNone()});
  return catalog;
}

/// Draws grey squares whose brightness is the seed, of 8 x 8 pixels, on a grid of 4 x 4 patches.
inline constexpr const char* kPainter = R"PY(
import hashlib, os, struct, time

def load(request):
    log("load %d %s %s" % (request["run"], request["checkpoint"], request["use"]))
    return {"model": "%d/%s/%s" % (request["run"], request["checkpoint"], request["use"]), "bytes": 5000000,
            "image": [1, 8, 8]}

def grey(seed):
    return seed % 200 + (int(os.path.exists(here("drifts"))) and 3)

def attention(seed, patch, time):
    weights = [0.0] * 16
    weights[4 * patch[0] + patch[1]] = 0.25 + time / 2
    data = struct.pack("<32f", *(weights + [1 / 16] * 16))
    meta = {"version": 1, "dtype": "float32", "shape": [2, 1, 1, 16], "axes": ["layer", "head", "query", "key"],
            "key_positions": [[i // 4, i % 4] for i in range(16)], "seed": seed, "time": time}
    return {"preview": whole({"name": "attention", "kind": "attention", "meta": meta}, data)}

def samples(request):
    log("samples %s %s" % (request["split"], request["sample_ids"]))
    for i in request["sample_ids"]:
        yield {"sample": whole({"sample_id": i}, png(30 + i))}
    return {"samples": len(request["sample_ids"])}

def sample(request):
    settings, seed = request["settings"], request["settings"].get("seed", 0)
    count, sampler = settings.get("count", 16), request.get("sampler", "quick")
    log("sample %s %s %s" % (request["model"], sampler, sorted(settings.items())))
    if request.get("store_steps"):
        log("steps within %d bytes" % request["store_steps"])
    if os.path.exists(here("dies")):
        os.remove(here("dies"))
        yield {"error": {"kind": "failed", "message": "the compute process was ended by signal 9"}}
        return {"error": {"kind": "failed", "message": "the compute process was ended by signal 9"}}
    while os.path.exists(here("waits")) and not request["is_cancelled"]():
        time.sleep(0.01)
        yield {"done": 1, "total": 4}
    if sampler == "speaker":
        for i in range(count):
            yield {"text": {"seed": seed + i, "prompt": settings.get("image") or "", "text": "a bag of words",
                            "recipe": {"sampler": sampler, "seed": seed + i}}}
        return {"sampler": sampler, "texts": count}
    shown = settings.get("previews", 0) if request.get("previews") else 0
    for step in range(shown):
        at = (step + 1) / shown
        data = bytes([int(grey(seed + i) * at) for i in range(count) for _ in range(64)])
        meta = {"version": 1, "dtype": "uint8", "shape": [count, 8, 8, 1], "axes": ["image", "row", "column", "channel"],
                "time": at, "first_seed": seed}
        yield {"preview": whole({"name": "preview", "kind": "image_grid", "meta": meta}, data)}
        if settings.get("attention"):
            yield attention(seed, settings["attention"], at)
    for i in range(count):
        data = png(grey(seed + i))
        recipe = {"run": "uuid", "step": 100, "weights": request["model"].split("/")[2], "sampler": sampler,
                  "settings": {k: v for k, v in settings.items() if k not in ("seed", "count")}, "seed": seed + i,
                  "device": "cpu", "batch": {"first_seed": seed, "size": count}, "evaluations": 8}
        image = whole({"seed": seed + i, "width": 8, "height": 8, "sha256": hashlib.sha256(data).hexdigest(),
                       "recipe": recipe}, data)
        if request.get("store"):
            image["stored"] = 70 + i
        yield {"image": image}
    return {"sampler": sampler, "images": count}
)PY";

/// The same with what the run of a sample database that draws is made of.
inline Catalog sampleCatalog() {
  Catalog catalog = drawingCatalog();
  catalog.items.push_back(cardWith(ItemKind::Architecture, "sit_llama", {"painting"}));
  catalog.items.push_back(cardWith(ItemKind::Task, "generation", {}, {"painting", "image"}));
  return catalog;
}

/// What `vitrine describe --json` says of it.
inline QByteArray described(const Catalog& catalog) {
  return QByteArray::fromStdString(
      Json{{"catalog", toJson(catalog)}, {"refused", Json::array()}}.dump());
}

}  // namespace vitrine::ui
