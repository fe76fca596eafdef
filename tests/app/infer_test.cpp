// vitrine infer against tensors of the authors' code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
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

/// A case of the golden files, and its image as a file that infer reads.
class InferCase : public Scratch {
 public:
  explicit InferCase(const std::string& name)
      : folder_(kGolden / name),
        io(folder_ / "io.safetensors"),
        model(Json::parse(readText(folder_ / "case.json")).value("model", Json::object())) {
    const std::vector<float> image = valuesOf(io, "input/image");
    writeSafetensors(path("in.safetensors"), {{"image", "F32", io.find("input/image")->shape,
                                               std::as_bytes(std::span(image))}});
  }
  /// `vitrine infer` with the weights of the case and these words.
  [[nodiscard]] Ended run(std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"infer", "--weights", (folder_ / "weights.safetensors").string(), "--input",
                  path("in.safetensors"), "--output", path("out.safetensors")});
    return vitrine(words);
  }
  [[nodiscard]] SafetensorsFile out() const { return SafetensorsFile(path("out.safetensors")); }
  /// Words for a ViT with the sizes of the case, behind `more`.
  [[nodiscard]] std::vector<std::string> vit(std::vector<std::string> more = {}) const {
    more.insert(more.end(),
                {"model.architecture=vit", "model.mlp=" + model.at("mlp").get<std::string>()});
    for (const char* key : {"image_size", "patch_size", "in_channels", "width", "depth", "heads",
                            "mlp_width", "num_classes", "qkv_bias"})
      more.push_back(std::string("model.") + key + "=" + model.at(key).dump());
    return more;
  }

 private:
  std::filesystem::path folder_;

 public:
  const SafetensorsFile io;
  const Json model;
};

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
  const InferCase golden("illama/roadmap_8_soft_mask");
  std::vector<std::string> words{"--blocks",
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
  const Ended ended = golden.run(words);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.json().at("tensors").at("logits"), Json::parse("[2, 10]"));
  for (const char* name :
       {"logits", "features", "block_0", "block_1", "attention_0", "attention_1"})
    expectClose(golden.out(), name, golden.io, std::string("output/") + name);

  words.insert(words.begin(), "--effective");
  ASSERT_EQ(golden.run(words).code, 0);
  expectClose(golden.out(), "attention_0", golden.io, "output/attention_masked_0");
  expectClose(golden.out(), "attention_1", golden.io, "output/attention_masked_1");
}

/// `vitrine infer` on a case of ViT, with its sizes, gives the case's logits.
void expectLogits(const char* name, const std::vector<std::string>& more) {
  const InferCase golden(name);
  const Ended ended = golden.run(golden.vit(more));
  ASSERT_EQ(ended.code, 0) << ended.err;
  expectClose(golden.out(), "logits", golden.io, "output/logits");
}

TEST(Infer, GivesTheSameForOneImageAtATime) {
  expectLogits("vit/vit_nonsquare", {"--batch-size", "1"});
}

TEST(Infer, TakesNoneAsAChoiceOfTheModel) {
  expectLogits("vit/vit_no_position_no_qkv_bias", {"model.pos_embed=none"});
}

TEST(Infer, SaysWhatDoesNotFit) {
  const InferCase golden("vit/vit_nonsquare");
  EXPECT_EQ(golden.run({"model.architecture=vitt"}).code, 3);
  EXPECT_EQ(golden.run({"model.architecture=vit", "model.wdth=3"}).code, 2);
  EXPECT_EQ(golden.run({"train.seed=1"}).code, 2);
  EXPECT_THAT(golden.run({"model.architecture=vit", "model.preset=vit/demo"}).err,
              Names("cls_token", "[1, 1, 48]", "[1, 1, 64]"));

  const std::vector<float> pixels(1 * 3 * 8 * 8, 0.5f);
  writeSafetensors(golden.path("in.safetensors"),
                   {{"image", "F32", {1, 3, 8, 8}, std::as_bytes(std::span(pixels))}});
  const Ended shape = golden.run(golden.vit());
  EXPECT_NE(shape.code, 0);
  EXPECT_THAT(shape.err, Names("image", "[1, 3, 8, 8]"));
  EXPECT_FALSE(std::filesystem::exists(golden.path("out.safetensors")));
}

TEST(Infer, RefusesWeightsOfAnotherVersionByItsName) {
  const InferCase golden("vision_lstm/v1_stride");
  Json model = golden.model;
  model["conv"] = "conv2d";  // that of the second version
  model["conv_kernel"] = 3;
  std::vector<std::string> words{"model.architecture=vision_lstm"};
  for (const auto& [key, value] : model.items())
    words.push_back("model." + key + "=" + value.dump());
  const Ended ended = golden.run(words);
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

TEST_F(InferByName, DoesNotReplaceAFileThatItReads) {
  ASSERT_EQ(run({"latent", "t", "y"}).code, 0);
  const std::string weights = scratch_.path("w.safetensors");
  const std::string input = scratch_.path("in.safetensors");
  const std::string bytes = readText(weights);
  for (const std::string& output : {weights, input}) {
    const Ended ended = vitrine({"infer", "--weights", weights, "--input", input, "--output",
                                 output, "model.architecture=denoising"});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, Names("--output", std::filesystem::path(output).filename().string()));
  }
  EXPECT_EQ(readText(weights), bytes);
}

TEST_F(InferByName, WritesOverNothingButAFileAndOverThatWhenTheNewOneIsWhole) {
  const std::string pipe = scratch_.path("pipe"), output = scratch_.path("out.safetensors");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(run({"latent", "t", "y"}).code, 0);
  const auto runTo = [&](const std::string& to) {
    return vitrine({"infer", "--weights", scratch_.path("w.safetensors"), "--input",
                    scratch_.path("in.safetensors"), "--output", to,
                    "model.architecture=denoising"});
  };
  EXPECT_EQ(runTo(pipe).code, 2);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));

  writeText(output, "of earlier");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit tight { 64, before.rlim_max };  // the program inherits it
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const int code = runTo(output).code;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(readText(output), "of earlier");
  EXPECT_EQ(runTo(output).code, 0);
  EXPECT_EQ(written().size(), 1u);
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
  const InferCase golden("vit/vit_nonsquare");
  const std::vector<float> image = valuesOf(golden.io, "input/image");
  const SafetensorsEntry* target = golden.io.find("input/target");
  std::vector<std::byte> labels(target->end - target->begin);
  golden.io.read(*target, labels);
  writeSafetensors(
      golden.path("in.safetensors"),
      {{"image", "F32", golden.io.find("input/image")->shape, std::as_bytes(std::span(image))},
       {"target", target->dtype, target->shape, labels}});
  const Ended ended = golden.run(golden.vit({"--outputs", "all"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* name : {"loss", "logits", "features", "embeddings", "block_0", "attention_0"})
    expectClose(golden.out(), name, golden.io, std::string("output/") + name);
}

}  // namespace
}  // namespace vitrine::test
