// Attention of texts with their images: words beside a grid of patches, samples of different
// length.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/text_image_model.h"
#include "core/plugin/text_session.h"
#include "plugins/analyses/analyses.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"

namespace vitrine::analyses {
namespace {

/// One layer of two heads: every token reads itself. Two patches of an image behind the words.
class Sequences final : public test::FakeModel<TextImageModel, AttentionSource> {
 public:
  Sizes textImageSizes() const override { return {}; }
  at::Tensor keptShares() const override { return {}; }
  MixedPrediction mixed(const MixedSequences& sequences) override {
    const std::int64_t tokens = sequences.tokens.size(1);
    if (!tap_) return {};
    AttentionRecord record{.weights = at::eye(tokens).expand({1, 2, tokens, tokens}),
                           .queryPositions = at::full({tokens, 2}, -1.0, at::kDouble)};
    record.queryPositions.narrow(0, tokens - 2, 2).fill_(0);
    record.queryPositions.select(0, tokens - 1).select(0, 1).fill_(1);
    record.keyPositions = record.queryPositions;
    tap_->receive(record);
    return {};
  }
  at::Tensor noiseAfter(LanguageModel::Cache&, const at::Tensor&, const at::Tensor&,
                        Keep) override {
    return {};
  }
  bool isOfText(const std::string&) const override { return false; }
  std::int64_t attentionLayers() const override { return 1; }
  std::int64_t attentionHeads(std::int64_t) const override { return 2; }
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override { tap_ = std::move(tap); }

 private:
  std::shared_ptr<const AttentionTap> tap_;
};

/// "a bag" with its image, and "shoe" with its own.
class Captioned final : public NoSession, public JointSession {
 public:
  using NoSession::NoSession;
  Sequence sequenceOf(const Batch&, std::int64_t row) const override {
    Sequence one;
    one.words = row == 0 ? std::vector<std::string>{"a", "bag", "", ""}
                         : std::vector<std::string>{"shoe", "", ""};
    one.sequences.tokens = at::zeros({1, std::ssize(one.words)}, at::kLong);
    return one;
  }
};

Analysis::Findings findingsIn(const Analysis& analysis, const Json& changes) {
  Sequences model;
  Captioned session(model);
  Batch batch;
  batch.fields["image"] = at::ones({2, 1, 2, 4});
  batch.sampleIds = {7, 9};
  ProbeContext context{session, model, batch, {}, {}};
  Json values = analysis.card().schema.defaults();
  values.update(changes);
  return analysis.probe(Config(values), context)();
}

TEST(AttentionSequences, NameWordsBesideTheGridOfPatches) {
  const auto findings = findingsIn(*makeAttentionMap(), Json::object());
  ASSERT_EQ(findings.artifacts.size(), 4u);
  const Artifact &first = findings.artifacts[0], &second = findings.artifacts[2];
  EXPECT_EQ(first.name, "image 7");
  EXPECT_EQ(first.meta["shape"], Json({1, 2, 4, 4}));
  EXPECT_EQ(first.meta["key_words"], Json({"a", "bag", "", ""}));
  EXPECT_EQ(first.meta["query_words"], first.meta["key_words"]);
  EXPECT_EQ(first.meta["key_positions"],
            Json({{-1.0, -1.0}, {-1.0, -1.0}, {0.0, 0.0}, {0.0, 1.0}}));
  EXPECT_FALSE(first.meta.contains("label")) << "captions come without a class";
  EXPECT_EQ(findings.artifacts[1].name, "image 7 pixels");
  EXPECT_EQ(second.name, "image 9");
  EXPECT_EQ(second.meta["shape"], Json({1, 2, 3, 3})) << "a shorter text";
  EXPECT_EQ(second.meta["key_words"], Json({"shoe", "", ""}));
}

TEST(AttentionSequences, KeepTheWordsOfTheQueriesThatAreKept) {
  const auto findings = findingsIn(*makeAttentionMap(), Json{{"query", "class"}});
  const Artifact& first = findings.artifacts.at(0);
  EXPECT_EQ(first.meta["shape"], Json({1, 2, 2, 4}));
  EXPECT_EQ(first.meta["query_words"], Json({"a", "bag"}));
  EXPECT_EQ(first.meta["key_words"], Json({"a", "bag", "", ""}));
}

TEST(AttentionSequences, HaveSingularValuesOfTheSamplesOfOneLength) {
  const auto findings = findingsIn(*makeAttentionRank(), Json::object());
  EXPECT_EQ(findings.artifacts.at(0).meta["shape"], Json({1, 2, 4}));
}

}  // namespace
}  // namespace vitrine::analyses
