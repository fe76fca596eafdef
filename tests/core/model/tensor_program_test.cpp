// Named tensors in, named tensors out.
#include "core/model/tensor_program.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/model/capabilities.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using test::Names;
using ::testing::ElementsAre;

/// A network that takes noise away at time t under a class y, and with ragged words beside it.
struct Steps final : test::FakeModel<TensorProgram> {
  std::vector<TensorInput> tensorInputs() const override {
    return {{"latent", at::kFloat, {kBatchAxis, 2, "height", "width"}},
            {"t", at::kLong, {kBatchAxis}},
            {"y", at::kLong, {kBatchAxis}, true},
            {"words", at::kLong, {"words"}, true},
            {"offsets", at::kLong, {Axis(kBatchAxis, 1)}, true},
            {"mask", at::kBool, {"height", "width"}, true}};
  }
  std::vector<TensorOutput> tensorOutputs() const override {
    return {{"prediction", {kBatchAxis, 2, "height", "width"}, {"y"}},
            {"lengths", {kBatchAxis}, {"words", "offsets"}},
            {"block_<i>", {kBatchAxis}, {}, true}};
  }
  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) override {
    TensorMap out;
    if (wanted.contains("prediction")) {
      const at::Tensor scale = (inputs.at("t") + inputs.at("y")).view({-1, 1, 1, 1});
      out["prediction"] = inputs.at("latent") * scale;
    }
    if (wanted.contains("lengths")) out["lengths"] = inputs.at("offsets").diff();
    if (wanted.contains("block_<i>")) out["block_0"] = inputs.at("t");
    return out;
  }
};

struct Nothing final : test::FakeModel<> {};

struct Classifier final : test::FakeModel<ImageClassifier> {
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }
  at::Tensor features(const at::Tensor& images) override { return images.flatten(1); }
  at::Tensor head(const at::Tensor& features) override { return features.narrow(1, 0, 3); }
};

TensorMap usual() {
  return {{"latent", at::ones({2, 2, 3, 4})},
          {"t", at::tensor({1, 2}, at::kLong)},
          {"y", at::tensor({3, 4}, at::kInt)}};
}

template <class Refusal>
std::string refusal(TensorProgram& program, const TensorMap& inputs) {
  return test::refusal<Refusal>([&] { (void)checkedInputs(program, inputs, "in.safetensors"); });
}

TEST(TensorProgram, OfAModelRunsUnderItsNames) {
  Steps model;
  const std::shared_ptr<TensorProgram> program = programOf(model);
  const TensorMap inputs = checkedInputs(*program, usual(), "in.safetensors");
  EXPECT_EQ(inputs.at("y").scalar_type(), at::kLong) << "every integer will do";
  EXPECT_THAT(defaultOutputs(*program, inputs), ElementsAre("prediction"));
  const TensorMap out = program->runTensors(inputs, {"prediction", "block_<i>"});
  EXPECT_TRUE(out.at("prediction")[1].equal(at::full({2, 3, 4}, 6.0f)));
  EXPECT_TRUE(out.contains("block_0"));
}

TEST(TensorProgram, NamesWhatThereIsWhenANameATypeOrAShapeIsWrong) {
  Steps model;
  TensorMap inputs = usual();
  inputs["latnet"] = inputs["latent"];
  EXPECT_THAT(refusal<ConfigError>(model, inputs),
              Names("in.safetensors", "latnet", "latent", "t", "offsets"));
  inputs = usual();
  inputs.erase("t");
  EXPECT_THAT(refusal<ConfigError>(model, inputs), Names("t"));
  inputs = usual();
  inputs["t"] = at::ones({2});
  EXPECT_THAT(refusal<ConfigError>(model, inputs),
              Names("t", "in.safetensors", "float32", "int64"));
  inputs = usual();
  inputs["latent"] = at::ones({2, 3, 3, 4});
  EXPECT_EQ(refusal<ShapeError>(model, inputs),
            "'latent' in in.safetensors has shape [2, 3, 3, 4], the model reads [batch, 2, height, "
            "width]; give it that shape, or configure the model for yours");
  inputs = usual();
  inputs["y"] = at::zeros({3}, at::kLong);
  EXPECT_THAT(refusal<ShapeError>(model, inputs), Names("batch", 3, "latent", 2));
  inputs = {{"latent", at::ones({0, 2, 3, 4})}, {"t", at::zeros({0}, at::kLong)}};
  EXPECT_THAT(refusal<ShapeError>(model, inputs), Names("latent")) << "no sample at all";
}

TEST(TensorProgram, TakesRaggedWordsBesideImages) {
  Steps model;
  TensorMap inputs = usual();
  inputs.erase("y");
  inputs["words"] = at::arange(5);
  inputs["offsets"] = at::tensor({0, 2, 5}, at::kLong);
  inputs["mask"] = at::ones({3, 4}, at::kByte);
  const TensorMap given = checkedInputs(model, inputs, "in.safetensors");
  EXPECT_EQ(given.at("mask").scalar_type(), at::kBool);
  EXPECT_THAT(defaultOutputs(model, given), ElementsAre("lengths"));
  EXPECT_TRUE(
      model.runTensors(given, {"lengths"}).at("lengths").equal(at::tensor({2, 3}, at::kLong)));
  inputs["offsets"] = at::tensor({0, 2}, at::kLong);
  EXPECT_THAT(refusal<ShapeError>(model, inputs), Names("batch", 1));
}

