#include "plugins/datasets/text/sequences.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/sha256.h"

namespace vitrine::text {
namespace {

struct Row {
  std::vector<std::int64_t> tokens, targets;
};

std::shared_ptr<const Dataset> openSet(const std::string& kind,
                                       const Json& changes = Json::object()) {
  Json values = SequencesSource().card().schema.defaults();
  values["kind"] = kind;
  values.update(changes);
  return SequencesSource().open(Config(values));
}

Row rowOf(const Dataset& set, Split split, std::int64_t id) {
  Sample sample;
  sample.begin(id);
  set.read(split, id, sample);
  const auto tokens = sample.at("tokens").get<std::int64_t>();
  const auto targets = sample.at("targets").get<std::int64_t>();
  return {{tokens.begin(), tokens.end()}, {targets.begin(), targets.end()}};
}

const std::vector<std::string> kAll = {"copy",    "reverse", "recall", "induction",
                                       "listops", "dyck",    "sums"};

TEST(Sequences, EveryKindIsTheOneItWas) {
  const std::map<std::string, std::string> expected = {
      {"copy", "5680679c6e55bf5cc552a3a9be48985fed4c3bbe33865bf179e40b0cd6bd7e63"},
      {"reverse", "37ba4aa17c1cf23e2962cd9a530774d017b5409e005989cab68f63f54f500724"},
      {"recall", "985a4986f4ee9ac92adf09fb3b347bdc434d69c2840886e37cc58a9d5c809901"},
      {"induction", "ae8665109c29f2ae87a21b0eb4ed715970e3ea2067ecd53b9b0ce6f9a656c43e"},
      {"listops", "ad6323d3853c9ff829e02f8280ecb2b24d2122c156c7ada5919f3e0520737066"},
      {"dyck", "9edaa800359f19685ad6a513865c64c08f55bf187585d56adeaea4d5289af0fc"},
      {"sums", "20502710927589a752e062e6b5adff8bf8017561d47d0b78018686c406788c5a"}};
  for (const auto& [kind, hash] : expected) {
    const auto set = openSet(kind);
    std::string text;
    for (std::int64_t id = 0; id < 64; ++id) {
      const Row row = rowOf(*set, Split::Train, id);
      for (const auto& values : {row.tokens, row.targets}) {
        for (const std::int64_t value : values) text += std::to_string(value) + " ";
      }
    }
    EXPECT_EQ(sha256OfText(text), hash) << kind;
  }
}

TEST(Sequences, DependOnSeedSplitAndIdAndStayInTheVocabulary) {
  for (const std::string& kind : kAll) {
    const auto set = openSet(kind), other = openSet(kind, {{"seed", 1}});
    const Row row = rowOf(*set, Split::Train, 7);
    (void)rowOf(*set, Split::Train, 8);
    EXPECT_EQ(row.tokens, rowOf(*set, Split::Train, 7).tokens) << kind;
    EXPECT_NE(row.tokens, rowOf(*set, Split::Test, 7).tokens) << kind;
    EXPECT_NE(row.tokens, rowOf(*other, Split::Train, 7).tokens) << kind;
    const std::int64_t vocabulary = kind == "listops" ? 17 : 18;
    for (std::size_t i = 0; i < row.tokens.size(); ++i) {
      EXPECT_TRUE(row.tokens[i] >= 0 && row.tokens[i] < vocabulary) << kind;
      EXPECT_TRUE(row.targets[i] >= kNoTarget && row.targets[i] < vocabulary) << kind;
      // A target is the next token wherever that still has a place.
      if (row.targets[i] >= 0 && i + 1 < row.tokens.size() && row.tokens[i + 1] != 0) {
        EXPECT_EQ(row.targets[i], row.tokens[i + 1]) << kind;
      }
    }
    EXPECT_THROW((void)rowOf(*set, Split::Test, 2000), ShapeError);
    for (const std::int64_t length : {16, 17, 1000}) {
      for (std::int64_t id = 0; id < 20; ++id)
        (void)rowOf(*openSet(kind, {{"length", length}, {"symbols", 4}}), Split::Train, id);
    }
  }
}

/// The value of the expression that begins at `at`, which moves behind it.
std::int64_t evaluated(const std::vector<std::int64_t>& tokens, std::size_t& at) {
  const std::int64_t token = tokens.at(at++);
  if (token < 12) return token - 2;
  std::vector<std::int64_t> terms;
  while (tokens.at(at) != 16) terms.push_back(evaluated(tokens, at));
  ++at;
  std::sort(terms.begin(), terms.end());
  if (token == 12) return terms.back();
  if (token == 13) return terms.front();
  if (token == 14) return terms[(terms.size() - 1) / 2];
  std::int64_t sum = 0;
  for (const std::int64_t term : terms) sum += term;
  return sum % 10;
}

TEST(Sequences, TargetsAreWhatTheTokensDetermine) {
  for (std::int64_t id = 0; id < 50; ++id) {
    const Row copy = rowOf(*openSet("copy"), Split::Train, id);
    const Row reverse = rowOf(*openSet("reverse"), Split::Train, id);
    for (std::size_t i = 0; i < 32; ++i) {
      EXPECT_EQ(copy.targets[32 + i], copy.tokens[i]);
      EXPECT_EQ(reverse.targets[32 + i], reverse.tokens[31 - i]);
    }
    const Row recall = rowOf(*openSet("recall"), Split::Train, id);
    std::map<std::int64_t, std::int64_t> values;
    std::size_t at = 0;
    for (; recall.tokens[at] != 1; at += 2) values[recall.tokens[at]] = recall.tokens[at + 1];
    for (++at; at < recall.tokens.size(); at += 2)
      EXPECT_EQ(recall.targets[at], values.at(recall.tokens[at]));
    const Row induction = rowOf(*openSet("induction"), Split::Train, id);
    const auto mark = std::find(induction.tokens.begin(), induction.tokens.end(), 1);
    EXPECT_EQ(induction.targets.back(), *(mark + 1));
    const Row sums = rowOf(*openSet("sums"), Split::Train, id);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 63; ++i) sum += sums.tokens[i] - 2;
    EXPECT_EQ(sums.targets.back(), 2 + sum % 16);
    const Row lists = rowOf(*openSet("listops"), Split::Train, id);
    std::size_t end = 0;
    const std::int64_t value = evaluated(lists.tokens, end);
    EXPECT_EQ(lists.tokens.at(end), 1);
    EXPECT_EQ(lists.targets.at(end), 2 + value);
    const Row dyck = rowOf(*openSet("dyck"), Split::Train, id);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < dyck.tokens.size(); ++i) {
      if (dyck.tokens[i] % 2 == 0) {
        open.push_back(i);
      } else {
        open.pop_back();
      }
      if (dyck.targets[i] < 0) continue;
      EXPECT_EQ(dyck.targets[i], dyck.tokens.at(open.back()) + 1);
      EXPECT_GE(i + 1 - open.back(), 4u);
    }
  }
}

TEST(Sequences, TwoTokensBeforeDoNotTellTheTarget) {
  for (const std::string& kind : kAll) {
    const auto set = openSet(kind);
    std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, int>> seen;
    const auto eachTarget = [&](Split split, const auto& take) {
      for (std::int64_t id = 0; id < 600; ++id) {
        const Row row = rowOf(*set, split, id);
        for (std::size_t i = 1; i < row.tokens.size(); ++i) {
          if (row.targets[i] >= 0)
            take(std::pair{row.tokens[i - 1], row.tokens[i]}, row.targets[i]);
        }
      }
    };
    eachTarget(Split::Train,
               [&](const auto& before, std::int64_t target) { ++seen[before][target]; });
    int right = 0, all = 0;
    eachTarget(Split::Test, [&](const auto& before, std::int64_t target) {
      ++all;
      std::int64_t guess = 0;
      int most = 0;
      for (const auto& [candidate, times] : seen[before]) {
        if (times > most) std::tie(guess, most) = std::pair{candidate, times};
      }
      right += guess == target;
    });
    ASSERT_GE(all, 600) << kind;
    EXPECT_LT(right, 0.45 * all) << kind;
  }
}

}  // namespace
}  // namespace vitrine::text
