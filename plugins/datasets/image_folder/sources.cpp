// Keys of `[data]` for folders of images, with classes or with captions.
#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/datasets/image_folder/image_folder.h"
#include "plugins/datasets/image_folder/scene_sets.h"

namespace vitrine::image_folder {

namespace {

Field listsField(const char* doc) {
  return textField("lists", nullptr, doc).titled("Lists").orNone().runOnly();
}

/// What becomes of an image.
std::vector<Field> imageFields() {
  Field color =
      choiceField("color", "rgb", {"rgb", "grey"}, "channels of an image").titled("Colour");
  color.withChoiceDocs({"3 channels", "1 channel"});
  return runOnly(
      {sizeField("image_size", 224,
                 "size of images after cut and resize, unless data.pipeline sets it")
           .titled("Image size")
           .range(1, 4096)
           .withUnit("px"),
       realField("crop", 1.0,
                 "share of the sides that the centred cut keeps, unless data.pipeline sets it")
           .titled("Centre crop")
           .moreThan(0)
           .range(0, 1),
       color});
}

/// How files are checked and cached.
std::vector<Field> fileFields() {
  Field verify = choiceField("verify", "decode", {"decode", "structure"},
                             "check of files when the folder is first opened")
                     .titled("File check");
  verify.withChoiceDocs({"every file is decoded once", "every file is walked, none decoded"});
  Field links =
      choiceField("links", "inside", {"inside", "anywhere"}, "targets that symbolic links may have")
          .titled("Symbolic links");
  links.withChoiceDocs({"into the folder itself", "anywhere on this machine"});
  const auto perChannel = [](const char* name, const char* title, double least) {
    return listField(name, FieldType::Real, Json::array(),
                     "per channel, for normalising; empty: that of ImageNet")
        .titled(title)
        .range(least, 1);
  };
  return runOnly(
      {verify,
       realField("bad_limit", 0.05,
                 "share of unusable files above which the run fails; below it they are left out")
           .titled("Unusable file limit")
           .range(0, 1),
       links,
       integerField("cache_megabytes", 1024,
                    "memory for the decoded images of a split, at their own size, when all of "
                    "them fit; 0: none")
           .titled("Image cache")
           .range(0, 1 << 20)
           .withUnit("MB"),
       perChannel("mean", "Channel means", 0),
       perChannel("deviation", "Channel deviations", 1e-6)});
}

FolderOptions optionsFrom(const Config& config) {
  FolderOptions options;
  options.listing.links = config.text("links") == "anywhere" ? Links::Anywhere : Links::Inside;
  options.check.verify = config.text("verify") == "structure" ? Verify::Structure : Verify::Decode;
  options.check.badLimit = config.real("bad_limit");
  options.check.cacheFolder = userCacheFolder();
  options.channels = config.text("color") == "grey" ? 1 : 3;
  options.cacheBytes = static_cast<std::uint64_t>(config.integer("cache_megabytes")) * 1'000'000;
  return options;
}

/// ImageNet's mean and deviation where none are given; for grey images the mean over the channels.
DatasetInfo infoFrom(const Config& config) {
  DatasetInfo info;
  const bool isGrey = config.text("color") == "grey";
  info.mean = config.reals("mean");
  info.deviation = config.reals("deviation");
  if (info.mean.empty()) info.mean = isGrey ? std::vector{0.449} : std::vector{0.485, 0.456, 0.406};
  if (info.deviation.empty())
    info.deviation = isGrey ? std::vector{0.226} : std::vector{0.229, 0.224, 0.225};
  return info;
}

}  // namespace

ItemCard ImageFolderSource::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "image_folder", "Folder of images",
                           "PNG, JPEG and WebP files, one sub-folder per class");
  card.offers = {"image", "label"};
  std::vector<Field>& fields = card.schema.fields;
  fields = {
      folderField("folder with one sub-folder per class, or with train, validation and test "
                  "that have them")};
  for (Field& field : imageFields()) fields.push_back(std::move(field));
  fields.push_back(realField("test_fraction", 0.1,
                             "share of the images that is held out for tests, by the hash of their "
                             "path; not used where there are split folders or lists")
                       .titled("Test fraction")
                       .atLeast(0)
                       .lessThan(1)
                       .runOnly());
  fields.push_back(realField("validation_fraction", 0.0, "the same for validation")
                       .titled("Validation fraction")
                       .atLeast(0)
                       .lessThan(1)
                       .runOnly());
  fields.push_back(listsField(
      "folder with train.txt, validation.txt and test.txt, which list the images of the splits"));
  for (Field& field : fileFields()) fields.push_back(std::move(field));
  return card;
}

std::shared_ptr<const Dataset> ImageFolderSource::open(const Config& config) const {
  FolderOptions options = optionsFrom(config);
  options.listing.testFraction = config.real("test_fraction");
  options.listing.validationFraction = config.real("validation_fraction");
  if (options.listing.testFraction + options.listing.validationFraction >= 1)
    throw ConfigError("data.test_fraction and data.validation_fraction leave nothing for training");
  if (config.has("lists")) options.listing.lists = config.text("lists");
  return std::make_shared<ImageFolder>(config.text("folder"), options, infoFrom(config));
}

ItemCard ImageCaptionsSource::card() const {
  ItemCard card =
      itemCard(ItemKind::Dataset, "image_captions", "Images with captions",
               "PNG, JPEG and WebP files with one or several captions each, in JSON lines");
  card.offers = {"image", "captions"};
  std::vector<Field>& fields = card.schema.fields;
  fields = {folderField("folder that the paths of the images begin in"),
            listsField("folder with train.jsonl, validation.jsonl and test.jsonl; none: `folder`")};
  for (Field& field : imageFields()) fields.push_back(std::move(field));
  for (Field& field : fileFields()) fields.push_back(std::move(field));
  return card;
}

std::shared_ptr<const Dataset> ImageCaptionsSource::open(const Config& config) const {
  FolderOptions options = optionsFrom(config);
  options.listing.lists = config.has("lists") ? config.text("lists") : config.text("folder");
  return std::make_shared<ImageCaptions>(config.text("folder"), options, infoFrom(config));
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<ImageFolderSource>());
  registry.add(std::make_unique<ImageCaptionsSource>());
  registry.add(std::make_unique<CocoSource>());
  registry.add(std::make_unique<Ade20kSource>());
}

}  // namespace vitrine::image_folder
