// One sample of a data set: named values of its fields, at their native size.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine_export.h"

namespace vitrine {

/// The meaning of a field: which transforms move it and how it is drawn.
enum class FieldKind {
  Image,      ///< [channels, height, width], bytes until it is normalised
  Label,      ///< [] int64, index of a class
  Labels,     ///< [labels] int64, a set of classes; may be empty
  SoftLabel,  ///< [classes] float, a distribution over the classes
  Mask,       ///< [..., height, width] bytes over the image, 0 outside of it
  Boxes,      ///< [boxes, 4] float: left, top, right, bottom in pixels of the image
  Tokens,     ///< [tokens] int64
  Text,       ///< UTF-8; shape [] is one text, [-1] several
  Latent,     ///< [channels, height, width] float, of a codec
  Number,     ///< any other numbers
};

/// One field that every sample of a data set has.
struct VITRINE_ENGINE_EXPORT SampleField {
  std::string name;  ///< "image", "label"
  FieldKind kind = FieldKind::Number;
  at::ScalarType type = at::kFloat;  ///< kByte, kLong or kFloat; of a text it means nothing
  std::vector<std::int64_t> shape;   ///< -1: differs from sample to sample
  std::string doc;                   ///< one line

  [[nodiscard]] bool isRagged() const noexcept;  ///< a side differs from sample to sample
};

/// The field called `name`, or nullptr.
[[nodiscard]] VITRINE_ENGINE_EXPORT const SampleField* findField(
    const std::vector<SampleField>& fields, std::string_view name) noexcept;

/// Numbers of one type in C order with their shape, or texts. The memory is kept from one sample to
/// the next.
class VITRINE_ENGINE_EXPORT SampleValue {
 public:
  /// Takes a type and a shape; what the memory holds is not specified.
  /// \param T  std::uint8_t, std::int64_t or float
  template <class T>
  std::span<T> resize(std::span<const std::int64_t> shape);
  template <class T>
  std::span<T> resize(std::initializer_list<std::int64_t> shape) {
    return resize<T>(std::span<const std::int64_t>(shape.begin(), shape.size()));
  }
  /// Becomes texts, `count` of them; each keeps its memory.
  std::span<std::string> resizeTexts(std::size_t count);

  [[nodiscard]] at::ScalarType type() const noexcept { return type_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.data(), size_}; }
  /// \throws ShapeError  the numbers have another type
  template <class T>
  [[nodiscard]] std::span<const T> get() const;
  template <class T>
  [[nodiscard]] std::span<T> edit();
  [[nodiscard]] std::span<const std::string> texts() const noexcept {
    return {texts_.data(), textCount_};
  }
  void swap(SampleValue& other) noexcept;

 private:
  void require(at::ScalarType type) const;
  at::ScalarType type_ = at::kByte;
  std::vector<std::int64_t> shape_;
  std::vector<std::byte> data_;  // grows only
  std::size_t size_ = 0;         // bytes of it in use
  std::vector<std::string> texts_;
  std::size_t textCount_ = 0;
};

/// Named values. One object per thread serves sample after sample.
class VITRINE_ENGINE_EXPORT Sample {
 public:
  /// Forgets all values but not their memory.
  void begin(std::int64_t id) noexcept;
  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  /// The value to fill or change; made where there is none. The reference stays.
  [[nodiscard]] SampleValue& operator[](std::string_view name);
  /// \throws ConfigError  this sample has no such value: names what it has
  [[nodiscard]] const SampleValue& at(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const noexcept;

 private:
  struct Entry {
    std::string name;
    SampleValue value;
    bool isSet = false;
  };
  std::int64_t id_ = 0;
  std::deque<Entry> entries_;  // few: looked up one by one
};

}  // namespace vitrine
