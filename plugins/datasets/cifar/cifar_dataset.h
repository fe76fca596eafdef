// CIFAR-10 and CIFAR-100 (Krizhevsky 2009) in their binary version: 60,000 colour images of 32 x 32
// pixels.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/files/cifar.h"
#include "core/plugin/registry.h"

namespace vitrine::cifar {

/// Layout of a version of the set on the disk.
struct Layout {
  std::string folder;  ///< the name its archive unpacks to
  std::vector<std::string> trainFiles, testFiles;
  std::int64_t trainRecords = 0, testRecords = 0;  ///< of each file
  std::int64_t labelBytes = 1;
  std::int64_t labelAt = 0;  ///< which of them counts
  std::string namesFile;
  std::size_t classes = 0;
};
[[nodiscard]] Layout cifar10Layout();
enum class Labels { Fine, Coarse };
[[nodiscard]] Layout cifar100Layout(Labels labels);

/// Images and labels, in memory as a whole; train and test.
class CifarDataset final : public LabelledImages {
 public:
  /// \param folder  holds the files, or a folder `layout.folder` that does
  /// \param info    mean and deviation; the rest is read
  /// \throws FileError  a file is missing, its size is not exactly that of its records, a label has
  /// no class
  CifarDataset(const std::filesystem::path& folder, const Layout& layout, DatasetInfo info);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override;
  std::int64_t readImage(Split split, std::int64_t id,
                         std::span<std::uint8_t> image) const override;
  [[nodiscard]] std::int64_t label(Split split, std::int64_t id) const override {
    return part(split).labels.at(static_cast<std::size_t>(id));
  }

 private:
  struct Part {
    std::vector<std::uint8_t> labels, pixels;
  };
  [[nodiscard]] const Part& part(Split split) const;
  DatasetInfo info_;
  Part train_, test_;
};

class Cifar10Source final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

class Cifar100Source final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

}  // namespace vitrine::cifar
