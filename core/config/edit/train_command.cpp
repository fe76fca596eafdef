#include "core/config/edit/train_command.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/cell_text.h"
#include "core/config/edit/document.h"
#include "core/config/toml/override.h"

namespace vitrine {

namespace {

constexpr const char* kNoFile = "/dev/null";
constexpr std::size_t kMostComparedRuns = 5'000;  // more of them go as the whole text

bool samePlan(const Plan& a, const Plan& b) {
  return a.problems.empty() && b.problems.empty() && a.title == b.title && a.total == b.total &&
         std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), b.runs.end(),
                    [](const PlannedRun& x, const PlannedRun& y) {
                      return x.name == y.name &&
                             nlohmann::json(x.config) == nlohmann::json(y.config);
                    });
}

class OverrideWriter {
 public:
  OverrideWriter(const Document& base, const Document& target, const Json& resolved)
      : base_(base), target_(target), resolved_(resolved) {}

  std::vector<std::string> words() {
    if (base_.title != target_.title)
      words_.push_back("title=" + overrideValue(target_.title));
    compare("", base_.tables, target_.tables);
    return words_;
  }

 private:
  void compare(const std::string& prefix, const Json& base, const Json& target) {
    for (const auto& [key, value] : target.items()) {
      const std::string full = prefix.empty() ? key : prefix + "." + key;
      const Json* old = base.is_object() && base.contains(key) ? &base[key] : nullptr;
      if (old != nullptr && nlohmann::json(*old) == nlohmann::json(value)) continue;
      if (value.is_object() && !value.empty()) {
        compare(full, old == nullptr ? Json::object() : *old, value);
      } else {
        words_.push_back(full + "=" + overrideValue(value));
      }
    }
    if (!base.is_object()) return;
    // A key that was removed: its resolved value, since no word removes a key.
    for (const auto& [key, value] : base.items()) {
      if (target.contains(key)) continue;
      const std::string full = prefix.empty() ? key : prefix + "." + key;
      for (const auto& [leaf, old] : flatten(Json::object({{key, value}}))) {
        const std::string name = prefix.empty() ? leaf : prefix + "." + leaf;
        words_.push_back(name + "=" + overrideValue(Config(resolved_).at(name)));
      }
    }
  }

  const Document& base_;
  const Document& target_;
  const Json& resolved_;
  std::vector<std::string> words_;
};

/// `key=value` words that make `text` out of `base`, checked by planning both. Nothing where no
/// words do: variants, sweeps and stages come from a file alone.
/// \param file  what `base` is read from: its name is the title where the text has none
std::optional<std::vector<std::string>> asOverrides(const std::string& base,
                                                    const std::string& file,
                                                    const std::string& text,
                                                    const Catalog& catalog) {
  Problem problem;
  const std::optional<Document> from = parseDocument(base, problem);
  const std::optional<Document> to = parseDocument(text, problem);
  if (!from || !to) return std::nullopt;
  PlanLimits limits{.mostRuns = kMostComparedRuns};
  const Plan wanted = planExperiment(text, file, catalog, {}, limits);
  if (wanted.runs.empty() || !wanted.problems.empty() || wanted.total > wanted.runs.size())
    return std::nullopt;
  const std::vector<std::string> words =
      OverrideWriter(*from, *to, wanted.runs.front().config).words();
  std::vector<Override> overrides;
  for (const std::string& word : words) overrides.push_back(parseOverride(word));
  if (!samePlan(wanted, planExperiment(base, file, catalog, overrides, limits)))
    return std::nullopt;
  return words;
}

}  // namespace

std::string trainCommand(const std::string& text, const std::string& file, const std::string& base,
                         const std::string& database, const Catalog& catalog) {
  const std::string db = " --db " + shellWord(database);
  for (const bool isFile : {true, false}) {
    if (isFile && file.empty()) continue;
    const auto words =
        isFile ? asOverrides(base, file, text, catalog) : asOverrides("", kNoFile, text, catalog);
    if (!words) continue;
    std::string command = "vitrine train " + shellWord(isFile ? file : kNoFile);
    for (const std::string& word : *words) command += " " + shellWord(word);
    return command + db + "\n";
  }
  // A line that the text does not have ends it.
  std::string end = "TOML";
  while (("\n" + text + "\n").find("\n" + end + "\n") != std::string::npos) end += "_";
  return "vitrine train -" + db + " <<'" + end + "'\n" + text +
         (text.empty() || text.back() != '\n' ? "\n" : "") + end + "\n";
}

}  // namespace vitrine
