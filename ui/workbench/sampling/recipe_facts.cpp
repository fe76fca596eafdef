#include "ui/workbench/sampling/recipe_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/sampling/class_names.h"

namespace vitrine::ui {

namespace {

/// Before all others, in this order.
constexpr std::array kFirstFacts{"run",     "step",  "weights", "class",    "prompt", "seed",
                                 "sampler", "steps", "solver",  "guidance", "evaluations"};
constexpr qsizetype kShownHash = 12;

using FlatRecipe = std::vector<std::pair<std::string, Json>>;

void sortFacts(FlatRecipe& flat) {
  const auto place = [](const std::string& key) {
    return std::find(kFirstFacts.begin(), kFirstFacts.end(), key) - kFirstFacts.begin();
  };
  std::stable_sort(flat.begin(), flat.end(), [&](const auto& a, const auto& b) {
    return place(a.first) < place(b.first);
  });
}

const Json* valueIn(const FlatRecipe& flat, const std::string& key) {
  const auto found =
      std::find_if(flat.begin(), flat.end(), [&](const auto& one) { return one.first == key; });
  return found == flat.end() ? nullptr : &found->second;
}

/// The recipe without its nesting: settings stand among the other keys.
FlatRecipe flatRecipe(const Json& recipe) {
  FlatRecipe flat;
  if (!recipe.is_object()) return flat;
  // Neither what was not set nor an empty list says anything.
  const auto add = [&](const std::string& key, const Json& value) {
    const bool isEmpty =
        value.is_null() || ((value.is_array() || value.is_object()) && value.empty());
    if (!isEmpty) flat.emplace_back(key, value);
  };
  for (const auto& [key, value] : recipe.items()) {
    if (key != "settings" && key != "batch" && key != "networks") add(key, value);
  }
  // The hash of each network that took part, by its name.
  for (const auto& [name, hash] : stateTable(recipe, "networks").items())
    add(name + "_sha256", hash);
  for (const auto& [key, value] : stateTable(recipe, "settings").items()) {
    // The class that was drawn stands for the one that was asked for.
    if (!recipe.contains(key) || recipe.at(key).is_null()) add(key, value);
  }
  return flat;
}

QString recipeLabel(const std::string& key) {
  return asWords(key).replace(QStringLiteral("sha256"), QStringLiteral("hash"));
}

QString recipeValue(const std::string& key, const Json& value, const QString& runName,
                    const QStringList& classNames) {
  if (key == "run" && !runName.isEmpty()) return runName;
  const bool isHash = key.ends_with("sha256");
  if (isHash && value.is_string())
    return QString::fromStdString(value.get<std::string>()).left(kShownHash) + QChar(0x2026);
  if (value.is_number_integer() && key == "step") return count(value.get<std::int64_t>());
  if (key == "class") {
    if (const QString name = classNameIn(classNames, value); !name.isEmpty())
      return QStringLiteral("%1 (%2)").arg(name, valueText(value));
  }
  return valueText(value);
}

}  // namespace

std::vector<RecipeFact> recipeFacts(const Json& recipe, const Json& compared,
                                    const QString& runName, const QStringList& classNames) {
  const QString nothing = QStringLiteral("\u2013");
  const FlatRecipe others = flatRecipe(compared);
  FlatRecipe all = flatRecipe(recipe);
  for (const auto& [key, value] : others)
    if (valueIn(all, key) == nullptr) all.emplace_back(key, Json());
  sortFacts(all);
  std::vector<RecipeFact> facts;
  for (const auto& [key, value] : all) {
    RecipeFact fact;
    fact.key = key;
    fact.label = recipeLabel(key);
    fact.value = value.is_null() ? nothing : recipeValue(key, value, runName, classNames);
    const Json* other = valueIn(others, key);
    fact.isDifferent = compared.is_object() && (other == nullptr || *other != value);
    if (fact.isDifferent)
      fact.compared = other == nullptr ? nothing : recipeValue(key, *other, QString(), {});
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace vitrine::ui
