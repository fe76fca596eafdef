// Scenes written as COCO and ADE20K do, and read again.
#include "plugins/datasets/image_folder/scene_sets.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/data/scene_files.h"
#include "core/files/checkpoint_folder.h"
#include "tests/plugins/image_folder/made_images.h"
#include "tests/plugins/shapes/made_sets.h"
#include "tests/support/refusal.h"

namespace vitrine::image_folder {
namespace {

using shapes::test::sampleOf;
using test::Fails, test::Names;

std::shared_ptr<const Dataset> scenes() {
  return shapes::test::open("shape_segments", {{"size", 32}});
}

std::shared_ptr<const Dataset> openAs(const DatasetSource& source,
                                      const std::filesystem::path& folder,
                                      const Json& changes = Json::object()) {
  Json values = source.card().schema.defaults();
  values["folder"] = folder.string();
  values.update(changes);
  return source.open(Config(values));
}

void expectEqual(const Sample& one, const Sample& other, const std::string& field) {
  EXPECT_EQ(one.at(field).shape(), other.at(field).shape()) << field;
  EXPECT_EQ(one.at(field).type(), other.at(field).type()) << field;
  EXPECT_TRUE(std::ranges::equal(one.at(field).bytes(), other.at(field).bytes())) << field;
}

TEST(SceneFiles, AreNotWrittenOverOthersNorWithoutMasks) {
  const TemporaryFolder folder;
  const auto set = scenes();
  EXPECT_EQ(writeCocoScenes(*set, Split::Train, 2, folder / "coco").images, 2);
  EXPECT_THAT([&] { (void)writeCocoScenes(*set, Split::Train, 2, folder / "coco"); },
              Fails<FileError>((folder / "coco").string()));
  EXPECT_EQ(writeAde20kScenes(*set, Split::Train, 2, folder / "ade").images, 2);
  EXPECT_THAT([&] { (void)writeAde20kScenes(*set, Split::Train, 2, folder / "ade"); },
              Fails<FileError>((folder / "ade").string()));
  const auto plain = shapes::test::open("pathfinder");
  EXPECT_THAT([&] { (void)writeCocoScenes(*plain, Split::Train, 2, folder / "other"); },
              Fails<ConfigError>("boxes", "image", "label"));
}

TEST(SceneFiles, HaveAFingerprintThatChangesWithEveryImage) {
  const TemporaryFolder folder;
  (void)writeCocoScenes(*scenes(), Split::Train, 2, folder / "coco");
  (void)writeAde20kScenes(*scenes(), Split::Train, 2, folder / "ade");
  const auto expectChange = [](const Dataset& set, const std::filesystem::path& image) {
    const std::vector<std::int64_t> both{0, 1};
    const std::string before = set.fingerprint(Split::Train, both);
    EXPECT_NE(before, "");
    EXPECT_EQ(set.fingerprint(Split::Train, both), before);
    putImage(image, pngOf(1, 2, 3, 5, 4));
    EXPECT_NE(set.fingerprint(Split::Train, both), before) << image;
  };
  expectChange(*openAs(CocoSource(), folder / "coco"), folder / "coco/train/000001.png");
  expectChange(*openAs(Ade20kSource(), folder / "ade"), folder / "ade/images/training/000001.png");
}

#ifdef VITRINE_HAS_CODECS

TEST(Coco, ReadsTheFieldsThatWereWritten) {
  const TemporaryFolder folder;
  const auto set = scenes();
  const WrittenScenes written = writeCocoScenes(*set, Split::Train, 30, folder.path());
  (void)writeCocoScenes(*set, Split::Test, 3, folder.path());
  const auto again =
      openAs(CocoSource(), folder.path(), {{"masks", "instances"}, {"test", "test.json"}});
  ASSERT_EQ(again->size(Split::Train), 30);
  EXPECT_EQ(again->size(Split::Validation), 0);
  EXPECT_EQ(again->size(Split::Test), 3);
  EXPECT_EQ(again->info().classes, set->info().classes);
  EXPECT_GT(again->memoryBytes(), 1000);
  std::int64_t objects = 0, crowds = 0;
  for (std::int64_t id = 0; id < 30; ++id) {
    const Sample before = sampleOf(*set, Split::Train, id),
                 after = sampleOf(*again, Split::Train, id);
    for (const char* field : {"image", "mask", "instances", "boxes", "box_classes", "box_crowds"})
      expectEqual(before, after, field);
    objects += before.at("box_classes").shape()[0];
    for (const std::int64_t crowd : after.at("box_crowds").get<std::int64_t>()) crowds += crowd;
  }
  EXPECT_EQ(objects, written.objects);
  EXPECT_GT(crowds, 0) << "the flag of a crowd is part of the trip";
  // One mask for each object, and from those the same file again.
  const auto apart = openAs(CocoSource(), folder.path());
  const Sample sample = sampleOf(*apart, Split::Train, 0);
  const auto masks = sample.at("masks").get<std::uint8_t>();
  const Sample before = sampleOf(*set, Split::Train, 0);
  const auto instances = before.at("instances").get<std::uint8_t>();
  for (std::size_t i = 0; i < masks.size(); ++i)
    ASSERT_EQ(masks[i], instances[i % 1024] == i / 1024 + 1 ? 1 : 0);
  (void)writeCocoScenes(*apart, Split::Train, 30, folder / "again");
  EXPECT_EQ(getFile(folder / "again/train.json"), getFile(folder / "train.json"));
}

TEST(Coco, FindsImagesAsTheOfficialFoldersHoldThem) {
  const TemporaryFolder folder;
  (void)writeCocoScenes(*scenes(), Split::Train, 2, folder.path());
  std::filesystem::create_directory(folder / "annotations");
  std::filesystem::rename(folder / "train.json", folder / "annotations/instances_val2017.json");
  std::filesystem::rename(folder / "train", folder / "val2017");
  const auto set = openAs(CocoSource(), folder.path(),
                          {{"train", nullptr}, {"test", "annotations/instances_val2017.json"}});
  EXPECT_EQ(set->size(Split::Train), 0);
  (void)sampleOf(*set, Split::Test, 1);
}

TEST(Coco, MoreCategoriesThanAMaskOfBytesHoldsAreRefusedForInstances) {
  const TemporaryFolder folder;
  (void)writeCocoScenes(*scenes(), Split::Train, 1, folder.path());
  Json annotations = readJson(readTextFile(folder / "train.json", 1 << 20));
  for (std::int64_t id = 1000; annotations.at("categories").size() < 254; ++id)
    annotations["categories"].push_back({{"id", id}, {"name", std::to_string(id)}});
  const auto open = [&] {
    std::ofstream(folder / "train.json") << annotations;
    return openAs(CocoSource(), folder.path(), {{"masks", "instances"}});
  };
  EXPECT_EQ(open()->info().classes.size(), 254u);
  annotations["categories"].push_back({{"id", 5000}, {"name", "one too many"}});
  EXPECT_THAT([&] { (void)open(); }, Fails<FileError>(255, 254));
  EXPECT_EQ(openAs(CocoSource(), folder.path())->info().classes.size(), 255u);
}

TEST(Coco, AnImageThatIsNotThereOrNotWhatItWasIsNamed) {
  const TemporaryFolder folder;
  (void)writeCocoScenes(*scenes(), Split::Train, 2, folder.path());
  const auto set = openAs(CocoSource(), folder.path());
  putImage(folder / "train/000001.png", pngOf(1, 2, 3, 5, 4));
  EXPECT_THAT([&] { (void)sampleOf(*set, Split::Train, 1); }, Fails<FileError>("4 x 5", "32 x 32"));
  std::filesystem::remove(folder / "train/000001.png");
  const auto refusal = [&] {
    return test::refusal<FileError>([&] { (void)openAs(CocoSource(), folder.path()); });
  };
  EXPECT_THAT(refusal(), Names("000001.png"));
  const TemporaryFolder other;
  putImage(other / "x.png", pngOf(1, 2, 3));
  std::filesystem::create_symlink(other / "x.png", folder / "train/000001.png");
  EXPECT_THAT(refusal(), Names("000001.png"));
}

TEST(Ade20k, ReadsTheFieldsThatWereWritten) {
  const TemporaryFolder folder;
  const auto set = scenes();
  (void)writeAde20kScenes(*set, Split::Train, 10, folder.path());
  (void)writeAde20kScenes(*set, Split::Test, 4, folder.path());
  putImage(folder / "images/training/._000000.jpg", "what macOS knows of the image");
  const auto again = openAs(Ade20kSource(), folder.path());
  ASSERT_EQ(again->size(Split::Train), 10);
  EXPECT_EQ(again->size(Split::Test), 4);
  EXPECT_EQ(again->info().classes, set->info().classes);
  for (std::int64_t id = 0; id < 10; ++id) {
    const Sample before = sampleOf(*set, Split::Train, id),
                 after = sampleOf(*again, Split::Train, id);
    expectEqual(before, after, "image");
    expectEqual(before, after, "mask");
  }
  std::filesystem::remove(folder / "classes.txt");
  EXPECT_EQ(openAs(Ade20kSource(), folder.path())->info().classes.size(), 150u);
  const auto few = openAs(Ade20kSource(), folder.path(), {{"classes", 1}});
  EXPECT_THAT(
      [&] {
        for (std::int64_t id = 0; id < 10; ++id) (void)sampleOf(*few, Split::Train, id);
      },
      Fails<FileError>("classes.txt"));
}

TEST(Ade20k, AMaskThatIsMissingColouredOrOfAnotherSizeIsNamed) {
  const TemporaryFolder folder;
  (void)writeAde20kScenes(*scenes(), Split::Train, 2, folder.path());
  const auto set = openAs(Ade20kSource(), folder.path());
  const std::filesystem::path mask = folder / "annotations/training/000000.png";
  putImage(mask, pngOf(1, 2, 3, 32, 32));
  const auto refusal = [&] {
    return test::refusal<FileError>([&] { (void)sampleOf(*set, Split::Train, 0); });
  };
  EXPECT_THAT(refusal(), Names("000000.png"));
  const std::vector<std::byte> small = encodePng(std::vector<std::uint8_t>(12), 3, 4, 1);
  putImage(mask, {reinterpret_cast<const char*>(small.data()), small.size()});
  EXPECT_THAT(refusal(), Names("3 x 4", "32 x 32"));
  putImage(mask, "");
  EXPECT_THAT(refusal(), Names("000000.png"));
  std::filesystem::remove(mask);
  EXPECT_THAT([&] { (void)openAs(Ade20kSource(), folder.path()); }, Fails<FileError>("000000.png"));
  const TemporaryFolder empty;
  EXPECT_THAT(test::refusal<FileError>([&] { (void)openAs(Ade20kSource(), empty.path()); }),
              Names("images/training"));
}

#endif

}  // namespace
}  // namespace vitrine::image_folder
