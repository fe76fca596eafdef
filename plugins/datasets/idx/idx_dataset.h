// Data sets in MNIST's own file format: four IDX files in a folder, plain or gzip.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/files/idx.h"
#include "core/plugin/registry.h"

namespace vitrine::idx {

/// Grey images of one size with labels 0..classes-1, in memory as a whole; train and test.
class IdxDataset final : public ImagesInMemory {
 public:
  /// Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz].
  /// \param info    classes, mean and deviation; sizes are read. Without classes: numbers up to the
  /// largest label.
  ///                Without mean: that of the training pixels
  /// \param remedy  ends the sentence that names a missing file: "; install ..."
  /// \throws FileError  a file is missing or broken, counts differ, a label has no class
  IdxDataset(const std::filesystem::path& folder, DatasetInfo info, const std::string& remedy);

 private:
  void measurePixels();
};

/// Fashion-MNIST (Xiao et al. 2017): 60,000 and 10,000 grey images of 28 x 28 pixels in 10 classes.
class FashionMnistSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

/// Any folder with MNIST's four files.
class IdxFolderSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

}  // namespace vitrine::idx
