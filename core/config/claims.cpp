#include "core/config/claims.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/toml_reader.h"

namespace vitrine {

namespace {

constexpr auto kAtKey = ProblemList::At::Key;
constexpr auto kAtValue = ProblemList::At::Value;

const std::vector<std::string>& claimKeys() {
  static const std::vector<std::string> keys = {"name",  "source", "experiment", "metric", "better",
                                                "worse", "margin", "above",      "seeds",  "note"};
  return keys;
}

class ClaimReader {
 public:
  ClaimReader(const Node& table, ProblemList& problems) : table_(table), problems_(problems) {}

  Claim read() {
    for (const auto& [key, value] : table_.children) {
      if (std::find(claimKeys().begin(), claimKeys().end(), key) == claimKeys().end()) {
        problems_.add(&value, kAtKey, "claim." + shorten(key, 80), "is not a key of a claim",
                      nearest(key, claimKeys()));
      }
    }
    Claim claim;
    claim.name = text("name", Need::Yes);
    claim.source = text("source", Need::Yes);
    claim.experiment = text("experiment", Need::Yes);
    claim.metric = text("metric", Need::Yes);
    claim.better = text("better", Need::Yes);
    claim.worse = text("worse", Need::No);
    claim.note = text("note", Need::No);
    claim.margin = real("margin").value_or(0);
    claim.above = real("above");
    if (const Node* seeds = table_.find("seeds")) {
      if (seeds->value.is_number_integer() && seeds->value.get<std::int64_t>() >= 1) {
        claim.seeds = seeds->value.get<std::int64_t>();
      } else {
        problems_.add(seeds, kAtValue, "claim.seeds", "must be a whole number from 1");
      }
    }
    if (claim.above.has_value() == !claim.worse.empty()) {
      problems_.add(&table_, kAtValue, "claim",
                    "needs either `worse`, the variant to be better than, or `above`, the value to "
                    "reach, and not both");
    }
    return claim;
  }

 private:
  enum class Need { No, Yes };

  std::string text(const std::string& key, Need need) {
    const Node* node = table_.find(key);
    if (node == nullptr) {
      if (need == Need::Yes) problems_.add(&table_, kAtValue, "claim." + key, "is missing");
      return "";
    }
    if (node->value.is_string() && !node->value.get<std::string>().empty())
      return node->value.get<std::string>();
    problems_.add(node, kAtValue, "claim." + key, "must be a text that is not empty");
    return "";
  }

  std::optional<double> real(const std::string& key) {
    const Node* node = table_.find(key);
    if (node == nullptr) return std::nullopt;
    if (node->value.is_number() && std::isfinite(node->value.get<double>()))
      return node->value.get<double>();
    problems_.add(node, kAtValue, "claim." + key, "must be a number");
    return std::nullopt;
  }

  const Node& table_;
  ProblemList& problems_;
};

}  // namespace

std::vector<Claim> readClaims(const std::string& text, const std::string& fileName,
                              std::vector<Problem>& problems) {
  ProblemList list(fileName);
  std::vector<Claim> claims;
  const Node document = readToml(text, list);
  for (const auto& [key, value] : document.children) {
    if (key != "claim") {
      list.add(&value, kAtKey, shorten(key, 80),
               "is not a key of this file; it holds [[claim]] entries", "claim");
      continue;
    }
    if (value.items.empty())
      list.add(&value, kAtValue, "claim", "must be a list of [[claim]] entries");
    for (const Node& item : value.items) {
      if (item.isTable) {
        claims.push_back(ClaimReader(item, list).read());
      } else {
        list.add(&item, kAtValue, "claim", "must be a table");
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
  if (title == nullptr || !title->value.is_string()) {
    throw ConfigError(fileName + " has no title; an experiment file begins with title = \"...\"");
  }
  return title->value.get<std::string>();
}

std::string toString(Verdict verdict) {
  switch (verdict) {
    case Verdict::Reshown:
      return "re-shown";
    case Verdict::Contradicted:
      return "contradicted";
    case Verdict::Undecided:
      break;
  }
  return "undecided";
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
  if (values.size() == 1) {
    out.verdict = values[0] >= out.threshold ? Verdict::Reshown : Verdict::Contradicted;
    out.reason = "by the value alone: one seed has no interval";
  } else if (out.statistics.interval.lower >= out.threshold) {
    out.verdict = Verdict::Reshown;
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
