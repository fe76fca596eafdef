// Attention of windows and of sub-sampled keys: each on a grid of its own.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/files/read_png.h"
#include "core/model/chosen_layers.h"
#include "plugins/analyses/analyses.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"
#include "tests/support/refusal.h"

namespace vitrine::analyses {
namespace {

/// Rows and columns of a grid that begins at `first` with steps of `step`.
at::Tensor grid(std::int64_t rows, std::int64_t columns, double first, double step) {
  const at::Tensor row = at::arange(rows, at::kDouble).repeat_interleave(columns),
                   column = at::arange(columns, at::kDouble).repeat({rows});
  return at::stack({row, column}, 1) * step + first;
}

/// A grid of 4 x 4 tokens without a class token: layer 0 sees four windows of 2 x 2, of which the
/// last one holds a single token; layer 1 sees keys of 2 x 2 cells, layer 2 all tokens with three
/// heads.
class Pyramid final : public test::FakeModel<ImageClassifier, AttentionSource> {
 public:
  at::Tensor classify(const at::Tensor& images) override {
    if (!tap_) return images.flatten(1);
    const std::int64_t count = images.size(0);
    const auto wanted = [&](std::int64_t layer) { return isChosenLayer(tap_->layers, layer); };
    for (std::int64_t window = 0; wanted(0) && window < 4; ++window) {
      AttentionRecord record{.window = window};
      const std::int64_t tokens = window == 3 ? 1 : 4;
      record.weights = at::eye(tokens).expand({count, 2, tokens, tokens}) * double(window + 1);
      const at::Tensor corner =
          at::tensor(std::vector<double>{double(window / 2 * 2), double(window % 2 * 2)});
      record.queryPositions = record.keyPositions =
          grid(tokens == 1 ? 1 : 2, tokens == 1 ? 1 : 2, 0, 1) + corner;
      tap_->receive(record);
    }
    if (wanted(1)) {
      tap_->receive({.layer = 1,
                     .weights = at::full({count, 2, 16, 4}, 0.25),
                     .queryPositions = grid(4, 4, 0, 1),
                     .keyPositions = grid(2, 2, 0.5, 2)});
    }
    if (wanted(2)) {
      AttentionRecord record{.layer = 2, .weights = at::eye(16).expand({count, 3, 16, 16})};
      record.queryPositions = record.keyPositions = grid(4, 4, 0, 1);
      tap_->receive(record);
    }
    return images.flatten(1);
  }
  at::Tensor features(const at::Tensor& images) override { return images; }
  at::Tensor head(const at::Tensor& features) override { return features; }
  std::int64_t attentionLayers() const override { return 3; }
  std::int64_t attentionHeads(std::int64_t layer) const override { return layer == 2 ? 3 : 2; }
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override { tap_ = std::move(tap); }

