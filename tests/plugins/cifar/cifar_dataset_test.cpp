#include "plugins/datasets/cifar/cifar_dataset.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"
#include "tests/support/refusal.h"

namespace vitrine::cifar {
namespace {

using test::Names;

/// The layout of the set with two records in each file.
Layout small(Layout layout) {
  layout.trainRecords = layout.testRecords = 2;
  return layout;
}

std::string records(const std::string& first, const std::string& second) {
  return first + std::string(3072, 'a') + second + std::string(3072, 'b');
}

std::string names(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "class" + std::to_string(i) + "\n";
  return text;
}

/// CIFAR-10 with two images in each file; file i has labels i and i + 1.
void putTen(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  putFile(folder / "batches.meta.txt", names(10));
  for (char i = 1; i <= 5; ++i) {
    putFile(folder / ("data_batch_" + std::to_string(i) + ".bin"),
            records(std::string(1, i), std::string(1, static_cast<char>(i + 1))));
  }
  putFile(folder / "test_batch.bin", records("\x08", "\x09"));
}

std::string refusal(const std::filesystem::path& folder) {
  return test::refusal<FileError>(
      [&] { const CifarDataset set(folder, small(cifar10Layout()), {}); });
}

TEST(Cifar10, TheFiveFilesAreOneSplitInTheirOrder) {
  const TemporaryFolder folder;
  putTen(folder.path());
  const CifarDataset set(folder.path(), small(cifar10Layout()), {});
  EXPECT_EQ(set.size(Split::Train), 10);
  EXPECT_EQ(set.size(Split::Validation), 0);
  EXPECT_EQ(set.size(Split::Test), 2);
  EXPECT_EQ(set.info().channels, 3);
  EXPECT_EQ(set.info().width, 32);
  EXPECT_EQ(set.info().classes.at(9), "class9");
  std::vector<std::uint8_t> image(3072);
  EXPECT_EQ(set.readImage(Split::Train, 9, image), 6);
  EXPECT_EQ(image, std::vector<std::uint8_t>(3072, 'b'));
  EXPECT_EQ(set.readImage(Split::Test, 0, image), 8);
  EXPECT_EQ(image[0], 'a');
  EXPECT_THROW((void)set.readImage(Split::Test, 2, image), ShapeError);
  EXPECT_THROW((void)set.readImage(Split::Test, 0, std::span(image).first(3071)), ShapeError);
}

TEST(Cifar10, TheFolderAboveTheFilesWillDo) {
  const TemporaryFolder folder;
  putTen(folder / "cifar-10-batches-bin");
  EXPECT_EQ(refusal(folder.path()), "");
}

TEST(Cifar10, WhatIsWrongWithTheFilesIsSaid) {
  const TemporaryFolder folder;
  putTen(folder.path());
  EXPECT_EQ(refusal(folder.path()), "");
  putFile(folder / "data_batch_3.bin", records("\x03", "\x0a"));
  EXPECT_THAT(refusal(folder.path()), Names("data_batch_3.bin", 10, "record 1"));
  putFile(folder / "data_batch_3.bin", records("\x03", "\x04") + "x");
  EXPECT_THAT(refusal(folder.path()), Names("data_batch_3.bin"));
  std::filesystem::remove(folder / "data_batch_3.bin");
  EXPECT_THAT(refusal(folder.path()), Names("data_batch_3.bin"));
  putTen(folder.path());
  putFile(folder / "batches.meta.txt", names(9));
  EXPECT_THAT(refusal(folder.path()), Names("batches.meta.txt", 9, 10));
}

TEST(Cifar100, FineAndCoarseLabelsAreTheTwoBytesOfARecord) {
  const TemporaryFolder folder;
  putFile(folder / "fine_label_names.txt", names(100));
  putFile(folder / "coarse_label_names.txt", names(20));
  putFile(folder / "train.bin", records("\x13\x63", "\x01\x02"));
  putFile(folder / "test.bin", records(std::string("\0\0", 2), "\x01\x01"));
  std::vector<std::uint8_t> image(3072);
  const CifarDataset fine(folder.path(), small(cifar100Layout(Labels::Fine)), {});
  EXPECT_EQ(fine.info().classes.size(), 100u);
  EXPECT_EQ(fine.readImage(Split::Train, 0, image), 99);
  const CifarDataset coarse(folder.path(), small(cifar100Layout(Labels::Coarse)), {});
  EXPECT_EQ(coarse.info().classes.size(), 20u);
  EXPECT_EQ(coarse.readImage(Split::Train, 0, image), 19);
  EXPECT_EQ(image[3071], 'a');
}

TEST(CifarSources, OpenTheSetsInTheirPublishedSizesOnly) {
  const TemporaryFolder folder;
  putTen(folder.path());
  const std::string sentence = test::refusal<FileError>([&] {
    (void)Cifar10Source().open(Config(Json{{"folder", folder.path().string()}}));
  });
  EXPECT_THAT(sentence, Names("10,000", "3,073", "30,730,000"));
  EXPECT_EQ(Cifar100Source().card().schema.find("labels")->choices.size(), 2u);
  EXPECT_TRUE(Cifar100Source().card().schema.find("folder")->required);
}

}  // namespace
}  // namespace vitrine::cifar
