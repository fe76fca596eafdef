#include "core/config/papers/claims.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/lookup.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

const std::vector<std::string>& claimKeys() {
  static const std::vector<std::string> keys = {
      "name",   "source", "experiment", "metric", "measure", "window", "target",
      "better", "worse",  "margin",     "above",  "seeds",   "note"};
  return keys;
}

constexpr std::array kMeasures = {ClaimMeasure::Last, ClaimMeasure::Mean, ClaimMeasure::StepsTo,
                                  ClaimMeasure::TimeTo};

class ClaimReader {
 public:
  ClaimReader(const Node& table, ProblemList& problems) : table_(table), problems_(problems) {}

  Claim read() {
    for (const auto& [key, value] : table_.children) {
      if (std::find(claimKeys().begin(), claimKeys().end(), key) == claimKeys().end()) {
        problems_.add(&value, kAtKey, Code::UnknownKey, "claim." + shorten(key, 80),
                      "is not a key of a claim", nearest(key, claimKeys()));
      }
    }
    Claim claim;
    claim.name = text("name", Need::Yes);
    claim.source = text("source", Need::Yes);
    claim.experiment = text("experiment", Need::Yes);
    claim.metric = text("metric", Need::Yes);
    readMeasure(claim);
    claim.better = text("better", Need::Yes);
    claim.worse = text("worse", Need::No);
    claim.note = text("note", Need::No);
    claim.margin = real("margin").value_or(0);
    claim.above = real("above");
    if (const Node* seeds = table_.find("seeds")) {
      if (seeds->value.is_number_integer() && seeds->value.get<std::int64_t>() >= 1) {
        claim.seeds = seeds->value.get<std::int64_t>();
      } else {
        problems_.add(seeds, kAtValue, Code::WrongType, "claim.seeds",
                      "must be a whole number from 1");
      }
    }
    if (claim.above.has_value() == !claim.worse.empty()) {
      problems_.add(&table_, kAtValue, Code::Conflict, "claim",
                    "needs either `worse`, the variant to be better than, or `above`, the value to "
                    "reach, and not both");
    }
    return claim;
  }

 private:
  enum class Need { No, Yes };

  void readMeasure(Claim& claim) {
    const std::string word = text("measure", Need::No);
    std::vector<std::string> words;
    for (const ClaimMeasure each : kMeasures) {
      words.push_back(toString(each));
      if (word == words.back()) claim.measure = each;
    }
    if (!word.empty() && word != toString(claim.measure)) {
      problems_.add(table_.find("measure"), kAtValue, Code::UnknownName, "claim.measure",
                    "is not one of " + joined(words), nearest(word, words));
      return;
    }
    claim.window = real("window").value_or(1);
    claim.target = real("target");
    const Node* window = table_.find("window");
    if (window != nullptr && (claim.window <= 0 || claim.window > 1)) {
      problems_.add(window, kAtValue, Code::OutOfRange, "claim.window",
                    "must be a share above 0, at most 1");
    }
    if (window != nullptr && claim.measure != ClaimMeasure::Mean) {
      problems_.add(window, kAtKey, Code::Conflict, "claim.window",
                    "belongs to measure = \"mean\"");
    }
    const bool hasTarget = table_.find("target") != nullptr;
    const bool needsTarget =
        claim.measure == ClaimMeasure::StepsTo || claim.measure == ClaimMeasure::TimeTo;
    if (hasTarget != needsTarget) {
      problems_.add(hasTarget ? table_.find("target") : &table_, kAtValue,
                    hasTarget ? Code::Conflict : Code::Missing, "claim.target",
                    hasTarget ? "belongs to measure = \"steps_to\" and \"time_to\"" : "is missing");
    }
  }

  std::string text(const std::string& key, Need need) {
    const Node* node = table_.find(key);
    if (node == nullptr) {
      if (need == Need::Yes)
        problems_.add(&table_, kAtValue, Code::Missing, "claim." + key, "is missing");
      return "";
    }
    if (node->value.is_string() && !node->value.get<std::string>().empty())
      return node->value.get<std::string>();
    problems_.add(node, kAtValue, Code::WrongType, "claim." + key,
                  "must be a text that is not empty");
    return "";
  }

  std::optional<double> real(const std::string& key) {
    const Node* node = table_.find(key);
    if (node == nullptr) return std::nullopt;
    if (node->value.is_number() && std::isfinite(node->value.get<double>()))
      return node->value.get<double>();
    problems_.add(node, kAtValue, Code::WrongType, "claim." + key, "must be a number");
    return std::nullopt;
  }

  const Node& table_;
  ProblemList& problems_;
};

