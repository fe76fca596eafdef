// vitrine infer against tensors of the authors' code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "core/files/safetensors.h"
#include "tests/app/program.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/golden";

std::vector<float> valuesOf(const SafetensorsFile& file, const std::string& name) {
  const SafetensorsEntry* entry = file.find(name);
  if (entry == nullptr || entry->dtype != "F32") {
    ADD_FAILURE() << "no float32 tensor " << name;
    return {};
  }
  std::vector<float> values((entry->end - entry->begin) / sizeof(float));
  file.read(*entry, std::as_writable_bytes(std::span(values)));
  return values;
}

/// The input of a case as a file that infer reads.
void writeInput(const std::string& path, const SafetensorsFile& io) {
  const std::vector<float> image = valuesOf(io, "input/image");
  writeSafetensors(
      path, {{"image", "F32", io.find("input/image")->shape, std::as_bytes(std::span(image))}});
}

void expectClose(const SafetensorsFile& actual, const std::string& name,
                 const SafetensorsFile& expected, const std::string& reference) {
  const std::vector<float> a = valuesOf(actual, name), b = valuesOf(expected, reference);
  ASSERT_EQ(actual.find(name)->shape, expected.find(reference)->shape) << name;
  ASSERT_EQ(a.size(), b.size()) << name;
  float largest = 0.01f, worst = 0;
  for (const float value : b) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  // The tolerance of the golden files: 1e-5 of the largest value.
  EXPECT_LE(worst, 1e-5f * largest) << name;
}

TEST(Infer, ReproducesTheAuthorsTensorsFromTheirWeights) {
  Scratch scratch;
  const std::filesystem::path folder = kGolden / "illama/roadmap_8_soft_mask";
  const SafetensorsFile io(folder / "io.safetensors");
  writeInput(scratch.path("in.safetensors"), io);
  const std::vector<std::string> words{"infer",
                                       "--weights",
                                       (folder / "weights.safetensors").string(),
                                       "--input",
                                       scratch.path("in.safetensors"),
                                       "--output",
                                       scratch.path("out.safetensors"),
                                       "--blocks",
                                       "--attention",
                                       "--json",
                                       "model.architecture=illama",
                                       "model.image_size=32",
                                       "model.patch_size=8",
                                       "model.in_channels=3",
                                       "model.width=36",
                                       "model.depth=2",
                                       "model.heads=3",
                                       "model.mlp_width=72",
                                       "model.mlp_bias=false",
                                       "model.num_classes=10",
                                       "model.mask.kind=soft",
                                       "model.mask.mode=multiplicative",
                                       "model.mask.alpha=0.3"};
  const Ended ended = vitrine(words);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.json().at("tensors").at("logits"), Json::parse("[2, 10]"));
  const SafetensorsFile out(scratch.path("out.safetensors"));
  for (const char* name :
       {"logits", "features", "block_0", "block_1", "attention_0", "attention_1"}) {
    expectClose(out, name, io, std::string("output/") + name);
  }

  std::vector<std::string> effective = words;
  effective.insert(effective.begin() + 1, "--effective");
  ASSERT_EQ(vitrine(effective).code, 0);
  const SafetensorsFile masked(scratch.path("out.safetensors"));
  expectClose(masked, "attention_0", io, "output/attention_masked_0");
  expectClose(masked, "attention_1", io, "output/attention_masked_1");
}

/// `vitrine infer` on a case of ViT, with its sizes, gives the case's logits.
void expectLogits(const char* name, const std::vector<std::string>& more) {
  Scratch scratch;
  const std::filesystem::path folder = kGolden / name;
  const SafetensorsFile io(folder / "io.safetensors");
  writeInput(scratch.path("in.safetensors"), io);
  const Json model = Json::parse(readText(folder / "case.json")).at("model");
  std::vector<std::string> words{"infer",
                                 "--weights",
                                 (folder / "weights.safetensors").string(),
                                 "--input",
                                 scratch.path("in.safetensors"),
                                 "--output",
                                 scratch.path("out.safetensors"),
                                 "model.architecture=vit"};
  words.insert(words.end(), more.begin(), more.end());
  for (const char* key : {"image_size", "patch_size", "in_channels", "width", "depth", "heads",
                          "mlp_width", "num_classes", "qkv_bias"}) {
    words.push_back(std::string("model.") + key + "=" + model.at(key).dump());
  }
  words.push_back("model.mlp=" + model.at("mlp").get<std::string>());
  const Ended ended = vitrine(words);
  ASSERT_EQ(ended.code, 0) << ended.err;
  expectClose(SafetensorsFile(scratch.path("out.safetensors")), "logits", io, "output/logits");
}

