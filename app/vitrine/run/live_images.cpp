#include "app/vitrine/run/live_images.h"

#include <utility>

#include "app/vitrine/run/sampling.h"
#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/plugin/sampler.h"
#include "core/train/device.h"

namespace vitrine::app {

namespace {

constexpr std::int64_t kLiveImages = 4, kLiveSteps = 8;

/// Of the sampler's keys those that make it quick.
Json quickSettings(const Schema& schema) {
  Json settings = Json::object();
  const std::pair<const char*, Json> wanted[] = {{"count", kLiveImages},
                                                 {"batch_size", kLiveImages},
                                                 {"steps", kLiveSteps},
                                                 {"previews", kLiveSteps}};
  for (const auto& [key, value] : wanted) {
    if (schema.find(key) != nullptr) settings[key] = value;
  }
  const Field* solver = schema.find("solver");
  if (solver != nullptr && solver->offers(std::string("euler"))) settings["solver"] = "euler";
  return settings;
}

}  // namespace

train::LiveImages liveImagesOf(const Registry& registry, TaskSession& session) {
  const Sampler* sampler = nullptr;
  try {
    sampler = &samplerFor(registry, session, "");
  } catch (const Error&) {
    return {};  // the run makes nothing, or several samplers fit and none is preferred
  }
  const ItemCard card = sampler->card();
  const Schema schema = settingsOf(card);
  if (schema.find("previews") == nullptr) return {};
  Json settings = quickSettings(schema);
  if (!resolveItem(schema, card.id, settings).empty()) return {};
  return [sampler, config = Config(std::move(settings))](
             TaskSession& shown, const train::Look& look, Results& results) {
    const train::AutocastScope autocast(look.precision, look.device.type());
    sampler->sample({shown, config, look.device, look.step, Json::object()}, results);
  };
}

}  // namespace vitrine::app
