#include "core/artifact/generated.h"

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/png.h"

namespace vitrine {

GeneratedImage generatedImage(std::span<const std::uint8_t> pixels, std::int64_t height,
                              std::int64_t width, std::int64_t channels) {
  if (std::ssize(pixels) != height * width * channels || pixels.empty())
    throw ShapeError("an image of " + std::to_string(height) + " x " + std::to_string(width) +
                     " pixels and " + std::to_string(channels) + " channels cannot have " +
                     std::to_string(pixels.size()) + " bytes");
  return {.width = width,
          .height = height,
          .sha256 = sha256OfText({reinterpret_cast<const char*>(pixels.data()), pixels.size()}),
          .png = encodePng(pixels, static_cast<int>(height), static_cast<int>(width),
                           static_cast<int>(channels))};
}

ImageAgain imageAgain(const Json& recipe, const std::string& image) {
  const auto find = [&](const char* key, bool (Json::*isKind)() const noexcept) -> const Json* {
    const auto found = recipe.is_object() ? recipe.find(key) : recipe.end();
    return found != recipe.end() && (*found.*isKind)() ? &*found : nullptr;
  };
  const auto need = [&](const char* key, bool (Json::*isKind)() const noexcept) -> const Json& {
    if (const Json* found = find(key, isKind)) return *found;
    throw RefusedError("the recipe of " + image + " has no " + key +
                       "; only images that `vitrine sample` or Studio made can be made again");
  };
  ImageAgain again;
  need("sampler", &Json::is_string).get_to(again.sampler);
  need("step", &Json::is_number_integer).get_to(again.step);
  need("weights", &Json::is_string).get_to(again.weights);
  need("device", &Json::is_string).get_to(again.device);
  const Json& seed = need("seed", &Json::is_number_integer);
  seed.get_to(again.seed);
  if (const Json* precision = find("precision", &Json::is_string))
    precision->get_to(again.precision);
  if (const Json* threads = find("threads", &Json::is_number_integer))
    again.threads = threads->get<std::int64_t>();
  if (const Json* settings = find("settings", &Json::is_object)) again.settings = *settings;
  const Json* found = find("batch", &Json::is_object);
  const Json batch = found == nullptr ? Json::object() : *found;
  again.settings["seed"] = batch.value("first_seed", seed);
  again.settings["count"] = batch.value("size", Json(1));
  return again;
}

}  // namespace vitrine
