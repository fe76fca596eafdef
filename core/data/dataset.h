// Data sets: what they hold and how one sample is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/data/batch.h"
#include "core/data/sample.h"
#include "core/engine_export.h"

namespace vitrine {

enum class Split { Train, Validation, Test };
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string toString(Split split);  ///< "train" ...
/// \throws ConfigError
[[nodiscard]] VITRINE_ENGINE_EXPORT Split splitFromString(const std::string& name);

struct DatasetInfo {
  std::int64_t channels = 1;
  std::int64_t height = 0, width = 0;  ///< of a stored image; 0 where images differ in size
  std::vector<std::string> classes;
  /// Per channel of pixels scaled to [0, 1]; the defaults for normalising.
  std::vector<double> mean, deviation;
  /// Every field of a sample; empty stands for `image` and `label` of these sizes.
  std::vector<SampleField> fields{};
};

/// The fields of images with one label each: `image` and `label`.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<SampleField> labelledImageFields(
    std::int64_t channels, std::int64_t height, std::int64_t width);
/// Every field of a sample of this data set.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<SampleField> fieldsOf(const DatasetInfo& info);

/// Samples by split and id. Reading is thread-safe.
class VITRINE_ENGINE_EXPORT Dataset {
 public:
  virtual ~Dataset();
  [[nodiscard]] virtual const DatasetInfo& info() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t size(Split split) const = 0;
  /// Fills every field of `info().fields`, at its native size.
  /// \pre  sample.begin(id) was called
  /// \throws ShapeError  the split has no sample `id`
  virtual void read(Split split, std::int64_t id, Sample& sample) const = 0;
  /// Bytes of memory that a run takes for this once every sample was read; for the estimate before
  /// it. Here: none.
  [[nodiscard]] virtual double memoryBytes() const;
  /// The class of a sample, by which subsets are stratified. Here: its field `label`, read with the
  /// rest; a data set that knows its labels without the images says so faster. Thread-safe.
  [[nodiscard]] virtual std::int64_t label(Split split, std::int64_t id) const;
  /// A text that changes with any stored image of these samples: part of the key of what was
  /// computed from all of them. It is found without decoding an image. Here: "", this data set has
  /// none. Thread-safe.
  [[nodiscard]] virtual std::string fingerprint(Split split,
                                                std::span<const std::int64_t> ids) const;

 protected:
  /// For read(). \throws ShapeError  the split has no sample `id`
  void requireSample(Split split, std::int64_t id) const;
};

/// Images of unsigned bytes, all of one size, with one label each.
class VITRINE_ENGINE_EXPORT LabelledImages : public Dataset {
 public:
  void read(Split split, std::int64_t id, Sample& sample) const final;
  /// Copies one image, [channels, height, width], and returns its label. Thread-safe.
  virtual std::int64_t readImage(Split split, std::int64_t id,
                                 std::span<std::uint8_t> image) const = 0;
  /// Every image and its label of every split.
  [[nodiscard]] double memoryBytes() const override;

 protected:
  /// For readImage().
  /// \throws ShapeError  the split has no image `id`, or `image` is not as long as one
  void requireImage(Split split, std::int64_t id, std::span<const std::uint8_t> image) const;
};

/// Training and test images that lie in memory as a whole.
class VITRINE_ENGINE_EXPORT ImagesInMemory : public LabelledImages {
 public:
  [[nodiscard]] const DatasetInfo& info() const noexcept final { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const final;
  std::int64_t readImage(Split split, std::int64_t id, std::span<std::uint8_t> image) const final;
  [[nodiscard]] std::int64_t label(Split split, std::int64_t id) const final;
  /// SHA-256 of their pixels.
  [[nodiscard]] std::string fingerprint(Split split, std::span<const std::int64_t> ids) const final;

 protected:
  explicit ImagesInMemory(DatasetInfo info) : info_(std::move(info)) {}
  struct Part {
    std::vector<std::uint8_t> labels, pixels;
  };
  DatasetInfo info_;
  Part train_, test_;

 private:
  [[nodiscard]] const Part& part(Split split) const {
    return split == Split::Train ? train_ : test_;
  }
};

}  // namespace vitrine
