#include "ui/runs/run_differences.h"

#include <QStringList>
#include <string>
#include <tuple>
#include <utility>

#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

constexpr qsizetype kMostDifferences = 3;

bool isSeed(const std::string& key) { return key == "seed" || key.ends_with(".seed"); }

}  // namespace

ConfigTexts configTexts(const FlatConfig& config) {
  ConfigTexts texts;
  for (const auto& [key, value] : config) {
    if (!isSeed(key)) texts[key] = jsonText(value);
  }
  return texts;
}

std::set<std::string> keysThatDiffer(const std::map<std::int64_t, ConfigTexts>& all) {
  std::map<std::string, std::pair<QString, std::size_t>> first;  // a value, and how many have it
  std::set<std::string> keys;
  for (const auto& [run, values] : all) {
    for (const auto& [key, value] : values) {
      auto& [common, count] = first.try_emplace(key, value, 0).first->second;
      if (common == value) ++count;
    }
  }
  for (const auto& [key, known] : first) {
    if (known.second != all.size()) keys.insert(key);
  }
  return keys;
}

std::map<std::int64_t, QString> runDifferences(
    const std::map<std::int64_t, store::RunRow>& runs,
    const std::function<const FlatConfig&(const store::RunRow& run)>& configOf) {
  std::map<std::tuple<std::int64_t, std::string, std::string>, std::vector<std::int64_t>> alike;
  for (const auto& [id, row] : runs) alike[{row.experimentId, row.name, row.stage}].push_back(id);
  std::map<std::int64_t, QString> told;
  for (const auto& [title, ids] : alike) {
    if (ids.size() < 2) continue;
    std::map<std::int64_t, ConfigTexts> values;
    for (const std::int64_t id : ids) values[id] = configTexts(configOf(runs.at(id)));
    const std::set<std::string> keys = keysThatDiffer(values);
    for (const auto& [id, mine] : values) {
      QStringList words;
      for (const std::string& key : keys) {
        const auto value = mine.find(key);
        const QString name = QString::fromStdString(key).section(QLatin1Char('.'), -1);
        words << name + QLatin1Char(' ') +
                     (value == mine.end() ? QStringLiteral("\u2013") : value->second);
      }
      if (words.size() > kMostDifferences) {
        words = words.mid(0, kMostDifferences);
        words << QStringLiteral("\u2026");
      }
      if (!words.isEmpty()) told[id] = words.join(QStringLiteral(" \u00b7 "));
    }
  }
  return told;
}

}  // namespace vitrine::ui
