// What a training step shows the model, and what of its loss reaches the text.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/model/packed_language_model.h"
#include "core/model/text_image_model.h"
#include "core/plugin/loss_mean.h"
#include "core/text/tokenizer.h"
#include "tests/plugins/text_image/small_setup.h"
#include "tests/support/fake_model.h"

namespace vitrine::text_image {
namespace {

enum class Summands { Text, All };

/// Gradients of the text's parameters in a step with both orders.
std::map<std::string, at::Tensor> textGradients(double lambda, Summands summands) {
  const auto session = opened({.ratio = 1, .captionFirst = 0.5, .lambda = lambda});
  StepContext context = contextOf(1);
  const Batch batch = session->read(Split::Train, {0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<LossPart> parts = session->loss(context, batch);
  at::Tensor loss = meanOf(parts.at(0), batch.size());
  if (summands == Summands::All)
    loss = loss.add(meanOf(parts.at(1), batch.size()).mul(parts.at(1).weight));
  loss.backward();
  const auto& model = *capabilityOf<TextImageModel>(session->model());
  std::map<std::string, at::Tensor> gradients;
  for (const auto& item : session->model().module().named_parameters()) {
    if (model.isOfText(item.key())) gradients[item.key()] = item.value().grad();
  }
  return gradients;
}

TEST(TextImageLoss, AWeightOfZeroLeavesTheLanguageModelsGradientToTheLastBit) {
  const auto text = textGradients(5, Summands::Text), zero = textGradients(0, Summands::All),
             five = textGradients(5, Summands::All);
  ASSERT_FALSE(text.empty());
  ASSERT_EQ(zero.size(), text.size());
  double apart = 0;
  for (const auto& [name, wanted] : text) {
    ASSERT_TRUE(wanted.defined()) << name;
    EXPECT_TRUE(at::equal(zero.at(name), wanted)) << name;
    apart = std::max(apart, (five.at(name) - wanted).abs().max().item<double>());
  }
  EXPECT_GT(apart, 0) << "images with a weight reach the text";
}

/// Predicts nothing and remembers the samples that it was given.
class RecordingModel final
    : public test::FakeModel<TextImageModel, LanguageModel, PackedLanguageModel> {
 public:
  struct Sample {
    bool isCaptionFirst, hasCaption;
    std::int64_t time;
  };
  std::vector<Sample> samples;

  TextImageModel::Sizes textImageSizes() const override {
    TextImageModel::Sizes sizes{.channels = 1};
    sizes.height = sizes.width = 4;
    sizes.imageTokens = kImageTokens;
    sizes.steps = 1000;
    sizes.beginText = text::ByteTokenizer::kBegin;
    sizes.endText = text::ByteTokenizer::kEnd;
    sizes.beginImage = text::ByteTokenizer::kBeginImage;
    sizes.endImage = text::ByteTokenizer::kEndImage;
    return sizes;
  }
  at::Tensor keptShares() const override { return at::linspace(0.999, 0.01, 1000, at::kDouble); }
  MixedPrediction mixed(const MixedSequences& sequences) override {
    const auto tokens = sequences.tokens.accessor<std::int64_t, 2>();
    const auto times = sequences.time.accessor<std::int64_t, 1>();
    const std::int64_t rows = tokens.size(0), columns = tokens.size(1);
    const auto first = sequences.imageIndex.nonzero()[0][0].item<std::int64_t>();
    // An image that follows its caption is the end of the row.
    const bool isCaptionFirst = tokens[0][columns - 1] == text::ByteTokenizer::kEndImage;
    for (std::int64_t i = 0; i < rows; ++i) {
      const bool hasCaption =
          isCaptionFirst ? tokens[i][first - 2] != text::ByteTokenizer::kBegin
                         : tokens[i][first + kImageTokens + 1] != text::ByteTokenizer::kEnd;
      samples.push_back({isCaptionFirst, hasCaption, times[i]});
    }
    return {at::zeros({rows, columns, vocabularySize()}), at::zeros_like(sequences.images)};
  }
  at::Tensor noiseAfter(LanguageModel::Cache&, const at::Tensor&, const at::Tensor&,
                        Keep) override {
    return {};
  }
  bool isOfText(const std::string&) const override { return false; }

  std::int64_t vocabularySize() const override { return text::ByteTokenizer::kSize; }
  std::int64_t contextLength() const override { return 0; }
  std::unique_ptr<Cache> makeCache(std::int64_t) override { return nullptr; }
  at::Tensor next(const at::Tensor&, Cache*, LanguageModel::Rows) override { return {}; }
  at::Tensor logits(const TokenRows&) override { return {}; }

 private:
  static constexpr std::int64_t kImageTokens = 4;
};

/// Loss of one image whose noise is predicted as zero, and the step of its noise.
std::pair<double, std::int64_t> imageLoss(const char* error, std::int64_t step) {
  TaskSetup setup = setupOf({.imageError = error});
  const auto model = std::make_shared<RecordingModel>();
  setup.model = model;
  const auto session = TextImageTask().open(setup);
  StepContext context = contextOf(step);
  const c10::NoGradGuard noGradient;
  const auto parts = session->loss(context, session->read(Split::Train, {0}));
  return {parts.at(1).sum.item<double>(), model->samples.at(0).time};
}

TEST(TextImageLoss, OfTheVelocityIsThatOfTheNoiseOverTheShareOfTheImage) {
  const RecordingModel model;
  const at::Tensor shares = model.keptShares();
  double least = 1;
  for (std::int64_t step = 0; step < 20; ++step) {
    const auto [noise, time] = imageLoss("noise", step);
    const auto [velocity, same] = imageLoss("velocity", step);
    ASSERT_EQ(time, same);
    const auto kept = shares[time].item<double>();
    least = std::min(least, kept);
    EXPECT_NEAR(velocity * kept, noise, 1e-6 * noise);
  }
  EXPECT_LT(least, 0.5) << "some of the images have much noise";
}

void expectShare(double count, double of, double share) {
  EXPECT_NEAR(count, share * of, 3 * std::sqrt(of * share * (1 - share)));
}

TEST(TextImageLoss, DrawsOrdersDroppedCaptionsAndTimesInTheirShares) {
  TaskSetup setup = setupOf({});
  const auto model = std::make_shared<RecordingModel>();
  setup.model = model;
  const auto session = TextImageTask().open(setup);
  std::vector<std::int64_t> ids(16);
  std::iota(ids.begin(), ids.end(), 0);
  const Batch batch = session->read(Split::Train, ids);
  const c10::NoGradGuard noGradient;
  for (std::int64_t step = 0; step < 625; ++step) {
    StepContext context = contextOf(step);
    (void)session->loss(context, batch);
  }
  ASSERT_EQ(model->samples.size(), 10000U);
  double first = 0, dropped = 0, late = 0;
  std::int64_t latest = 0;
  for (const RecordingModel::Sample& each : model->samples) {
    if (each.isCaptionFirst) {
      ++first;
      if (!each.hasCaption) ++dropped;
      if (each.time > 500) ++late;
    } else {
      ASSERT_TRUE(each.hasCaption) << "a caption is what the image is for";
      latest = std::max(latest, each.time);
    }
  }
  expectShare(first, 10000, 0.8);
  expectShare(dropped, first, 0.1);
  expectShare(late, first, 0.499);
  EXPECT_EQ(latest, 500) << "of 501 steps of the noise and some 2,000 images";
}

}  // namespace
}  // namespace vitrine::text_image
