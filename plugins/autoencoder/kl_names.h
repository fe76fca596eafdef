// Names of the weights of Stable Diffusion's autoencoder in public files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/weight_source.h"
#include "core/plugin/architecture.h"

namespace vitrine::autoencoder {

/// Gives the tensors of a file the names of diffusers' AutoencoderKL. Reads those of CompVis's code
/// and of older diffusers, also below `state_dict.` and `first_stage_model.`; a 1x1 convolution of
/// the attention becomes a matrix. Discriminator (`loss.*`) and averages (`model_ema.*`) are left
/// out.
/// \param own     the model's names
/// \param levels  of its encoder
void renameKl(WeightSource& source, const std::vector<std::string>& own, std::int64_t levels);

/// Files that are one of these, or are taken for one.
[[nodiscard]] std::vector<WeightSign> klSigns();

}  // namespace vitrine::autoencoder
