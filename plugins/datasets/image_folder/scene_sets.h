// Scenes with masks from files: COCO's JSON, and folders of images and index masks as ADE20K's.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/files/coco.h"
#include "core/plugin/registry.h"

namespace vitrine::image_folder {

/// Form of the masks of objects.
enum class CocoMasks {
  Objects,    ///< `masks` [objects, height, width]
  Instances,  ///< `instances`: number + 1 of the object in front, and `mask`: its class + 1
  None,
};

/// Images of one annotation file lie in a folder next to it, or next to its folder. It has the
/// file's name without ".json" and without "instances_".
class CocoSet final : public Dataset {
 public:
  /// \param annotations  by Split, below `folder`; "": the split has no samples
  /// \throws FileError  as readCoco; an image that is not there or leads out of the folder; splits
  /// whose classes differ
  CocoSet(const std::filesystem::path& folder, const std::array<std::string, 3>& annotations,
          CocoMasks masks, DatasetInfo info);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override {
    return std::ssize(parts_[static_cast<std::size_t>(split)].content.images);
  }
  /// \throws FileError  the image cannot be decoded or has another size than the file says
  void read(Split split, std::int64_t id, Sample& sample) const override;
  /// Of the files of the images, by size and time.
  [[nodiscard]] std::string fingerprint(Split split,
                                        std::span<const std::int64_t> ids) const override;
  [[nodiscard]] double memoryBytes() const override;

 private:
  struct Part {
    std::filesystem::path folder;  // of the images
    CocoFile content;
  };
  void readMasks(const CocoImage& image, Sample& sample) const;

  CocoMasks masks_;
  DatasetInfo info_;
  std::array<Part, 3> parts_;  // by Split
};

/// FOLDER/images/{training,validation,test}/a.jpg with FOLDER/annotations/.../a.png: grey 8-bit, 0
/// to be ignored, else class + 1. Names of classes in FOLDER/classes.txt, one a line.
class Ade20kSet final : public Dataset {
 public:
  /// \param classes  how many, where there is no classes.txt
  /// \throws FileError  no images, an image without its mask, a path that leads out
  Ade20kSet(const std::filesystem::path& folder, std::int64_t classes, DatasetInfo info);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override {
    return std::ssize(names_[static_cast<std::size_t>(split)]);
  }
  /// \throws FileError  a file cannot be decoded, a mask has another size or a class too many
  void read(Split split, std::int64_t id, Sample& sample) const override;
  /// Of the files of the images, by size and time.
  [[nodiscard]] std::string fingerprint(Split split,
                                        std::span<const std::int64_t> ids) const override;

 private:
  std::filesystem::path folder_;
  DatasetInfo info_;
  std::array<std::vector<std::string>, 3> names_;  // of the images, by Split
};

class CocoSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

class Ade20kSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

}  // namespace vitrine::image_folder
