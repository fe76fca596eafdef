#include "plugins/autoencoder/kl_names.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace vitrine::autoencoder {

namespace {

using Words = std::vector<std::pair<std::string, std::string>>;  // ours, theirs

std::string replaced(std::string name, const Words& words) {
  for (const auto& [ours, theirs] : words) {
    const std::size_t at = name.find(ours);
    if (at != std::string::npos) name.replace(at, ours.size(), theirs);
  }
  return name;
}

/// CompVis counts the levels of the decoder from the finest.
std::string compVisName(std::string name, std::int64_t levels) {
  static const std::string kUp = "decoder.up_blocks.";
  if (name.starts_with(kUp)) {
    const std::size_t end = name.find('.', kUp.size());
    const std::int64_t level = std::stoll(name.substr(kUp.size(), end - kUp.size()));
    name = "decoder.up." + std::to_string(levels - 1 - level) + name.substr(end);
  }
  return replaced(std::move(name), {{"encoder.down_blocks.", "encoder.down."},
                                    {".mid_block.resnets.0.", ".mid.block_1."},
                                    {".mid_block.resnets.1.", ".mid.block_2."},
                                    {".mid_block.attentions.0.", ".mid.attn_1."},
                                    {".attn_1.group_norm.", ".attn_1.norm."},
                                    {".attn_1.to_q.", ".attn_1.q."},
                                    {".attn_1.to_k.", ".attn_1.k."},
                                    {".attn_1.to_v.", ".attn_1.v."},
                                    {".attn_1.to_out.0.", ".attn_1.proj_out."},
                                    {".resnets.", ".block."},
                                    {".downsamplers.0.", ".downsample."},
                                    {".upsamplers.0.", ".upsample."},
                                    {".conv_shortcut.", ".nin_shortcut."},
                                    {".conv_norm_out.", ".norm_out."}});
}

std::string olderName(std::string name) {
  return replaced(std::move(name), {{".to_q.", ".query."},
                                    {".to_k.", ".key."},
                                    {".to_v.", ".value."},
                                    {".to_out.0.", ".proj_attn."}});
}

/// Takes `prefix` off all names that begin with it.
void strip(WeightSource& source, const std::string& prefix) {
  for (const std::string& name : source.names()) {
    if (name.starts_with(prefix)) source.rename(name, name.substr(prefix.size()));
  }
}

}  // namespace

void renameKl(WeightSource& source, const std::vector<std::string>& own, std::int64_t levels) {
  strip(source, "state_dict.");
  strip(source, "first_stage_model.");
  for (const std::string& name : source.names()) {
    if (name.starts_with("loss.") || name.starts_with("model_ema.")) source.drop(name);
  }
  std::vector<WeightRename> compVis, older;
  for (const std::string& name : own) {
    compVis.push_back({compVisName(name, levels), name, 0, 1});
    older.push_back({olderName(name), name, 0, 1});
  }
  renameByBestTable(source, own, {compVis, older});
  for (const std::string& name : own) {
    if (name.find(".attentions.") == std::string::npos || !source.has(name)) continue;
    const WeightSource::Shape shape = source.shape(name);
    if (shape.size() != 4 || shape[2] != 1 || shape[3] != 1) continue;
    source.change(name, {shape[0], shape[1]},
                  [](const at::Tensor& kernel) { return kernel.flatten(1); });
  }
}

std::vector<WeightSign> klSigns() {
  return {{"Stable Diffusion's autoencoder with diffusers' names",
           {"encoder.down_blocks.0.resnets.", "decoder.up_blocks.0.resnets."}},
          {"Stable Diffusion's autoencoder with CompVis's names",
           {"encoder.down.0.block.", "decoder.up.0.block."}}};
}

}  // namespace vitrine::autoencoder
