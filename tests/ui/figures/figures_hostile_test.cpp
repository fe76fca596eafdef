// Artifacts that claim more than their data hold, and those whose data stayed elsewhere.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/ui/figures/samples.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {
namespace {

/// An artifact whose meta says that it has those sides, with as many bytes of data.
std::unique_ptr<Figure> figureOfShape(const char* kind, const char* dtype,
                                      const std::vector<std::int64_t>& shape, std::size_t bytes) {
  return makeFigure(QString::fromLatin1(kind), {{"version", 1}, {"dtype", dtype}, {"shape", shape}},
                    std::vector<std::byte>(bytes));
}

TEST(Figure, BelievesNoSideOfAShapeWithoutValues) {
  for (const char* kind :
       {artifact_kind::kCurve, artifact_kind::kHeatmap, artifact_kind::kMatrix,
        artifact_kind::kImageGrid, artifact_kind::kHistogram, artifact_kind::kReliability,
        artifact_kind::kSpectrum, artifact_kind::kAttention}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{100'000'000, 0},
                                                {0, 100'000'000},
                                                {100'000'000, 0, 0},
                                                {0, 0, 100'000'000},
                                                {100'000'000, 0, 0, 0},
                                                {0, 100'000'000, 100'000'000, 100'000'000},
                                                {std::int64_t{1} << 33, 0, 0}}) {
      const auto figure = figureOfShape(kind, "uint8", shape, 0);
      EXPECT_TRUE(figure->error().contains(QLatin1String("cannot be drawn"))) << kind;
      EXPECT_FALSE(figure->image(QSizeF(600, 420), 1).isNull()) << kind;
    }
  }
}

TEST(Figure, DrawsAtMostSoManyLayersAndRows) {
  struct Large {
    const char* kind;
    const char* dtype;
    std::vector<std::int64_t> shape;
    std::size_t bytes;
  };
  for (const Large& large :
       std::vector<Large>{{artifact_kind::kSpectrum, "uint8", {200'000, 1, 1}, 200'000},
                          {artifact_kind::kSpectrum, "uint8", {1, 200'000, 1}, 200'000},
                          {artifact_kind::kAttention, "uint8", {200'000, 1, 1, 1}, 200'000},
                          {artifact_kind::kMatrix, "uint8", {200'000, 1}, 200'000},
                          {artifact_kind::kMatrix, "uint8", {1, 200'000}, 200'000},
                          {artifact_kind::kHeatmap, "uint8", {200'000, 1, 1}, 200'000},
                          {artifact_kind::kHistogram, "uint8", {200'000, 3}, 600'000},
                          {artifact_kind::kReliability, "uint8", {200'000, 5}, 1'000'000}}) {
    const auto figure = figureOfShape(large.kind, large.dtype, large.shape, large.bytes);
    EXPECT_TRUE(figure->error().contains(QLatin1String("is 200,000, and at most")))
        << large.kind << ": " << figure->error().toStdString();
  }
}

TEST(Figure, RefusesATableOfJsonThatIsNestedDeeply) {
  std::string text = "{\"columns\": [1], \"rows\": [[" + std::string(100'000, '[') +
                     std::string(100'000, ']') + "]]}";
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  const auto figure =
      makeFigure(artifact_kind::kTable, Json::object(), {bytes.begin(), bytes.end()});
  EXPECT_TRUE(figure->error().contains(QLatin1String("cannot be drawn")));
}

TEST(Figure, SaysThatDataStayedOnTheOtherMachine) {
  Artifact artifact = samples::spectrum();
  artifact.meta["left_out"] = 70'000'000;
  artifact.data.clear();
  EXPECT_TRUE(
      makeFigure(QString::fromStdString(artifact.kind), artifact.meta, artifact.data)
          ->error()
          .contains(QLatin1String(
              "This spectrum of 70.0 MB was too large to be copied from the other machine")));
}

}  // namespace
}  // namespace vitrine::ui
