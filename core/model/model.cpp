#include "core/model/model.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/exp.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/model/capabilities.h"
#include "core/model/parameter_layers.h"

namespace vitrine {

Capability::~Capability() = default;
LanguageModel::Cache::~Cache() = default;

at::Tensor LatentCodec::Latent::draw(const at::Tensor& noise) const {
  return logVariance.defined() ? mean + (0.5 * logVariance).exp() * noise : mean;
}

Model::~Model() = default;
void Model::transform(WeightSource&) {}
std::vector<OfferedCapability> Model::capabilities() { return {}; }

namespace {

/// "stages.1.blocks.3" of "stages.1.blocks.3.norm.weight"; "" where the name is of no block.
std::string blockOf(const std::string& name) {
  for (const std::string_view word : {"blocks.", "layers."}) {
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      if (at != 0 && name[at - 1] != '.') continue;
      const std::size_t first = at + word.size();
      std::size_t end = first;
      while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
      if (end > first && end < name.size() && name[end] == '.') return name.substr(0, end);
    }
  }
  return "";
}

}  // namespace

std::vector<std::int64_t> layersOf(const std::vector<std::string>& names) {
  std::vector<std::int64_t> layers(names.size(), 0);
  std::map<std::string, std::int64_t> blocks;
  std::size_t behind = 0;  // the first place behind the last block
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string block = blockOf(names[i]);
    const auto begun = static_cast<std::int64_t>(blocks.size());
    if (block.empty()) {
      layers[i] = begun == 0 ? 0 : begun + 1;
      continue;
    }
    layers[i] = blocks.try_emplace(block, begun + 1).first->second;
    behind = i + 1;
  }
  const auto depth = static_cast<std::int64_t>(blocks.size());
  for (std::size_t i = behind; i < names.size(); ++i) layers[i] = depth == 0 ? 0 : depth + 1;
  return layers;
}

std::vector<std::pair<std::string, ParameterInfo>> Model::parameterInfo() {
  std::vector<std::pair<std::string, ParameterInfo>> all;
  std::vector<std::string> names;
  for (const auto& item : module().named_parameters()) {
    const std::string& name = item.key();
    const bool isTable = name.find("pos_embed") != std::string::npos ||
                         name.find("cls_token") != std::string::npos ||
                         name.ends_with("relative_position_bias_table");
    ParameterInfo info{.decays = item.value().dim() > 1 && !isTable};
    names.push_back(name);
    all.emplace_back(name, info);
  }
  const std::vector<std::int64_t> layers = layersOf(names);
  const std::int64_t last = layers.empty() ? 0 : *std::max_element(layers.begin(), layers.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].second.layer = layers[i];
    all[i].second.layers = last + 1;
  }
  return all;
}

std::vector<Scheduled::Occurrence> Scheduled::occurrences() const { return {}; }
Json Scheduled::scheduledState() const { return {}; }
void Scheduled::restoreScheduled(const Json&) {}

Capability* capabilityOf(Model& model, std::string_view id) {
  for (const OfferedCapability& offered : model.capabilities()) {
    if (offered.id == id) return offered.capability;
  }
  return nullptr;
}

std::vector<std::string> capabilitiesOf(Model& model) {
  std::vector<std::string> names;
  for (const OfferedCapability& offered : model.capabilities()) names.emplace_back(offered.id);
  return names;
}

Capability& requireCapability(Model& model, std::string_view id, const std::string& asker) {
  if (Capability* found = capabilityOf(model, id)) return *found;
  const std::string names = joined(capabilitiesOf(model));
  throw ConfigError(asker + " needs a model that offers " + std::string(id) + "; this one offers " +
                    (names.empty() ? "nothing" : names));
}

}  // namespace vitrine
