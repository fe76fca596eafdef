#include "plugins/analyses/receptive_field.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "plugins/analyses/analyses.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"

namespace vitrine::analyses {
namespace {

constexpr std::int64_t kSide = 2;

/// A class token and 2 x 2 patches of 2 x 2 pixels, embedded by given weights; the first block
/// leaves tokens as they are, the second makes each the mean of all.
class Averaging final : public test::FakeModel<TokenEncoder> {
 public:
  Tokens embed(const at::Tensor& images) override {
    const at::Tensor seen = isBlind ? images.detach() : images;
    const at::Tensor patches = at::conv2d(seen, weight, {}, kSide).flatten(2).transpose(1, 2);
    return {at::cat({at::zeros({images.size(0), 1, weight.size(0)}), patches}, 1),
            at::tensor({-1, -1, 0, 0, 0, 1, 1, 0, 1, 1}, at::kLong).view({5, 2})};
  }
  at::Tensor encode(const Tokens& tokens, const at::Tensor&) override {
    if (tap) tap(0, tokens.values);
    const at::Tensor mean = tokens.values.mean(1, /*keepdim=*/true).expand_as(tokens.values);
    if (tap) tap(1, mean);
    return mean;
  }
  void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> next) override {
    tap = std::move(next);
  }

  /// Two channels of a token and of the image: pixels of a patch count 1, 2, 3 and 4, half of it in
  /// each channel of the image and with another sign.
  at::Tensor weight = at::tensor({0.5F, 1.0F, 1.5F, 2.0F, -0.5F, -1.0F, -1.5F, -2.0F,  //
                                  0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F})
                          .view({2, 2, kSide, kSide});
  std::function<void(std::int64_t, const at::Tensor&)> tap;
  bool isBlind = false;
};

at::Tensor patchOf(std::vector<double> values) {
  return at::tensor(values, at::kDouble).view({2, 2});
}

TEST(ReceptiveField, IsThePatchItselfUntilTokensAreMixed) {
  Averaging model;
  const ReceptiveField field = receptiveFieldOf(model, at::rand({3, 2, 4, 4}), 16);
  ASSERT_EQ(field.maps.size(), 2U);
  at::Tensor own = at::zeros({4, 4}, at::kDouble);
  own.slice(0, 2).slice(1, 2).copy_(patchOf({0.1, 0.2, 0.3, 0.4}));
  EXPECT_TRUE(at::allclose(field.maps[0], own)) << field.maps[0];
  const at::Tensor all = patchOf({0.025, 0.05, 0.075, 0.1}).repeat({2, 2});
  EXPECT_TRUE(at::allclose(field.maps[1], all)) << field.maps[1];
  EXPECT_EQ(field.row, 3);
  EXPECT_EQ(field.column, 3);
  EXPECT_FALSE(model.tap) << "the tap was taken out";
}

TEST(ReceptiveField, PutsPixelsTogetherWhereThereAreTooMany) {
  Averaging model;
  const ReceptiveField field = receptiveFieldOf(model, at::rand({1, 2, 4, 4}), 4);
  EXPECT_TRUE(at::allclose(field.maps[0], patchOf({0, 0, 0, 1})));
  EXPECT_TRUE(at::allclose(field.maps[1], patchOf({0.25, 0.25, 0.25, 0.25})));
  EXPECT_THROW((void)receptiveFieldOf(model, at::rand({1, 2, 4, 6}), 1), ConfigError);
}

TEST(ReceptiveField, AreaIsTheSmallestShareThatHoldsTheMass) {
  const at::Tensor map = patchOf({0.1, 0.5, 0.1, 0.3});
  EXPECT_DOUBLE_EQ(areaOf(map, 0.5), 0.25);
  EXPECT_DOUBLE_EQ(areaOf(map, 0.6), 0.5);
  EXPECT_DOUBLE_EQ(areaOf(map, 0.9), 0.75);
  EXPECT_DOUBLE_EQ(areaOf(map, 1.0), 1.0);
}

TEST(ReceptiveField, OfAModelThatGradientsDoNotPassIsRefused) {
  Averaging model;
  model.isBlind = true;
  EXPECT_THROW((void)receptiveFieldOf(model, at::rand({1, 2, 4, 4}), 16), ConfigError);
}

TEST(ReceptiveField, IsStoredAsAMapOfEachBlockWithItsAreas) {
  Averaging model;
  NoSession session(model);
  Batch batch;
  batch.fields["image"] = at::rand({3, 2, 4, 4});
  ProbeContext context{session, model, batch, {}, {}};
  const at::NoGradGuard asProbesAreCalled;
  const auto found = makeReceptiveField()->probe(Config(Json{{"images", 3}}), context)();
  ASSERT_EQ(found.artifacts.size(), 1U);
  const Artifact& artifact = found.artifacts.front();
  EXPECT_EQ(artifact.kind, artifact_kind::kAttention);
  EXPECT_EQ(artifact.meta["shape"], (Json{2, 1, 1, 16}));
  EXPECT_EQ(artifact.meta["query_positions"], (Json{Json{3, 3}}));
  EXPECT_EQ(artifact.meta["key_positions"].size(), 16U);
  EXPECT_TRUE(artifact.meta["image"].is_null());
  ASSERT_EQ(found.scores.size(), 2U);
  EXPECT_EQ(found.scores[0].first, "area_50");
  EXPECT_DOUBLE_EQ(found.scores[0].second, 6.0 / 16);
}

}  // namespace
}  // namespace vitrine::analyses
