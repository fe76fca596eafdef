// What a model may do with the tensors of a weight file before they are its own.
#include "core/model/weight_source.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/model/weights.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine {
namespace {

using ::testing::ElementsAre;

/// Reads are counted by name.
struct Counted {
  explicit Counted(const std::map<std::string, at::Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors) {
      source.add(
          name, tensor.sizes().vec(),
          [this, name = name, tensor = tensor] {
            ++reads[name];
            return tensor;
          },
          {name}, WeightOrigin{"/w.safetensors", "", {name}});
    }
  }
  WeightSource source;
  std::map<std::string, int> reads;
};

at::Tensor rows(std::int64_t first, std::int64_t count) {
  return at::arange(first * 2, (first + count) * 2).view({count, 2}).to(at::kFloat);
}

TEST(WeightSource, MergesRowsInOrder) {
  Counted file({{"q", rows(0, 2)}, {"k", rows(2, 1)}, {"v", rows(3, 2)}, {"o", rows(0, 1)}});
  file.source.merge({"q", "k", "v"}, "qkv");
  EXPECT_THAT(file.source.names(), ElementsAre("o", "qkv"));
  EXPECT_THAT(file.source.shape("qkv"), ElementsAre(5, 2));
  EXPECT_THAT(file.source.origins("qkv"), ElementsAre("q", "k", "v"));
  EXPECT_THAT(file.source.origin("qkv")->names, ElementsAre("q", "k", "v"));
  EXPECT_TRUE(file.source.tensor("qkv").equal(rows(0, 5)));
  EXPECT_THROW(file.source.rename("qkv", "o"), ConfigError) << "there is one of that name";
  EXPECT_THROW(file.source.merge({"qkv", "nowhere"}, "c"), ConfigError);
}

TEST(WeightSource, ReadsWhatIsAskedForAndNothingElse) {
  Counted file({{"a", rows(0, 2)}, {"b", rows(2, 2)}, {"c", rows(0, 3)}});
  file.source.rename("a", "mine");
  file.source.change("b", {2, 2}, [](const at::Tensor& value) { return value.t(); });
  file.source.resize("c", {1, 2}, [](const at::Tensor& value) { return value.mean(0, true); });
  file.source.merge({"mine", "c"}, "both");
  EXPECT_TRUE(file.reads.empty());
  EXPECT_TRUE(file.source.tensor("b").equal(rows(2, 2).t()));
  EXPECT_EQ(file.reads.size(), 1u);
  EXPECT_FALSE(file.source.origin("b").has_value());
  EXPECT_FALSE(file.source.origin("both").has_value()) << "one part was changed";
}

TEST(WeightSource, ACopyIsReadWhenItIsAskedFor) {
  Counted file({{"a", rows(0, 2)}});
  file.source.copy("a", "b");
  EXPECT_TRUE(file.reads.empty());
  EXPECT_TRUE(file.source.tensor("b").equal(rows(0, 2)));
  EXPECT_THAT(file.source.origins("b"), ElementsAre("a"));
  EXPECT_THAT(file.source.origin("b")->names, ElementsAre("a"));
  EXPECT_THROW(file.source.copy("b", "a"), ConfigError) << "there is one of that name";
}

TEST(WeightSource, NamesATransformThatKeepsNotWhatItSaid) {
  Counted file({{"a", rows(0, 2)}});
  file.source.change("a", {3, 3}, [](const at::Tensor& value) { return value; });
  EXPECT_THAT([&] { (void)file.source.tensor("a"); },
              test::Fails<ConfigError>("'a'", "[2, 2]", "[3, 3]"));
}

TEST(WeightSource, TakesTheTableOfWhichTheFileHoldsMost) {
  const std::vector<std::vector<WeightRename>> tables{
      {{"old.q", "qkv", 0, 2}, {"old.k", "qkv", 1, 2}, {"old.out", "out"}},
      {{"new.q", "qkv", 0, 2}, {"new.k", "qkv", 1, 2}, {"new.out", "out"}}};
  Counted file({{"new.k", rows(1, 1)}, {"new.q", rows(0, 1)}, {"new.out", rows(5, 1)}});
  renameByBestTable(file.source, {"qkv", "out"}, tables);
  EXPECT_THAT(file.source.names(), ElementsAre("out", "qkv"));
  EXPECT_TRUE(file.source.tensor("qkv").equal(rows(0, 2)));
  Counted half({{"new.q", rows(0, 1)}, {"new.out", rows(5, 1)}});
  renameByBestTable(half.source, {"qkv", "out"}, tables);
  EXPECT_THAT(half.source.names(), ElementsAre("new.q", "out")) << "half a tensor is none";
  Counted own({{"qkv", rows(0, 2)}, {"out", rows(5, 1)}});
  renameByBestTable(own.source, {"qkv", "out"}, tables);
  EXPECT_THAT(own.source.names(), ElementsAre("out", "qkv"));
}

/// Keeps its map transposed, and reads two files' halves as one.
struct Transposing final : test::FakeModel<> {
  Transposing() { weight = register_parameter("weight", at::zeros({2, 3})); }
  void transform(WeightSource& source) override {
    if (source.has("step")) source.drop("step");
    if (source.has("kernel"))
      source.change("kernel", {2, 3}, [](const at::Tensor& value) { return value.t(); });
    if (source.has("kernel")) source.rename("kernel", "weight");
  }
  at::Tensor weight;
};

TEST(WeightSource, LoadsWhatAModelMadeOfItAndReportsTheRest) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "w.safetensors";
  const at::Tensor kernel = at::arange(6).view({3, 2}).to(at::kFloat);
  writeTensors(file, {{"kernel", kernel}, {"other", kernel}, {"step", at::zeros({})}});
  Transposing model;
  const LoadReport report = loadWeights(model, file);
  EXPECT_TRUE(model.weight.equal(kernel.t()));
  EXPECT_THAT(report.loaded, ElementsAre("weight"));
  EXPECT_THAT(report.unused, ElementsAre("other")) << "the step is known, and has no place here";
  EXPECT_TRUE(report.origins.empty()) << "a transposed matrix lies in no file";
}

}  // namespace
}  // namespace vitrine
