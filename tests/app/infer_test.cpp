// vitrine infer against tensors of the authors' code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/files/safetensors.h"
#include "tests/app/program.h"

namespace vitrine::test {
namespace {

using ::testing::HasSubstr;

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
  const Ended shape = run({"model.architecture=vit", "model.preset=vit/demo"});
  EXPECT_EQ(shape.code, 1);
  EXPECT_THAT(shape.err, HasSubstr("'image'"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path("out.safetensors")));
}

}  // namespace
}  // namespace vitrine::test
