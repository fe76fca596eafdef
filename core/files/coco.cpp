#include "core/files/coco.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/sample_lists.h"

namespace vitrine {

namespace {

/// A file that is read: reports an error and its place.
class CocoReader {
 public:
  CocoReader(const std::filesystem::path& file, const CocoLimits& limits)
      : file_(file), limits_(limits) {}

  CocoFile read() {
    const Json json = readJson(readTextFile(file_, limits_.bytes));
    if (!json.is_object()) refuse("", "is not a JSON object");
    readCategories(listOf(json, "categories"));
    readImages(listOf(json, "images"));
    const Json& annotations = listOf(json, "annotations");
    for (std::size_t i = 0; i < annotations.size(); ++i)
      readAnnotation(annotations[i], "annotations[" + std::to_string(i) + "]");
    return std::move(content_);
  }

 private:
  [[noreturn]] void refuse(const std::string& place, const std::string& why) const {
    throw FileError(file_.string() + (place.empty() ? " " : ": " + place + " ") + why);
  }
  const Json& listOf(const Json& json, const char* key) const {
    if (!json.contains(key) || !json.at(key).is_array())
      refuse("", std::string("has no list '") + key +
                     "'; a COCO file has images, annotations and "
                     "categories");
    return json.at(key);
  }
  std::int64_t integerOf(const Json& json, const char* key, const std::string& place) const {
    if (!json.is_object() || !json.contains(key) || !json.at(key).is_number_integer())
      refuse(place, std::string("needs a whole number '") + key + "'");
    return json.at(key).get<std::int64_t>();
  }
  std::string textOf(const Json& json, const char* key, const std::string& place) const {
    if (!json.is_object() || !json.contains(key) || !json.at(key).is_string())
      refuse(place, std::string("needs a text '") + key + "'");
    return json.at(key).get<std::string>();
  }

  void readCategories(const Json& list) {
    std::map<std::int64_t, std::string> names;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string place = "categories[" + std::to_string(i) + "]";
      if (!names.emplace(integerOf(list[i], "id", place), textOf(list[i], "name", place)).second)
        refuse(place, "has the id of another one");
    }
    if (names.empty()) refuse("", "has no categories");
    for (const auto& [id, name] : names) {
      classOf_[id] = std::ssize(content_.classes);
      content_.classes.push_back(name);
    }
  }

  void readImages(const Json& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string place = "images[" + std::to_string(i) + "]";
      CocoImage image{.path = textOf(list[i], "file_name", place)};
      if (const std::string why = whyNotBelow(image.path); !why.empty()) refuse(place, why);
      image.height = integerOf(list[i], "height", place);
      image.width = integerOf(list[i], "width", place);
      for (const std::int64_t side : {image.height, image.width}) {
        if (side < 1 || side > limits_.side)
          refuse(place, "has a side of " + std::to_string(side) + " pixels; 1 to " +
                            std::to_string(limits_.side) + " are read");
      }
      if (image.height * image.width > limits_.pixels)
        refuse(place, "has more than the " + formatCount(limits_.pixels) + " pixels that are read");
      if (!imageOf_.emplace(integerOf(list[i], "id", place), content_.images.size()).second)
        refuse(place, "has the id of another one");
      content_.images.push_back(std::move(image));
    }
    if (content_.images.empty()) refuse("", "has no images");
  }

  void readAnnotation(const Json& json, const std::string& place) {
    const auto image = imageOf_.find(integerOf(json, "image_id", place));
    if (image == imageOf_.end()) refuse(place, "is of an image that is not in the file");
    const auto category = classOf_.find(integerOf(json, "category_id", place));
    if (category == classOf_.end()) refuse(place, "is of a category that is not in the file");
    CocoImage& target = content_.images[image->second];
    CocoObject object{.category = category->second};
    const Json crowd = json.value("iscrowd", Json(0));
    if (crowd != 0 && crowd != 1) refuse(place, "must have 0 or 1 as 'iscrowd'");
    object.isCrowd = crowd == 1;
    const std::vector<double> box = numbersOf(json.value("bbox", Json()), place + ".bbox");
    if (box.size() != 4 || box[2] < 0 || box[3] < 0)
      refuse(place, "needs a 'bbox' of left, top, width and height, none of them below 0");
    object.box = {static_cast<float>(box[0]), static_cast<float>(box[1]),
                  static_cast<float>(box[0] + box[2]), static_cast<float>(box[1] + box[3])};
    readSegmentation(json.value("segmentation", Json::array()), target, object, place);
    if (target.objects.size() >= limits_.objects)
      refuse(place, "is more than the " + std::to_string(limits_.objects) +
                        " objects that an image may have");
    target.objects.push_back(std::move(object));
  }

