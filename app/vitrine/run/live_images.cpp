#include "app/vitrine/run/live_images.h"

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/vitrine/run/sampling.h"
#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/plugin/sampler.h"
#include "core/plugin/text_session.h"
#include "core/train/device.h"
#include "core/train/observe.h"

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

/// Captions of the run's probe samples; none where its samples have no words.
std::vector<std::string> probeCaptions(TaskSession& session) {
  const auto* words = dynamic_cast<const TextSession*>(&session);
  if (words == nullptr || words->texts().tokenizer == nullptr) return {};
  const Split split = train::lastSplit(session);
  const Batch batch = session.read(split, session.chooseSamples(split, kLiveImages));
  const auto found = batch.ragged.find("tokens");
  if (found == batch.ragged.end()) return {};
  const at::Tensor tokens = found->second.values.to(at::kCPU, at::kLong).contiguous();
  const at::Tensor ends = found->second.offsets.to(at::kCPU).contiguous();
  const auto* token = tokens.const_data_ptr<std::int64_t>();
  const auto* end = ends.const_data_ptr<std::int64_t>();
  std::vector<std::string> captions;
  for (std::int64_t i = 0; i < batch.size(); ++i)
    captions.push_back(
        words->texts().tokenizer->decode(text::TokenIds(token + end[i], token + end[i + 1])));
  return captions;
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
  const bool hasPrompt = schema.find("prompt") != nullptr;
  if (hasPrompt) settings["count"] = 1;
  if (!resolveItem(schema, card.id, settings).empty()) return {};
  // Read at the first look: a run without a watcher does not pay for it.
  auto captions = std::make_shared<std::optional<std::vector<std::string>>>();
  return [sampler, settings, hasPrompt, captions](TaskSession& shown, const train::Look& look,
                                                  Results& results) {
    const train::AutocastScope autocast(look.precision, look.device.type());
    const auto draw = [&](const Json& all) {
      sampler->sample({shown, Config(all), look.device, look.step, Json::object()}, results);
    };
    if (!hasPrompt) return draw(settings);
    if (!*captions) *captions = probeCaptions(shown);
    Json one = settings;
    for (std::size_t i = 0; i < (*captions)->size(); ++i) {
      one["prompt"] = (**captions)[i];
      one["seed"] = settings.at("seed").get<std::int64_t>() + static_cast<std::int64_t>(i);
      draw(one);
    }
  };
}

}  // namespace vitrine::app
