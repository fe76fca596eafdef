#include "plugins/datasets/image_folder/image_folder.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine::image_folder {

namespace {

enum State : std::uint8_t { kEmpty, kBusy, kReady };

}  // namespace

ImageFolder::ImageFolder(const std::filesystem::path& folder, const FolderOptions& options,
                         DatasetInfo info)
    : folder_(folder),
      options_(options),
      info_(std::move(info)),
      listing_(listImages(folder, options.listing)) {
  keepUsable(folder_, options_.check, listing_);
  for (const auto& [ending, files] : listing_.otherFiles) {
    log::warning(folder_.string() + ": " + formatCount(files) + " files ending in '" + ending +
                 "' are passed over; PNG, JPEG and WebP are read");
  }
  info_.channels = options_.channels;
  info_.height = info_.width = 0;
  info_.classes = listing_.classes;
  info_.fields = labelledImageFields(info_.channels, -1, -1);
  for (std::size_t split = 0; split < memory_.size(); ++split) keep(split);
}

/// Makes room for the decoded images of a split where all of them fit.
void ImageFolder::keep(std::size_t split) {
  const std::vector<ListedImage>& images = listing_.images[split];
  std::uint64_t bytes = 0;
  for (const ListedImage& image : images)
    bytes += image.pixels * static_cast<std::uint64_t>(info_.channels);
  if (images.empty() || bytes > options_.cacheBytes) return;
  Memory& memory = memory_[split];
  memory.bytes = bytes;
  // Not set to zero: pages are taken from the system as images come.
  memory.pixels = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  memory.images = std::make_unique<Memory::Image[]>(images.size());
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    memory.images[i].at = at;
    at += images[i].pixels * static_cast<std::uint64_t>(info_.channels);
  }
}

std::int64_t ImageFolder::size(Split split) const {
  return static_cast<std::int64_t>(listing_.images[static_cast<std::size_t>(split)].size());
}

double ImageFolder::memoryBytes() const {
  double bytes = 0;
  for (std::size_t split = 0; split < memory_.size(); ++split) {
    const auto& images = listing_.images[split];
    for (const ListedImage& image : images) {
      const std::size_t onHeap =
          image.path.capacity() > std::string().capacity() ? image.path.capacity() + 1 : 0;
      bytes += static_cast<double>(sizeof(image) + onHeap);
    }
    if (memory_[split].images) {
      bytes += static_cast<double>(memory_[split].bytes + images.size() * sizeof(Memory::Image));
    }
  }
  return bytes;
}

void ImageFolder::decode(const ListedImage& image, SampleValue& out) const {
  const std::filesystem::path file = folder_ / image.path;
  try {
    const std::string content = readTextFile(file, kLargestFile);
    decodeImage(std::as_bytes(std::span(content)), file.string(), info_.channels, out);
  } catch (const FileError& problem) {
    throw FileError(std::string(problem.what()) +
                    "; it was listed when the data set was opened: leave the folder alone while a "
                    "run reads it, or set data.verify = \"decode\"");
  }
}

void ImageFolder::read(Split split, std::int64_t id, Sample& sample) const {
  requireSample(split, id);
  const auto at = static_cast<std::size_t>(id);
  const ListedImage& listed = listing_.images[static_cast<std::size_t>(split)][at];
  sample["label"].resize<std::int64_t>({})[0] = listed.label;
  SampleValue& image = sample["image"];
  const Memory& memory = memory_[static_cast<std::size_t>(split)];
  if (!memory.images) {
    decode(listed, image);
    return;
  }
  Memory::Image& kept = memory.images[at];
  std::uint8_t* const place = memory.pixels.get() + kept.at;
  if (kept.state.load(std::memory_order_acquire) == kReady) {
    const std::span<std::uint8_t> out =
        image.resize<std::uint8_t>({info_.channels, kept.height, kept.width});
    std::memcpy(out.data(), place, out.size());
    return;
  }
  decode(listed, image);
  // A file that changed since the folder was opened may not fit into its place.
  const std::span<const std::byte> pixels = image.bytes();
  if (pixels.size() != listed.pixels * static_cast<std::uint64_t>(info_.channels)) return;
  // The first thread keeps it; another thread at the same image has its own copy already.
  std::uint8_t empty = kEmpty;
  if (kept.state.compare_exchange_strong(empty, kBusy, std::memory_order_acquire)) {
    kept.height = static_cast<std::uint32_t>(image.shape()[1]);
    kept.width = static_cast<std::uint32_t>(image.shape()[2]);
    std::memcpy(place, pixels.data(), pixels.size());
    kept.state.store(kReady, std::memory_order_release);
  }
}

