#include "plugins/vision_lstm/analyses.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/plugin/task.h"
#include "plugins/vision_lstm/vision_lstm.h"
#include "tests/support/no_session.h"

namespace vitrine::vision_lstm {
namespace {

std::shared_ptr<VisionLstm> tinyModel(const Json& changes = Json::object()) {
  const VisionLstmArchitecture architecture;
  Json values{{"image_size", 16}, {"patch", 4}, {"in_channels", 1}, {"dim", 16},
              {"depth", 2},       {"heads", 4}, {"num_classes", 4}};
  values.update(changes);
  EXPECT_TRUE(resolveItem(architecture.card().schema, "model", values).empty());
  auto model = std::dynamic_pointer_cast<VisionLstm>(architecture.build(Config(values), 0));
  model->module().eval();
  return model;
}

Analysis::Findings findings(const Analysis& analysis, Model& model, Json settings) {
  EXPECT_TRUE(resolveItem(analysis.card().schema, "observe", settings).empty());
  Batch batch;
  batch.fields["image"] = at::randn({2, 1, 16, 16}, at::detail::createCPUGenerator(3));
  batch.fields["label"] = at::zeros({2}, at::kLong);
  batch.sampleIds = {7, 9};
  NoSession session(model);
  ProbeContext context{session, model, batch, {}, {}};
  return analysis.probe(Config(settings), context)();
}

at::Tensor tensorOf(const Artifact& artifact) {
  const ArrayView view = arrayOf(artifact.meta, artifact.data);
  at::Tensor values = at::empty(view.shape, at::kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i) values.view(-1)[i] = view.at(i);
  return values;
}

const Artifact& named(const Analysis::Findings& found, const std::string& name) {
  const auto at = std::find_if(found.artifacts.begin(), found.artifacts.end(),
                               [&](const Artifact& each) { return each.name == name; });
  if (at == found.artifacts.end()) throw NotFoundError("no artifact " + name);
  return *at;
}

TEST(MemoryLength, OfAFreshModelIsThatOfItsBiases) {
  const auto model = tinyModel();
  const auto found = findings(*makeMemoryLength(), *model, Json::object());
  // 1 / |log sigmoid| of 3, 4, 5, 6.
  const at::Tensor wanted = at::tensor({20.5816, 55.0966, 148.9127, 403.9286}, at::kDouble);
  const at::Tensor lengths = tensorOf(named(found, "memory length"));
  ASSERT_EQ(lengths.sizes(), at::IntArrayRef({2, 4}));
  EXPECT_LT((lengths / wanted - 1).abs().max().item<double>(), 1e-4);
  EXPECT_EQ(found.scores.size(), 8U);
  EXPECT_EQ(found.scores[5].first, "length/layer1/head1");
  EXPECT_EQ(tensorOf(named(found, "forget gate")).sizes(), at::IntArrayRef({2, 16}));
}

TEST(MemoryLength, IsNoneWhereTheStateGrows) {
  const auto model = tinyModel({{"forget_gate", "exp"}});
  {
    const at::NoGradGuard noGradient;
    for (const auto& item : model->module().named_parameters()) {
      if (item.key().ends_with("fgate.bias"))
        item.value().copy_(at::tensor({-0.5F, 0.0F, 1.0F, -2.0F}));
    }
  }
  const auto found = findings(*makeMemoryLength(), *model, Json::object());
  const Artifact& matrix = named(found, "memory length");
  const at::Tensor lengths = tensorOf(matrix);
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    EXPECT_NEAR(lengths[layer][0].item<double>(), 2, 1e-6);
    EXPECT_TRUE(std::isnan(lengths[layer][1].item<double>())) << "nothing is forgotten";
    EXPECT_TRUE(std::isnan(lengths[layer][2].item<double>()));
    EXPECT_NEAR(lengths[layer][3].item<double>(), 0.5, 1e-6);
  }
  EXPECT_EQ(matrix.meta.at("title"), "Memory length, none where the state grows");
  std::vector<std::string> scored;
  for (const auto& [name, value] : found.scores) scored.push_back(name);
  const std::vector<std::string> wanted{"length/layer0/head0", "length/layer0/head3",
                                        "length/layer1/head0", "length/layer1/head3"};
  EXPECT_EQ(scored, wanted);
}

TEST(MemoryWeights, TimesTheValuesAreWhatIsRead) {
  const auto model = tinyModel();
  {
    const at::NoGradGuard noGradient;
    auto generator = at::detail::createCPUGenerator(9);
    for (const auto& item : model->module().named_parameters())
      item.value().add_(at::randn(item.value().sizes(), generator), 0.3);
  }
  const auto found = findings(*makeMemoryWeights(), *model, Json::object());
  ASSERT_EQ(found.artifacts.size(), 6U) << "two matrices and the pixels of each image";
  const at::Tensor weights = tensorOf(named(found, "image 9 weights"));
  ASSERT_EQ(weights.sizes(), at::IntArrayRef({2, 4, 16, 16}));
  EXPECT_LT(weights.min().item<double>(), 0) << "rows are signed";
  EXPECT_EQ(weights.triu(1).abs().max().item<double>(), 0);
  EXPECT_GT((weights.sum(3) - 1).abs().max().item<double>(), 0.01) << "rows do not sum to one";
  EXPECT_EQ(named(found, "image 9 weights").meta.at("rows_sum_to_one"), false);
  const at::Tensor decay = tensorOf(named(found, "image 7 decay"));
  EXPECT_GE(decay.min().item<double>(), 0);
  EXPECT_NEAR(decay.amax(3).min().item<double>(), 1, 1e-6);
  // Against the memory itself.
  const at::NoGradGuard noGradient;
  const auto records =
      model->memories(at::randn({2, 1, 16, 16}, at::detail::createCPUGenerator(3)), {1});
  const at::Tensor read = kernels::mlstm(records.at(0).cell, model->memoryOptions()).h[1];
  const at::Tensor wanted = at::matmul(weights[1], records.at(0).cell.v[1].to(at::kDouble));
  EXPECT_LT((read - wanted).abs().max().item<double>(), 1e-5 * read.abs().max().item<double>());
  EXPECT_EQ(records.at(0).positions[0][0].item<int>(), 3) << "layer 1 begins at the bottom right";
}

TEST(MemoryWeights, ComeWithThePixelsOfTheirImages) {
  const auto model = tinyModel();
  const auto found = findings(*makeMemoryWeights(), *model, Json::object());
  for (const std::int64_t id : {7, 9}) {
    const Artifact& pixels = named(found, "image " + std::to_string(id) + " pixels");
    EXPECT_EQ(pixels.analysis, "memory_weights");
    EXPECT_EQ(pixels.kind, artifact_kind::kImage);
    EXPECT_EQ(pixels.meta.at("image"), id);
    EXPECT_EQ(pixels.meta.at("shape"), Json::array({16, 16, 1}));
    EXPECT_FALSE(pixels.data.empty());
  }
  EXPECT_NE(named(found, "image 7 pixels").data, named(found, "image 9 pixels").data);
}

TEST(MemoryWeights, NameTheTrueClassAndThatOfTheModel) {
  const auto model = tinyModel();
  const auto found = findings(*makeMemoryWeights(), *model, Json::object());
  const at::NoGradGuard noGradient;
  const at::Tensor answer =
      model->classify(at::randn({2, 1, 16, 16}, at::detail::createCPUGenerator(3)))[1].softmax(0);
  for (const char* name : {"image 9 weights", "image 9 decay", "image 9 pixels"}) {
    const Json& meta = named(found, name).meta;
    EXPECT_EQ(meta.at("label"), 0);
    EXPECT_EQ(meta.at("predicted"), answer.argmax().item<std::int64_t>());
    EXPECT_NEAR(meta.at("confidence").get<double>(), answer.max().item<double>(), 1e-6);
  }
}

TEST(MemoryWeights, RefuseALayerThatIsNotThere) {
  const auto model = tinyModel();
  EXPECT_THROW((void)findings(*makeMemoryWeights(), *model, Json{{"layers", {5}}}), ConfigError);
}

TEST(MemoryRank, HasTheSingularValuesOfTheSignedWeights) {
  const auto model = tinyModel();
  const auto found = findings(*makeMemoryRank(), *model, Json::object());
  const at::Tensor values = tensorOf(named(found, "spectrum"));
  ASSERT_EQ(values.sizes(), at::IntArrayRef({2, 4, 16}));
  EXPECT_EQ(named(found, "spectrum").meta.at("dtype"), "float64") << "as SQL reads spectra";
  // Means over the two images.
  const auto matrices = findings(*makeMemoryWeights(), *model, Json::object());
  const auto ofImage = [&](const char* name) {
    return at::linalg_svdvals(tensorOf(named(matrices, name)));
  };
  const at::Tensor wanted = (ofImage("image 7 weights") + ofImage("image 9 weights")) / 2;
  EXPECT_LT((values - wanted).abs().max().item<double>(), 1e-5 * wanted.max().item<double>());
  const at::Tensor shares = tensorOf(named(found, "cumulative"));
  EXPECT_NEAR(shares[1][3][15].item<double>(), 1, 1e-6);
  ASSERT_EQ(found.scores.size(), 40U) << "four ranks of two layers with four heads, and means";
  EXPECT_EQ(found.scores[0].first, "rank80/layer0/head0");
  EXPECT_EQ(found.scores[24].first, "rank80/layer1");
  const auto rank = static_cast<std::int64_t>(found.scores[0].second);
  EXPECT_GE(shares[0][0][rank - 1].item<double>(), 0.8 - 1e-6);
  EXPECT_TRUE(rank == 1 || shares[0][0][rank - 2].item<double>() < 0.8) << rank;
}

TEST(MemoryRank, IsZeroOfAMemoryThatReadsNothing) {
  const auto model = tinyModel();
  {
    const at::NoGradGuard noGradient;
    for (const auto& item : model->module().named_parameters()) item.value().zero_();
  }
  const auto found = findings(*makeMemoryRank(), *model, Json::object());
  ASSERT_FALSE(found.scores.empty());
  for (const auto& [name, value] : found.scores) EXPECT_EQ(value, 0) << name;
}

TEST(TokenCost, GrowsLinearlyInChunksAndSquarelyOverPairs) {
  const auto slopeOf = [](CostForm form) {
    // The least of several fits: other processes share the caches.
    double least = 10;
    for (int trial = 0; trial < 3; ++trial) {
      std::vector<double> tokens, milliseconds;
      for (std::int64_t count = 1024; count <= 8192; count *= 2) {
        tokens.push_back(static_cast<double>(count));
        milliseconds.push_back(measureCost(form, count, 24, 2));
      }
      least = std::min(least, fittedSlope(tokens, milliseconds));
    }
    return least;
  };
  EXPECT_LE(slopeOf(CostForm::Chunkwise), 1.2);
  EXPECT_GE(slopeOf(CostForm::Quadratic), 1.6);
}

TEST(TokenCost, DrawsEveryFormOverTheSameTokensInOneFigure) {
  const auto model = tinyModel();
  const auto found =
      findings(*makeTokenCost(), *model, Json{{"most_tokens", 2048}, {"repeats", 1}});
  ASSERT_EQ(found.artifacts.size(), 2U);
  const Artifact& curve = named(found, "cost by tokens");
  EXPECT_EQ(tensorOf(curve).sizes(), at::IntArrayRef({4, 5}));
  EXPECT_EQ(curve.meta.at("lines"),
            (Json{"chunkwise", "quadratic", "recurrent", "softmax attention"}));
  EXPECT_EQ(curve.meta.at("scale"), "log");
  EXPECT_GE(found.scores.size(), 5U);
  std::map<std::string, double> scores(found.scores.begin(), found.scores.end());
  EXPECT_EQ(scores.count("slope/chunkwise"), 1U);
  // Chunks of 64 and twice the width of a head; what was measured lies among the sizes.
  const auto headWidth = named(found, "cost").meta.at("head_width").get<double>();
  EXPECT_EQ(scores.at("crossing/counted"), 64 + 2 * headWidth);
  if (scores.contains("crossing/measured")) {
    EXPECT_GT(scores.at("crossing/measured"), 256);
    EXPECT_LE(scores.at("crossing/measured"), 2048);
  }
  // Of the last row, 2,048 tokens of softmax attention: 2 T^2 d multiply-adds, 2 T d floats.
  const Artifact& table = named(found, "cost");
  const auto* text = reinterpret_cast<const char*>(table.data.data());
  const Json row = Json::parse(text, text + table.data.size()).at("rows").back();
  const double width = table.meta.at("head_width").get<double>();
  EXPECT_EQ(row.at(0), "softmax attention");
  EXPECT_DOUBLE_EQ(row.at(3).get<double>(), 2.0 * 2048 * 2048 * width / 1e6);
  EXPECT_DOUBLE_EQ(row.at(4).get<double>(), 2.0 * 2048 * width);
}

TEST(TokenCost, CrossingLiesWhereTheLinesOfBothLogarithmsMeet) {
  // t^2 against 1000 t: they meet at 1,000 tokens.
  const std::vector<double> tokens{256, 512, 1024, 2048};
  CostCurve pairs{tokens, {}}, chunks{tokens, {}};
  for (const double count : tokens) {
    pairs.milliseconds.push_back(count * count);
    chunks.milliseconds.push_back(1000 * count);
  }
  EXPECT_NEAR(crossingOf(pairs, chunks).value(), 1000, 1e-9);
  EXPECT_FALSE(crossingOf(chunks, pairs).has_value()) << "chunks never begin to cost more";
  EXPECT_THROW((void)crossingOf(pairs, {{256}, {1}}), ConfigError);
}

TEST(TokenCost, SlopeOfAPowerIsItsExponent) {
  EXPECT_NEAR(fittedSlope({1, 2, 4, 8}, {3, 12, 48, 192}), 2, 1e-12);
  EXPECT_THROW((void)fittedSlope({1}, {1}), ConfigError);
}

}  // namespace
}  // namespace vitrine::vision_lstm
