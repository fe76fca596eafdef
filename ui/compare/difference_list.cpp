#include "ui/compare/difference_list.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/cell_text.h"
#include "core/base/text.h"
#include "core/config/toml/to_toml.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kContextLines = 3;
constexpr std::size_t kLongestDiffered = 4000;  // lines: the table below is quadratic

/// Rows of all keys that any of the values has, in the order of the first that has it.
DifferenceSection sectionOf(const QString& title, const std::vector<Json>& values) {
  DifferenceSection section{title, {}};
  std::vector<std::string> keys;
  std::vector<std::map<std::string, Json>> leaves(values.size());
  std::set<std::string> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (auto& [key, value] : flatten(values[i])) {
      if (seen.insert(key).second) keys.push_back(key);
      leaves[i].emplace(key, std::move(value));
    }
  }
  for (const std::string& key : keys) {
    DifferenceRow row{QString::fromStdString(key), {}, false};
    const Json* first = nullptr;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto found = leaves[i].find(key);
      row.values << (found == leaves[i].end() ? QStringLiteral("\u2013")
                                              : valueText(found->second));
      const Json* value = found == leaves[i].end() ? nullptr : &found->second;
      if (i == 0) {
        first = value;
      } else if ((value == nullptr) != (first == nullptr) ||
                 (value != nullptr && *value != *first)) {
        row.isDifferent = true;
      }
    }
    section.rows.push_back(std::move(row));
  }
  return section;
}

/// Plugins by id, so that another order is not a difference.
Json readableEnvironment(Json environment) {
  if (!environment.is_object()) return Json::object();
  if (const auto plugins = environment.find("plugins");
      plugins != environment.end() && plugins->is_array()) {
    Json byId = Json::object();
    for (const Json& plugin : *plugins) {
      if (!plugin.is_object() || !plugin.contains("id") || !plugin["id"].is_string()) continue;
      byId[plugin["id"].get<std::string>()] = {{"version", plugin.value("version", Json())},
                                               {"sha256", plugin.value("sha256", Json())}};
    }
    environment["plugins"] = std::move(byId);
  }
  return environment;
}

/// What the experiment file of each other experiment changes in that of the first run.
QString sourceDifferences(const CompareData& data, const std::vector<std::size_t>& runs) {
  struct File {
    std::int64_t experiment = 0;
    QString title;
    std::string text;
  };
  std::vector<File> files;
  for (const std::size_t run : runs) {
    const store::RunRow& row = data.runs[run].row;
    const auto isOfRun = [&](const File& file) { return file.experiment == row.experimentId; };
    if (std::any_of(files.begin(), files.end(), isOfRun)) continue;
    const auto text = data.sources.find(row.experimentId);
    files.push_back({row.experimentId, QString::fromStdString(row.experiment),
                     text == data.sources.end() ? std::string() : text->second});
  }
  const File& first = files.front();
  const auto notKept = [](const File& file) {
    return QObject::tr("The experiment file of \u201c%1\u201d was not kept.").arg(file.title);
  };
  if (files.size() == 1) {
    return first.text.empty() ? QObject::tr("The experiment file was not kept.")
                              : QObject::tr("One experiment file made all of these runs.");
  }
  if (first.text.empty()) return notKept(first);
  QStringList parts;
  for (std::size_t i = 1; i < files.size(); ++i) {
    const File& other = files[i];
    if (other.text.empty()) {
      parts << notKept(other);
      continue;
    }
    const QString changes = textDifference(first.text, other.text);
    if (changes.isEmpty()) {
      parts << QObject::tr("The experiment files of \u201c%1\u201d and \u201c%2\u201d are equal.")
                   .arg(first.title, other.title);
    } else {
      parts << QStringLiteral("--- %1\n+++ %2\n").arg(first.title, other.title) + changes;
    }
  }
  return parts.join(QLatin1Char('\n'));
}

}  // namespace

