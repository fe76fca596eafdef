#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "core/artifact/cue_decisions.h"
#include "core/base/error.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {
namespace {

DatasetInfo conflicts() {
  DatasetInfo info;
  info.fields.push_back({"shape", FieldKind::Label, at::kLong, {}, "class of the silhouette"});
  info.fields.push_back({"texture", FieldKind::Label, at::kLong, {}, "class of the texture"});
  info.classes = {"circle", "square", "star"};
  return info;
}

CollectedResults heard(const std::vector<std::array<std::int64_t, 3>>& samples) {
  const auto listener = makeShapeBias()->listen(Config(Json::object()), conflicts());
  // One batch a sample: decided class, shape, texture.
  for (const auto& [decided, shape, texture] : samples) {
    Batch batch;
    batch.fields["shape"] = at::full({1}, shape, at::kLong);
    batch.fields["texture"] = at::full({1}, texture, at::kLong);
    at::Tensor logits = at::zeros({1, 3});
    logits[0][decided] = 2;
    const std::map<std::string, at::Tensor> outputs{{"logits", logits}};
    listener->batch({batch, outputs});
  }
  CollectedResults results;
  listener->finish(results);
  return results;
}

TEST(ShapeBias, CountsDecisionsForEitherCueByTheClassOfTheShape) {
  // By shape, by texture, by texture, by neither; and cues that agree.
  const CollectedResults results = heard({{0, 0, 1}, {1, 0, 1}, {0, 1, 0}, {2, 1, 0}, {2, 2, 2}});
  ASSERT_EQ(results.scores.size(), 1U);
  EXPECT_EQ(results.scores[0].first, "shape_bias");
  EXPECT_NEAR(results.scores[0].second, 1.0 / 3, 1e-12);
  ASSERT_EQ(results.artifacts.size(), 1U);
  const Artifact& artifact = results.artifacts[0];
  EXPECT_EQ(artifact.kind, artifact_kind::kCueDecisions);
  EXPECT_EQ(artifact.meta["class_names"], Json({"circle", "square", "star"}));
  const ArrayView view = arrayOf(artifact.meta, artifact.data);
  ASSERT_EQ(view.shape, (std::vector<std::int64_t>{3, 3}));
  const std::vector<double> wanted{2, 1, 1, 2, 0, 1, 0, 0, 0};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(view.at(static_cast<std::int64_t>(i)), wanted[i]) << i;
}

TEST(ShapeBias, WithoutAnyConflictThereIsNoScore) {
  EXPECT_TRUE(heard({{0, 0, 0}, {1, 1, 1}}).scores.empty());
}

TEST(ShapeBias, RefusesDataWithoutBothCues) {
  DatasetInfo info = conflicts();
  info.fields.pop_back();
  EXPECT_THROW((void)makeShapeBias()->listen(Config(Json::object()), info), ConfigError);
}

}  // namespace
}  // namespace vitrine::analyses