TEST(TensorProgram, SaysWhatAnOutputNeeds) {
  Steps model;
  TensorMap inputs = usual();
  inputs.erase("y");
  const TensorMap given = checkedInputs(model, inputs, "in.safetensors");
  const auto said = [&](const auto& call) -> std::string {
    return test::refusal<ConfigError>([&] { call(); });
  };
  EXPECT_THAT(said([&] { (void)defaultOutputs(model, given); }),
              Names("prediction", "y", "words", "offsets"));
  EXPECT_THAT(said([&] { requireOutputs(model, given, {"prediction"}); }),
              Names("prediction", "y"));
  EXPECT_THAT(said([&] { requireOutputs(model, given, {"picture"}); }),
              Names("picture", "prediction", "lengths", "block_<i>"));
}

TEST(TensorProgram, IsSplitWhereEverythingIsOneForEachSample) {
  Steps model;
  TensorMap inputs = usual();
  EXPECT_TRUE(isSplittable(model, inputs, {"prediction"}));
  inputs["mask"] = at::ones({3, 4});
  EXPECT_FALSE(isSplittable(model, inputs, {"prediction"}));
  inputs = usual();
  inputs["offsets"] = at::zeros({3});
  EXPECT_FALSE(isSplittable(model, inputs, {"prediction"})) << "one more than there are samples";
}

/// Rows of tokens with a number of each, for all rows or for each.
struct Numbered final : test::FakeModel<TensorProgram> {
  std::vector<TensorInput> tensorInputs() const override {
    return {{"ids", at::kLong, {kBatchAxis, "tokens"}},
            {"numbers", at::kLong, {kBatchAxis, "tokens"}, true, "of the tokens", true}};
  }
  std::vector<TensorOutput> tensorOutputs() const override {
    return {{"sums", {kBatchAxis, "tokens"}, {"numbers"}}};
  }
  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>&) override {
    return {{"sums", inputs.at("ids") + inputs.at("numbers")}};
  }
};

TEST(TensorProgram, TakesATensorThatIsTheSameForEverySampleOrOneOfEach) {
  Numbered model;
  EXPECT_EQ(inputsText(model),
            "ids [batch, tokens] int64, numbers [batch, tokens] or [tokens] int64 (optional)");
  const auto given = [](const at::Tensor& numbers) {
    return TensorMap{{"ids", at::zeros({2, 3}, at::kLong)}, {"numbers", numbers}};
  };
  const TensorMap same = given(at::arange(3)), each = given(at::arange(6).view({2, 3}));
  EXPECT_EQ(checkedInputs(model, same, "in").at("numbers").dim(), 1);
  EXPECT_FALSE(isSplittable(model, same, {"sums"}));
  EXPECT_EQ(checkedInputs(model, each, "in").at("numbers").dim(), 2);
  EXPECT_TRUE(isSplittable(model, each, {"sums"}));
  EXPECT_THAT(refusal<ShapeError>(model, given(at::arange(4))), Names("tokens", 4, "ids", 3));
  EXPECT_THAT(refusal<ShapeError>(model, given(at::zeros({1, 2, 3}, at::kLong))),
              Names("numbers", "[batch, tokens] or [tokens]"));
}

TEST(TensorProgram, OfAClassifierNeedsNothingOfItsOwn) {
  Classifier model;
  const std::shared_ptr<TensorProgram> program = programOf(model, {1, 2, 2});
  EXPECT_EQ(inputsText(*program),
            "image [batch, 1, 2, 2] float32, target [batch] int64 (optional)");
  TensorMap inputs{{"image", at::arange(8).view({2, 1, 2, 2}).to(at::kDouble)}};
  EXPECT_THAT(defaultOutputs(*program, inputs), ElementsAre("features", "logits"));
  EXPECT_TRUE(isSplittable(*program, inputs, {"features", "logits"}));
  inputs["target"] = at::tensor({2, 0}, at::kLong);
  const TensorMap given = checkedInputs(*program, inputs, "in.safetensors");
  EXPECT_THAT(defaultOutputs(*program, given), ElementsAre("features", "logits", "loss"));
  EXPECT_FALSE(isSplittable(*program, given, {"logits", "loss"})) << "a mean is of all samples";
  const TensorMap out = program->runTensors(given, {"loss"});
  EXPECT_TRUE(out.at("loss").equal(at::cross_entropy_loss(out.at("logits"), given.at("target"))));
}

TEST(TensorProgram, IsRefusedToAModelThatOffersNone) {
  Nothing model;
  EXPECT_THAT([&] { (void)programOf(model); },
              test::Fails<RefusedError>("tensor_program", "image_classifier"));
}

}  // namespace
}  // namespace vitrine
