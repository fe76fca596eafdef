#include "plugins/analyses/analyses.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/artifact/predictions.h"
#include "core/base/error.h"
#include "core/eval/calibration.h"
#include "core/model/chosen_layers.h"
#include "core/model/weights.h"
#include "tests/support/fake_model.h"
#include "tests/support/no_session.h"
#include "tests/support/refusal.h"

namespace vitrine::analyses {
namespace {

/// Two layers that hand out the attention they were given, for each image the same.
class FakeAttention final : public test::FakeModel<ImageClassifier, AttentionSource> {
 public:
  /// \param layers  each [heads, queries, keys]
  explicit FakeAttention(std::vector<at::Tensor> layers) : layers_(std::move(layers)) {}
  at::Tensor classify(const at::Tensor& images) override {
    sawGradient = sawGradient || at::GradMode::is_enabled();
    if (fails) throw Error("out of memory");
    if (!tap) return images.flatten(1);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto layer = static_cast<std::int64_t>(l);
      if (!isChosenLayer(tap->layers, layer)) continue;
      at::Tensor weights = layers_[l].unsqueeze(0).repeat({images.size(0), 1, 1, 1});
      weights = weights * images.flatten(1).select(1, 0).view(
                              {-1, 1, 1, 1});  // image i is scaled by its first pixel
      if (tap->kind == AttentionTap::Kind::Softmax) weights = weights + 1;
      const std::int64_t tokens = weights.size(2);
      at::Tensor positions =
          at::stack({at::arange(tokens) - 1, at::arange(tokens) - 1}, 1).clamp_min(-1);
      if (!hasClassToken) positions = positions.abs();
      tap->receive({layer, weights, positions, positions});
      weights.zero_();  // a buffer that the next layer uses again
    }
    return images.flatten(1);
  }
  at::Tensor features(const at::Tensor& images) override { return images; }
  at::Tensor head(const at::Tensor& features) override { return features; }
  std::int64_t attentionLayers() const override {
    return static_cast<std::int64_t>(layers_.size());
  }
  std::int64_t attentionHeads(std::int64_t layer) const override {
    return layers_.at(static_cast<std::size_t>(layer)).size(0);
  }
  void setAttentionTap(std::shared_ptr<const AttentionTap> value) override {
    tap = std::move(value);
  }

  std::shared_ptr<const AttentionTap> tap;
  bool fails = false, sawGradient = false, hasClassToken = true;

