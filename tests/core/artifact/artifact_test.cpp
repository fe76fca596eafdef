#include "core/artifact/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/artifact/generated.h"
#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

TEST(Artifact, DoublesComeBackAsTheyWere) {
  Artifact artifact;
  const std::vector<double> values = {0.5, -1, 1e300, std::numeric_limits<double>::infinity(),
                                      4,   5};
  setFloat64(artifact, values, {2, 3}, {"layer", "head"});
  EXPECT_EQ(artifact.meta["dtype"], "float64");
  EXPECT_EQ(artifact.meta["axes"], (Json{"layer", "head"}));
  EXPECT_EQ(artifact.meta["version"], 1);
  const ArrayView view = arrayOf(artifact.meta, artifact.data);
  EXPECT_EQ(view.shape, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(view.count(), 6);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(view.at(static_cast<std::int64_t>(i)), values[i]);
}

TEST(Artifact, FloatsAndBytesAreReadAsDoubles) {
  Artifact artifact;
  setFloat32(artifact, std::vector<float>{0.25f, -3.5f}, {2}, {"x"});
  EXPECT_EQ(arrayOf(artifact.meta, artifact.data).at(1), -3.5);
  setUint8(artifact, std::vector<std::uint8_t>{0, 200, 255}, {3}, {"x"});
  const ArrayView view = arrayOf(artifact.meta, artifact.data);
  EXPECT_EQ(view.dtype, "uint8");
  EXPECT_EQ(view.at(1), 200);
  EXPECT_EQ(view.at(2), 255);
}

TEST(Artifact, IsStoredLittleEndian) {
  Artifact artifact;
  setFloat32(artifact, std::vector<float>{1.0f}, {1}, {"x"});
  EXPECT_EQ(artifact.data,
            (std::vector<std::byte>{std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}}));
}

TEST(Artifact, RefusesAShapeItsValuesDoNotFill) {
  Artifact artifact;
  const std::vector<double> values(6);
  EXPECT_THROW(setFloat64(artifact, values, {2, 2}, {"a", "b"}), ShapeError);
  EXPECT_THROW(setFloat64(artifact, values, {2, 3}, {"a"}), ShapeError);
}

TEST(Artifact, KeepsOtherMeta) {
  Artifact artifact;
  artifact.meta["unit"] = "px";
  setJson(artifact, {{"columns", {"a"}}, {"rows", Json::array()}});
  EXPECT_EQ(artifact.meta["unit"], "px");
  const std::string text(reinterpret_cast<const char*>(artifact.data.data()), artifact.data.size());
  EXPECT_EQ(Json::parse(text)["columns"][0], "a");
  EXPECT_NO_THROW(setJson(artifact, {{"columns", {"caf\xE9"}}, {"rows", Json::array()}}))
      << "a name that a folder gave";
}

std::string refusal(const Json& meta, std::size_t bytes) {
  const std::vector<std::byte> data(bytes);
  return test::refusal<FileError>([&] { (void)arrayOf(meta, data); });
}

TEST(ArrayView, RefusesMetaThatDoesNotDescribeTheData) {
  EXPECT_EQ(refusal({{"dtype", "float32"}, {"shape", {2, 3}}}, 24), "");
  EXPECT_NE(refusal({{"dtype", "float32"}, {"shape", {2, 3}}}, 23), "");
  EXPECT_NE(refusal({{"dtype", "float64"}, {"shape", {2, 3}}}, 24), "");
  EXPECT_NE(refusal({{"dtype", "int4"}, {"shape", {2, 3}}}, 24), "");
  EXPECT_NE(refusal({{"dtype", "float32"}, {"shape", {-2, -3}}}, 24), "");
  EXPECT_NE(refusal({{"dtype", "float32"}, {"shape", {2.0, 3}}}, 24), "");
  EXPECT_NE(refusal({{"dtype", "float32"}}, 24), "");
  EXPECT_NE(refusal({{"shape", {6}}}, 24), "");
  EXPECT_NE(refusal(Json::array(), 24), "");
  EXPECT_NE(refusal(nullptr, 0), "");
}

TEST(ArrayView, RefusesShapesWhoseProductOverflows) {
  const std::int64_t huge = std::int64_t{1} << 32;
  EXPECT_NE(refusal({{"dtype", "float32"}, {"shape", {huge, huge}}}, 0), "");
  EXPECT_NE(refusal({{"dtype", "float64"}, {"shape", {std::int64_t{1} << 61}}}, 0), "");
  EXPECT_NE(refusal({{"dtype", "uint8"}, {"shape", {std::uint64_t{1} << 63}}}, 0), "");
}

TEST(ArrayView, RefusesAnEmptyArrayWithALargeSide) {
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {2'000'000'000, 0, 0}, {0, 2'000'000'000}, {65'537, 0}, {std::int64_t{1} << 62, 0}}) {
    EXPECT_NE(
        refusal({{"dtype", "float64"}, {"shape", shape}}, 0).find("no values and a side above"),
        std::string::npos);
  }
  EXPECT_EQ(refusal({{"dtype", "float64"}, {"shape", {65'536, 0}}}, 0), "");
}

TEST(ImageAgain, IsReadFromARecipeWithTheWholeBatch) {
  const Json recipe{{"sampler", "ode"},
                    {"step", 1200},
                    {"weights", "ema"},
                    {"device", "cpu"},
                    {"precision", "bf16"},
                    {"seed", std::numeric_limits<std::uint64_t>::max()},
                    {"threads", 2},
                    {"settings", {{"steps", 20}}},
                    {"batch", {{"first_seed", 8}, {"size", 4}}}};
  const ImageAgain again = imageAgain(recipe, "image 3");
  EXPECT_EQ(again.sampler, "ode");
  EXPECT_EQ(again.step, 1200);
  EXPECT_EQ(again.weights, "ema");
  EXPECT_EQ(again.device, "cpu");
  EXPECT_EQ(again.precision, "bf16");
  EXPECT_EQ(again.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(again.threads, 2);
  EXPECT_EQ(again.settings, (Json{{"steps", 20}, {"seed", 8}, {"count", 4}}));
  Json alone = recipe;
  for (const char* key : {"batch", "precision", "threads"}) alone.erase(key);
  const ImageAgain one = imageAgain(alone, "image 3");
  EXPECT_EQ(one.settings, (Json{{"steps", 20}, {"seed", recipe.at("seed")}, {"count", 1}}));
  EXPECT_EQ(one.precision, "");
  EXPECT_FALSE(one.threads);
}

TEST(ImageAgain, NeedsEveryKeyInItsKind) {
  const Json recipe{
      {"sampler", "ode"}, {"step", 1}, {"weights", "ema"}, {"device", "cpu"}, {"seed", 1}};
  EXPECT_EQ(imageAgain(recipe, "image 3").seed, 1u);
  for (const auto& [key, value] : recipe.items()) {
    Json less = recipe, other = recipe;
    less.erase(key);
    other[key] = Json::array();
    for (const Json& broken : {less, other}) {
      EXPECT_THAT(test::refusal<RefusedError>([&] { (void)imageAgain(broken, "image 3"); }),
                  test::Names("image 3", key));
    }
  }
  EXPECT_NE(test::refusal<RefusedError>([] { (void)imageAgain(Json(), "image 3"); }), "");
}

TEST(ArrayView, AcceptsAnEmptyArray) {
  EXPECT_EQ(refusal({{"dtype", "float32"}, {"shape", {0, 5}}}, 0), "");
  EXPECT_NE(refusal({{"dtype", "float32"}, {"shape", {0, 5}}}, 4), "");
}

}  // namespace
}  // namespace vitrine
