// What codecs refuse, how they begin, and the scale of their latents.
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>

#include <cmath>

#include "core/model/build_device.h"
#include "core/model/measured_scale.h"
#include "core/model/tensor_program.h"
#include "core/model/weights.h"
#include "tests/plugins/autoencoder/codecs.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::autoencoder {
namespace {

using test::Fails;

Json smallTaesd() {
  return {{"image_size", 8}, {"in_channels", 1},      {"latent_channels", 2},
          {"width", 4},      {"layers_per_block", 1}, {"downsample_factor", 4}};
}

TEST(Codec, RefusesImagesThatItsFactorDoesNotDivide) {
  const auto model = buildCodec(kKl, smallKl());
  auto& codec = *capabilityOf<LatentCodec>(*model);
  EXPECT_EQ(codec.factor(), 2);
  EXPECT_THAT(
      [&] {
        (void)codec.encodeLatent(at::zeros({1, 1, 8, 7}));
      },
      Fails<Error>("an image of 8 x 7 px does not fit", "2 x 2 px", "resize it to 8 x 6 px"));
  EXPECT_THAT(
      [&] {
        (void)codec.encodeLatent(at::zeros({1, 3, 8, 8}));
      },
      Fails<Error>("model.in_channels"));
  Json odd = smallKl();
  odd["image_size"] = 9;
  EXPECT_THAT([&] { (void)buildCodec(kKl, odd); },
              Fails<Error>("image_size", "9 x 9 px", "2 x 2 px", "8 x 8 px"));
  Json taesd = smallTaesd();
  taesd["image_size"] = 30;
  EXPECT_THAT([&] { (void)buildCodec(kTaesd, taesd); }, Fails<Error>("28 x 28"));
}

TEST(Codec, SaysWhichPixelsItReadsBeforeItHasWeights) {
  const ScopedBuildDevice meta(at::kMeta);
  Json taesd = smallTaesd();
  EXPECT_EQ(capabilityOf<LatentCodec>(*buildCodec(kTaesd, taesd))->pixels().low, 0);
  taesd["pixel_range"] = "signed";
  EXPECT_EQ(capabilityOf<LatentCodec>(*buildCodec(kTaesd, taesd))->pixels().low, -1);
  EXPECT_EQ(capabilityOf<LatentCodec>(*buildCodec(kKl, smallKl()))->pixels().low, -1);
}

TEST(Codec, RefusesLatentsOfAnotherCodec) {
  for (const auto& model : {buildCodec(kKl, smallKl()), buildCodec(kTaesd, smallTaesd())}) {
    auto& codec = *capabilityOf<LatentCodec>(*model);
    EXPECT_THAT(test::refusal<Error>([&] {
                  (void)codec.decodeLatent(at::zeros({1, 4, 4, 4}));
                }),
                ::testing::EndsWith("not [1, 4, 4, 4]; these are latents of another codec, decode "
                                    "them with that one"));
  }
}

TEST(Codec, RefusesSizesThatDoNotFitTogether) {
  Json groups = smallKl();
  groups["norm_groups"] = 3;
  EXPECT_THAT([&] { (void)buildCodec(kKl, groups); }, Fails<Error>("model.norm_groups = 3", 8));
  Json factor = smallKl();
  factor["downsample_factor"] = 8;
  EXPECT_THAT([&] { (void)buildCodec(kKl, factor); }, Fails<Error>("block_out_channels", 2));
  Json levels = smallKl();
  levels["block_out_channels"] = Json::array();
  EXPECT_THAT([&] { (void)buildCodec(kKl, levels); }, Fails<Error>("0 levels"));
  Json power = smallTaesd();
  power["downsample_factor"] = 6;
  EXPECT_THAT([&] { (void)buildCodec(kTaesd, power); }, Fails<Error>("4 or 8"));
}

TEST(Codec, AttentionAndQuantConvolutionsCanBeLeftOut) {
  Json plain = smallKl();
  plain["mid_attention"] = plain["quant_convs"] = false;
  const auto model = buildCodec(kKl, plain);
  for (const auto& [name, tensor] : namedTensors(*model)) {
    EXPECT_EQ(name.find("attentions"), std::string::npos) << name;
    EXPECT_EQ(name.find("quant_conv"), std::string::npos) << name;
  }
  auto& codec = *capabilityOf<LatentCodec>(*model);
  const auto latent = codec.encodeLatent(at::zeros({2, 1, 8, 12}));
  EXPECT_EQ(latent.mean.sizes(), (at::IntArrayRef{2, 2, 4, 6}));
  EXPECT_EQ(codec.decodeLatent(latent.mean).sizes(), (at::IntArrayRef{2, 1, 8, 12}));
}

TEST(Codec, BeginsAsTorchDoesFromTheSeedAlone) {
  const auto model = buildCodec(kKl, smallKl(), 5), again = buildCodec(kKl, smallKl(), 5);
  const auto other = buildCodec(kKl, smallKl(), 6);
  const auto parameters = model->module().named_parameters();
  for (const auto& item : parameters) {
    EXPECT_TRUE(item.value().equal(again->module().named_parameters()[item.key()])) << item.key();
    if (item.key().find("norm") != std::string::npos) {
      EXPECT_TRUE(item.value().eq(item.key().ends_with("weight") ? 1 : 0).all().item<bool>())
          << item.key();
      continue;
    }
    EXPECT_FALSE(item.value().equal(other->module().named_parameters()[item.key()])) << item.key();
    const at::Tensor weight = parameters[item.key().substr(0, item.key().rfind('.')) + ".weight"];
    const double bound =
        1 / std::sqrt(static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0)));
    EXPECT_LE(item.value().abs().max().item<double>(), bound * (1 + 1e-6)) << item.key();
  }
}

