#include "plugins/datasets/idx/idx_dataset.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"
#include "tests/support/refusal.h"

namespace vitrine::idx {
namespace {

using test::Names;

std::string idxFile(const std::vector<std::uint32_t>& shape, const std::string& data) {
  std::string out{0, 0, 8, static_cast<char>(shape.size())};
  for (const std::uint32_t side : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((side >> shift) & 0xff);
  }
  return out + data;
}

/// Three training and two test images of 2 x 3 pixels.
void putSet(const TemporaryFolder& folder) {
  std::string pixels;
  for (int i = 0; i < 18; ++i) pixels += static_cast<char>(10 * i);
  putFile(folder / "train-images-idx3-ubyte", idxFile({3, 2, 3}, pixels));
  putFile(folder / "train-labels-idx1-ubyte", idxFile({3}, std::string{0, 2, 1}));
  putFile(folder / "t10k-images-idx3-ubyte", idxFile({2, 2, 3}, pixels.substr(6)));
  putFile(folder / "t10k-labels-idx1-ubyte", idxFile({2}, std::string{1, 0}));
}

std::shared_ptr<const Dataset> open(const TemporaryFolder& folder, Json classes = Json::array()) {
  return IdxFolderSource().open(
      Config(Json{{"folder", folder.path().string()}, {"classes", std::move(classes)}}));
}

std::string refusal(const TemporaryFolder& folder, Json classes = Json::array()) {
  return test::refusal<FileError>([&] { (void)open(folder, std::move(classes)); });
}

TEST(IdxFolder, GivesImagesLabelsAndWhatItMeasured) {
  const TemporaryFolder folder;
  putSet(folder);
  const auto dataset = open(folder);
  EXPECT_EQ(dataset->size(Split::Train), 3);
  EXPECT_EQ(dataset->size(Split::Validation), 0);
  EXPECT_EQ(dataset->size(Split::Test), 2);
  EXPECT_EQ(dataset->info().classes, (std::vector<std::string>{"0", "1", "2"}));
  std::vector<std::uint8_t> image(6);
  const auto& images = dynamic_cast<const LabelledImages&>(*dataset);
  EXPECT_EQ(images.readImage(Split::Train, 1, image), 2);
  EXPECT_EQ(image, (std::vector<std::uint8_t>{60, 70, 80, 90, 100, 110}));
  EXPECT_EQ(images.readImage(Split::Test, 0, image), 1);
  EXPECT_EQ(image[0], 60);
  // 0, 10, .., 170: mean 85, variance 10^2 (18^2 - 1) / 12.
  EXPECT_NEAR(dataset->info().mean.at(0), 85.0 / 255, 1e-12);
  EXPECT_NEAR(dataset->info().deviation.at(0), std::sqrt(100 * 323.0 / 12) / 255, 1e-12);
  EXPECT_THROW((void)images.readImage(Split::Test, 2, image), ShapeError);
  EXPECT_THROW((void)images.readImage(Split::Train, 0, std::span(image).first(5)), ShapeError);
}

TEST(IdxFolder, PartsThatDoNotFitAreNamed) {
  const TemporaryFolder folder;
  putSet(folder);
  EXPECT_EQ(refusal(folder), "");
  EXPECT_THAT(refusal(folder, {"a", "b"}), Names("train-labels-idx1-ubyte", 2, 1));
  putFile(folder / "t10k-labels-idx1-ubyte", idxFile({2}, std::string{1, 7}));
  EXPECT_THAT(refusal(folder), Names("t10k-labels-idx1-ubyte", 7, 1, 3));
  putFile(folder / "t10k-labels-idx1-ubyte", idxFile({3}, std::string{1, 0, 1}));
  EXPECT_THAT(refusal(folder), Names("t10k-labels-idx1-ubyte", 3, 2));
  putFile(folder / "t10k-labels-idx1-ubyte", idxFile({2, 1}, std::string{1, 0}));
  EXPECT_THAT(refusal(folder), Names("2 x 1"));
  putSet(folder);
  putFile(folder / "t10k-images-idx3-ubyte", idxFile({2, 3, 2}, std::string(12, 'x')));
  EXPECT_THAT(refusal(folder), ::testing::EndsWith("; they must have one size"));
  putFile(folder / "t10k-images-idx3-ubyte", idxFile({2, 6}, std::string(12, 'x')));
  EXPECT_THAT(refusal(folder), Names("2 x 6"));
  putFile(folder / "t10k-images-idx3-ubyte", "cut");
  EXPECT_THAT(refusal(folder), Names("t10k-images-idx3-ubyte"));
  std::filesystem::remove(folder / "t10k-images-idx3-ubyte");
  EXPECT_THAT(refusal(folder), Names("t10k-images-idx3-ubyte.gz"));
}

TEST(FashionMnist, AMissingFolderNamesThePackageThatBringsIt) {
  const std::string sentence = test::refusal<FileError>([] {
    (void)FashionMnistSource().open(Config(Json{{"folder", "/nowhere"}}));
  });
  EXPECT_THAT(sentence, Names("/nowhere", "dataset-fashion-mnist"));
}

TEST(FashionMnist, IsThePublishedSet) {
  const Json defaults = FashionMnistSource().card().schema.defaults();
  if (!std::filesystem::exists(defaults["folder"].get<std::string>()))
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed";
  const auto dataset = FashionMnistSource().open(Config(defaults));
  EXPECT_EQ(dataset->size(Split::Train), 60000);
  EXPECT_EQ(dataset->size(Split::Test), 10000);
  EXPECT_EQ(dataset->info().height, 28);
  std::vector<std::uint8_t> image(784);
  const auto& images = dynamic_cast<const LabelledImages&>(*dataset);
  std::vector<int> perClass(10);
  double sum = 0;
  for (std::int64_t id = 0; id < 60000; ++id) {
    ++perClass[static_cast<std::size_t>(images.readImage(Split::Train, id, image))];
    for (const std::uint8_t pixel : image) sum += pixel;
  }
  EXPECT_EQ(perClass, std::vector<int>(10, 6000));
  EXPECT_NEAR(sum / (60000.0 * 784 * 255), dataset->info().mean.at(0), 5e-5);
  EXPECT_EQ(
      dataset->info().classes.at(static_cast<std::size_t>(images.readImage(Split::Test, 0, image))),
      "Ankle boot");
}

}  // namespace
}  // namespace vitrine::idx
