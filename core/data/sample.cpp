#include "core/data/sample.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace vitrine {

namespace {

template <class T>
constexpr at::ScalarType kTypeOf = at::kByte;
template <>
constexpr at::ScalarType kTypeOf<std::int64_t> = at::kLong;
template <>
constexpr at::ScalarType kTypeOf<float> = at::kFloat;

}  // namespace

bool SampleField::isRagged() const noexcept {
  return std::find(shape.begin(), shape.end(), -1) != shape.end();
}

const SampleField* findField(const std::vector<SampleField>& fields,
                             std::string_view name) noexcept {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const SampleField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

template <class T>
std::span<T> SampleValue::resize(std::span<const std::int64_t> shape) {
  type_ = kTypeOf<T>;
  shape_.assign(shape.begin(), shape.end());
  textCount_ = 0;
  std::size_t count = 1;
  for (const std::int64_t side : shape) {
    if (side < 0) throw ShapeError("a side of a sample cannot be " + std::to_string(side));
    count *= static_cast<std::size_t>(side);
  }
  size_ = count * sizeof(T);
  if (data_.size() < size_) data_.resize(size_);
  return {reinterpret_cast<T*>(data_.data()), count};
}

std::span<std::string> SampleValue::resizeTexts(std::size_t count) {
  shape_.assign(1, static_cast<std::int64_t>(count));
  size_ = 0;
  if (texts_.size() < count) texts_.resize(count);
  textCount_ = count;
  return {texts_.data(), count};
}

void SampleValue::require(at::ScalarType type) const {
  if (type_ == type) return;
  throw ShapeError(std::string("a value of a sample holds ") + c10::toString(type_) + ", not " +
                   c10::toString(type));
}

template <class T>
std::span<const T> SampleValue::get() const {
  require(kTypeOf<T>);
  return {reinterpret_cast<const T*>(data_.data()), size_ / sizeof(T)};
}

template <class T>
std::span<T> SampleValue::edit() {
  require(kTypeOf<T>);
  return {reinterpret_cast<T*>(data_.data()), size_ / sizeof(T)};
}

void SampleValue::swap(SampleValue& other) noexcept {
  std::swap(type_, other.type_);
  std::swap(size_, other.size_);
  std::swap(textCount_, other.textCount_);
  shape_.swap(other.shape_);
  data_.swap(other.data_);
  texts_.swap(other.texts_);
}

#define VITRINE_SAMPLE_TYPE(T)                                                                    \
  template VITRINE_ENGINE_EXPORT std::span<T> SampleValue::resize(std::span<const std::int64_t>); \
  template VITRINE_ENGINE_EXPORT std::span<const T> SampleValue::get() const;                     \
  template VITRINE_ENGINE_EXPORT std::span<T> SampleValue::edit();
VITRINE_SAMPLE_TYPE(std::uint8_t)
VITRINE_SAMPLE_TYPE(std::int64_t)
VITRINE_SAMPLE_TYPE(float)
#undef VITRINE_SAMPLE_TYPE

void Sample::begin(std::int64_t id) noexcept {
  id_ = id;
  for (Entry& entry : entries_) entry.isSet = false;
}

SampleValue& Sample::operator[](std::string_view name) {
  for (Entry& entry : entries_) {
    if (entry.name != name) continue;
    entry.isSet = true;
    return entry.value;
  }
  return entries_.emplace_back(Entry{std::string(name), {}, true}).value;
}

const SampleValue& Sample::at(std::string_view name) const {
  std::string there;
  for (const Entry& entry : entries_) {
    if (!entry.isSet) continue;
    if (entry.name == name) return entry.value;
    there += (there.empty() ? "" : ", ") + entry.name;
  }
  throw ConfigError("sample " + std::to_string(id_) + " has no field '" + std::string(name) +
                    "'; it has " + (there.empty() ? "none" : there));
}

bool Sample::has(std::string_view name) const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.isSet && entry.name == name; });
}

}  // namespace vitrine
