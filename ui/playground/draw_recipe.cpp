#include "ui/playground/draw_recipe.h"

#include <vector>

#include "core/base/cell_text.h"
#include "core/base/joined.h"
#include "core/config/toml/override.h"

namespace vitrine::ui {

SampleSettings recalled(const SampleSettings& now, const SampleSettings& cell, std::uint64_t seed,
                        Recall what) {
  SampleSettings then = now;
  switch (what) {
    case Recall::All:
      return cell;
    case Recall::Seed:
      then.values["seed"] = seed;
      return then;
    case Recall::Prompt:
      for (const char* key : {"prompt", "image", "class"}) {
        if (cell.values.contains(key)) then.values[key] = cell.values.at(key);
      }
      return then;
    case Recall::AllButSeed:
      then = cell;
      if (now.values.contains("seed")) then.values["seed"] = now.values.at("seed");
      return then;
  }
  return then;
}

QString sampleCommand(const SampleSettings& settings, const Schema& schema,
                      const std::filesystem::path& database) {
  std::vector<std::string> words{"vitrine", "sample", std::to_string(settings.model.run)};
  const auto option = [&](const char* name, const std::string& value) {
    words.emplace_back(name);
    words.push_back(shellWord(value));
  };
  if (!database.empty()) option("--db", database.string());
  if (settings.model.checkpoint != "latest") option("--checkpoint", settings.model.checkpoint);
  option("--use", settings.model.use);
  if (settings.model.device != "cpu") option("--device", settings.model.device);
  if (!settings.sampler.empty()) option("--with", settings.sampler);
  for (const auto& [key, value] : settings.values.items()) {
    const Field* field = schema.find(key);
    // The image is the same without the pictures along its way, which a command would store.
    if (key == "previews") continue;
    // Seed and count are always said: they are what a reader looks for.
    if (field != nullptr && field->defaultValue == value && key != "seed" && key != "count")
      continue;
    words.push_back(shellWord(key + "=" + overrideValue(value)));
  }
  return QString::fromStdString(joined(words, " "));
}

}  // namespace vitrine::ui