  std::vector<double> numbersOf(const Json& json, const std::string& place) const {
    if (!json.is_array()) refuse(place, "must be a list of numbers");
    std::vector<double> numbers;
    for (const Json& value : json) {
      if (!value.is_number() || std::abs(value.get<double>()) > 1e6)
        refuse(place, "must hold numbers within a million");
      numbers.push_back(value.get<double>());
    }
    return numbers;
  }

  void readSegmentation(const Json& json, const CocoImage& image, CocoObject& object,
                        const std::string& place) const {
    if (json.is_object()) {
      const Json size = json.value("size", Json());
      if (!size.is_null() && size != Json::array({image.height, image.width}))
        refuse(place, "has runs of a mask of another height and width than its image");
      const Json counts = json.value("counts", Json());
      object.runs =
          counts.is_string() ? unpacked(counts.get<std::string>(), place) : runsFrom(counts, place);
      const std::uint64_t sum =
          std::accumulate(object.runs.begin(), object.runs.end(), std::uint64_t{0});
      if (sum != static_cast<std::uint64_t>(image.height * image.width))
        refuse(place, "has runs of " + std::to_string(sum) + " pixels for an image of " +
                          std::to_string(image.height * image.width));
      return;
    }
    if (!json.is_array()) refuse(place, "has a 'segmentation' that is neither runs nor polygons");
    for (const Json& polygon : json) {
      const std::vector<double> numbers = numbersOf(polygon, place + ".segmentation");
      if (numbers.size() < 6 || numbers.size() % 2 != 0)
        refuse(place, "has a polygon of " + std::to_string(numbers.size()) +
                          " numbers; it needs three points or more");
      object.polygons.emplace_back(numbers.begin(), numbers.end());
    }
  }

  std::vector<std::uint32_t> runsFrom(const Json& json, const std::string& place) const {
    if (!json.is_array()) refuse(place, "needs 'counts' in its segmentation");
    std::vector<std::uint32_t> runs;
    for (const Json& value : json) {
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (1U << 31))
        refuse(place, "has a run that is not a number of pixels");
      runs.push_back(value.get<std::uint32_t>());
    }
    return runs;
  }

  /// Runs as text: 5 bits a character from '0' on, bit 5 set where more follow, the last bit of a
  /// number its sign. From the fourth on a number is the difference to the one two before.
  std::vector<std::uint32_t> unpacked(const std::string& text, const std::string& place) const {
    std::vector<std::int64_t> runs;
    for (std::size_t i = 0; i < text.size();) {
      std::int64_t value = 0;
      int shift = 0;
      for (bool hasMore = true; hasMore; ++i, shift += 5) {
        const int bits = i < text.size() ? text[i] - '0' : -1;
        if (bits < 0 || bits > 63 || shift > 30) refuse(place, "has damaged packed runs");
        value |= static_cast<std::int64_t>(bits & 31) << shift;
        hasMore = (bits & 32) != 0;
        if (!hasMore && (bits & 16) != 0) value -= std::int64_t{1} << (shift + 5);
      }
      if (runs.size() > 2) value += runs[runs.size() - 2];
      if (value < 0 || value > (std::int64_t{1} << 31)) refuse(place, "has damaged packed runs");
      runs.push_back(value);
    }
    return {runs.begin(), runs.end()};
  }

  const std::filesystem::path& file_;
  const CocoLimits& limits_;
  std::map<std::int64_t, std::int64_t> classOf_;  // by id
  std::map<std::int64_t, std::size_t> imageOf_;   // by id
  CocoFile content_;
};

