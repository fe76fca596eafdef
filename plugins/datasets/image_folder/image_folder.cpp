#include "plugins/datasets/image_folder/image_folder.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/data/image_codec.h"

namespace vitrine::image_folder {

namespace {

enum State : std::uint8_t { kEmpty, kBusy, kReady };

}  // namespace

ImageFolder::ImageFolder(const std::filesystem::path& folder, const FolderOptions& options,
                         DatasetInfo info)
    : ImageFolder(folder, options, std::move(info), listImages(folder, options.listing)) {}

ImageFolder::ImageFolder(const std::filesystem::path& folder, const FolderOptions& options,
                         DatasetInfo info, Listing listing)
    : folder_(folder), options_(options), info_(std::move(info)), listing_(std::move(listing)) {
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

std::string ImageFolder::fingerprint(Split split, std::span<const std::int64_t> ids) const {
  std::vector<std::filesystem::path> files;
  for (const std::int64_t id : ids) {
    requireSample(split, id);
    files.push_back(
        folder_ /
        listing_.images[static_cast<std::size_t>(split)][static_cast<std::size_t>(id)].path);
  }
  return fingerprintOf(files);
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
    if (memory_[split].images)
      bytes += static_cast<double>(memory_[split].bytes + images.size() * sizeof(Memory::Image));
  }
  return bytes;
}

void ImageFolder::decode(const ListedImage& image, SampleValue& out) const {
  try {
    decodeImageFile(folder_ / image.path, info_.channels, out);
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

}  // namespace vitrine::image_folder