/// Keys that change no score: how a run is watched and kept, and on what it is computed.
constexpr std::array kWithoutEffect = {
    "observe",           "train.device",   "train.threads", "train.loader_workers",
    "train.checkpoint",  "train.evaluate", "train.seed",    "train.evaluation_batch_size",
    "train.record_every"};

bool isBelow(const std::string& key, std::string_view table) {
  return key.starts_with(table) && (key.size() == table.size() || key[table.size()] == '.');
}

bool isWithoutEffect(const std::string& key) {
  return std::any_of(kWithoutEffect.begin(), kWithoutEffect.end(),
                     [&](const char* table) { return isBelow(key, table); });
}

void addSettings(const Node& node, const std::string& key, ClaimedExperiment::Settings& out) {
  if (!node.isTable || node.replaces) {
    out.emplace_back(key, jsonOf(node));
    return;
  }
  for (const auto& [name, child] : node.children) addSettings(child, key + "." + name, out);
}

/// Whether the file's value and a resolved one are the same. "none" is null, n a size of [n, n].
/// What a table within a list does not say (an element of data.pipeline) is as by default.
bool isSame(const Json& claimed, const Json& resolved) {
  if (claimed.is_number() && resolved.is_number())
    return claimed.get<double>() == resolved.get<double>();
  if (claimed.is_number() && resolved.is_array() && resolved.size() == 2)
    return isSame(claimed, resolved[0]) && isSame(claimed, resolved[1]);
  if (claimed.is_array() && resolved.is_array())
    return std::equal(claimed.begin(), claimed.end(), resolved.begin(), resolved.end(), isSame);
  if (claimed.is_object() && resolved.is_object()) {
    return std::all_of(claimed.items().begin(), claimed.items().end(), [&](const auto& item) {
      return resolved.contains(item.key()) && isSame(item.value(), resolved.at(item.key()));
    });
  }
  return claimed == resolved || (claimed == "none" && resolved.is_null());
}

std::string shownValue(const Json& value) {
  if (value.is_null()) return "none";
  return shorten(plainText(value), 60);
}

}  // namespace

std::string toString(ClaimMeasure measure) {
  static constexpr std::array kNames = {"last", "mean", "steps_to", "time_to"};
  return kNames.at(static_cast<std::size_t>(measure));
}

std::string measureText(const Claim& claim) {
  if (claim.measure == ClaimMeasure::Last) return claim.metric;
  if (claim.measure == ClaimMeasure::Mean) {
    const std::string share = formatReal(100 * claim.window, 6) + " % of the steps";
    return "mean of " + claim.metric + (claim.window < 1 ? " over the last " + share : "");
  }
  return (claim.measure == ClaimMeasure::StepsTo ? "steps until " : "seconds until ") +
         claim.metric + " reaches " + formatReal(claim.target.value_or(0));
}

std::vector<Claim> readClaims(const std::string& text, const std::string& fileName,
                              std::vector<Problem>& problems) {
  ProblemList list(fileName);
  std::vector<Claim> claims;
  const Node document = readToml(text, list);
  for (const auto& [key, value] : document.children) {
    if (key != "claim") {
      list.add(&value, kAtKey, Code::UnknownKey, shorten(key, 80),
               "is not a key of this file; it holds [[claim]] entries", "claim");
      continue;
    }
    if (value.items.empty())
      list.add(&value, kAtValue, Code::WrongType, "claim", "must be a list of [[claim]] entries");
    for (const Node& item : value.items) {
      if (item.isTable) {
        claims.push_back(ClaimReader(item, list).read());
      } else {
        list.add(&item, kAtValue, Code::WrongType, "claim", "must be a table");
      }
    }
  }
  problems = list.take();
  return claims;
}

std::string titleOf(const std::string& text, const std::string& fileName) {
  ProblemList problems(fileName);
  const Node document = readToml(text, problems);
  const Node* title = document.find("title");
  if (title == nullptr || !title->value.is_string())
    throw ConfigError(fileName + " has no title; an experiment file begins with title = \"...\"");
  return title->value.get<std::string>();
}

ClaimedExperiment::ClaimedExperiment(const std::string& text, const std::string& fileName)
    : title_(titleOf(text, fileName)) {
  ProblemList problems(fileName);
  const Node document = readToml(text, problems);
  for (const char* section : {"model", "task", "data", "train", "init"}) {
    if (const Node* table = document.find(section)) addSettings(*table, section, base_);
  }
  if (const Node* axes = document.find("sweep")) {
    for (const auto& [key, values] : axes->children) swept_.push_back(key);
  }
  for (auto [kind, entries] : {std::pair("variant", &variants_), std::pair("stage", &stages_)}) {
    const Node* list = document.find(kind);
    if (list == nullptr) continue;
    for (const Node& item : list->items) {
      const Node* name = item.find("name");
      if (name == nullptr || !name->value.is_string()) continue;
      Settings& settings = (*entries)[name->value.get<std::string>()];
      if (const Node* set = item.find("set"); set != nullptr && set->isTable) {
        for (const auto& [key, value] : set->children) addSettings(value, key, settings);
      }
    }
  }
}