 private:
  std::vector<at::Tensor> layers_;
};

Batch batchOf(std::int64_t images) {
  Batch batch;
  batch.fields["image"] =
      at::ones({images, 1, 4, 4}) * at::arange(1, images + 1).view({-1, 1, 1, 1}).to(at::kFloat);
  batch.fields["label"] = at::arange(images, at::kLong) % 3;
  batch.sampleIds.resize(static_cast<std::size_t>(images));
  std::iota(batch.sampleIds.begin(), batch.sampleIds.end(), 0);
  return batch;
}

std::function<Analysis::Findings()> probed(const Analysis& analysis, const Config& config,
                                           Model& model, const Batch& batch) {
  NoSession session(model);
  ProbeContext context{session, model, batch, {}, {}};
  return analysis.probe(config, context);
}

Batch only(const Batch& all, const std::vector<std::int64_t>& ids) {
  const at::Tensor rows = at::tensor(at::ArrayRef<std::int64_t>(ids));
  Batch batch;
  for (const auto& [name, field] : all.fields) batch.fields[name] = field.index_select(0, rows);
  batch.sampleIds = ids;
  return batch;
}

Config configOf(const Analysis& analysis, const Json& changes = Json::object()) {
  Json values = analysis.card().schema.defaults();
  for (const auto& [key, value] : changes.items()) values[key] = value;
  return Config(values);
}

TEST(AttentionRank, TheProbeNamesEveryLayerAndHead) {
  const auto io =
      readTensors(VITRINE_SOURCE_DIR "/tests/golden/analysis/attention_rank/io.safetensors");
  const at::Tensor first = io.at("input/attention_masked")[0],
                   second = io.at("input/attention_bidirectional")[0];
  FakeAttention model({first, second});
  const auto analysis = makeAttentionRank();
  const auto later = probed(*analysis, configOf(*analysis), model, batchOf(2));
  EXPECT_EQ(model.tap, nullptr);
  EXPECT_FALSE(model.sawGradient);
  const Analysis::Findings findings = later();
  const std::map<std::string, double> scores(findings.scores.begin(), findings.scores.end());
  double sum = 0;
  for (std::int64_t head = 0; head < 3; ++head) {
    const double rank = io.at("output/rank80_masked")[0][head].item<double>();
    // The two images differ by a factor, which no rank sees.
    EXPECT_EQ(scores.at("rank80/layer0/head" + std::to_string(head)), rank);
    EXPECT_EQ(scores.at("rank80_mean/layer0/head" + std::to_string(head)), rank);
    sum += rank;
  }
  EXPECT_DOUBLE_EQ(scores.at("rank80/layer0"), sum / 3);
  EXPECT_TRUE(scores.contains("effective_rank/layer1/head2"));
  EXPECT_TRUE(scores.contains("stable_rank/layer1"));
  EXPECT_EQ(scores.size(), 4u * 2 * 4);
  ASSERT_EQ(findings.artifacts.size(), 2u);
  const Artifact& spectrum = findings.artifacts[0];
  EXPECT_EQ(spectrum.kind, artifact_kind::kSpectrum);
  EXPECT_EQ(spectrum.meta["shape"], Json({2, 3, 17}));
  EXPECT_EQ(spectrum.meta["dtype"], "float64");
  EXPECT_EQ(spectrum.meta["sample_ids"], Json({0, 1}));
  // Mean over the two images, scaled by 1 and 2.
  EXPECT_NEAR(arrayOf(spectrum.meta, spectrum.data).at(0),
              1.5 * io.at("output/singular_values_masked")[0][0][0].item<double>(), 1e-5);
  const ArrayView share = arrayOf(findings.artifacts[1].meta, findings.artifacts[1].data);
  EXPECT_NEAR(share.at(16), 1, 1e-6);
}

TEST(AttentionRank, LooksAtTheLayersAndTheMatrixItIsToldTo) {
  FakeAttention model({at::eye(5).unsqueeze(0), at::eye(5).unsqueeze(0)});
  const auto analysis = makeAttentionRank();
  const auto scoresOf = [&](const Json& changes) {
    const auto findings = probed(*analysis, configOf(*analysis, changes), model, batchOf(1))();
    return std::map<std::string, double>(findings.scores.begin(), findings.scores.end());
  };
  const auto second = scoresOf({{"layers", {1}}, {"threshold", 0.6}});
  EXPECT_EQ(second.at("rank60/layer1/head0"), 3);
  EXPECT_FALSE(second.contains("rank60/layer0"));
  // 1 is added to every entry: one direction of 6, four of 1.
  EXPECT_EQ(scoresOf({{"attention", "softmax"}}).at("rank80/layer0"), 3);
  EXPECT_THAT(
      [&] {
        (void)scoresOf({{"layers", {2}}});
      },
      test::Fails<ConfigError>("layer 2", "0 to 1"));
}

TEST(AttentionProbes, TakeTheirTapAwayEvenWhenTheModelFailsAndDrawNothing) {
  FakeAttention model({at::eye(5).unsqueeze(0)});
  at::manual_seed(5);
  const at::Tensor expected = at::rand({3});
  at::manual_seed(5);
  const auto rank = makeAttentionRank();
  const auto map = makeAttentionMap();
  (void)probed(*rank, configOf(*rank), model, batchOf(2))();
  (void)probed(*map, configOf(*map), model, batchOf(2))();
  EXPECT_TRUE(at::equal(at::rand({3}), expected));
  model.fails = true;
  EXPECT_THROW((void)probed(*rank, configOf(*rank), model, batchOf(2)), Error);
  EXPECT_EQ(model.tap, nullptr);
}

TEST(AttentionMap, GivesEveryChosenImageItsMapsAndItsPixels) {
  const at::Tensor heads = at::arange(2 * 5 * 5, at::kFloat).view({2, 5, 5});
  FakeAttention model({heads, heads + 100});
  const auto analysis = makeAttentionMap();
  const Config config = configOf(*analysis, {{"ids", {2, 0}}});
  EXPECT_EQ(analysis->probeSamples(config).ids, (std::vector<std::int64_t>{2, 0}));
  const auto findings = probed(*analysis, config, model, only(batchOf(3), {2, 0}))();
  ASSERT_EQ(findings.artifacts.size(), 4u);
  const Artifact& map = findings.artifacts[0];
  EXPECT_EQ(map.kind, artifact_kind::kAttention);
  EXPECT_EQ(map.name, "image 2");
  EXPECT_EQ(map.meta["shape"], Json({2, 2, 5, 5}));
  EXPECT_EQ(map.meta["image"], 2);
  EXPECT_EQ(map.meta["label"], 2);
  EXPECT_TRUE(map.meta["label_name"].is_string());
  EXPECT_TRUE(map.meta["predicted"].is_number_integer()) << "the model classifies";
  EXPECT_TRUE(map.meta["predicted_name"].is_string());
  EXPECT_GT(map.meta.value("confidence", 0.0), 0.0);
  EXPECT_LE(map.meta.value("confidence", 0.0), 1.0);
  EXPECT_EQ(map.meta["attention"], "effective");
  EXPECT_EQ(map.meta["key_positions"].size(), 5u);
  EXPECT_EQ(map.meta["key_positions"][0], Json({-1.0, -1.0}));
  const ArrayView view = arrayOf(map.meta, map.data);
  EXPECT_EQ(view.at(7), 21);                     // image 2 is scaled by 3
  EXPECT_EQ(view.at(50 + 25 + 3), 3 * (128.0));  // layer 1, head 1
  EXPECT_EQ(findings.artifacts[1].kind, artifact_kind::kImage);
  EXPECT_EQ(findings.artifacts[1].name, "image 2 pixels");
  EXPECT_EQ(findings.artifacts[1].data.at(1), std::byte{'P'});
  EXPECT_EQ(findings.artifacts[2].name, "image 0");
}

TEST(AttentionMap, KeepsOnlyTheClassTokensRowWhenAskedAndSaysWhenThereIsNone) {
  FakeAttention model({at::arange(25, at::kFloat).view({1, 5, 5})});
  const auto analysis = makeAttentionMap();
  const Config config = configOf(*analysis, {{"query", "class"}, {"images", 1}});
  const auto findings = probed(*analysis, config, model, batchOf(1))();
  EXPECT_EQ(findings.artifacts.at(0).meta["shape"], Json({1, 1, 1, 5}));
  EXPECT_EQ(findings.artifacts.at(0).meta["query_positions"].size(), 1u);
  model.hasClassToken = false;
  EXPECT_THAT([&] { (void)probed(*analysis, config, model, batchOf(1))(); },
              test::Fails<ConfigError>("query = \"all\""));
}

TEST(AttentionMap, ManyQueriesAreKeptOnlyForTheClassToken) {
  FakeAttention model({at::ones({1, 65, 65})});
  const auto analysis = makeAttentionMap();
  EXPECT_EQ(
      probed(*analysis, configOf(*analysis), model, batchOf(1))().artifacts.at(0).meta["shape"],
      Json({1, 1, 1, 65}));
  model.hasClassToken = false;
  EXPECT_EQ(
      probed(*analysis, configOf(*analysis), model, batchOf(1))().artifacts.at(0).meta["shape"],
      Json({1, 1, 65, 65}));
}

TEST(CalibrationListener, GivesTheReferencesBinsHoweverTheBatchesFall) {
  const auto io =
      readTensors(VITRINE_SOURCE_DIR "/tests/golden/analysis/calibration/io.safetensors");
  const auto analysis = makeCalibration();
  const auto listener = analysis->listen(configOf(*analysis), {});
  for (std::int64_t first = 0; first < 2000; first += 300) {
    const std::int64_t size = std::min<std::int64_t>(300, 2000 - first);
    Batch batch;
    batch.fields["label"] = io.at("input/labels").narrow(0, first, size);
    const std::map<std::string, at::Tensor> outputs{
        {"logits", io.at("input/logits").narrow(0, first, size)}};
    listener->batch({batch, outputs});
  }
  CollectedResults results;
  listener->finish(results);
  const Scores& scores = results.scores;
  const std::vector<Artifact>& artifacts = results.artifacts;
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].first, "ece");
  EXPECT_NEAR(scores[0].second, io.at("output/ece_15").item<double>(), 1e-5);
  ASSERT_EQ(artifacts.size(), 2u);
  EXPECT_EQ(artifacts[0].kind, artifact_kind::kReliability);
  EXPECT_EQ(artifacts[0].meta["shape"], Json({15, 5}));
  EXPECT_EQ(artifacts[0].meta["binning"], "equal_width");
  const ArrayView view = arrayOf(artifacts[0].meta, artifacts[0].data);
  for (std::int64_t bin = 0; bin < 15; ++bin) {
    EXPECT_EQ(view.at(5 * bin + 2), io.at("output/bin_count_15")[bin].item<double>());
    EXPECT_NEAR(view.at(5 * bin + 4), io.at("output/bin_accuracy_15")[bin].item<double>(), 1e-5);
    EXPECT_NEAR(artifacts[0].meta["gap_midpoint"][static_cast<std::size_t>(bin)].get<double>(),
                io.at("output/gap_midpoint_15")[bin].item<double>(), 1e-5);
  }
}

