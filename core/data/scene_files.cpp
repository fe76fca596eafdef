#include "core/data/scene_files.h"

#include <algorithm>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/coco.h"
#include "core/files/png.h"

namespace vitrine {

namespace {

namespace fs = std::filesystem;

void requireField(const Dataset& dataset, const char* name, const char* format) {
  const std::vector<SampleField> fields = fieldsOf(dataset.info());
  if (findField(fields, name) != nullptr) return;
  throw ConfigError(std::string("writing as ") + format + " needs the field '" + name +
                    "'; the samples have " +
                    joined(fields, [](const SampleField& field) { return field.name; }));
}

std::int64_t countOf(const Dataset& dataset, Split split, std::int64_t limit) {
  const std::int64_t size = dataset.size(split);
  if (size < 1) throw ConfigError("the " + toString(split) + " split has no samples to write");
  return limit > 0 ? std::min(limit, size) : size;
}

void requireAbsent(const fs::path& file) {
  if (fs::exists(file))
    throw FileError(file.string() + " is there already; give a folder that has no such file");
}

void makeFolder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw FileError(folder.string() + " cannot be made: " + problem.message());
}

std::string fileName(std::int64_t id) {
  char name[32];
  std::snprintf(name, sizeof name, "%06lld.png", static_cast<long long>(id));
  return name;
}

/// \param value  bytes [channels, height, width] or [height, width]
void writePng(const fs::path& file, const SampleValue& value) {
  const auto bytes = value.get<std::uint8_t>();
  const std::vector<std::int64_t>& shape = value.shape();
  const std::int64_t channels = shape.size() == 3 ? shape[0] : 1;
  const auto plane = static_cast<std::int64_t>(bytes.size()) / channels;
  std::vector<std::uint8_t> pixels(bytes.size());
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t i = 0; i < plane; ++i)
      pixels[static_cast<std::size_t>(i * channels + c)] =
          bytes[static_cast<std::size_t>(c * plane + i)];
  }
  const auto height = static_cast<int>(shape[shape.size() - 2]);
  const auto width = static_cast<int>(shape[shape.size() - 1]);
  const std::vector<std::byte> png = encodePng(pixels, height, width, static_cast<int>(channels));
  writeFileAtomically(file, {reinterpret_cast<const char*>(png.data()), png.size()});
}

/// The mask of one object out of a sample.
std::vector<std::uint8_t> maskOf(const Sample& sample, std::size_t object, std::size_t pixels) {
  std::vector<std::uint8_t> mask(pixels);
  if (sample.has("masks")) {
    const auto all = sample.at("masks").get<std::uint8_t>();
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(object * pixels), pixels, mask.begin());
    return mask;
  }
  const auto numbers = sample.at("instances").get<std::uint8_t>();
  std::transform(numbers.begin(), numbers.end(), mask.begin(),
                 [&](std::uint8_t number) { return number == object + 1 ? 1 : 0; });
  return mask;
}

CocoImage cocoImage(const Sample& sample, const std::string& path) {
  const std::vector<std::int64_t>& shape = sample.at("image").shape();
  CocoImage image{path, shape[1], shape[2], {}};
  const auto boxes = sample.at("boxes").get<float>();
  const auto classes = sample.at("box_classes").get<std::int64_t>();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    CocoObject object{.category = classes[i]};
    std::copy_n(boxes.begin() + static_cast<std::ptrdiff_t>(4 * i), 4, object.box.begin());
    object.isCrowd =
        sample.has("box_crowds") && sample.at("box_crowds").get<std::int64_t>()[i] != 0;
    object.runs = runsOf(maskOf(sample, i, static_cast<std::size_t>(shape[1] * shape[2])), shape[1],
                         shape[2]);
    image.objects.push_back(std::move(object));
  }
  return image;
}

}  // namespace

WrittenScenes writeCocoScenes(const Dataset& dataset, Split split, std::int64_t limit,
                              const fs::path& folder) {
  for (const char* name : {"image", "boxes", "box_classes"}) requireField(dataset, name, "coco");
  if (findField(fieldsOf(dataset.info()), "masks") == nullptr)
    requireField(dataset, "instances", "coco");
  const std::int64_t count = countOf(dataset, split, limit);
  const fs::path list = folder / (toString(split) + ".json");
  requireAbsent(list);
  makeFolder(folder / toString(split));
  WrittenScenes written;
  CocoFile content{dataset.info().classes, {}};
  Sample sample;
  for (std::int64_t id = 0; id < count; ++id) {
    sample.begin(id);
    dataset.read(split, id, sample);
    content.images.push_back(cocoImage(sample, fileName(id)));
    written.objects += std::ssize(content.images.back().objects);
    writePng(folder / toString(split) / fileName(id), sample.at("image"));
    ++written.images;
  }
  writeFileAtomically(list, cocoText(content));  // last: a list names files that are there
  return written;
}

std::string ade20kFolder(Split split) {
  return split == Split::Train ? "training" : toString(split);
}

WrittenScenes writeAde20kScenes(const Dataset& dataset, Split split, std::int64_t limit,
                                const fs::path& folder) {
  for (const char* name : {"image", "mask"}) requireField(dataset, name, "ade20k");
  const std::int64_t count = countOf(dataset, split, limit);
  const fs::path images = folder / "images" / ade20kFolder(split);
  const fs::path masks = folder / "annotations" / ade20kFolder(split);
  for (const fs::path& each : {images, masks}) {
    requireAbsent(each);
    makeFolder(each);
  }
  WrittenScenes written;
  Sample sample;
  for (std::int64_t id = 0; id < count; ++id) {
    sample.begin(id);
    dataset.read(split, id, sample);
    writePng(images / fileName(id), sample.at("image"));
    writePng(masks / fileName(id), sample.at("mask"));
    ++written.images;
  }
  std::string names;
  for (const std::string& name : dataset.info().classes) names += name + "\n";
  writeFileAtomically(folder / "classes.txt", names);
  return written;
}

}  // namespace vitrine