 private:
  std::shared_ptr<const AttentionTap> tap_;
};

Analysis::Findings findingsOf(const Analysis& analysis, const Json& changes) {
  Pyramid model;
  NoSession session(model);
  Batch batch;
  batch.fields["image"] = at::ones({1, 1, 4, 4});
  batch.fields["label"] = at::zeros({1}, at::kLong);
  batch.sampleIds = {7};
  ProbeContext context{session, model, batch, {}, {}};
  Json values = analysis.card().schema.defaults();
  values.update(changes);
  return analysis.probe(Config(values), context)();
}

TEST(AttentionGrids, LayersOfDifferentGridsAreArtifactsOfTheirOwn) {
  const auto findings = findingsOf(*makeAttentionMap(), Json::object());
  ASSERT_EQ(findings.artifacts.size(), 4u);
  const Artifact &window = findings.artifacts[0], &cells = findings.artifacts[1],
                 &all = findings.artifacts[2];
  EXPECT_EQ(window.name, "image 7, layer 0, window 2") << "the one in the middle";
  EXPECT_EQ(window.meta["window"], 2);
  EXPECT_EQ(window.meta["shape"], Json({1, 2, 4, 4}));
  EXPECT_EQ(window.meta["key_positions"], Json({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}));
  EXPECT_EQ(window.meta["query_positions"], window.meta["key_positions"]);
  EXPECT_EQ(window.meta["key_places"][0], Json({2.0, 0.0})) << "where it lies in the image";
  EXPECT_EQ(cells.name, "image 7, layer 1");
  EXPECT_EQ(cells.meta["shape"], Json({1, 2, 16, 4}));
  EXPECT_EQ(cells.meta["key_positions"], Json({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}));
  EXPECT_EQ(cells.meta["key_places"][3], Json({2.5, 2.5}));
  EXPECT_EQ(cells.meta["query_positions"][15], Json({3.0, 3.0}));
  EXPECT_EQ(all.meta["shape"], Json({1, 3, 16, 16}));
  EXPECT_FALSE(all.meta.contains("key_places"));
  EXPECT_FALSE(all.meta.contains("window"));
  EXPECT_EQ(findings.artifacts[3].name, "image 7 pixels");
}

TEST(AttentionGrids, WindowsAreChosenByNumber) {
  const auto findings = findingsOf(*makeAttentionMap(), Json{{"layers", {0}}, {"windows", {3, 1}}});
  ASSERT_EQ(findings.artifacts.size(), 3u);
  EXPECT_EQ(findings.artifacts[0].meta["window"], 1);
  EXPECT_EQ(findings.artifacts[1].meta["shape"], Json({1, 2, 1, 1}));
  EXPECT_EQ(arrayOf(findings.artifacts[1].meta, findings.artifacts[1].data).at(0), 4);
  EXPECT_THAT(
      [&] {
        (void)findingsOf(*makeAttentionMap(), Json{{"layers", {0}}, {"windows", {9}}});
      },
      test::Fails<ConfigError>("layer 0", "0 to 3"));
}

TEST(AttentionGrids, TheWindowOfAPatchIsChosenByItsPlace) {
  const auto windowAt = [](double down, double right) {
    const auto findings = findingsOf(*makeAttentionMap(), Json{{"place", {down, right}}});
    EXPECT_EQ(findings.artifacts.size(), 4u) << "layers without windows stay whole";
    EXPECT_EQ(findings.artifacts[0].meta["grid"], Json({4, 4})) << "what it is cut from";
    return findings.artifacts[0].meta["window"].get<int>();
  };
  EXPECT_EQ(windowAt(0.1, 0.1), 0);
  EXPECT_EQ(windowAt(0.3, 0.9), 1);
  EXPECT_EQ(windowAt(1, 0), 2);
  EXPECT_EQ(windowAt(0.6, 0.6), 3);
  EXPECT_EQ(windowAt(0.99, 0.99), 2) << "no window has that patch: the one in the middle";
  EXPECT_THROW((void)findingsOf(*makeAttentionMap(), Json{{"place", {0.5}}}), ConfigError);
}

TEST(AttentionGrids, RanksOfWindowsAreTheMeanOverThemAndHeadsMayDiffer) {
  const auto findings = findingsOf(*makeAttentionRank(), Json{{"images", 1}});
  std::map<std::string, double> scores;
  for (const auto& [name, value] : findings.scores)
    EXPECT_TRUE(scores.emplace(name, value).second) << name << " comes twice";
  // Multiples of the identity of four tokens: each direction counts the same.
  EXPECT_NEAR(scores.at("effective_rank/layer0/head1"), 4, 1e-6);
  EXPECT_NEAR(scores.at("effective_rank/layer1"), 1, 1e-6);
  EXPECT_NEAR(scores.at("effective_rank/layer2/head2"), 16, 1e-6);
  ASSERT_EQ(findings.artifacts.size(), 4u);
  EXPECT_EQ(findings.artifacts[0].name, "spectrum, layers of 2 heads");
  EXPECT_EQ(findings.artifacts[0].meta["layers"], Json({0, 1}));
  EXPECT_EQ(findings.artifacts[2].meta["layers"], Json::array({2}));
}

/// Figure 3 of arXiv:2403.00522: keys of 2 x 2 cells stand in the middle of their cells.
TEST(TokenPositions, AreDrawnWhereALayerComputesThem) {
  const Analysis::Findings found = findingsOf(*makeTokenPositions(), {{"cell", 20}});
  ASSERT_EQ(found.artifacts.size(), 3U);
  EXPECT_EQ(found.artifacts[0].name, "layer 0, window 2");
  EXPECT_EQ(found.artifacts[2].name, "layer 2");
  const Artifact& cells = found.artifacts[1];
  EXPECT_EQ(cells.name, "layer 1");
  EXPECT_EQ(cells.meta.at("key_positions"), (Json{{0.5, 0.5}, {0.5, 2.5}, {2.5, 0.5}, {2.5, 2.5}}));
  EXPECT_EQ(cells.meta.at("query_positions").size(), 16U);
  const PngPixels picture = decodePng(cells.data, "positions");
  ASSERT_EQ(picture.height, 81);
  ASSERT_EQ(picture.width, 81);
  const auto colour = [&](std::int64_t y, std::int64_t x) {
    const auto* pixel = picture.pixels.data() + (y * picture.width + x) * 3;
    return std::vector<int>{pixel[0], pixel[1], pixel[2]};
  };
  const std::vector<int> key{213, 94, 0}, query{150, 150, 150}, paper{255, 255, 255};
  EXPECT_EQ(colour(20, 20), key) << "between the first four patches";
  EXPECT_EQ(colour(20, 60), key);
  EXPECT_EQ(colour(40, 40), (std::vector<int>{205, 205, 205})) << "a line, and no key";
  EXPECT_EQ(colour(10, 10), query);
  EXPECT_EQ(colour(70, 30), query);
  EXPECT_EQ(colour(3, 13), paper);
  EXPECT_THROW((void)findingsOf(*makeTokenPositions(), {{"layers", {3}}}), ConfigError);
}

}  // namespace
}  // namespace vitrine::analyses
