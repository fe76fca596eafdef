#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "app/vitrine/report/experiment_part.h"
#include "app/vitrine/report/stored_json.h"
#include "core/base/cell_text.h"
#include "core/config/toml/override.h"

namespace vitrine::app {

namespace {

constexpr std::size_t kMostTexts = 64;
constexpr std::int64_t kShownSide = 56;  // pixels of the shorter side, at least

/// The recipe without what tells the images of one call apart.
std::string callOf(const Json& recipe) {
  if (!recipe.is_object()) return "";
  Json call = recipe;
  for (const char* key : {"seed", "class", "batch", "evaluations", "threads"}) call.erase(key);
  return plainText(call);
}

/// Images of one call.
using Call = std::vector<store::GeneratedImageRow>;

/// Calls of the newest step, in the order in which they were made; the same image once. The seeds
/// of a call follow one another: one command makes them.
std::vector<Call> newestCalls(const std::vector<store::GeneratedImageRow>& images) {
  std::int64_t newest = 0;
  for (const store::GeneratedImageRow& image : images) newest = std::max(newest, image.step);
  std::vector<Call> calls;
  std::set<std::tuple<std::string, std::string, std::uint64_t>> known;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> places;  // by key and next seed
  for (const store::GeneratedImageRow& image : images) {
    if (image.step != newest) continue;
    const std::string key = callOf(image.recipe);
    if (!known.emplace(key, image.sha256, image.seed).second) continue;
    std::size_t place = calls.size();
    if (const auto found = places.find({key, image.seed}); found != places.end()) {
      place = found->second;
      places.erase(found);
    } else {
      calls.emplace_back();
    }
    calls[place].push_back(image);
    places.try_emplace({key, image.seed + 1}, place);
  }
  return calls;
}

std::string sampleCommand(std::int64_t run, const Call& call) {
  const store::GeneratedImageRow& first = call.front();
  const Json& recipe = first.recipe;
  std::string text = "vitrine sample " + std::to_string(run);
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += std::string(" ") + name + " " + shellWord(value);
  };
  if (first.step > 0) option("--checkpoint", std::to_string(first.step));
  option("--with", wordAt(recipe, "sampler"));
  option("--use", wordAt(recipe, "weights"));
  if (const std::string device = wordAt(recipe, "device"); device != "cpu")
    option("--device", device);
  option("--precision", wordAt(recipe, "precision"));
  const Json settings = tableAt(recipe, "settings");
  for (const auto& [key, value] : settings.items()) {
    if (!value.is_null()) text += " " + shellWord(key + "=" + overrideValue(value));
  }
  return text + " seed=" + std::to_string(first.seed) +
         " count=" + std::to_string(call.size());
}

Html pictureOf(store::RunReader& store, const store::GeneratedImageRow& image) {
  const std::int64_t side = std::max<std::int64_t>(1, std::min(image.width, image.height));
  const std::int64_t factor = std::max<std::int64_t>(1, (kShownSide + side - 1) / side);
  std::string what = "seed " + std::to_string(image.seed);
  if (const std::string label = wordAt(image.recipe, "class"); !label.empty())
    what = "class " + label + ", " + what;
  return Html::empty("img", {{"src", dataUri("image/png", store.generatedImagePng(image.id))},
                             {"alt", what},
                             {"title", what},
                             {"width", std::to_string(image.width * factor)},
                             {"height", std::to_string(image.height * factor)},
                             {"class", "sample"}});
}

Html imagesOf(store::RunReader& store, const store::RunRow& run, std::size_t most) {
  Html content;
  std::size_t shown = 0;
  for (const Call& call : newestCalls(store.generatedImages(run.id))) {
    if (shown == most) break;
    Html pictures;
    std::size_t here = 0;
    for (const store::GeneratedImageRow& image : call) {
      if (shown == most) break;
      pictures += pictureOf(store, image);
      ++shown;
      ++here;
    }
    const Json& recipe = call.front().recipe;
    const std::string prompt = wordAt(tableAt(recipe, "settings"), "prompt");
    std::string caption =
        prompt.empty() ? "Sampler " + wordAt(recipe, "sampler") : "\u201c" + prompt + "\u201d";
    caption += ", step " + std::to_string(call.front().step);
    if (const std::string weights = wordAt(recipe, "weights"); weights == "ema")
      caption += ", averaged weights";
    if (here < call.size())
      caption += "; " + std::to_string(here) + " of " + std::to_string(call.size()) + " images";
    Html figure = Html::element("div", {{"class", "samples"}}, pictures);
    figure += Html::element("figcaption", Html(caption));
    figure += Html::element("pre", {{"class", "command"}}, Html(sampleCommand(run.id, call)));
    content += Html::element("figure", figure);
  }
  return content;
}

Html textsOf(store::RunReader& store, const store::RunRow& run) {
  HtmlTable table{{"Prompt", "Text", "Step", "Seed"}, {}, ""};
  std::set<std::pair<std::string, std::string>> seen;
  for (const store::GeneratedTextRow& text : store.generatedTexts(run.id)) {
    if (table.rows.size() == kMostTexts || !seen.emplace(text.prompt, text.text).second) continue;
    table.add({textCell(text.prompt), textCell(text.text), numberCell(std::to_string(text.step)),
               numberCell(std::to_string(text.seed))});
  }
  return table.rows.empty() ? Html() : toHtml(table);
}

}  // namespace

Html samplesPart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                 std::size_t mostImages) {
  Html content;
  for (const store::RunRow& run : rows) {
    Html own = imagesOf(store, run, mostImages);
    own += textsOf(store, run);
    if (own.isEmpty()) continue;
    content += Html::element("h4", Html("Run " + std::to_string(run.id) + ", " + run.name));
    content += own;
  }
  return content.isEmpty() ? Html() : section("Generated samples", content);
}

}  // namespace vitrine::app
