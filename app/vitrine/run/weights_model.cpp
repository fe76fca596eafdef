#include "app/vitrine/run/weights_model.h"

#include "app/vitrine/run/trained_model.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/sha256.h"

namespace vitrine::app {

Json modelTable(const Registry& registry, const std::vector<std::string>& texts) {
  const std::vector<Override> overrides = parseOverrides(texts);
  for (const auto& [key, value] : overrides) {
    if (key != "model" && !key.starts_with("model."))
      throw ConfigError("infer takes keys of [model] alone, not '" + key + "'");
  }
  Json model;
  const std::vector<Problem> problems = planModel(registry.catalog(), overrides, model);
  if (!model.contains("architecture"))
    throw ConfigError(
        "say which model it is: model.architecture=NAME; `vitrine describe` lists them");
  (void)registry.architecture(model.at("architecture").get<std::string>());
  requireValid(problems);
  return model;
}

WeightsModel openWeights(const Registry& registry, const Config& model,
                         const std::filesystem::path& weights, const std::string& resizePositions) {
  WeightsModel opened{.model = registry.architecture(model.text("architecture")).build(model, 0)};
  LoadOptions load;
  load.resizePositions = resizePositions;
  load.family = [&registry](const std::vector<std::string>& names) {
    return registry.weightFamily(names);
  };
  opened.report = loadWeights(*opened.model, weights, load);
  for (const std::string& name : opened.report.unused)
    log::warning("the model has no use for tensor '" + name + "' of " + weights.string());
  setEvaluationMode(*opened.model);
  return opened;
}

std::string sha256OfWeights(const std::vector<std::filesystem::path>& files) {
  if (files.size() == 1) return sha256OfFile(files.front());
  std::string hashes;
  for (const std::filesystem::path& file : files) hashes += sha256OfFile(file);
  return sha256OfText(hashes);
}

ImageShape imageShapeOf(const Config& model) {
  ImageShape shape;
  if (model.has("in_channels")) shape.channels = model.integer("in_channels");
  if (model.has("image_size")) {
    const auto [height, width] = model.size("image_size");
    shape.height = height;
    shape.width = width;
  }
  return shape;
}

}  // namespace vitrine::app
