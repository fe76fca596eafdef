// Autoencoders against tensors of the public code, in all of its namings.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "tests/plugins/autoencoder/codecs.h"
#include "tests/support/golden/case.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::autoencoder {
namespace {

using testing::expectReproduced, testing::isClose, testing::openGoldenCase;

TEST(KlGolden, OutputsAndGradientsAreReproduced) {
  expectReproduced("vae/autoencoder_kl_tiny", kKl);
}

TEST(TaesdGolden, OutputsAndGradientsAreReproduced) { expectReproduced("vae/taesd_tiny", kTaesd); }

TEST(TaesdGolden, WeightsUnderDiffusersNamesReadAndMakeSignedImages) {
  const auto golden = openGoldenCase("vae/autoencoder_tiny_diffusers");
  const auto model = kTaesd.build(modelConfig(golden, kTaesd), 0);
  auto& codec = *capabilityOf<LatentCodec>(*model);
  EXPECT_EQ(codec.pixels().low, 0);
  EXPECT_TRUE(loadWeights(*model, golden.weights()).unused.empty());
  EXPECT_EQ(codec.pixels().low, -1);
  const double tolerance = 1e-5;
  EXPECT_TRUE(isClose(codec.encodeLatent(golden.io.at("input/image")).mean,
                      golden.io.at("output/latent"), tolerance));
  EXPECT_TRUE(isClose(codec.decodeLatent(golden.io.at("input/latent")),
                      golden.io.at("output/decoded"), tolerance));
}

/// Tensors of the case's diffusers file under other names, as another public file has them.
std::filesystem::path rewritten(const TemporaryFolder& folder, const std::string& prefix,
                                const std::vector<std::pair<std::string, std::string>>& words) {
  const auto golden = openGoldenCase("vae/autoencoder_kl_tiny");
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto& [theirs, tensor] : readTensors(golden.weights())) {
    std::string name = theirs;
    for (const auto& [from, to] : words) {
      if (const auto at = name.find(from); at != std::string::npos)
        name.replace(at, from.size(), to);
    }
    tensors.emplace_back(prefix + name, tensor);
  }
  tensors.emplace_back("loss.discriminator.weight", at::ones({2}));
  writeTensors(folder / "weights.safetensors", tensors);
  return folder / "weights.safetensors";
}

void expectReconstruction(const std::filesystem::path& weights) {
  const auto golden = openGoldenCase("vae/autoencoder_kl_tiny");
  const auto model = kKl.build(modelConfig(golden, kKl), 0);
  const LoadReport report = loadWeights(*model, weights);
  EXPECT_TRUE(report.unused.empty()) << report.unused.front();
  auto& codec = *capabilityOf<LatentCodec>(*model);
  const auto latent = codec.encodeLatent(golden.io.at("input/image"));
  EXPECT_TRUE(isClose(latent.mean, golden.io.at("output/mean"), 1e-5));
  EXPECT_TRUE(isClose(codec.decodeLatent(latent.draw(golden.io.at("input/noise"))),
                      golden.io.at("output/reconstruction"), 1e-5));
}

TEST(KlNames, ThoseOfCompVisLoadAsTheyAre) {
  expectReconstruction(openGoldenCase("vae/autoencoder_kl_tiny").folder /
                       "weights_ldm.safetensors");
}

TEST(KlNames, ThoseOfOlderDiffusersLoadAsTheyAre) {
  const TemporaryFolder folder;
  expectReconstruction(rewritten(
      folder, "",
      {{"to_q", "query"}, {"to_k", "key"}, {"to_v", "value"}, {"to_out.0", "proj_attn"}}));
}

TEST(KlNames, WeightsNestedInAWholeCheckpointAreFoundAndItsDiscriminatorIsLeftOut) {
  const TemporaryFolder folder;
  expectReconstruction(rewritten(folder, "state_dict.first_stage_model.", {}));
}

TEST(KlNames, AFileOfAnotherLayoutIsRefusedWithWhatItLooksLike) {
  const auto golden = openGoldenCase("vae/taesd_tiny");
  const auto model = kKl.build(modelConfig(openGoldenCase("vae/autoencoder_kl_tiny"), kKl), 0);
  LoadOptions options;
  Registry registry;
  registry.add(std::make_unique<KlArchitecture>());
  registry.add(std::make_unique<TaesdArchitecture>());
  options.family = [&](const auto& names) { return registry.weightFamily(names); };
  const std::string sentence =
      test::refusal<Error>([&] { (void)loadWeights(*model, golden.weights(), options); });
  EXPECT_NE(sentence.find("the file looks made for a TAESD"), std::string::npos) << sentence;
  const auto other = kTaesd.build(modelConfig(golden, kTaesd), 0);
  const std::string back = test::refusal<Error>([&] {
    (void)loadWeights(*other, openGoldenCase("vae/autoencoder_kl_tiny").weights(), options);
  });
  EXPECT_NE(back.find("looks made for Stable Diffusion's autoencoder with diffusers' names"),
            std::string::npos)
      << back;
}

struct Published {
  const char* preset;
  const Architecture* architecture;
  std::int64_t encoder, decoder, total;
  double decoderMacs;  ///< at 256 px
};

std::int64_t parametersBelow(Model& model, const std::string& prefix) {
  std::int64_t count = 0;
  for (const auto& item : model.module().named_parameters()) {
    if (item.key().starts_with(prefix)) count += item.value().numel();
  }
  return count;
}

TEST(CodecPresets, HaveThePublishedParametersAndCosts) {
  // Parameters and multiply-adds of both decoders: README of madebyollin/taesd.
  const Published sizes[] = {{"autoencoder_kl/sd", &kKl, 34163592, 49490179, 83653863, 311e9},
                             {"taesd/sd", &kTaesd, 1222532, 1222531, 2445063, 17.7e9}};
  for (const Published& size : sizes) {
    SCOPED_TRACE(size.preset);
    const ScopedBuildDevice meta(at::kMeta);
    const auto model = buildCodec(*size.architecture,
                                  size.architecture->card().schema.preset(size.preset)->values);
    EXPECT_EQ(parameterCount(*model), size.total);
    EXPECT_EQ(parametersBelow(*model, "encoder."), size.encoder);
    EXPECT_EQ(parametersBelow(*model, "decoder."), size.decoder);
    std::int64_t counted = 0;
    double macs = 0;
    for (const BlockCost& block : model->cost()) {
      counted += block.parameters;
      if (block.name.starts_with("decoder.")) macs += block.macs;
    }
    EXPECT_EQ(counted, size.total);
    EXPECT_NEAR(macs / size.decoderMacs, 1, 0.01) << macs;
  }
}

}  // namespace
}  // namespace vitrine::autoencoder
