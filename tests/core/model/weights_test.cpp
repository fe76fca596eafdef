// Weight files: what fits is loaded, what does not is named, and nothing is written before
// everything fits.
#include "core/model/weights.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/nn/vision_transformer.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using test::Names;
using ::testing::ElementsAre;

nn::VisionTransformerConfig tiny() {
  return {.imageSize = {8, 8},
          .patchSize = {4, 4},
          .classes = 3,
          .width = 8,
          .depth = 1,
          .heads = 2,
          .mlpWidth = 16};
}

class Weights : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        (std::string("weights_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    file_ = folder_ / "w.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string refusal(Model& model, const LoadOptions& options = {}) {
    return test::refusal<ConfigError>([&] { (void)loadWeights(model, file_, options); });
  }

  std::filesystem::path folder_, file_;
};

bool sameWeights(Model& a, Model& b) {
  const auto left = namedTensors(a), right = namedTensors(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i].second.equal(right[i].second)) return false;
  }
  return left.size() == right.size();
}

TEST_F(Weights, ComeBackAsTheyWereWritten) {
  nn::VisionTransformer written(tiny(), 1), read(tiny(), 2);
  writeTensors(file_, namedTensors(written), {{"format", "pt"}});
  const LoadReport report = loadWeights(read, file_);
  EXPECT_TRUE(sameWeights(written, read));
  EXPECT_EQ(report.loaded.size(), namedTensors(written).size());
  EXPECT_TRUE(report.missing.empty() && report.unused.empty() && report.resized.empty());
}

TEST_F(Weights, EveryDtypeSurvivesAFile) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                    at::kInt, at::kShort, at::kChar, at::kByte, at::kBool}) {
    tensors.emplace_back(c10::toString(type), at::arange(6).remainder(2).view({2, 3}).to(type).t());
  }
  writeTensors(file_, tensors);
  const auto read = readTensors(file_);
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(read.at(name).equal(tensor)) << name;
  }
}

TEST_F(Weights, AMissingTensorIsAnErrorUnlessSkippedOrAllowed) {
  nn::VisionTransformer written(tiny(), 1), read(tiny(), 2);
  auto tensors = namedTensors(written);
  std::erase_if(tensors, [](const auto& item) { return item.first.starts_with("head."); });
  writeTensors(file_, tensors);
  EXPECT_THAT(refusal(read), Names("head.weight"));
  EXPECT_FALSE(sameWeights(written, read));
  LoadOptions options{.skip = {"head.*"}};
  EXPECT_THAT(loadWeights(read, file_, options).skipped, ElementsAre("head.weight", "head.bias"));
  options = {};
  options.strict = false;
  EXPECT_THAT(loadWeights(read, file_, options).missing, ElementsAre("head.weight", "head.bias"));
}

TEST_F(Weights, AnotherShapeIsNamedWithBothShapesAndNothingIsWritten) {
  nn::VisionTransformerConfig more = tiny();
  more.classes = 7;
  nn::VisionTransformer written(more, 1), read(tiny(), 2), untouched(tiny(), 2);
  writeTensors(file_, namedTensors(written));
  const std::string sentence = refusal(read);
  EXPECT_THAT(sentence, Names("head.weight", "[7, 8]", "[3, 8]"));
  EXPECT_TRUE(sameWeights(read, untouched));
}

TEST_F(Weights, AFileOfAnotherArchitectureIsRecognised) {
  nn::VisionTransformerConfig gated = tiny();
  gated.mlp = nn::MlpKind::SwiGlu;
  gated.mlpBias = nn::Bias::None;
  nn::VisionTransformer written(gated, 1), read(tiny(), 2);
  writeTensors(file_, namedTensors(written));
  EXPECT_EQ(refusal(read).find("looks made for"), std::string::npos) << "the model was not asked";
  LoadOptions options;
  options.family = [](const std::vector<std::string>& names) -> std::string {
    const bool isGated =
        std::find(names.begin(), names.end(), "blocks.0.mlp.fc3.weight") != names.end();
    return isGated ? "a gated encoder" : "";
  };
  EXPECT_THAT(refusal(read, options), Names("a gated encoder"));
}

TEST_F(Weights, PrefixesAreRenamed) {
  nn::VisionTransformer written(tiny(), 1), read(tiny(), 2);
  auto tensors = namedTensors(written);
  tensors.emplace_back("mask_token", at::zeros({1, 1, 8}));
  for (auto& item : tensors) item.first = "module." + item.first;
  writeTensors(file_, tensors);
  EXPECT_THAT(refusal(read), Names("none of its " + std::to_string(tensors.size()) + " tensors"));
  LoadOptions options{.rename = {{"module.", ""}}};
  EXPECT_THAT(loadWeights(read, file_, options).unused, ElementsAre("module.mask_token"))
      << "as the file calls it";
  EXPECT_TRUE(sameWeights(written, read));
}

