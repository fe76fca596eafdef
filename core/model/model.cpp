#include "core/model/model.h"

#include <torch/nn/module.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/capabilities.h"

namespace vitrine {

Capability::~Capability() = default;
LanguageModel::Cache::~Cache() = default;

Model::~Model() = default;
std::vector<std::vector<WeightRename>> Model::otherNames() const { return {}; }
at::Tensor Model::adapt(const std::string&, const at::Tensor&, const std::string&) const {
  return {};
}
std::vector<OfferedCapability> Model::capabilities() { return {}; }

namespace {

/// N of "blocks.N." or "layers.N." anywhere in a name.
std::optional<std::int64_t> blockOf(std::string_view name) {
  for (const std::string_view list : {"blocks.", "layers."}) {
    const std::size_t at = name.find(list);
    if (at == std::string_view::npos || (at > 0 && name[at - 1] != '.')) continue;
    const char* first = name.data() + at + list.size();
    const char* last = name.data() + name.size();
    std::int64_t block = 0;
    const auto read = std::from_chars(first, last, block);
    if (read.ec == std::errc() && read.ptr != last && *read.ptr == '.') return block;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, ParameterInfo>> Model::parameterInfo() {
  std::vector<std::pair<std::string, ParameterInfo>> all;
  std::int64_t depth = 0;
  const auto parameters = module().named_parameters();
  for (const auto& item : parameters) {
    const std::string& name = item.key();
    const bool isTable =
        name.find("pos_embed") != std::string::npos || name.find("cls_token") != std::string::npos;
    ParameterInfo info;
    info.decays = item.value().dim() > 1 && !isTable;
    const std::optional<std::int64_t> block = blockOf(name);
    // Tables belong to the embedding, wherever they are registered.
    info.layer = block ? *block + 1 : isTable || depth == 0 ? 0 : -1;
    depth = std::max(depth, block ? *block + 1 : 0);
    all.emplace_back(name, info);
  }
  for (auto& [name, info] : all) {
    info.layers = depth + 2;
    if (info.layer < 0) info.layer = depth + 1;
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
  std::string names;
  for (const std::string& name : capabilitiesOf(model)) names += (names.empty() ? "" : ", ") + name;
  throw ConfigError(asker + " needs a model that offers " + std::string(id) + "; this one offers " +
                    (names.empty() ? "nothing" : names));
}

}  // namespace vitrine
