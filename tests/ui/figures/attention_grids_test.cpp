// Attention whose queries lie on a finer grid than its keys.
#include <array>
#include <set>

#include "tests/ui/figures/samples.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {
namespace {

/// 4 x 4 queries over 2 x 2 keys; query q sees key q % 4 alone.
Artifact subSampled() {
  Artifact artifact = samples::attention();
  std::vector<float> values(64, 0);
  for (std::size_t query = 0; query < 16; ++query) values[4 * query + query % 4] = 1;
  setFloat32(artifact, values, {1, 1, 16, 4}, {"layer", "head", "query", "key"});
  artifact.meta["query_positions"] = Json::array();
  for (int i = 0; i < 16; ++i) artifact.meta["query_positions"].push_back({i / 4, i % 4});
  artifact.meta["key_positions"] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  artifact.meta["key_places"] = {{0.5, 0.5}, {0.5, 2.5}, {2.5, 0.5}, {2.5, 2.5}};
  return artifact;
}

QString summaryAt(const std::array<double, 2>& place) {
  FigureStyle style{.queryAt = place};
  const Artifact artifact = subSampled();
  return makeFigure(QString::fromStdString(artifact.kind), artifact.meta, artifact.data, style)
      ->summary();
}

TEST(AttentionGrids, AQueryIsChosenByItsPlaceOnItsOwnGrid) {
  EXPECT_TRUE(summaryAt({0.9, 0.9}).contains(QStringLiteral("query: row 3, column 3")));
  EXPECT_TRUE(summaryAt({0.4, 0.1}).contains(QStringLiteral("query: row 1, column 0")));
}

TEST(AttentionGrids, AClickOnTheMapMeansTheQueryBehindIt) {
  const Artifact artifact = subSampled();
  const auto figure =
      makeFigure(QString::fromStdString(artifact.kind), artifact.meta, artifact.data, {});
  (void)figure->image(QSizeF(600, 420), 1);
  std::set<std::array<double, 2>> places;
  for (int y = 0; y < 420; y += 2) {
    for (int x = 0; x < 600; x += 2) {
      const FigureTarget target = figure->targetAt(QPointF(x, y));
      if (target.queryAt) places.insert(*target.queryAt);
    }
  }
  EXPECT_EQ(places.size(), 16U);
  EXPECT_TRUE(places.contains({0.875, 0.875}));
}

}  // namespace
}  // namespace vitrine::ui
