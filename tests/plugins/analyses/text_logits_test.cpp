#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/base/read_json.h"
#include "core/model/model.h"
#include "core/plugin/task.h"
#include "plugins/analyses/analyses.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"

namespace vitrine::analyses {
namespace {

constexpr std::int64_t kVocabulary = 11;

/// Logits are rows of one matrix, by token.
class Table final : public test::FakeModel<LanguageModel> {
 public:
  explicit Table(std::int64_t context = 0)
      : rows(register_parameter(
            "rows",
            at::arange(kVocabulary * kVocabulary, at::kFloat).view({kVocabulary, kVocabulary}))),
        context_(context) {}
  std::int64_t vocabularySize() const override { return kVocabulary; }
  std::int64_t contextLength() const override { return context_; }
  std::unique_ptr<Cache> makeCache(std::int64_t) override { return nullptr; }
  at::Tensor next(const at::Tensor& tokens, Cache*, Rows) override {
    seen = tokens;
    return rows.index({tokens});
  }

  at::Tensor rows, seen;

 private:
  std::int64_t context_;
};

Analysis::Findings findingsOf(Table& model, std::int64_t texts = 3, std::int64_t tokens = 5) {
  NoSession session(model);
  const Batch batch;
  ProbeContext context{session, model, batch, {}, {}};
  return makeTextLogits()->probe(Config(Json{{"texts", texts}, {"tokens", tokens}}), context)();
}

/// The one row of the table.
Json rowOf(Table& model, std::int64_t texts = 3, std::int64_t tokens = 5) {
  const auto findings = findingsOf(model, texts, tokens);
  EXPECT_EQ(findings.artifacts.size(), 1U);
  const auto& data = findings.artifacts.front().data;
  return readJson(std::string(reinterpret_cast<const char*>(data.data()), data.size()))
      .at("rows")
      .at(0);
}

/// Flips one bit of the last number.
void change(Table& model) {
  const at::NoGradGuard noGradient;
  auto* last = model.rows.mutable_data_ptr<float>() + kVocabulary * kVocabulary - 1;
  *last = std::nextafter(*last, 1000.0F);
}

TEST(TextLogits, HaveOneHashForEqualModelsAndAnotherAfterOneBit) {
  Table model, equal, changed;
  change(changed);
  const Json row = rowOf(model);
  EXPECT_EQ(row.at(4).get<std::string>().size(), 64U);
  EXPECT_EQ(rowOf(equal), row);
  EXPECT_NE(rowOf(changed).at(4), row.at(4));
}

TEST(TextLogits, HaveTheBeginningOfTheirHashAsAScore) {
  const auto fingerprint = [](Table& model) {
    const Scores scores = findingsOf(model).scores;
    EXPECT_EQ(scores.size(), 1U);
    EXPECT_EQ(scores.at(0).first, "fingerprint");
    return scores.at(0).second;
  };
  Table model, equal, changed;
  change(changed);
  const double share = fingerprint(model);
  const std::string hash = rowOf(model).at(4).get<std::string>();
  // Four hexadecimal digits are 16 bits.
  EXPECT_EQ(std::floor(share * 65536), std::stoi(hash.substr(0, 4), nullptr, 16));
  EXPECT_EQ(fingerprint(equal), share);
  EXPECT_NE(fingerprint(changed), share);
}

TEST(TextLogits, LookAtEveryTokenOfTheVocabulary) {
  Table model;
  EXPECT_EQ(rowOf(model).at(2), kVocabulary);
  EXPECT_EQ(std::get<0>(at::_unique(model.seen)).size(0), kVocabulary);
}

TEST(TextLogits, AreNotLongerThanTheContext) {
  Table model(4);
  EXPECT_EQ(rowOf(model, 3, 5).at(1), 4);
}

}  // namespace
}  // namespace vitrine::analyses