std::vector<std::size_t> differedRuns(const CompareData& data, const CompareChoice& choice,
                                      const std::vector<std::int64_t>& selected) {
  std::vector<std::size_t> runs;
  for (const std::int64_t id : selected) {
    if (const auto index = data.find(id)) runs.push_back(*index);
  }
  if (runs.size() >= 2 && runs.size() <= kMostDiffered) return runs;
  runs.clear();
  if (data.variants.empty()) return runs;
  const std::size_t baseline = data.baseline(choice);
  const auto add = [&](std::size_t variant) {
    const store::VariantGroup& group = data.variants[variant];
    const auto bySeed = seedRuns(group, data.runs, store::Unfinished::Counted);
    if (!bySeed.empty()) {
      if (const auto index = data.find(bySeed.begin()->second)) runs.push_back(*index);
    }
  };
  add(baseline);
  for (std::size_t i = 0; i < data.variants.size() && runs.size() < kMostDiffered; ++i) {
    if (i != baseline) add(i);
  }
  if (runs.size() == 1 && data.variants.size() == 1) {
    // One variant: its seeds.
    for (const std::size_t run : data.variants[0].runs) {
      if (run != runs.front() && runs.size() < kMostDiffered) runs.push_back(run);
    }
  }
  return runs;
}

DifferenceList differenceList(const CompareData& data, const std::vector<std::size_t>& runs) {
  DifferenceList list{.runs = runs};
  std::vector<Json> configs, environments;
  for (const std::size_t run : runs) {
    const store::RunRow& row = data.runs[run].row;
    list.names << QObject::tr("%1 \u00b7 seed %2 \u00b7 #%3")
                      .arg(data.labels[data.ofRun[run]], QString::number(row.seed),
                           QString::number(row.id));
    configs.push_back(data.runs[run].config);
    const auto environment = data.environments.find(row.id);
    environments.push_back(environment == data.environments.end()
                               ? Json::object()
                               : readableEnvironment(environment->second));
  }
  if (runs.empty()) return list;
  list.sections.push_back(sectionOf(QObject::tr("Configuration"), configs));
  list.sections.push_back(sectionOf(QObject::tr("Environment"), environments));

  list.source = sourceDifferences(data, runs);
  return list;
}

QString overridesText(const CompareData& data, std::size_t run, std::size_t other) {
  QStringList lines;
  for (const Difference& change : difference(data.runs[other].config, data.runs[run].config))
    lines << QString::fromStdString(shellWord(change.key + "=" + tomlValue(change.after)));
  return lines.join(QLatin1Char('\n'));
}

QString textDifference(const std::string& before, const std::string& after) {
  if (before == after) return {};
  const auto linesOfText = [](const std::string& text) {
    std::vector<std::string> lines = split(text, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
  };
  const std::vector<std::string> a = linesOfText(before), b = linesOfText(after);
  if (a.size() > kLongestDiffered || b.size() > kLongestDiffered)
    return QObject::tr("The files are too long to be compared here.");
  // Longest common subsequence, from the end.
  const std::size_t width = b.size() + 1;
  std::vector<std::uint16_t> common((a.size() + 1) * width, 0);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i * width + j] =
          a[i] == b[j] ? static_cast<std::uint16_t>(common[(i + 1) * width + j + 1] + 1)
                       : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  struct Line {
    char sign;
    std::string text;
    std::size_t number;  // in the first text, from 1
  };
  std::vector<Line> lines;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back({' ', a[i], i + 1});
      ++i;
      ++j;
    } else if (i < a.size() &&
               (j == b.size() || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push_back({'-', a[i], i + 1});
      ++i;
    } else {
      lines.push_back({'+', b[j], i + 1});
      ++j;
    }
  }
  std::vector<bool> isShown(lines.size(), false);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (lines[k].sign == ' ') continue;
    const std::size_t from = k < kContextLines ? 0 : k - kContextLines;
    for (std::size_t n = from; n < std::min(lines.size(), k + kContextLines + 1); ++n)
      isShown[n] = true;
  }
  std::string text;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (!isShown[k]) continue;
    if (k > 0 && !isShown[k - 1]) text += "@@ line " + std::to_string(lines[k].number) + " @@\n";
    text += lines[k].sign + lines[k].text + '\n';
  }
  return QString::fromStdString(cleanUtf8(text));
}

}  // namespace vitrine::ui