const ClaimedExperiment::Settings* ClaimedExperiment::settingsOf(const std::string& name) const {
  if (const auto found = variants_.find(name); found != variants_.end()) return &found->second;
  if (const auto found = stages_.find(name); found != stages_.end()) return &found->second;
  return nullptr;
}

bool ClaimedExperiment::has(const std::string& variantOrStage) const {
  return settingsOf(variantOrStage) != nullptr;
}

std::string ClaimedExperiment::deviation(const Json& config, const std::string& variant,
                                         const std::string& stage) const {
  std::map<std::string, Json> claimed;
  const auto lay = [&claimed](const Settings& settings) {
    for (const auto& [key, value] : settings) {
      std::erase_if(claimed, [&key = key](const auto& one) { return isBelow(one.first, key); });
      if (!value.is_object()) {
        claimed[key] = value;
        continue;
      }
      for (auto& [name, inner] : flatten(value)) claimed[key + "." + name] = std::move(inner);
    }
  };
  lay(base_);
  if (const auto found = variants_.find(variant); found != variants_.end()) lay(found->second);
  if (const auto found = stages_.find(stage); found != stages_.end()) lay(found->second);
  for (const auto& [key, value] : claimed) {
    const bool isSwept =
        std::any_of(swept_.begin(), swept_.end(),
                    [&key = key](const std::string& axis) { return isBelow(key, axis); });
    // `init.run` is written "previous" and stored as the run that it means.
    if (isSwept || isWithoutEffect(key) || isBelow(key, "init.run")) continue;
    const Json* resolved = valueAt(config, key);
    if (resolved != nullptr && isSame(value, *resolved)) continue;
    return key + " = " + (resolved == nullptr ? "none" : shownValue(*resolved)) + ", not " +
           shownValue(value);
  }
  return "";
}

Json ClaimedExperiment::conditions(const Json& config, const Claim& claim) const {
  std::vector<std::string> free;
  for (const std::string& side : {claim.better, claim.worse}) {
    if (const Settings* settings = settingsOf(side)) {
      for (const auto& [key, value] : *settings) free.push_back(key);
    }
    if (stages_.contains(side)) free.emplace_back("init");
  }
  Json kept = Json::object();
  for (auto& [key, value] : flatten(config)) {
    const bool isFree = std::any_of(free.begin(), free.end(), [&key = key](const std::string& one) {
      return isBelow(key, one) || isBelow(one, key);
    });
    if (!isFree && !isWithoutEffect(key)) kept[key] = std::move(value);
  }
  return kept;
}

std::string toString(Verdict verdict) {
  static constexpr std::array kNames = {"reproduced", "contradicted", "undecided"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

Judgement judge(const Claim& claim, const std::map<std::uint64_t, double>& better,
                const std::map<std::uint64_t, double>& worse) {
  std::vector<double> values;
  if (claim.above) {
    for (const auto& [seed, value] : better) values.push_back(value);
  } else {
    values = pairedDifferences(better, worse).differences;
  }
  Judgement out;
  out.threshold = claim.above.value_or(claim.margin);
  out.statistics = statisticsOf(values);
  const auto enough = static_cast<std::size_t>(claim.seeds);
  if (values.size() < enough) {
    out.reason = std::to_string(values.size()) + " of " + std::to_string(enough) +
                 (claim.above ? " seeds are done" : " common seeds are done");
    return out;
  }
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    out.reason = "a value is not finite";
    return out;
  }
  // "At least nothing" would hold of two equal sides: better is more than 0.
  const bool isStrict = !claim.above && claim.margin == 0;
  const double lower = out.statistics.interval.lower;
  if (values.size() == 1) {
    out.reason = "one seed has no interval; run another";
  } else if (isStrict ? lower > 0 : lower >= out.threshold) {
    out.verdict = Verdict::Reproduced;
    out.reason = "the 95 % interval lies above the threshold";
  } else if (out.statistics.interval.upper < out.threshold) {
    out.verdict = Verdict::Contradicted;
    out.reason = "the 95 % interval lies below the threshold";
  } else {
    out.reason = "the threshold lies within the 95 % interval";
  }
  return out;
}

}  // namespace vitrine