/// What the analysis stores of 60 samples whose ids begin at `firstId`, heard in batches of 25.
CollectedResults heard(const Analysis& analysis, const Json& settings, const at::Tensor& logits,
                       const at::Tensor& labels, std::int64_t firstId = 100) {
  DatasetInfo info;
  const auto listener = analysis.listen(configOf(analysis, settings), info);
  for (std::int64_t first = 0; first < logits.size(0); first += 25) {
    const std::int64_t size = std::min<std::int64_t>(25, logits.size(0) - first);
    Batch batch;
    batch.fields["label"] = labels.narrow(0, first, size);
    for (std::int64_t i = 0; i < size; ++i) batch.sampleIds.push_back(firstId + first + i);
    const std::map<std::string, at::Tensor> outputs{{"logits", logits.narrow(0, first, size)}};
    listener->batch({batch, outputs});
  }
  CollectedResults results;
  listener->finish(results);
  return results;
}

TEST(CalibrationListener, StoresAnswersFromWhichItsScoreIsComputedAgain) {
  const at::Tensor logits = at::linspace(-3, 4, 600, at::kFloat).sin().view({60, 10}) * 4;
  const at::Tensor labels = at::arange(60, at::kLong) % 10;
  const CollectedResults results = heard(*makeCalibration(), {{"bins", 7}}, logits, labels);
  ASSERT_EQ(results.artifacts.size(), 2u);
  const Artifact& rows = results.artifacts[1];
  EXPECT_EQ(rows.name, "predictions");
  EXPECT_EQ(rows.kind, artifact_kind::kPredictions);
  EXPECT_EQ(rows.meta["form"], "logits");
  EXPECT_EQ(rows.meta["shape"], Json({60, 12}));
  const ArrayView view = arrayOf(rows.meta, rows.data);
  EXPECT_EQ(view.at(0), 100);
  EXPECT_EQ(view.at(59 * 12), 159);
  at::Tensor again = at::empty({60, 10}, at::kFloat);
  at::Tensor answers = at::empty({60}, at::kLong);
  for (std::int64_t i = 0; i < 60; ++i) {
    answers[i] = static_cast<std::int64_t>(view.at(i * 12 + 1));
    for (std::int64_t k = 0; k < 10; ++k) again[i][k] = view.at(i * 12 + 2 + k);
  }
  const auto bins = eval::reliabilityBins(eval::confidencesOf(again, answers), 7);
  EXPECT_EQ(eval::calibrationError(bins, 60), results.scores[0].second);
}

