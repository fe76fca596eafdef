// Interfaces of core on the smallest models that implement them: what a caller may rely on.
#include "core/model/capabilities.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/model/chosen_layers.h"

namespace vitrine {
namespace {

/// Means of 2 x 2 pixels; every cell is as uncertain as it is bright.
class MeanCodec final : public LatentCodec {
 public:
  Pixels pixels() const override { return {1, 0, 1}; }
  std::int64_t factor() const override { return 2; }
  std::int64_t latentChannels() const override { return 1; }
  double scale() const override { return 4; }
  Latent encodeLatent(const at::Tensor& images) override {
    const at::Tensor mean = at::avg_pool2d(images, 2);
    return {mean, mean};
  }
  at::Tensor decodeLatent(const at::Tensor& latent) override {
    return latent.repeat_interleave(2, 2).repeat_interleave(2, 3);
  }
};

TEST(ChosenLayers, AreAllWhereNoNumberIsGiven) {
  EXPECT_TRUE(isChosenLayer({}, 7));
  EXPECT_TRUE(isChosenLayer({3, 7}, 7));
  EXPECT_FALSE(isChosenLayer({3, 7}, 0));
}

TEST(LatentCodec, DrawsAtTheDeviationOfTheLatentAndGivesAPointAsItIs) {
  MeanCodec codec;
  const at::Tensor images = at::full({1, 1, 4, 6}, 2.0);
  LatentCodec::Latent latent = codec.encodeLatent(images);
  const at::Tensor noise = at::ones({1, 1, 2, 3});
  EXPECT_TRUE(latent.draw(noise).allclose(at::full({1, 1, 2, 3}, 2 + std::exp(1.0))));
  latent.logVariance = at::Tensor();
  EXPECT_TRUE(latent.draw(noise).equal(latent.mean));
  const at::Tensor scaled = latent.mean * codec.scale();
  EXPECT_TRUE(codec.decodeLatent(scaled / codec.scale()).equal(images));
}

/// The next token is probably the sum of all before it, modulo the vocabulary.
class SumModel final : public LanguageModel {
 public:
  struct OldCache final : Cache {
    std::int64_t length() const override { return tokens.size(1); }
    void truncate(std::int64_t length) override { tokens = tokens.narrow(1, 0, length); }
    at::Tensor tokens;
  };
  std::int64_t vocabularySize() const override { return 7; }
  std::int64_t contextLength() const override { return 16; }
  std::unique_ptr<Cache> makeCache(std::int64_t batch) override {
    auto kept = std::make_unique<OldCache>();
    kept->tokens = at::zeros({batch, 0}, at::kLong);
    return kept;
  }
  at::Tensor next(const at::Tensor& tokens, Cache* cache, Rows rows) override {
    auto* kept = static_cast<OldCache*>(cache);
    at::Tensor all = tokens;
    if (kept != nullptr) all = kept->tokens = at::cat({kept->tokens, tokens}, 1);
    at::Tensor logits = at::one_hot(all.cumsum(1).remainder(7), 7).to(at::kFloat);
    logits = logits.narrow(1, all.size(1) - tokens.size(1), tokens.size(1));
    return rows == Rows::All ? logits : logits.narrow(1, tokens.size(1) - 1, 1);
  }
};

TEST(LanguageModel, StepsThroughTheCacheGiveWhatTheWholeTextGives) {
  SumModel model;
  const at::Tensor text = at::tensor({3, 1, 4, 6, 2, 5}, at::kLong).view({2, 3});
  const at::Tensor whole = model.next(text, nullptr, LanguageModel::Rows::All);
  const auto cache = model.makeCache(2);
  for (std::int64_t i = 0; i < 3; ++i) {
    const at::Tensor row = model.next(text.narrow(1, i, 1), cache.get(), LanguageModel::Rows::Last);
    EXPECT_TRUE(row.equal(whole.narrow(1, i, 1))) << i;
  }
  EXPECT_EQ(cache->length(), 3);
}

TEST(LanguageModel, AContinuationIsForgottenAndAnotherOneTried) {
  SumModel model;
  const auto cache = model.makeCache(1);
  const at::Tensor start = at::tensor({1, 2}, at::kLong).view({1, 2});
  (void)model.next(start, cache.get(), LanguageModel::Rows::Last);
  const auto with = [&](std::int64_t token) {
    cache->truncate(2);
    return model.next(at::full({1, 1}, token, at::kLong), cache.get(), LanguageModel::Rows::Last)
        .argmax(-1)
        .item<std::int64_t>();
  };
  EXPECT_EQ(with(1), 4);
  EXPECT_EQ(with(3), 6);
  EXPECT_EQ(with(1), 4);
}

/// A plain model of three blocks on cells of 4 pixels, each of which adds one.
class Plain final : public FeaturePyramid {
 public:
  std::vector<Level> levels(const std::vector<std::int64_t>& blocks) const override {
    return std::vector<Level>(std::max<std::size_t>(1, blocks.size()), Level{1, 4});
  }
  std::vector<at::Tensor> pyramid(const at::Tensor& images,
                                  const std::vector<std::int64_t>& blocks) override {
    std::vector<at::Tensor> maps;
    for (const std::int64_t block : blocks.empty() ? std::vector<std::int64_t>{2} : blocks) {
      if (block < 0 || block > 2)
        throw ConfigError("there is no block " + std::to_string(block) + "; there are 0 to 2");
      maps.push_back(at::avg_pool2d(images, 4) + static_cast<double>(block + 1));
    }
    return maps;
  }
};

TEST(FeaturePyramid, OfAPlainModelIsOneMapForEachBlockAskedFor) {
  Plain model;
  const at::Tensor images = at::zeros({1, 1, 8, 12});
  const auto maps = model.pyramid(images, {0, 1});
  ASSERT_EQ(maps.size(), model.levels({0, 1}).size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    EXPECT_EQ(maps[i].size(2), images.size(2) / model.levels({0, 1})[i].stride);
    EXPECT_EQ(maps[i].mean().item<double>(), static_cast<double>(i + 1));
  }
  EXPECT_EQ(model.pyramid(images, {}).front().mean().item<double>(), 3);
  EXPECT_THROW((void)model.pyramid(images, {3}), ConfigError);
}

}  // namespace
}  // namespace vitrine
