#include "plugins/vision_lstm/vision_lstm.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/model/chosen_layers.h"
#include "core/model/weights.h"
#include "core/nn/patch_embed.h"
#include "core/nn/position/position_embedding.h"
#include "plugins/vision_lstm/analyses.h"
#include "plugins/vision_lstm/state.h"

namespace vitrine::vision_lstm {

const Scan& VisionLstm::State::scan(Grid grid, std::int64_t block) {
  const Traversal traversal = traversalOf(config.directions, block);
  const auto [found, isNew] =
      scans_.try_emplace({grid.rows, grid.columns, static_cast<int>(traversal)});
  Scan& scan = found->second;
  if (isNew) {
    scan.grid = scanGrid(grid, traversal);
    if (traversal != Traversal::RowTopLeft) {
      // Class tokens take part in scans that turn the whole sequence round.
      const std::vector<std::int64_t> order =
          scanOrder(config.classTokens() == 0 ? grid : Grid{1, grid.count() + config.classTokens()},
                    traversal);
      scan.order = at::tensor(order, at::kLong);
      scan.inverse = at::tensor(inverseOf(order), at::kLong);
    }
  }
  if (scan.order.defined() && scan.order.device() != device()) {
    scan.order = scan.order.to(device());
    scan.inverse = scan.inverse.to(device());
  }
  return scan;
}

at::Tensor VisionLstm::State::positionsOf(Grid grid) const {
  const at::Tensor& table = network->positions;
  if (table.size(1) == grid.rows && table.size(2) == grid.columns) return table;
  const Grid from{table.size(1), table.size(2)};
  return nn::resizePositions(table.flatten(1, 2), nn::ClassToken::None, {from.rows, from.columns},
                             {grid.rows, grid.columns}, nn::ResizeRule::Bicubic)
      .unflatten(1, {grid.rows, grid.columns});
}

at::Tensor VisionLstm::State::withClassTokens(const at::Tensor& patches) const {
  if (!network->classTokens.defined()) return patches;
  const std::int64_t count = patches.size(1), half = (count + 1) / 2;
  const auto token = [&](std::int64_t index) {
    return network->classTokens.narrow(1, index, 1)
        .expand({patches.size(0), 1, patches.size(2)})
        .to(patches.scalar_type());
  };
  const at::Tensor before = patches.narrow(1, 0, half),
                   after = patches.narrow(1, half, count - half);
  switch (config.pooling) {
    case Pooling::ClassMiddle:
      return at::cat({before, token(0), after}, 1);
    case Pooling::ClassBilateral:
      return at::cat({token(0), patches, token(1)}, 1);
    default:
      return at::cat({token(0), before, token(1), after, token(2)}, 1);
  }
}

at::Tensor VisionLstm::State::withoutClassTokens(const at::Tensor& tokens, Grid grid) const {
  const std::int64_t count = grid.count(), half = (count + 1) / 2;
  switch (config.pooling) {
    case Pooling::ClassMiddle:
      return at::cat({tokens.narrow(1, 0, half), tokens.narrow(1, half + 1, count - half)}, 1);
    case Pooling::ClassBilateral:
      return tokens.narrow(1, 1, count);
    case Pooling::ClassAll:
      return at::cat({tokens.narrow(1, 1, half), tokens.narrow(1, half + 2, count - half)}, 1);
    default:
      return tokens;
  }
}

at::Tensor VisionLstm::State::places(Grid grid) const {
  const at::Tensor rows = at::arange(grid.rows, at::kLong).repeat_interleave(grid.columns);
  const at::Tensor columns = at::arange(grid.columns, at::kLong).repeat({grid.rows});
  const at::Tensor patches = at::stack({rows, columns}, 1);
  if (config.classTokens() == 0) return patches;
  const std::int64_t count = grid.count(), half = (count + 1) / 2;
  const at::Tensor outside = at::full({1, 2}, -1, at::kLong), before = patches.narrow(0, 0, half),
                   after = patches.narrow(0, half, count - half);
  switch (config.pooling) {
    case Pooling::ClassMiddle:
      return at::cat({before, outside, after});
    case Pooling::ClassBilateral:
      return at::cat({outside, patches, outside});
    default:
      return at::cat({outside, before, outside, after, outside});
  }
}

/// Patches of float32 images on the CPU are summed in float64. These sums, of hundreds of pixels,
/// are the longest of the model. Blocks whose divisors lie near their bound amplify what they lose
/// by some hundred times. The sums are about a fiftieth of its work.
at::Tensor VisionLstm::State::project(const at::Tensor& images) const {
  const nn::Conv2d& projection = *network->projection;
  if (!images.is_cpu() || images.scalar_type() != at::kFloat ||
      projection.weight.scalar_type() != at::kFloat || at::autocast::is_autocast_enabled(at::kCPU))
    return projection.forward(images);
  return at::conv2d(images.to(at::kDouble), projection.weight.to(at::kDouble),
                    projection.bias.to(at::kDouble), config.stride)
      .to(at::kFloat);
}

at::Tensor VisionLstm::State::embed(const at::Tensor& images, Grid& grid) const {
  const auto refuse = [&] {
    nn::refuseImages(images, "cannot be cut into patches of", config.inChannels, config.patch);
  };
  if (images.dim() != 4 || images.size(1) != config.inChannels) refuse();
  for (const std::size_t side : {0U, 1U}) {
    const std::int64_t over = images.size(static_cast<std::int64_t>(side) + 2) - config.patch[side];
    if (over < 0 || over % config.stride[side] != 0) refuse();
  }
  const at::Tensor patches = project(images);
  grid = {patches.size(2), patches.size(3)};
  at::Tensor x = patches.flatten(2).transpose(1, 2);
  if (network->positions.defined()) x = x + positionsOf(grid).flatten(1, 2);
  return withClassTokens(x.contiguous());
}

at::Tensor VisionLstm::State::run(at::Tensor x, Grid grid, const Listener& listener) {
  const auto forward = [&](std::int64_t i) {
    const Scan& scan = this->scan(grid, i);
    if (listener.before) listener.before(i, x, scan);
    Internals internals;
    if (listener.within) {
      internals = [&, i](const std::string& name, const at::Tensor& value) {
        listener.within(i, name, value);
      };
      const at::Tensor all = at::arange(x.size(1), at::kLong);
      listener.within(i, "scan_order", scan.order.defined() ? scan.order : all);
    }
    return network->blocks[static_cast<std::size_t>(i)]->forward(x, scan, generator, internals);
  };
  const auto tell = [&](std::int64_t i) {
    if (listener.after) listener.after(i, x);
    if (blockTap) blockTap(i, x);
  };
  for (std::int64_t i = 0; i < config.depth; ++i) {
    const nn::Stream first = forward(i);
    if (config.concurrency == Concurrency::Parallel) {
      const nn::Stream second = forward(++i);
      x = first.sum() + (second.branch.defined() ? second.branch : second.x - x);
    } else {
      x = first.sum();
    }
    tell(i);
  }
  return x;
}

at::Tensor VisionLstm::State::pool(const at::Tensor& tokens, Grid grid) const {
  const std::int64_t count = tokens.size(1), half = (grid.count() + 1) / 2;
  const auto at = [&](std::int64_t index) { return tokens.select(1, index); };
  at::Tensor pooled;
  switch (config.pooling) {
    case Pooling::BilateralConcat:
    case Pooling::ClassBilateral:
      pooled = at::cat({at(0), at(count - 1)}, 1);
      break;
    case Pooling::BilateralMean:
      pooled = (at(0) + at(count - 1)) / 2;
      break;
    case Pooling::Average:
      pooled = tokens.mean(1);
      break;
    case Pooling::CentreAverage: {
      const std::int64_t side = config.centre;
      pooled = tokens.unflatten(1, {grid.rows, grid.columns})
                   .narrow(1, (grid.rows - side) / 2, side)
                   .narrow(2, (grid.columns - side) / 2, side)
                   .mean({1, 2});
      break;
    }
    case Pooling::ClassMiddle:
      pooled = at(half);
      break;
    case Pooling::ClassAll:
      pooled = at::cat({at(0), at(half + 1), at(count - 1)}, 1);
      break;
    case Pooling::Tokens:
      return tokens;
    case Pooling::Image:
      return tokens.transpose(1, 2).unflatten(2, {grid.rows, grid.columns});
  }
  return network->headNorm ? network->headNorm->forward(pooled) : pooled;
}

VisionLstm::VisionLstm(const VisionLstmConfig& config, std::uint64_t seed)
    : state_(std::make_unique<State>()) {
  state_->config = config;
  state_->network = std::make_shared<Network>(config);
  initialiseNetwork(*state_->network, config, seed);
  state_->generator = at::detail::createCPUGenerator(seed);
}
VisionLstm::~VisionLstm() = default;

const VisionLstmConfig& VisionLstm::config() const noexcept { return state_->config; }
torch::nn::Module& VisionLstm::module() { return *state_->network; }
void VisionLstm::setGenerator(const at::Generator& generator) { state_->generator = generator; }
std::vector<BlockCost> VisionLstm::cost() const { return costOf(*state_->network, state_->config); }

void VisionLstm::transform(WeightSource& source) {
  constexpr const char* kPositions = "pos_embed.embed";
  std::vector<std::string> own;
  for (const auto& [name, tensor] : namedTensors(*this)) own.push_back(name);
  renamePublic(source, own, state_->config);
  const at::Tensor& table = state_->network->positions;
  const auto rule = nn::resizeRule(source.resizePositions());
  if (!rule || !table.defined() || !source.has(kPositions)) return;
  const WeightSource::Shape theirs = source.shape(kPositions);
  if (theirs.size() != 4 || theirs[0] != 1 || theirs[3] != table.size(3) ||
      theirs == table.sizes().vec())
    return;
  const std::array<std::int64_t, 2> from{theirs[1], theirs[2]}, to{table.size(1), table.size(2)};
  source.resize(kPositions, table.sizes().vec(), [from, to, way = *rule](const at::Tensor& value) {
    return nn::resizePositions(value.flatten(1, 2), nn::ClassToken::None, from, to, way)
        .unflatten(1, {to[0], to[1]});
  });
}

std::vector<OfferedCapability> VisionLstm::capabilities() {
  std::vector<OfferedCapability> all =
      offersOf<TokenEncoder, FeaturePyramid, TensorProgram, MemorySource>(*this);
  if (state_->config.classes > 0)
    all.insert(all.begin(), {ImageClassifier::kId, static_cast<ImageClassifier*>(this)});
  return all;
}

Tokens VisionLstm::embed(const at::Tensor& images) {
  const VisionLstmConfig& c = state_->config;
  if (images.dim() != 4 || images.size(2) != c.imageSize[0] || images.size(3) != c.imageSize[1])
    nn::refuseImages(images, "do not fit a model of", c.inChannels, c.imageSize);
  Grid grid;
  const at::Tensor values = state_->embed(images, grid);
  return {values, state_->places(grid)};
}

at::Tensor VisionLstm::encode(const Tokens& tokens, const at::Tensor& mask) {
  State& s = *state_;
  if (mask.defined())
    throw RefusedError("a Vision-LSTM takes no mask: its scans are causal by themselves");
  if (tokens.values.dim() != 3 || tokens.values.size(1) != s.config.tokens() ||
      tokens.positions.dim() != 2 ||
      !at::equal(tokens.positions.cpu(), s.places(s.config.grid()))) {
    throw RefusedError("a Vision-LSTM scans whole images of " + std::to_string(s.config.tokens()) +
                       " tokens, not some of their patches; give it all of embed()");
  }
  return s.network->norm->forward(s.run(tokens.values, s.config.grid(), {}));
}

at::Tensor VisionLstm::features(const at::Tensor& images) {
  return state_->pool(encode(embed(images), {}), state_->config.grid());
}
at::Tensor VisionLstm::head(const at::Tensor& features) {
  if (!state_->network->head)
    throw RefusedError(
        "this Vision-LSTM has no classifier; build it with num_classes of 1 or more");
  return state_->network->head->forward(features);
}
at::Tensor VisionLstm::classify(const at::Tensor& images) { return head(features(images)); }

void VisionLstm::setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> tap) {
  state_->blockTap = std::move(tap);
}

