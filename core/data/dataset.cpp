#include "core/data/dataset.h"

#include <array>
#include <cstring>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace vitrine {

Dataset::~Dataset() = default;

std::vector<SampleField> labelledImageFields(std::int64_t channels, std::int64_t height,
                                             std::int64_t width) {
  return {{"image", FieldKind::Image, at::kByte, {channels, height, width}, "pixels"},
          {"label", FieldKind::Label, at::kLong, {}, "index of the class"}};
}

std::vector<SampleField> fieldsOf(const DatasetInfo& info) {
  return info.fields.empty() ? labelledImageFields(info.channels, info.height, info.width)
                             : info.fields;
}

double Dataset::memoryBytes() const { return 0; }

std::int64_t Dataset::label(Split split, std::int64_t id) const {
  Sample sample;
  sample.begin(id);
  read(split, id, sample);
  return sample.at("label").get<std::int64_t>()[0];
}

std::string Dataset::fingerprint(Split /*split*/, std::span<const std::int64_t> /*ids*/) const {
  return "";
}

void Dataset::requireSample(Split split, std::int64_t id) const {
  if (id >= 0 && id < size(split)) return;
  throw ShapeError("the " + toString(split) + " split has " + formatCount(size(split)) +
                   " samples; there is no sample " + std::to_string(id));
}

void LabelledImages::read(Split split, std::int64_t id, Sample& sample) const {
  const DatasetInfo& about = info();
  const std::span<std::uint8_t> image =
      sample["image"].resize<std::uint8_t>({about.channels, about.height, about.width});
  sample["label"].resize<std::int64_t>({})[0] = readImage(split, id, image);
}

double LabelledImages::memoryBytes() const {
  const auto perImage = static_cast<double>(info().channels * info().height * info().width + 1);
  double images = 0;
  for (const Split split : {Split::Train, Split::Validation, Split::Test})
    images += static_cast<double>(size(split));
  return images * perImage;
}

void LabelledImages::requireImage(Split split, std::int64_t id,
                                  std::span<const std::uint8_t> image) const {
  const std::int64_t bytes = info().channels * info().height * info().width;
  if (id >= 0 && id < size(split) && image.size() == static_cast<std::size_t>(bytes)) return;
  throw ShapeError("the " + toString(split) + " split has " + std::to_string(size(split)) +
                   " images of " + std::to_string(bytes) + " bytes; asked for image " +
                   std::to_string(id) + " in " + std::to_string(image.size()) + " bytes");
}

std::int64_t ImagesInMemory::size(Split split) const {
  return split == Split::Validation ? 0 : std::ssize(part(split).labels);
}

std::int64_t ImagesInMemory::readImage(Split split, std::int64_t id,
                                       std::span<std::uint8_t> image) const {
  requireImage(split, id, image);
  const auto at = static_cast<std::size_t>(id);
  std::memcpy(image.data(), part(split).pixels.data() + at * image.size(), image.size());
  return part(split).labels[at];
}

std::int64_t ImagesInMemory::label(Split split, std::int64_t id) const {
  return part(split).labels.at(static_cast<std::size_t>(id));
}

std::string ImagesInMemory::fingerprint(Split split, std::span<const std::int64_t> ids) const {
  const std::span<const std::uint8_t> pixels(part(split).pixels);
  const auto bytes = static_cast<std::size_t>(info_.channels * info_.height * info_.width);
  Sha256 sum;
  for (const std::int64_t id : ids) {
    requireSample(split, id);
    sum.update(std::as_bytes(pixels.subspan(static_cast<std::size_t>(id) * bytes, bytes)));
  }
  return sum.finish();
}

std::string toString(Split split) {
  static constexpr std::array kNames = {"train", "validation", "test"};
  return kNames.at(static_cast<std::size_t>(split));
}

Split splitFromString(const std::string& name) {
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    if (toString(split) == name) return split;
  }
  throw ConfigError("there is no split '" + name + "'; use train, validation or test");
}

}  // namespace vitrine
