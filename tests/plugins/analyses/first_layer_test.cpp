#include "plugins/analyses/first_layer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "plugins/analyses/analyses.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"

namespace vitrine::analyses {
namespace {

constexpr std::int64_t kWidth = 3, kPatch = 2;

/// A class token and 2 x 2 patches of 2 x 2 pixels with two channels, embedded by given weights.
class Patches final : public test::FakeModel<TokenEncoder> {
 public:
  Tokens embed(const at::Tensor& images) override {
    const at::Tensor input = isSquared ? images.square() : images;
    const at::Tensor patches = at::conv2d(input, weight, bias, kPatch).flatten(2).transpose(1, 2);
    const at::Tensor first = at::zeros({images.size(0), 1, kWidth});
    return {at::cat({first, patches + table}, 1),
            at::tensor({-1, -1, 0, 0, 0, 1, 1, 0, 1, 1}, at::kLong).view({5, 2})};
  }
  at::Tensor encode(const Tokens& tokens, const at::Tensor&) override { return tokens.values; }
  void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)>) override {}

  at::Tensor weight = at::arange(kWidth * 2 * 4, at::kFloat).view({kWidth, 2, 2, 2}) - 5;
  at::Tensor bias = at::tensor({0.5F, 0.0F, -1.0F});
  /// Rows 0 and 1 alike, row 2 opposed to them with the bias, row 3 at a right angle.
  at::Tensor table = at::tensor({0.5F, 0.0F, 1.0F,   //
                                 1.5F, 0.0F, 1.0F,   //
                                 -1.5F, 0.0F, 1.0F,  //
                                 -0.5F, 2.0F, 1.0F})
                         .view({4, 3});
  bool isSquared = false;
};

Analysis::Findings findingsOf(Patches& model, const Json& settings) {
  NoSession session(model);
  Batch batch;
  batch.fields["image"] = at::rand({1, 2, 4, 4});
  Json values = settings;
  ProbeContext context{session, model, batch, {}, {}};
  return makeFirstLayer()->probe(Config(values), context)();
}

TEST(FirstLayer, FiltersAreTheWeightsThatEmbedAPatch) {
  Patches model;
  const FirstLayer layer = firstLayerOf(model, at::rand({1, 2, 4, 4}));
  ASSERT_TRUE(layer.filters.defined());
  EXPECT_TRUE(at::allclose(layer.filters, model.weight.to(at::kDouble), 1e-5, 1e-5));
  EXPECT_TRUE(at::allclose(layer.tokens, (model.table + model.bias).to(at::kDouble)));
  EXPECT_TRUE(
      at::equal(layer.positions, at::tensor({0, 0, 0, 1, 1, 0, 1, 1}, at::kLong).view({4, 2})));
}

TEST(FirstLayer, AnEmbeddingThatIsNotLinearHasNoFilters) {
  Patches model;
  model.isSquared = true;
  EXPECT_FALSE(firstLayerOf(model, at::rand({1, 2, 4, 4})).filters.defined());
  const Analysis::Findings found = findingsOf(model, {{"filters", 4}});
  ASSERT_EQ(found.artifacts.size(), 1U);
  EXPECT_EQ(found.artifacts[0].name, "positions");
  EXPECT_TRUE(found.artifacts[0].meta["filters"].is_string()) << "and it says why";
}

TEST(FirstLayer, PositionsAreCosinesOfNoImage) {
  Patches model;
  const Analysis::Findings found = findingsOf(model, {{"filters", 4}});
  ASSERT_EQ(found.artifacts.size(), 2U);
  const Artifact& positions = found.artifacts[1];
  EXPECT_EQ(positions.kind, artifact_kind::kAttention);
  EXPECT_TRUE(positions.meta["image"].is_null());
  const ArrayView view = arrayOf(positions.meta, positions.data);
  ASSERT_EQ(view.shape, (std::vector<std::int64_t>{1, 1, 4, 4}));
  EXPECT_NEAR(view.at(0), 1, 1e-6);
  EXPECT_NEAR(view.at(1), 1, 1e-6);
  EXPECT_NEAR(view.at(2), -1, 1e-6);
  EXPECT_NEAR(view.at(3), 0, 1e-6);
}

TEST(FirstLayer, PrincipalFiltersExplainTheSquaresAroundTheirMeanInFallingOrder) {
  Patches model;
  const Artifact filters = findingsOf(model, {{"filters", 2}}).artifacts[0];
  EXPECT_EQ(filters.kind, artifact_kind::kImageGrid);
  // Two channels are no colours: their mean is drawn.
  EXPECT_EQ(arrayOf(filters.meta, filters.data).shape, (std::vector<std::int64_t>{2, 2, 2, 1}));
  const auto explained = filters.meta["explained"].get<std::vector<double>>();
  ASSERT_EQ(explained.size(), 2U);
  EXPECT_GE(explained[0], explained[1]);
  EXPECT_NEAR(explained[0], 1, 1e-9) << "around their mean, filters that differ by a constant";
}

TEST(FirstLayer, RefusesPatchesThatDoNotDivideTheImage) {
  Patches model;
  EXPECT_THROW((void)firstLayerOf(model, at::rand({1, 2, 4, 5})), ConfigError);
}

}  // namespace
}  // namespace vitrine::analyses
