// The recipe of an image: what of it is taken over, and the command that makes the image again.
#pragma once

#include <QString>
#include <cstdint>
#include <filesystem>

#include "core/base/json.h"
#include "core/config/schema.h"
#include "ui/playground/drawing.h"
#include "ui/workbench/sampling/recipe_facts.h"

namespace vitrine::ui {

enum class Recall {
  All,      ///< every setting
  Seed,     ///< of the image itself
  Prompt,   ///< the subject: prompt, image and class
  AllButSeed,
};
/// `now` with the recalled settings of an image. \param cell  settings of the cell that the image
///         is of
[[nodiscard]] SampleSettings recalled(const SampleSettings& now, const SampleSettings& cell,
                                      std::uint64_t seed, Recall what);

/// `vitrine sample ...` for the settings, as one line of a shell. \param schema  of the sampler,
/// whose defaults are left out
[[nodiscard]] QString sampleCommand(const SampleSettings& settings, const Schema& schema,
                                    const std::filesystem::path& database);

}  // namespace vitrine::ui