std::vector<FeaturePyramid::Level> VisionLstm::levels(
    const std::vector<std::int64_t>& blocks) const {
  const VisionLstmConfig& c = state_->config;
  for (const std::int64_t block : blocks) {
    const bool isHidden = c.concurrency == Concurrency::Parallel && block % 2 == 0;
    if (block < 0 || block >= c.depth || isHidden)
      throw ConfigError("there is no stream after block " + std::to_string(block) + " of " +
                        std::to_string(c.depth) +
                        (isHidden ? "; blocks run in pairs, take odd ones" : ", from 0"));
  }
  return std::vector<Level>(std::max<std::size_t>(1, blocks.size()), {c.width, c.stride[0]});
}

std::vector<at::Tensor> VisionLstm::pyramid(const at::Tensor& images,
                                            const std::vector<std::int64_t>& blocks) {
  static_cast<void>(levels(blocks));
  State& s = *state_;
  const std::vector<std::int64_t> wanted =
      blocks.empty() ? std::vector<std::int64_t>{s.config.depth - 1} : blocks;
  std::vector<at::Tensor> maps(wanted.size());
  Grid grid;
  const at::Tensor x = s.embed(images, grid);
  Listener listener;
  listener.after = [&](std::int64_t block, const at::Tensor& stream) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] != block) continue;
      maps[i] = s.withoutClassTokens(stream, grid)
                    .transpose(1, 2)
                    .unflatten(2, {grid.rows, grid.columns});
    }
  };
  static_cast<void>(s.run(x, grid, listener));
  return maps;
}