void paintPolygon(const std::vector<float>& points, std::int64_t height, std::int64_t width,
                  std::uint8_t value, std::span<std::uint8_t> mask) {
  std::vector<double> crossings;
  for (std::int64_t y = 0; y < height; ++y) {
    const double line = static_cast<double>(y) + 0.5;
    crossings.clear();
    for (std::size_t i = 0; i < points.size(); i += 2) {
      const std::size_t next = (i + 2) % points.size();
      const double x0 = points[i], y0 = points[i + 1], x1 = points[next], y1 = points[next + 1];
      if ((y0 <= line) == (y1 <= line)) continue;
      crossings.push_back(x0 + (line - y0) / (y1 - y0) * (x1 - x0));
    }
    std::sort(crossings.begin(), crossings.end());
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
      const auto first = static_cast<std::int64_t>(std::ceil(std::max(0.0, crossings[i] - 0.5)));
      const auto last = static_cast<std::int64_t>(
          std::ceil(std::min(static_cast<double>(width), crossings[i + 1] - 0.5)));
      for (std::int64_t x = first; x < last; ++x)
        mask[static_cast<std::size_t>(y * width + x)] = value;
    }
  }
}

}  // namespace

CocoFile readCoco(const std::filesystem::path& file, const CocoLimits& limits) {
  return CocoReader(file, limits).read();
}

std::string cocoText(const CocoFile& content) {
  Json json = {
      {"images", Json::array()}, {"annotations", Json::array()}, {"categories", Json::array()}};
  for (std::size_t i = 0; i < content.classes.size(); ++i)
    json["categories"].push_back({{"id", i + 1}, {"name", content.classes[i]}});
  std::size_t number = 0;
  for (std::size_t i = 0; i < content.images.size(); ++i) {
    const CocoImage& image = content.images[i];
    json["images"].push_back({{"id", i + 1},
                              {"file_name", image.path},
                              {"height", image.height},
                              {"width", image.width}});
    for (const CocoObject& object : image.objects) {
      Json segmentation = object.polygons;
      std::uint64_t area = 0;
      if (!object.runs.empty()) {
        segmentation = {{"size", {image.height, image.width}}, {"counts", object.runs}};
        for (std::size_t run = 1; run < object.runs.size(); run += 2) area += object.runs[run];
      }
      const auto& box = object.box;
      json["annotations"].push_back({{"id", ++number},
                                     {"image_id", i + 1},
                                     {"category_id", object.category + 1},
                                     {"bbox", {box[0], box[1], box[2] - box[0], box[3] - box[1]}},
                                     {"area", area},
                                     {"iscrowd", object.isCrowd ? 1 : 0},
                                     {"segmentation", segmentation}});
    }
  }
  return json.dump() + "\n";
}

std::vector<std::uint32_t> runsOf(std::span<const std::uint8_t> mask, std::int64_t height,
                                  std::int64_t width) {
  std::vector<std::uint32_t> runs(1);
  bool isInside = false;
  for (std::int64_t x = 0; x < width; ++x) {
    for (std::int64_t y = 0; y < height; ++y) {
      if ((mask[static_cast<std::size_t>(y * width + x)] != 0) != isInside) {
        isInside = !isInside;
        runs.push_back(0);
      }
      ++runs.back();
    }
  }
  return runs;
}

void paintObject(const CocoObject& object, std::int64_t height, std::int64_t width,
                 std::uint8_t value, std::span<std::uint8_t> mask) {
  std::int64_t at = 0;
  const std::int64_t pixels = height * width;
  for (std::size_t run = 0; run < object.runs.size(); ++run) {
    const std::int64_t end = std::min(pixels, at + static_cast<std::int64_t>(object.runs[run]));
    for (; at < end; ++at) {
      if (run % 2 == 1) mask[static_cast<std::size_t>(at % height * width + at / height)] = value;
    }
  }
  if (!object.runs.empty()) return;
  for (const std::vector<float>& polygon : object.polygons)
    paintPolygon(polygon, height, width, value, mask);
}

}  // namespace vitrine