TEST(Infer, GivesTheSameForOneImageAtATime) {
  expectLogits("vit/vit_nonsquare", {"--batch-size", "1"});
}

TEST(Infer, TakesNoneAsAChoiceOfTheModel) {
  expectLogits("vit/vit_no_position_no_qkv_bias", {"model.pos_embed=none"});
}

TEST(Infer, SaysWhatDoesNotFit) {
  Scratch scratch;
  const std::filesystem::path folder = kGolden / "vit/vit_nonsquare";
  const SafetensorsFile io(folder / "io.safetensors");
  writeInput(scratch.path("in.safetensors"), io);
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"infer", "--weights", (folder / "weights.safetensors").string(), "--input",
                  scratch.path("in.safetensors"), "--output", scratch.path("out.safetensors")});
    return vitrine(words);
  };
  EXPECT_EQ(run({"model.architecture=vitt"}).code, 3);
  EXPECT_EQ(run({"model.architecture=vit", "model.wdth=3"}).code, 2);
  EXPECT_EQ(run({"train.seed=1"}).code, 2);
  EXPECT_THAT(run({"model.architecture=vit", "model.preset=vit/demo"}).err,
              Names("cls_token", "[1, 1, 48]", "[1, 1, 64]"));

  const std::vector<float> pixels(1 * 3 * 8 * 8, 0.5f);
  writeSafetensors(scratch.path("in.safetensors"),
                   {{"image", "F32", {1, 3, 8, 8}, std::as_bytes(std::span(pixels))}});
  const Json model = Json::parse(readText(folder / "case.json")).at("model");
  std::vector<std::string> words{"model.architecture=vit"};
  for (const char* key : {"image_size", "patch_size", "in_channels", "width", "depth", "heads",
                          "mlp_width", "num_classes", "qkv_bias"})
    words.push_back(std::string("model.") + key + "=" + model.at(key).dump());
  const Ended shape = run(words);
  EXPECT_NE(shape.code, 0);
  EXPECT_THAT(shape.err, Names("image", "[1, 3, 8, 8]"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path("out.safetensors")));
}

TEST(Infer, RefusesWeightsOfAnotherVersionByItsName) {
  Scratch scratch;
  const std::filesystem::path folder = kGolden / "vision_lstm/v1_stride";
  writeInput(scratch.path("in.safetensors"), SafetensorsFile(folder / "io.safetensors"));
  std::vector<std::string> words{"infer",
                                 "--weights",
                                 (folder / "weights.safetensors").string(),
                                 "--input",
                                 scratch.path("in.safetensors"),
                                 "--output",
                                 scratch.path("out.safetensors"),
                                 "model.architecture=vision_lstm"};
  Json model = Json::parse(readText(folder / "case.json")).at("model");
  model["conv"] = "conv2d";  // that of the second version
  model["conv_kernel"] = 3;
  for (const auto& [key, value] : model.items())
    words.push_back("model." + key + "=" + value.dump());
  const Ended ended = vitrine(words);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, Names("a Vision-LSTM of the first version"));
}

/// `vitrine infer` with the model of serve_items.cpp, which is not a classifier.
class InferByName : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TESTED_PLUGIN_PATH", VITRINE_SERVE_ITEMS, 1);
    const Ended trusted = vitrine({"plugins", "--trust", VITRINE_SERVE_ITEMS "/serve_items.so"});
    ASSERT_EQ(trusted.code, 0) << trusted.err;
    const std::vector<float> gain{1, 2, 3, 4};
    writeSafetensors(scratch_.path("w.safetensors"),
                     {{"gain", "F32", {4}, std::as_bytes(std::span(gain))}});
  }
  void TearDown() override { ::unsetenv("TESTED_PLUGIN_PATH"); }

  /// \param names  of the inputs: latent [3, 4, 1, 2] of ones, t and y [3], positions [5]
  Ended run(const std::vector<std::string>& names, std::vector<std::string> more = {}) {
    std::vector<SafetensorsTensor> tensors;
    for (const std::string& name : names) {
      if (name.starts_with("lat")) {
        tensors.push_back({name, "F32", {3, 4, 1, 2}, std::as_bytes(std::span(ones_))});
      } else {
        const std::int64_t count = name == "positions" ? 5 : 3;
        tensors.push_back(
            {name,
             "I64",
             {count},
             std::as_bytes(std::span(counts_).first(static_cast<std::size_t>(count)))});
      }
    }
    writeSafetensors(scratch_.path("in.safetensors"), tensors);
    more.insert(more.begin(), {"infer", "--weights", scratch_.path("w.safetensors"), "--input",
                               scratch_.path("in.safetensors"), "--output",
                               scratch_.path("out.safetensors"), "model.architecture=denoising"});
    return vitrine(more);
  }
  [[nodiscard]] std::vector<std::string> written() const {
    std::vector<std::string> names;
    const SafetensorsFile out(scratch_.path("out.safetensors"));
    for (const SafetensorsEntry& entry : out.entries()) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    return names;
  }

  Scratch scratch_;
  const std::vector<float> ones_ = std::vector<float>(24, 1.0f);
  const std::vector<std::int64_t> counts_{0, 1, 2, 3, 4};
};

