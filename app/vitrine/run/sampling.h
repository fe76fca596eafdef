// How a sampler is asked for images or texts of a trained run.
#pragma once

#include <string>

#include "app/vitrine/run/trained_model.h"

namespace vitrine::app {

/// The sampler of that name; "": the only one that the model has all for.
/// \throws NotFoundError  there is none of that name  \throws RefusedError  it needs what the model
/// does not offer, or none fits  \throws ConfigError  several fit
[[nodiscard]] const Sampler& samplerFor(const Registry& registry, Model& model,
                                        const std::string& asked);

/// What every sampler takes and the item's own.
[[nodiscard]] Schema settingsOf(const ItemCard& sampler);

/// \param settings       resolved
/// \param weightsSha256  of the checkpoint's file
[[nodiscard]] SampleRequest sampleRequestFor(const TrainedModel& trained, const store::RunRow& run,
                                             const std::string& use,
                                             const std::string& weightsSha256, Json settings);

}  // namespace vitrine::app