TEST(MeasuredScale, IsOneOverTheDeviationOfWhatWasSeenLast) {
  const auto model = buildCodec(kKl, smallKl());
  auto& codec = *capabilityOf<LatentCodec>(*model);
  auto& measured = *capabilityOf<MeasuredScale>(*model);
  ASSERT_TRUE(measured.isMeasured());
  EXPECT_FALSE(measured.isScaleKnown());
  EXPECT_EQ(test::refusal<ConfigError>([&] { (void)codec.scale(); }),
            "the scale of this codec's latents was never measured; train it, or set "
            "model.scaling_factor to the number that its weights were published with");
  const at::Tensor latents = at::arange(1000, at::kFloat).view({10, 2, 5, 10});
  measured.observeLatents(latents);
  EXPECT_NEAR(codec.scale() * latents.std(/*unbiased=*/false).item<double>(), 1, 1e-4);
  // What is not finite is not counted, and what came 1,000 batches ago is forgotten.
  measured.observeLatents(latents * INFINITY);
  for (int i = 0; i < 1000; ++i) measured.observeLatents(latents * 0.01 + 3);
  EXPECT_NEAR(codec.scale() * 0.01 * latents.std(false).item<double>(), 1, 0.05);
}

TEST(MeasuredScale, IsKeptWithTheWeightsAndMissingInPublicOnes) {
  const TemporaryFolder folder;
  const auto model = buildCodec(kKl, smallKl());
  capabilityOf<MeasuredScale>(*model)->observeLatents(at::arange(64, at::kFloat));
  writeTensors(folder / "run.safetensors", namedTensors(*model));
  const auto again = buildCodec(kKl, smallKl(), 1);
  (void)loadWeights(*again, folder / "run.safetensors");
  EXPECT_EQ(capabilityOf<LatentCodec>(*again)->scale(), capabilityOf<LatentCodec>(*model)->scale());

  Json fixed = smallKl();
  fixed["scaling_factor"] = 0.18215;
  const auto public_ = buildCodec(kKl, fixed);
  const LoadReport report = loadWeights(*public_, folder / "run.safetensors");
  EXPECT_TRUE(report.unused.empty());
  EXPECT_EQ(capabilityOf<LatentCodec>(*public_)->scale(), 0.18215);
  capabilityOf<MeasuredScale>(*public_)->observeLatents(at::ones({3}));
  EXPECT_EQ(capabilityOf<LatentCodec>(*public_)->scale(), 0.18215);

  writeTensors(folder / "public.safetensors", namedTensors(*public_));
  (void)loadWeights(*again, folder / "public.safetensors");
  EXPECT_FALSE(capabilityOf<MeasuredScale>(*again)->isScaleKnown());
}

TEST(TaesdPixels, FollowTheNamesOfTheFileAndStayWithTheWeights) {
  const TemporaryFolder folder;
  const auto model = buildCodec(kTaesd, smallTaesd());
  std::vector<std::pair<std::string, at::Tensor>> theirs;
  for (const auto& item : model->module().named_parameters()) {
    std::string name = item.key();
    const bool isDecoder = name.starts_with("decoder.");
    const std::size_t end = name.find('.', 8);
    const int number = std::stoi(name.substr(8, end - 8)) - (isDecoder ? 1 : 0);
    theirs.emplace_back(name.substr(0, 8) + "layers." + std::to_string(number) + name.substr(end),
                        item.value());
  }
  writeTensors(folder / "diffusers.safetensors", theirs);
  const auto low = [](Model& each) { return capabilityOf<LatentCodec>(each)->pixels().low; };
  const auto read = buildCodec(kTaesd, smallTaesd(), 1);
  (void)loadWeights(*read, folder / "diffusers.safetensors");
  EXPECT_EQ(low(*read), -1);
  writeTensors(folder / "run.safetensors", namedTensors(*read));
  const auto again = buildCodec(kTaesd, smallTaesd(), 2);
  (void)loadWeights(*again, folder / "run.safetensors");
  EXPECT_EQ(low(*again), -1);
  Json unit = smallTaesd();
  unit["pixel_range"] = "unit";
  const auto forced = buildCodec(kTaesd, unit);
  (void)loadWeights(*forced, folder / "diffusers.safetensors");
  EXPECT_EQ(low(*forced), 0);
  // The same weights see the same pixels, whatever they are called.
  const at::Tensor image = at::arange(64, at::kFloat).view({1, 1, 8, 8}) / 64;
  EXPECT_TRUE(capabilityOf<LatentCodec>(*forced)->encodeLatent(image).mean.allclose(
      capabilityOf<LatentCodec>(*read)->encodeLatent(image * 2 - 1).mean, 1e-5, 1e-6));
}

TEST(KlProgram, RunsWithWhatItIsGiven) {
  const auto model = buildCodec(kKl, smallKl());
  const auto program = programOf(*model);
  const TensorMap image{{"image", at::zeros({1, 1, 8, 8})}};
  EXPECT_EQ(defaultOutputs(*program, image),
            (std::set<std::string>{"encoder_raw", "mean", "logvar"}));
  EXPECT_EQ(program->runTensors(image, {"mean"}).count("mean"), 1U);
  EXPECT_THAT(
      [&] {
        (void)checkedInputs(*program, {{"latent", at::zeros({1, 3, 4, 4})}}, "in");
      },
      Fails<Error>("latent"));
}

}  // namespace
}  // namespace vitrine::autoencoder