ItemCard ImageFolderSource::card() const {
  ItemCard card;
  card.kind = ItemKind::Dataset;
  card.id = "image_folder";
  card.title = "Folder of images";
  card.doc = "PNG, JPEG and WebP files, one sub-folder per class";
  card.offers = {"image", "label"};
  Field folder = textField("folder", nullptr,
                           "folder with one sub-folder per class, or with train, validation and "
                           "test that have them")
                     .titled("Folder");
  folder.required = true;
  Field color =
      choiceField("color", "rgb", {"rgb", "grey"}, "channels of an image").titled("Colour");
  color.withChoiceDocs({"3 channels", "1 channel"});
  Field verify = choiceField("verify", "decode", {"decode", "structure"},
                             "how files are looked at when the folder is first opened")
                     .titled("File check");
  verify.withChoiceDocs({"every file is decoded once", "every file is walked, none decoded"});
  Field links =
      choiceField("links", "inside", {"inside", "anywhere"}, "where symbolic links may lead")
          .titled("Symbolic links");
  links.withChoiceDocs({"into the folder itself", "anywhere on this machine"});
  card.schema.fields = {
      folder.runOnly(),
      sizeField("image_size", 224,
                "what images are cut and resized to, unless data.pipeline says it")
          .titled("Image size")
          .range(1, 4096)
          .withUnit("px")
          .runOnly(),
      realField("crop", 1.0,
                "share of the sides that the centred cut keeps, unless data.pipeline says it")
          .titled("Centre crop")
          .moreThan(0)
          .range(0, 1)
          .runOnly(),
      color.runOnly(),
      realField("test_fraction", 0.1,
                "share of the images that is held out for tests, by the hash of their path; not "
                "used where there are split folders")
          .titled("Test fraction")
          .atLeast(0)
          .lessThan(1)
          .runOnly(),
      realField("validation_fraction", 0.0, "the same for validation")
          .titled("Validation fraction")
          .atLeast(0)
          .lessThan(1)
          .runOnly(),
      verify.runOnly(),
      realField("bad_limit", 0.05,
                "share of unusable files above which the run fails; below it they are left out")
          .titled("Unusable file limit")
          .range(0, 1)
          .runOnly(),
      links.runOnly(),
      integerField("cache_megabytes", 1024,
                   "memory for the decoded images of a split, at their own size, when all of them "
                   "fit; 0: none")
          .titled("Image cache")
          .range(0, 1 << 20)
          .withUnit("MB")
          .runOnly(),
      listField("mean", FieldType::Real, Json::array(),
                "per channel, for normalising; empty: that of ImageNet")
          .titled("Channel means")
          .range(0, 1)
          .runOnly(),
      listField("deviation", FieldType::Real, Json::array(),
                "per channel, for normalising; empty: that of ImageNet")
          .titled("Channel deviations")
          .range(1e-6, 1)
          .runOnly(),
  };
  return card;
}

std::shared_ptr<const Dataset> ImageFolderSource::open(const Config& config) const {
  FolderOptions options;
  options.listing.links = config.text("links") == "anywhere" ? Links::Anywhere : Links::Inside;
  options.listing.testFraction = config.real("test_fraction");
  options.listing.validationFraction = config.real("validation_fraction");
  if (options.listing.testFraction + options.listing.validationFraction >= 1) {
    throw ConfigError("data.test_fraction and data.validation_fraction leave nothing for training");
  }
  options.check.verify = config.text("verify") == "structure" ? Verify::Structure : Verify::Decode;
  options.check.badLimit = config.real("bad_limit");
  options.check.cacheFolder = userCacheFolder();
  options.channels = config.text("color") == "grey" ? 1 : 3;
  options.cacheBytes = static_cast<std::uint64_t>(config.integer("cache_megabytes")) * 1'000'000;
  DatasetInfo info;
  const bool isGrey = options.channels == 1;
  info.mean = config.reals("mean");
  info.deviation = config.reals("deviation");
  // ImageNet's; for grey images the mean over the channels.
  if (info.mean.empty()) info.mean = isGrey ? std::vector{0.449} : std::vector{0.485, 0.456, 0.406};
  if (info.deviation.empty())
    info.deviation = isGrey ? std::vector{0.226} : std::vector{0.229, 0.224, 0.225};
  return std::make_shared<ImageFolder>(config.text("folder"), options, std::move(info));
}

}  // namespace vitrine::image_folder
