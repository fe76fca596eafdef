#include "ui/playground/draw_recipe.h"

#include <algorithm>
#include <array>

#include "core/base/cell_text.h"
#include "core/config/config.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

/// Before all others, in this order.
constexpr std::array kFirstFacts{"run",     "step",  "weights", "class",    "prompt", "seed",
                                 "sampler", "steps", "solver",  "guidance", "evaluations"};
constexpr qsizetype kShownHash = 12;

/// The recipe without its nesting: settings stand among the other keys.
std::vector<std::pair<std::string, Json>> flatRecipe(const Json& recipe) {
  std::vector<std::pair<std::string, Json>> flat;
  if (!recipe.is_object()) return flat;
  const auto settings = recipe.find("settings");
  for (const auto& [key, value] : recipe.items()) {
    if (key == "settings" || key == "batch") continue;
    flat.emplace_back(key, value);
  }
  if (settings != recipe.end() && settings->is_object()) {
    for (const auto& [key, value] : settings->items()) {
      // The class that was drawn stands for the one that was asked for; an empty list says nothing.
      const bool isEmpty = value.is_array() && value.empty();
      if (!recipe.contains(key) && !isEmpty) flat.emplace_back(key, value);
    }
  }
  const auto place = [](const std::string& key) {
    return std::find(kFirstFacts.begin(), kFirstFacts.end(), key) - kFirstFacts.begin();
  };
  std::stable_sort(flat.begin(), flat.end(), [&](const auto& a, const auto& b) {
    return place(a.first) < place(b.first);
  });
  return flat;
}

QString recipeLabel(const std::string& key) {
  QString label = QString::fromStdString(key).replace(QLatin1Char('_'), QLatin1Char(' '));
  return label.replace(QStringLiteral("sha256"), QStringLiteral("hash"));
}

QString recipeValue(const std::string& key, const Json& value, const QString& runName) {
  if (key == "run" && !runName.isEmpty()) return runName;
  const bool isHash = key.ends_with("sha256");
  if (isHash && value.is_string())
    return QString::fromStdString(value.get<std::string>()).left(kShownHash) + QChar(0x2026);
  if (value.is_number_integer() && key == "step") return count(value.get<std::int64_t>());
  return valueText(value);
}

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

std::vector<RecipeFact> recipeFacts(const Json& recipe, const Json& compared,
                                    const QString& runName) {
  std::vector<RecipeFact> facts;
  const auto others = flatRecipe(compared);
  for (const auto& [key, value] : flatRecipe(recipe)) {
    const auto other = std::find_if(others.begin(), others.end(),
                                    [&](const auto& each) { return each.first == key; });
    const bool isDifferent =
        compared.is_object() && (other == others.end() || other->second != value);
    facts.push_back({recipeLabel(key), recipeValue(key, value, runName), isDifferent});
  }
  return facts;
}

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
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return QString::fromStdString(line);
}

}  // namespace vitrine::ui