TEST_F(Weights, TensorsThatTheModelLacksAreReported) {
  nn::VisionTransformer written(tiny(), 1), read(tiny(), 2);
  auto tensors = namedTensors(written);
  tensors.emplace_back("mask_token", at::zeros({1, 1, 8}));
  writeTensors(file_, tensors);
  EXPECT_THAT(loadWeights(read, file_).unused, ElementsAre("mask_token"));
}

TEST_F(Weights, HalfPrecisionFilesLoadIntoFloat) {
  nn::VisionTransformer written(tiny(), 1), read(tiny(), 2);
  auto tensors = namedTensors(written);
  for (auto& item : tensors) item.second = item.second.to(at::kBFloat16);
  writeTensors(file_, tensors);
  (void)loadWeights(read, file_);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    EXPECT_TRUE(namedTensors(read)[i].second.equal(tensors[i].second.to(at::kFloat)));
}

TEST_F(Weights, WholeNumbersAreNotTakenForRealOnes) {
  nn::VisionTransformer written(tiny(), 1), read(tiny(), 2), untouched(tiny(), 2);
  auto tensors = namedTensors(written);
  for (auto& [name, tensor] : tensors) {
    if (name == "head.weight") tensor = tensor.to(at::kChar);
  }
  writeTensors(file_, tensors);
  EXPECT_THAT(refusal(read), Names("head.weight", "Char", "Float"));
  EXPECT_TRUE(sameWeights(read, untouched));
}

/// Counts the values that a load holds at once.
class OneByOne final : public test::FakeModel<> {
 public:
  OneByOne() {
    for (const char* name : {"a", "b", "c"}) register_parameter(name, at::zeros({2}));
  }
  void transform(WeightSource& source) override {
    for (const std::string& name : source.names()) {
      source.change(name, {2}, [this](const at::Tensor& value) {
        EXPECT_EQ(held_, 0) << "the value before this one is still there";
        ++held_;
        const auto letGo = [this, kept = at::Tensor(value)](void*) mutable {
          kept.reset();
          --held_;
        };
        return at::from_blob(value.data_ptr(), {2}, letGo, at::kFloat);
      });
    }
  }

 private:
  int held_ = 0;
};

TEST_F(Weights, OneValueAtATimeIsHeldNextToTheModel) {
  OneByOne written, read;
  for (auto& [name, tensor] : namedTensors(written)) tensor.detach().fill_(3);
  writeTensors(file_, namedTensors(written));
  EXPECT_EQ(loadWeights(read, file_).loaded.size(), 3U);
  EXPECT_TRUE(sameWeights(written, read));
}

TEST_F(Weights, RowsOfAnotherFileThatDoNotFitAreRefused) {
  const std::filesystem::path other = folder_ / "other.safetensors";
  writeTensors(other, {{"q", at::zeros({2, 3})}, {"k", at::zeros({2, 4})}, {"s", at::zeros({})}});
  const std::vector<std::vector<std::string>> wrong{{"q", "k"}, {"q", "s"}, {"s", "q"}, {}};
  for (const std::vector<std::string>& names : wrong) {
    const WeightReference reference{other, sha256OfFile(other), {{"a", names}}};
    writeTensors(file_, {{"b", at::zeros({1})}}, referenceMetadata({reference}));
    EXPECT_THROW((void)openWeightSource(file_), FileError) << names.size();
  }
}

TEST_F(Weights, AFileInShardsIsOneSetOfWeights) {
  nn::VisionTransformer from(tiny(), 1), to(tiny(), 2);
  const auto all = namedTensors(from);
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  writeTensors(folder_ / "part-1.safetensors", {all.begin(), half});
  writeTensors(folder_ / "part-2.safetensors", {half, all.end()});
  std::ofstream list(folder_ / "w.safetensors.index.json");
  list << "{\"weight_map\":{";
  for (auto each = all.begin(); each != all.end(); ++each) {
    list << (each == all.begin() ? "\"" : ",\"") << each->first << "\":\"part-"
         << (each < half ? 1 : 2) << ".safetensors\"";
  }
  list << "}}";
  list.close();
  EXPECT_EQ(loadWeights(to, folder_ / "w.safetensors.index.json").loaded.size(), all.size());
  EXPECT_TRUE(sameWeights(from, to));
  // The name that the file would have if it were one.
  nn::VisionTransformer again(tiny(), 3);
  (void)loadWeights(again, file_);
  EXPECT_TRUE(sameWeights(from, again));
}

TEST_F(Weights, APickleIsRefusedWithTheLineThatConvertsIt) {
  nn::VisionTransformer model(tiny(), 1);
  const std::filesystem::path file = folder_ / "vit.pth";
  std::ofstream(file, std::ios::binary) << "\x80\x02}q" << std::string(100, '\0');
  EXPECT_THAT([&] { (void)loadWeights(model, file); },
              test::Fails<FileError>("can run code", "torch.load", "vit.pth", "vit.safetensors"));
}

}  // namespace
}  // namespace vitrine
