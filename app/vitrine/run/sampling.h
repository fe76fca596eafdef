// Requests images or texts of a trained run from a sampler.
#pragma once

#include <string>

#include "app/vitrine/run/trained_model.h"

namespace vitrine::app {

/// The name of the sampler that `with` or the key `sampler` of `settings` means, which is taken
/// out; "" where neither is given. The name of a solver (sampler = "heun") stands for its sampler,
/// and sets `solver`. \throws NotFoundError neither a sampler nor a solver has that name
/// \throws ConfigError  two are named
[[nodiscard]] std::string requestedSampler(const Registry& registry, TaskSession& session,
                                           const std::string& with, Json& settings);

/// The sampler of that name; "": the one that the run prefers, or the only one that fits it.
/// \throws NotFoundError  there is none of that name
/// \throws RefusedError  it needs what the model does not offer, or none fits
/// \throws ConfigError  several fit
[[nodiscard]] const Sampler& samplerFor(const Registry& registry, TaskSession& session,
                                        const std::string& asked);

/// Keys of every sampler, and those of the item.
[[nodiscard]] Schema settingsOf(const ItemCard& sampler);

/// \param settings       resolved
/// \param weightsSha256  of the checkpoint's file
[[nodiscard]] SampleRequest sampleRequestFor(const TrainedModel& trained, const store::RunRow& run,
                                             const std::string& weightsSha256, Json settings);

}  // namespace vitrine::app