kernels::MlstmOptions VisionLstm::memoryOptions() const { return state_->config.cell; }

std::vector<MemoryRecord> VisionLstm::memories(const at::Tensor& images,
                                               const std::vector<std::int64_t>& layers) {
  State& s = *state_;
  for (const std::int64_t layer : layers) {
    if (layer < 0 || layer >= s.config.depth)
      throw ConfigError("there is no layer " + std::to_string(layer) + "; this model has " +
                        std::to_string(s.config.depth) + ", from 0");
  }
  std::vector<MemoryRecord> records;
  const Tokens tokens = embed(images);
  Listener listener;
  listener.before = [&](std::int64_t block, const at::Tensor& stream, const Scan& scan) {
    if (!isChosenLayer(layers, block)) return;
    const CellInput in =
        s.network->blocks[static_cast<std::size_t>(block)]->cellInput(stream, scan);
    records.push_back({block, in.cell,
                       scan.order.defined() ? tokens.positions.index_select(0, scan.order.cpu())
                                            : tokens.positions});
  };
  static_cast<void>(s.run(tokens.values, s.config.grid(), listener));
  return records;
}

ItemCard VisionLstmArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "vision_lstm", "Vision-LSTM (ViL)");
  card.paper =
      "Alkin et al. 2024, \"Vision-LSTM: xLSTM as Generic Vision Backbone\", arXiv:2406.04303";
  card.doc = "Matrix memories that scan an image in turns from its corners, linear in its patches";
  card.offers = {ImageClassifier::kId, TokenEncoder::kId, FeaturePyramid::kId, TensorProgram::kId,
                 MemorySource::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> VisionLstmArchitecture::build(const Config& config,
                                                     std::uint64_t seed) const {
  return std::make_shared<VisionLstm>(readConfig(config), seed);
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<VisionLstmArchitecture>());
  registry.add(makeMemoryLength());
  registry.add(makeMemoryWeights());
  registry.add(makeMemoryRank());
  registry.add(makeTokenCost());
}

}  // namespace vitrine::vision_lstm
