#include "plugins/datasets/image_folder/scene_sets.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/item_card.h"
#include "core/data/image_codec.h"
#include "core/data/scene_files.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/sample_lists.h"
#include "plugins/datasets/image_folder/checked_images.h"
#include "plugins/datasets/image_folder/listing.h"

namespace vitrine::image_folder {

namespace {

namespace fs = std::filesystem;

constexpr std::array kSplits = {Split::Train, Split::Validation, Split::Test};

/// \throws FileError  there is no such file, or a link leads out of `folder`
void requireInside(const fs::path& folder, const fs::path& file) {
  std::error_code ignored;  // a file that cannot be read is not there
  if (!fs::is_regular_file(file, ignored))
    throw FileError(file.string() + " is not there, but is listed");
  if (isOutside(folder, file))
    throw FileError(file.string() + " leads out of " + folder.string() +
                    "; copy what it leads to into the folder");
}

/// An index mask: its bytes are classes, so a palette or another depth would change them.
void decodeMask(const fs::path& file, SampleValue& out) {
  const std::string content = readTextFile(file, kLargestImageFile);
  constexpr std::size_t kDepth = 24, kColorType = 25;  // in the header of a PNG
  const bool isGrey = content.size() > kColorType && content.starts_with("\x89PNG") &&
                      content[kDepth] == 8 && content[kColorType] == 0;
  if (!isGrey)
    throw FileError(file.string() + " is not a grey PNG of 8 bits, whose values are classes");
  decodeImage(std::as_bytes(std::span(content)), file.string(), 1, out);
}

Field imageSizeField() {
  return sizeField("image_size", nullptr,
                   "size of images, masks and boxes after cut and resize, unless data.pipeline "
                   "sets it; none: unchanged")
      .titled("Image size")
      .range(1, 4096)
      .withUnit("px")
      .orNone()
      .runOnly();
}

DatasetInfo colorInfo() {
  return {.channels = 3, .mean = {0.485, 0.456, 0.406}, .deviation = {0.229, 0.224, 0.225}};
}

}  // namespace

CocoSet::CocoSet(const fs::path& folder, const std::array<std::string, 3>& annotations,
                 CocoMasks masks, DatasetInfo info)
    : masks_(masks), info_(std::move(info)) {
  for (const Split split : kSplits) {
    const std::string& name = annotations[static_cast<std::size_t>(split)];
    if (name.empty()) continue;
    const fs::path file = folder / name;
    Part& part = parts_[static_cast<std::size_t>(split)];
    part.content = readCoco(file);
    std::string stem = file.stem().string();
    if (stem.starts_with("instances_")) stem.erase(0, 10);
    part.folder = file.parent_path() / stem;
    std::error_code ignored;  // a folder that cannot be read is not there
    if (!fs::exists(part.folder, ignored)) part.folder = folder / stem;
    for (const CocoImage& image : part.content.images)
      requireInside(folder, part.folder / image.path);
    if (info_.classes.empty()) info_.classes = part.content.classes;
    if (info_.classes != part.content.classes)
      throw FileError(file.string() + " has other categories than the split before it");
    if (masks == CocoMasks::Instances && info_.classes.size() > 254) {
      throw FileError(file.string() + " has " + std::to_string(info_.classes.size()) +
                      " categories, more than the 254 that a mask of bytes can hold; set "
                      "data.masks = \"objects\"");
    }
  }
  info_.fields = {{"image", FieldKind::Image, at::kByte, {info_.channels, -1, -1}, "pixels"}};
  if (masks == CocoMasks::Objects)
    info_.fields.push_back(
        {"masks", FieldKind::Mask, at::kByte, {-1, -1, -1}, "1 inside of each object"});
  if (masks == CocoMasks::Instances) {
    info_.fields.push_back({"mask",
                            FieldKind::Mask,
                            at::kByte,
                            {-1, -1},
                            "class + 1 of each pixel; 0 where there is no object"});
    info_.fields.push_back({"instances",
                            FieldKind::Mask,
                            at::kByte,
                            {-1, -1},
                            "number + 1 of the object listed last, 0 for none"});
  }
  info_.fields.push_back({"boxes", FieldKind::Boxes, at::kFloat, {-1, 4}, "of each object"});
  info_.fields.push_back({"box_classes", FieldKind::Number, at::kLong, {-1}, "of each object"});
  info_.fields.push_back(
      {"box_crowds", FieldKind::Number, at::kLong, {-1}, "1 where it is a crowd"});
}

void CocoSet::read(Split split, std::int64_t id, Sample& sample) const {
  requireSample(split, id);
  const Part& part = parts_[static_cast<std::size_t>(split)];
  const CocoImage& image = part.content.images[static_cast<std::size_t>(id)];
  const fs::path file = part.folder / image.path;
  SampleValue& pixels = sample["image"];
  decodeImageFile(file, info_.channels, pixels);
  if (pixels.shape()[1] != image.height || pixels.shape()[2] != image.width) {
    throw FileError(file.string() + " has " + formatSides(pixels.shape()[1], pixels.shape()[2]) +
                    " pixels, its annotations say " + formatSides(image.height, image.width));
  }
  readMasks(image, sample);
  const std::int64_t count = std::ssize(image.objects);
  const auto boxes = sample["boxes"].resize<float>({count, 4});
  const auto classes = sample["box_classes"].resize<std::int64_t>({count});
  const auto crowds = sample["box_crowds"].resize<std::int64_t>({count});
  for (std::size_t i = 0; i < image.objects.size(); ++i) {
    const CocoObject& object = image.objects[i];
    std::copy(object.box.begin(), object.box.end(),
              boxes.begin() + static_cast<std::ptrdiff_t>(4 * i));
    classes[i] = object.category;
    crowds[i] = object.isCrowd ? 1 : 0;
  }
}

std::string CocoSet::fingerprint(Split split, std::span<const std::int64_t> ids) const {
  const Part& part = parts_[static_cast<std::size_t>(split)];
  std::vector<fs::path> files;
  for (const std::int64_t id : ids) {
    requireSample(split, id);
    files.push_back(part.folder / part.content.images[static_cast<std::size_t>(id)].path);
  }
  return fingerprintOf(files);
}

void CocoSet::readMasks(const CocoImage& image, Sample& sample) const {
  const auto pixels = static_cast<std::size_t>(image.height * image.width);
  if (masks_ == CocoMasks::Objects) {
    const auto masks = sample["masks"].resize<std::uint8_t>(
        {std::ssize(image.objects), image.height, image.width});
    std::fill(masks.begin(), masks.end(), std::uint8_t{0});
    for (std::size_t i = 0; i < image.objects.size(); ++i)
      paintObject(image.objects[i], image.height, image.width, 1,
                  masks.subspan(i * pixels, pixels));
    return;
  }
  if (masks_ == CocoMasks::None) return;
  if (image.objects.size() > 255)
    throw FileError(image.path + " has " + std::to_string(image.objects.size()) +
                    " objects, more than 255 can be numbered; set data.masks = \"objects\"");
  const auto mask = sample["mask"].resize<std::uint8_t>({image.height, image.width});
  const auto instances = sample["instances"].resize<std::uint8_t>({image.height, image.width});
  std::fill(instances.begin(), instances.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < image.objects.size(); ++i)
    paintObject(image.objects[i], image.height, image.width, static_cast<std::uint8_t>(i + 1),
                instances);
  for (std::size_t i = 0; i < pixels; ++i)
    mask[i] = instances[i] == 0
                  ? std::uint8_t{0}
                  : static_cast<std::uint8_t>(image.objects[instances[i] - 1U].category + 1);
}

double CocoSet::memoryBytes() const {
  double bytes = 0;
  for (const Part& part : parts_) {
    for (const CocoImage& image : part.content.images) {
      bytes += static_cast<double>(sizeof(image) + image.path.size());
      for (const CocoObject& object : image.objects) {
        bytes += static_cast<double>(sizeof(object) + 4 * object.runs.size());
        for (const auto& polygon : object.polygons)
          bytes += static_cast<double>(sizeof(polygon) + 4 * polygon.size());
      }
    }
  }
  return bytes;
}

Ade20kSet::Ade20kSet(const fs::path& folder, std::int64_t classes, DatasetInfo info)
    : folder_(folder), info_(std::move(info)) {
  std::int64_t images = 0;
  for (const Split split : kSplits) {
    const fs::path below = folder / "images" / ade20kFolder(split);
    std::error_code problem;
    std::vector<std::string>& names = names_[static_cast<std::size_t>(split)];
    for (const auto& entry : fs::directory_iterator(below, problem)) {
      const std::string name = entry.path().filename().string();
      if (isImageName(entry.path()) && !name.starts_with('.')) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      requireInside(folder, below / name);
      requireInside(folder, folder / "annotations" / ade20kFolder(split) /
                                fs::path(name).replace_extension(".png"));
    }
    images += std::ssize(names);
  }
  if (images == 0) {
    throw FileError(folder.string() +
                    " has no images in images/training, images/validation or images/test; set "
                    "data.folder to the folder that has them");
  }
  std::error_code ignored;  // a file that cannot be read is not there
  if (fs::exists(folder / "classes.txt", ignored)) {
    const std::string text = readCorpus(folder / "classes.txt");
    for (const TextRange& line : divideText(text, Documents::Line))
      info_.classes.push_back(text.substr(line.begin, line.end - line.begin));
  }
  if (info_.classes.empty()) {
    for (std::int64_t c = 1; c <= classes; ++c) info_.classes.push_back(std::to_string(c));
  }
  info_.fields = {{"image", FieldKind::Image, at::kByte, {info_.channels, -1, -1}, "pixels"},
                  {"mask",
                   FieldKind::Mask,
                   at::kByte,
                   {-1, -1},
                   "class + 1 of each pixel; 0 is to be ignored"}};
}

void Ade20kSet::read(Split split, std::int64_t id, Sample& sample) const {
  requireSample(split, id);
  const std::string& name = names_[static_cast<std::size_t>(split)][static_cast<std::size_t>(id)];
  SampleValue& image = sample["image"];
  SampleValue mask;
  decodeImageFile(folder_ / "images" / ade20kFolder(split) / name, info_.channels, image);
  const fs::path file =
      folder_ / "annotations" / ade20kFolder(split) / fs::path(name).replace_extension(".png");
  decodeMask(file, mask);
  const std::int64_t height = mask.shape()[1], width = mask.shape()[2];
  if (image.shape()[1] != height || image.shape()[2] != width) {
    throw FileError(file.string() + " has " + formatSides(height, width) +
                    " pixels, its image has " + formatSides(image.shape()[1], image.shape()[2]));
  }
  const auto values = mask.get<std::uint8_t>();
  const auto most = *std::max_element(values.begin(), values.end());
  if (most > std::ssize(info_.classes)) {
    throw FileError(file.string() + " holds the class " + std::to_string(most) +
                    ", but there are " + std::to_string(info_.classes.size()) +
                    "; name them in classes.txt or set data.classes");
  }
  const auto out = sample["mask"].resize<std::uint8_t>({height, width});
  std::copy(values.begin(), values.end(), out.begin());
}

std::string Ade20kSet::fingerprint(Split split, std::span<const std::int64_t> ids) const {
  const std::vector<std::string>& names = names_[static_cast<std::size_t>(split)];
  std::vector<fs::path> files;
  for (const std::int64_t id : ids) {
    requireSample(split, id);
    files.push_back(folder_ / "images" / ade20kFolder(split) / names[static_cast<std::size_t>(id)]);
  }
  return fingerprintOf(files);
}

ItemCard CocoSource::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "coco", "COCO",
                           "Images with boxes, masks and classes of objects in COCO's JSON");
  card.offers = {"image", "masks", "mask", "instances", "boxes", "box_classes", "box_crowds"};
  Field masks = choiceField("masks", "objects", {"objects", "instances", "none"},
                            "form of the masks of objects")
                    .titled("Masks");
  masks.withChoiceDocs(
      {"`masks`, one for each object", "`instances` and `mask`, one number a pixel", "not at all"});
  const auto annotations = [](const char* name, const Json& value, const char* title) {
    return textField(name, value,
                     "annotation file below `folder`; its images lie in the folder of its name "
                     "without instances_ and .json")
        .titled(title)
        .orNone()
        .runOnly();
  };
  card.schema.fields = {folderField("that all files lie below"),
                        annotations("train", "train.json", "Training annotations"),
                        annotations("validation", nullptr, "Validation annotations"),
                        annotations("test", nullptr, "Test annotations"),
                        masks.runOnly(),
                        imageSizeField()};
  return card;
}

std::shared_ptr<const Dataset> CocoSource::open(const Config& config) const {
  const std::string masks = config.text("masks");
  return std::make_shared<CocoSet>(
      config.text("folder"),
      std::array{config.text("train"), config.text("validation"), config.text("test")},
      masks == "objects"     ? CocoMasks::Objects
      : masks == "instances" ? CocoMasks::Instances
                             : CocoMasks::None,
      colorInfo());
}

ItemCard Ade20kSource::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "ade20k", "ADE20K folders",
                           "Images with a class for each pixel, in folders images and annotations");
  card.offers = {"image", "mask"};
  card.schema.fields = {folderField("folder with images/training and annotations/training"),
                        integerField("classes", 150, "where there is no classes.txt")
                            .titled("Classes")
                            .range(1, 255)
                            .runOnly(),
                        imageSizeField()};
  return card;
}

std::shared_ptr<const Dataset> Ade20kSource::open(const Config& config) const {
  return std::make_shared<Ade20kSet>(config.text("folder"), config.integer("classes"), colorInfo());
}

}  // namespace vitrine::image_folder