TEST_F(InferByName, ReadsWhatTheModelReadsAndWritesWhatItMakes) {
  const Ended ended = run({"latent", "t", "y"}, {"--batch-size", "2"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ASSERT_EQ(written(), std::vector<std::string>{"prediction"});
  const SafetensorsFile out(scratch_.path("out.safetensors"));
  ASSERT_EQ(out.find("prediction")->shape, (std::vector<std::int64_t>{3, 4, 1, 2}));
  const std::vector<float> values = valuesOf(out, "prediction");
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], static_cast<float>(i / 2 % 4 + 1) + 11.0f * static_cast<float>(i / 8))
        << i;
}

TEST_F(InferByName, MakesMoreOfMoreInputsAndWhatIsAskedFor) {
  const std::vector<std::string> inputs{"latent", "t", "y", "positions"};
  ASSERT_EQ(run(inputs).code, 0);
  EXPECT_EQ(written(), (std::vector<std::string>{"positions_twice", "prediction"}));
  ASSERT_EQ(run(inputs, {"--blocks"}).code, 0);
  EXPECT_EQ(written(), (std::vector<std::string>{"block_0", "positions_twice", "prediction"}));
  ASSERT_EQ(run(inputs, {"--outputs", "block,positions_twice"}).code, 0);
  EXPECT_EQ(written(), (std::vector<std::string>{"block_0", "positions_twice"}));
  ASSERT_EQ(run({"latent", "t", "y"}, {"--outputs", "all"}).code, 0);
  EXPECT_EQ(written(), (std::vector<std::string>{"block_0", "prediction"}));
}

TEST_F(InferByName, AnswersAWrongNameWithThoseThereAre) {
  const Ended ended = run({"latnet", "t", "y"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, Names("latnet", "latent", "t", "y", "positions"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("out.safetensors")));
  EXPECT_THAT(run({"latent", "t"}).err, Names("y"));
  EXPECT_THAT(run({"latent", "t", "y"}, {"--outputs", "positions_twice"}).err, Names("positions"));
  EXPECT_THAT(run({"latent", "t", "y"}, {"--attention"}).err,
              Names("attention_<i>", "prediction", "positions_twice"));
}

TEST(Infer, GivesTheLossOfTheCaseWhereItHasTheTargets) {
  Scratch scratch;
  const std::filesystem::path folder = kGolden / "vit/vit_nonsquare";
  const SafetensorsFile io(folder / "io.safetensors");
  const std::vector<float> image = valuesOf(io, "input/image");
  const SafetensorsEntry* target = io.find("input/target");
  std::vector<std::byte> labels(target->end - target->begin);
  io.read(*target, labels);
  writeSafetensors(
      scratch.path("in.safetensors"),
      {{"image", "F32", io.find("input/image")->shape, std::as_bytes(std::span(image))},
       {"target", target->dtype, target->shape, labels}});
  const Json model = Json::parse(readText(folder / "case.json")).at("model");
  std::vector<std::string> words{"infer",
                                 "--weights",
                                 (folder / "weights.safetensors").string(),
                                 "--input",
                                 scratch.path("in.safetensors"),
                                 "--output",
                                 scratch.path("out.safetensors"),
                                 "--outputs",
                                 "all",
                                 "model.architecture=vit",
                                 "model.mlp=" + model.at("mlp").get<std::string>()};
  for (const char* key : {"image_size", "patch_size", "in_channels", "width", "depth", "heads",
                          "mlp_width", "num_classes", "qkv_bias"}) {
    words.push_back(std::string("model.") + key + "=" + model.at(key).dump());
  }
  const Ended ended = vitrine(words);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const SafetensorsFile out(scratch.path("out.safetensors"));
  for (const char* name : {"loss", "logits", "features", "embeddings", "block_0", "attention_0"})
    expectClose(out, name, io, std::string("output/") + name);
}

}  // namespace
}  // namespace vitrine::test