TEST(CalibrationListener, KeepsTheTopClassesWhereAllLogitsAreTooLarge) {
  // 2,000 rows of 200 classes: 1.6 MB of logits, 0.3 MB of top classes.
  const at::Tensor logits = at::linspace(-90, 90, 400'000, at::kFloat).sin().view({2000, 200}) * 6;
  const at::Tensor labels = at::arange(2000, at::kLong) % 200;
  const CollectedResults results =
      heard(*makeCalibration(), {{"bins", 7}, {"predictions", 1}}, logits, labels);
  ASSERT_EQ(results.artifacts.size(), 2u);
  const Artifact& rows = results.artifacts[1];
  EXPECT_EQ(rows.meta["form"], "top");
  EXPECT_EQ(rows.meta["classes"], 200);
  const auto inverse = rows.meta["inverse_temperatures"].get<std::vector<double>>();
  const auto one =
      static_cast<std::int64_t>(std::find(inverse.begin(), inverse.end(), 1.0) - inverse.begin());
  ASSERT_LT(one, std::ssize(inverse));
  const std::int64_t width = 2 + 1 + std::ssize(inverse) + 2 * 8;
  EXPECT_EQ(rows.meta["shape"], Json({2000, width}));
  const ArrayView view = arrayOf(rows.meta, rows.data);
  const eval::Confidences wanted = eval::confidencesOf(logits, labels);
  for (std::int64_t i = 0; i < 2000; i += 111) {
    const std::int64_t row = i * width;
    EXPECT_NEAR(std::exp(-view.at(row + 3 + one)), wanted.confidence[static_cast<std::size_t>(i)],
                1e-6);
    EXPECT_NEAR(view.at(row + 2), logits[i][i % 200].item<double>(), 1e-6);
    EXPECT_EQ(view.at(row + 3 + std::ssize(inverse)), logits[i].argmax().item<std::int64_t>());
  }
}

TEST(CalibrationListener, StoresNoAnswersWhenToldSoAndSaysWhenTheyAreTooLarge) {
  const at::Tensor logits = at::rand({12'000, 100}), labels = at::zeros({12'000}, at::kLong);
  EXPECT_EQ(heard(*makeCalibration(), {{"predictions", 0}}, logits, labels).artifacts.size(), 1u);
  const CollectedResults large = heard(*makeCalibration(), {{"predictions", 1}}, logits, labels);
  ASSERT_EQ(large.artifacts.size(), 1u);
  EXPECT_EQ(large.artifacts[0].meta["predictions"], "left out: larger than 1 MiB");
}

TEST(CalibrationListener, KeepsLargeSampleIdsExact) {
  const std::int64_t first = (std::int64_t{1} << 24) + 1;
  const CollectedResults results =
      heard(*makeCalibration(), Json::object(), at::rand({3, 4}), at::zeros({3}, at::kLong), first);
  const Artifact& rows = results.artifacts.at(1);
  EXPECT_EQ(rows.meta["dtype"], "float64");
  EXPECT_EQ(arrayOf(rows.meta, rows.data).at(0), static_cast<double>(first));
}

}  // namespace
}  // namespace vitrine::analyses
