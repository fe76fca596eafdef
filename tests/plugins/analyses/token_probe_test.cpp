#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "core/base/error.h"
#include "plugins/analyses/analyses.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"

namespace vitrine::analyses {
namespace {

/// Tokens are the pixels of 2 x 2 images, behind a class token that says the lower left one, too.
class Pixels final : public test::FakeModel<TokenEncoder> {
 public:
  Tokens embed(const at::Tensor& images) override {
    const at::Tensor pixels = images.flatten(2).transpose(1, 2);
    return {at::cat({pixels.narrow(1, 2, 1), pixels}, 1),
            at::tensor({-1, -1, 0, 0, 0, 1, 1, 0, 1, 1}, at::kLong).view({5, 2})};
  }
  at::Tensor encode(const Tokens& tokens, const at::Tensor&) override { return tokens.values; }
  void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)>) override {}
};

/// Images whose lower row is their class; the upper one says nothing of it.
class LowerRows final : public NoSession {
 public:
  explicit LowerRows(Model& model) : NoSession(model) { data_.classes = {"dark", "bright"}; }
  const DatasetInfo& dataset() const noexcept override { return data_; }
  Batch read(Split, const std::vector<std::int64_t>& ids) override {
    std::vector<float> pixels;
    std::vector<std::int64_t> labels;
    for (const std::int64_t id : ids) {
      const auto upper = static_cast<float>(id / 2 % 5), lower = static_cast<float>(id % 2);
      pixels.insert(pixels.end(), {upper, upper, lower, lower});
      labels.push_back(id % 2);
    }
    Batch batch{.sampleIds = ids};
    batch.fields["image"] = at::tensor(pixels).view({-1, 1, 2, 2});
    batch.fields["label"] = at::tensor(labels);
    return batch;
  }
  std::vector<std::int64_t> chooseSamples(Split, std::int64_t count) override {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }

 private:
  DatasetInfo data_;
};

Analysis::Findings probed(TaskSession& session, Model& model) {
  const Batch batch;
  ProbeContext context{session, model, batch, {}, {}};
  return makeTokenProbe()->probe(
      Config(Json{{"train_samples", 200}, {"test_samples", 100}, {"ridge", 1e-3}}), context)();
}

TEST(TokenProbe, FindsTheClassInTheRowsThatKnowIt) {
  Pixels model;
  LowerRows session(model);
  const Analysis::Findings findings = probed(session, model);
  std::map<std::string, double> scores(findings.scores.begin(), findings.scores.end());
  EXPECT_NEAR(scores.at("top1/0"), 0.5, 1e-12) << "chance";
  EXPECT_NEAR(scores.at("top1/1"), 1, 1e-12);
  EXPECT_NEAR(scores.at("top1"), 0.75, 1e-12) << "patches alone";
  EXPECT_NEAR(scores.at("rise"), 0.5, 1e-12);
  ASSERT_EQ(findings.artifacts.size(), 2U);
  EXPECT_EQ(findings.artifacts[0].meta.at("shape"), Json({2, 2})) << "a point for each row";
  EXPECT_EQ(findings.artifacts[1].kind, artifact_kind::kHeatmap);
  EXPECT_EQ(findings.artifacts[1].meta.at("test_samples"), 100);
}

TEST(TokenProbe, RefusesDataWithoutClasses) {
  Pixels model;
  NoSession session(model);
  EXPECT_THROW((void)probed(session, model), ConfigError);
}

}  // namespace
}  // namespace vitrine::analyses
