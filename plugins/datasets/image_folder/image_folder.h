// Any folder of PNG, JPEG and WebP files as a data set: a sub-folder for each class.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/plugin/registry.h"
#include "plugins/datasets/image_folder/checked_images.h"

namespace vitrine::image_folder {

struct FolderOptions {
  ListingOptions listing;
  CheckOptions check;
  std::int64_t channels = 3;  ///< 1 grey, 3 RGB
  std::uint64_t cacheBytes =
      0;  ///< decoded images are kept in memory when all of a split fit into this
};

/// Images are decoded when they are asked for, at the size they have. Ids are positions in the
/// sorted list of usable images, so they stay while the folder does.
class ImageFolder final : public Dataset {
 public:
  /// \param info  mean and deviation; the rest is read
  /// \throws FileError  as listImages and keepUsable
  ImageFolder(const std::filesystem::path& folder, const FolderOptions& options, DatasetInfo info);
  /// The same of images that are listed already.
  ImageFolder(const std::filesystem::path& folder, const FolderOptions& options, DatasetInfo info,
              Listing listing);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override;
  /// \throws FileError  the file changed or went since the folder was opened: names it
  void read(Split split, std::int64_t id, Sample& sample) const override;
  [[nodiscard]] std::int64_t label(Split split, std::int64_t id) const override {
    return listing_.images[static_cast<std::size_t>(split)].at(static_cast<std::size_t>(id)).label;
  }
  /// Of the files, by size and time: none is read.
  [[nodiscard]] std::string fingerprint(Split split,
                                        std::span<const std::int64_t> ids) const override;
  /// The list of files, and the decoded images of the splits that are kept.
  [[nodiscard]] double memoryBytes() const override;
  [[nodiscard]] const Listing& listing() const noexcept { return listing_; }

 private:
  /// Decoded images of a split, one after another.
  struct Memory {
    struct Image {
      std::uint64_t at = 0;                 ///< where in `pixels`
      std::uint32_t height = 0, width = 0;  ///< upright; known when it is kept
      std::atomic<std::uint8_t> state{0};
    };
    std::uint64_t bytes = 0;
    std::unique_ptr<std::uint8_t[]> pixels;
    std::unique_ptr<Image[]> images;  ///< null: none of this split is kept
  };
  void keep(std::size_t split);
  void decode(const ListedImage& image, SampleValue& out) const;

  std::filesystem::path folder_;
  FolderOptions options_;
  DatasetInfo info_;
  Listing listing_;
  mutable std::array<Memory, 3> memory_;  // filled by read(), any thread
};

/// Images with captions instead of classes. Fields: `image` and `captions`.
class ImageCaptions final : public Dataset {
 public:
  /// \throws FileError  as listCaptions and ImageFolder
  ImageCaptions(const std::filesystem::path& folder, const FolderOptions& options,
                DatasetInfo info);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override { return images_->size(split); }
  void read(Split split, std::int64_t id, Sample& sample) const override;
  [[nodiscard]] std::string fingerprint(Split split,
                                        std::span<const std::int64_t> ids) const override {
    return images_->fingerprint(split, ids);
  }
  [[nodiscard]] double memoryBytes() const override;

 private:
  DatasetInfo info_;
  std::unique_ptr<ImageFolder> images_;
  std::vector<std::vector<std::string>> captions_;
};

class ImageCaptionsSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

class ImageFolderSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

}  // namespace vitrine::image_folder
