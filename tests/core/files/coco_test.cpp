#include "core/files/coco.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/core/files/made_files.h"

namespace vitrine {
namespace {

using test::Names;
using ::testing::ElementsAre;

/// One image of 4 x 3 pixels (width x height) with one object.
Json small() {
  return {{"images", {{{"id", 7}, {"file_name", "a/1.png"}, {"height", 3}, {"width", 4}}}},
          {"categories", {{{"id", 9}, {"name", "dog"}}, {{"id", 3}, {"name", "cat"}}}},
          {"annotations",
           {{{"id", 1},
             {"image_id", 7},
             {"category_id", 9},
             {"bbox", {1, 0, 2, 3}},
             {"iscrowd", 1},
             {"segmentation", {{"size", {3, 4}}, {"counts", {3, 6, 3}}}}}}}};
}

CocoFile read(const Json& json) {
  const TemporaryFolder folder;
  putFile(folder / "a.json", json.dump());
  return readCoco(folder / "a.json");
}

std::string refusal(const Json& json) {
  return test::refusal<FileError>([&] { (void)read(json); });
}

std::vector<int> painted(const CocoObject& object, std::int64_t height, std::int64_t width) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(height * width));
  paintObject(object, height, width, 1, mask);
  return {mask.begin(), mask.end()};
}

TEST(Coco, ImagesObjectsAndClassesAreRead) {
  const CocoFile content = read(small());
  EXPECT_THAT(content.classes, ElementsAre("cat", "dog")) << "by ascending id";
  ASSERT_EQ(content.images.size(), 1u);
  EXPECT_EQ(content.images[0].path, "a/1.png");
  ASSERT_EQ(content.images[0].objects.size(), 1u);
  const CocoObject& object = content.images[0].objects[0];
  EXPECT_EQ(object.category, 1);
  EXPECT_TRUE(object.isCrowd);
  EXPECT_THAT(object.box, ElementsAre(1, 0, 3, 3));
  EXPECT_THAT(painted(object, 3, 4), ElementsAre(0, 1, 1, 0,  //
                                                 0, 1, 1, 0,  //
                                                 0, 1, 1, 0));
}

TEST(Coco, PackedRunsArePlainOnes) {
  // 3, 6, 3; then 40, 2, 70, 5, 3 of an image of 12 x 10: from the fourth on differences to the one
  // two before.
  Json json = small();
  json["annotations"][0]["segmentation"]["counts"] = "363";
  EXPECT_THAT(read(json).images[0].objects[0].runs, ElementsAre(3, 6, 3));
  json["images"][0]["height"] = 12;
  json["images"][0]["width"] = 10;
  json["annotations"][0]["segmentation"]["size"] = {12, 10};
  // 40 = 8 + 32 * 1: "X1"; 2: "2"; 70 = 6 + 32 * 2: "V2"; 5 - 2 = 3: "3"; 3 - 70 = -67.
  json["annotations"][0]["segmentation"]["counts"] = "X12V23mM";
  EXPECT_THAT(read(json).images[0].objects[0].runs, ElementsAre(40, 2, 70, 5, 3));
}

TEST(Coco, PolygonsHoldThePixelsWhoseCentreTheyHold) {
  CocoObject object{.polygons = {{1, 1, 4, 1, 4, 3, 1, 3}}};
  EXPECT_THAT(painted(object, 4, 5), ElementsAre(0, 0, 0, 0, 0,  //
                                                 0, 1, 1, 1, 0,  //
                                                 0, 1, 1, 1, 0,  //
                                                 0, 0, 0, 0, 0));
  object.polygons = {{-10, -10, 100, -10, 100, 100, -10, 100}};
  EXPECT_THAT(painted(object, 2, 2), ElementsAre(1, 1, 1, 1)) << "cut to the image";
  object.polygons = {{-9, 0, -5, 0, -5, 2}};
  EXPECT_THAT(painted(object, 2, 2), ElementsAre(0, 0, 0, 0));
}

