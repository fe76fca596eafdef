#include "ui/playground/draw_recipe.h"

#include <cctype>
#include <vector>

#include "core/base/cell_text.h"
#include "core/base/joined.h"
#include "core/config/config.h"

namespace vitrine::ui {

namespace {

/// A value as `KEY=VALUE` of the command line takes it.
std::string commandValue(const Json& value) {
  if (value.is_null()) return "none";
  if (!value.is_string()) return value.is_number_float() ? plainText(value) : value.dump();
  const std::string text = value.get<std::string>();
  // In quotes where it would be read as a number, a list or a word of its own.
  const bool isPlain = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) &&
                       text != "true" && text != "false" && text != "none" && text != "inf" &&
                       text != "nan";
  return isPlain ? text : value.dump();
}

}  // namespace

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
  if (settings.model.use != "model") option("--use", settings.model.use);
  if (settings.model.device != "cpu") option("--device", settings.model.device);
  if (!settings.sampler.empty()) option("--with", settings.sampler);
  for (const auto& [key, value] : settings.values.items()) {
    const Field* field = schema.find(key);
    // The image is the same without the pictures along its way, which a command would store.
    if (key == "previews") continue;
    // Seed and count are always said: they are what a reader looks for.
    if (field != nullptr && field->defaultValue == value && key != "seed" && key != "count")
      continue;
    words.push_back(shellWord(key + "=" + commandValue(value)));
  }
  return QString::fromStdString(joined(words, " "));
}

}  // namespace vitrine::ui
