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
class CifarDataset final : public ImagesInMemory {
 public:
  /// \param folder  holds the files, or a folder `layout.folder` that does
  /// \param info    mean and deviation; the rest is read
  /// \throws FileError  a file is missing, its size is not exactly that of its records, a label has
  /// no class
  CifarDataset(const std::filesystem::path& folder, const Layout& layout, DatasetInfo info);
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
