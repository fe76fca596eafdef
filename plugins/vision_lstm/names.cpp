// Names of the weights of a Vision-LSTM in other programs.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/model/weight_source.h"
#include "plugins/vision_lstm/state.h"

namespace vitrine::vision_lstm {

namespace {

using Table = std::vector<std::pair<std::string, std::string>>;  ///< {theirs, ours}

bool replacePrefix(std::string& name, const std::string& from, const std::string& to) {
  if (!name.starts_with(from)) return false;
  name = to + name.substr(from.size());
  return true;
}

/// Our name, and where it is of a block, its number and what follows the block's prefix.
struct OwnName {
  std::string name, rest;
  std::int64_t block = -1;
};

std::vector<OwnName> parsed(const std::vector<std::string>& own, const VisionLstmConfig& config) {
  std::vector<OwnName> all;
  for (const std::string& name : own) {
    OwnName each{name, "", -1};
    for (std::int64_t i = 0; each.block < 0 && i < config.depth; ++i) {
      const std::string prefix = blockPrefix(config, i);
      if (name.starts_with(prefix)) each = {name, name.substr(prefix.size()), i};
    }
    all.push_back(each);
  }
  return all;
}

/// Raw checkpoints of the authors' training code.
std::string trainingName(const OwnName& own) {
  std::string name = own.name, rest = own.rest;
  if (own.block < 0) {
    if (!replacePrefix(name, "norm.", "xlstm.post_blocks_norm.") &&
        !replacePrefix(name, "legacy_norm.", "head.0."))
      replacePrefix(name, "head.", "head.1.");
    return name;
  }
  if (!replacePrefix(rest, "norm.", "xlstm_norm.")) replacePrefix(rest, "layer.", "xlstm.");
  replacePrefix(rest, "xlstm.conv.", "xlstm.conv1d.");
  return "xlstm.blocks." + std::to_string(own.block) + "." + rest;
}

/// The first version of the package: single blocks, and the two last norms by each other's names.
std::string firstName(const OwnName& own) {
  std::string name = own.name, rest = own.rest;
  if (own.block < 0) {
    if (!replacePrefix(name, "norm.", "legacy_norm.")) replacePrefix(name, "legacy_norm.", "norm.");
    return name;
  }
  replacePrefix(rest, "layer.conv.", "layer.conv1d.");
  return "blocks." + std::to_string(own.block) + "." + rest;
}

/// The second version of the package, for models whose blocks stand alone here.
std::string pairName(const OwnName& own) {
  if (own.block < 0) return own.name;
  return "blocks." + std::to_string(own.block / 2) +
         (own.block % 2 == 0 ? ".rowwise_from_top_left." : ".rowwise_from_bot_right.") + own.rest;
}

/// Single blocks with the names that this model would have if they were not pairs.
std::string singleName(const OwnName& own) {
  return own.block < 0 ? own.name : "blocks." + std::to_string(own.block) + "." + own.rest;
}

}  // namespace

void renamePublic(WeightSource& source, const std::vector<std::string>& own,
                  const VisionLstmConfig& config) {
  const std::vector<OwnName> names = parsed(own, config);
  auto most = std::count_if(own.begin(), own.end(),
                            [&](const std::string& name) { return source.has(name); });
  Table best;
  for (const auto nameOfTheirs : {trainingName, firstName, pairName, singleName}) {
    Table table;
    for (const OwnName& each : names) table.emplace_back(nameOfTheirs(each), each.name);
    const auto count = std::count_if(table.begin(), table.end(),
                                     [&](const auto& entry) { return source.has(entry.first); });
    if (count <= most) continue;
    most = count;
    best = std::move(table);
  }
  // Some names change places: all of them stand aside first.
  Table moved;
  for (const auto& [theirs, ours] : best) {
    if (!source.has(theirs)) continue;
    source.rename(theirs, "\n" + ours);
    moved.emplace_back("\n" + ours, ours);
  }
  for (const auto& [aside, ours] : moved) source.rename(aside, ours);
}

std::vector<WeightSign> VisionLstmArchitecture::weightSigns() const {
  return {{"a Vision-LSTM with the names of its training code", {"xlstm.blocks.", "mlstm_cell."}},
          {"a Vision-LSTM of the second version", {"rowwise_from_top_left.", "mlstm_cell."}},
          {"a Vision-LSTM of the first version", {"layer.conv1d.", "mlstm_cell."}},
          {"a Vision-LSTM", {"layer.mlstm_cell."}}};
}

}  // namespace vitrine::vision_lstm
