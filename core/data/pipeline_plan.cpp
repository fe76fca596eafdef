#include "core/data/pipeline_plan.h"

#include <algorithm>

namespace vitrine {

namespace {

Json shortForm(const Config& data, const DatasetInfo& dataset,
               std::array<std::int64_t, 2> imageSize, bool isTraining) {
  Json list = Json::array();
  const std::vector<SampleField> fields = fieldsOf(dataset);
  const bool hasImages = std::any_of(fields.begin(), fields.end(), [](const SampleField& field) {
    return field.kind == FieldKind::Image;
  });
  if (!hasImages) return list;

  std::array<std::int64_t, 2> size{dataset.height, dataset.width};
  if (data.has("image_size")) {
    size = data.size("image_size");
    const double share = data.has("crop") ? data.real("crop") : 1.0;
    list.push_back(
        {{"name", "center_crop"}, {"size", size}, {"by", "proportions"}, {"share", share}});
    list.push_back({{"name", "resize"}, {"size", size}});
  }
  if (imageSize[0] > 0 && imageSize != size)
    list.push_back({{"name", "resize"}, {"size", imageSize}});
  if (isTraining && data.integer("augment.crop_padding") > 0)
    list.push_back({{"name", "random_crop"}, {"padding", data.integer("augment.crop_padding")}});
  if (isTraining && data.real("augment.flip") > 0)
    list.push_back({{"name", "flip"}, {"probability", data.real("augment.flip")}});
  list.push_back({{"name", "normalize"}, {"by", data.text("normalize")}});
  return list;
}

}  // namespace

Json pipelinePlan(const Config& data, const DatasetInfo& dataset,
                  std::array<std::int64_t, 2> imageSize) {
  Json plan = Json::object();
  for (const char* phase : {"train", "evaluate"}) {
    const std::string key = std::string("pipeline.") + phase;
    plan[phase] = data.has(key)
                      ? data.at(key)
                      : shortForm(data, dataset, imageSize, std::string(phase) == "train");
  }
  return plan;
}

}  // namespace vitrine
