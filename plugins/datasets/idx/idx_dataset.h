// Data sets in MNIST's own file format: four IDX files in a folder, plain or gzip.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/files/idx.h"
#include "core/plugin/registry.h"

namespace vitrine::idx {

/// Grey images of one size with labels 0..classes-1, in memory as a whole; train and test.
class IdxDataset final : public LabelledImages {
 public:
  /// Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz].
  /// \param info    classes, mean and deviation; sizes are read. Without classes: numbers up to the
  /// largest label.
  ///                Without mean: that of the training pixels
  /// \param remedy  ends the sentence that names a missing file: "; install ..."
  /// \throws FileError  a file is missing or broken, counts differ, a label has no class
  IdxDataset(const std::filesystem::path& folder, DatasetInfo info, const std::string& remedy);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override;
  std::int64_t readImage(Split split, std::int64_t id,
                         std::span<std::uint8_t> image) const override;
  [[nodiscard]] std::int64_t label(Split split, std::int64_t id) const override {
    return part(split).labels.data.at(static_cast<std::size_t>(id));
  }

 private:
  struct Part {
    std::string labelFile;
    IdxArray images, labels;
  };
  [[nodiscard]] const Part& part(Split split) const;
  void measurePixels();

  DatasetInfo info_;
  Part train_, test_;
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