TEST(Coco, WhatIsWrittenIsReadAgain) {
  const std::vector<std::uint8_t> mask = {1, 0, 0, 1,  //
                                          1, 0, 1, 0,  //
                                          0, 0, 1, 1};
  CocoFile content{{"x", "y"}, {{"1.png", 3, 4, {}}}};
  CocoObject object{1, {0.5F, 0, 4, 3}, false, runsOf(mask, 3, 4), {}};
  EXPECT_THAT(object.runs, ElementsAre(0, 2, 5, 3, 1, 1));
  content.images[0].objects = {object};
  const CocoFile again = read(Json::parse(cocoText(content)));
  EXPECT_EQ(again.classes, content.classes);
  EXPECT_EQ(again.images[0].objects[0].runs, object.runs);
  EXPECT_EQ(again.images[0].objects[0].box, object.box);
  EXPECT_EQ(again.images[0].objects[0].category, 1);
  EXPECT_EQ(painted(again.images[0].objects[0], 3, 4), std::vector<int>(mask.begin(), mask.end()));
}

TEST(Coco, WhatDoesNotFitIsRefusedWithItsPlace) {
  const auto changed = [](const std::string& pointer, const Json& value) {
    Json json = small();
    json[Json::json_pointer(pointer)] = value;
    return refusal(json);
  };
  EXPECT_THAT(changed("/annotations", 3), Names("annotations"));
  EXPECT_THAT(changed("/images", Json::array()), Names("images"));
  EXPECT_THAT(changed("/categories", Json::array()), Names("categories"));
  EXPECT_THAT(changed("/images/0/file_name", "../1.png"), Names("images[0]"));
  EXPECT_THAT(changed("/images/0/height", 40'000), Names("images[0]", 40'000));
  EXPECT_THAT(changed("/images/0/height", -1), Names("images[0]", -1));
  EXPECT_THAT(changed("/annotations/0/image_id", 8), Names("annotations[0]"));
  EXPECT_THAT(changed("/annotations/0/category_id", 1), Names("annotations[0]"));
  EXPECT_THAT(changed("/annotations/0/bbox", {1, 2, -3, 4}), Names("annotations[0]", "bbox"));
  EXPECT_THAT(changed("/annotations/0/iscrowd", 2), Names("annotations[0]", "iscrowd"));
  const std::string segmentation = "/annotations/0/segmentation", counts = segmentation + "/counts";
  EXPECT_THAT(changed(counts, {3, 6, 4}), Names("annotations[0]", 13, 12));
  EXPECT_THAT(changed(segmentation + "/size", {4, 3}), Names("annotations[0]", "height"));
  for (const Json& runs : {Json{3, -6, 4}, Json("o"), Json("oooooooooooooo0")})
    EXPECT_THAT(changed(counts, runs), Names("annotations[0]")) << runs;
  EXPECT_THAT(changed(segmentation, Json::array({{1, 2, 3, 4}})), Names("annotations[0]", 4));
  EXPECT_THAT(changed(segmentation, "x"), Names("annotations[0]", "segmentation"));
}

TEST(Coco, CutAndHostileFilesAreOneSentence) {
  const TemporaryFolder folder;
  const std::string whole = small().dump();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    putFile(folder / "a.json", whole.substr(0, size));
    EXPECT_THAT([&] { return readCoco(folder / "a.json"); }, test::Fails<FileError>("a.json"));
  }
  putFile(folder / "a.json", std::string(100'000, '['));
  EXPECT_THAT([&] { return readCoco(folder / "a.json"); }, test::Fails<FileError>("a.json"));
  putFile(folder / "a.json", whole);
  CocoLimits limits{.bytes = 10};
  EXPECT_THROW((void)readCoco(folder / "a.json", limits), FileError);
  limits = {};
  limits.objects = 0;
  EXPECT_THAT([&] { return readCoco(folder / "a.json", limits); },
              test::Fails<FileError>("annotations[0]", 0));
}

}  // namespace
}  // namespace vitrine
