#include "core/nn/vision_transformer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/chosen_layers.h"
#include "core/model/weight_source.h"
#include "core/nn/drop_path.h"
#include "core/nn/modules.h"
#include "core/nn/patch_embed.h"
#include "core/nn/position/relative_bias.h"
#include "core/nn/position/rope.h"

namespace vitrine::nn {

namespace {

/// The default initialisation of an encoder.
std::optional<Init> smallInit(const std::string& /*name*/, const at::Tensor& parameter) {
  if (parameter.dim() < 2) return std::nullopt;
  return truncatedNormalInit(0.02, 2);
}

/// The side of a square of so many places.
std::optional<std::int64_t> squareSide(std::int64_t places) {
  if (places < 1) return std::nullopt;
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(places))));
  return side * side == places ? std::optional(side) : std::nullopt;
}

void check(const VisionTransformerConfig& c) {
  const auto positive = [](const char* key, std::int64_t value) {
    if (value < 1)
      throw ConfigError(std::string(key) + " is " + std::to_string(value) +
                        "; it must be at least 1");
  };
  positive("in_channels", c.inChannels);
  positive("num_classes", c.classes);
  positive("width", c.width);
  positive("depth", c.depth);
  positive("heads", c.heads);
  positive("mlp_width", c.mlpWidth);
  for (std::size_t side : {0U, 1U}) {
    positive("image_size", c.imageSize[side]);
    positive("patch_size", c.patchSize[side]);
  }
  if (c.imageSize[0] % c.patchSize[0] != 0 || c.imageSize[1] % c.patchSize[1] != 0) {
    throw ConfigError("patch_size " + formatSides(c.patchSize) + " does not divide image_size " +
                      formatSides(c.imageSize) + "; each patch must lie wholly inside the image");
  }
  if (c.width % c.heads != 0) {
    throw ConfigError("heads " + std::to_string(c.heads) + " does not divide width " +
                      std::to_string(c.width));
  }
  if (c.ropeTheta && (c.width / c.heads) % 2 != 0) {
    throw ConfigError("RoPE turns channel pairs, and width " + std::to_string(c.width) + " over " +
                      std::to_string(c.heads) + " heads leaves " +
                      std::to_string(c.width / c.heads) +
                      " channels each; make that even or switch rope off");
  }
  if (c.ropeTheta && c.rotation) throw ConfigError("an encoder turns by one kind of RoPE, not two");
  if (c.positions == PositionKind::SinCos && c.width % 4 != 0) {
    throw ConfigError("pos_embed = \"sincos\" needs a width that is a multiple of 4, not " +
                      std::to_string(c.width));
  }
  if (c.pool == Pool::ClassToken && c.classToken == ClassToken::None)
    throw ConfigError("pool = \"cls\" needs a class token; set class_token, or pool = \"gap\"");
}

}  // namespace

struct VisionTransformer::State {
  VisionTransformerConfig config;
  std::array<std::int64_t, 2> grid{};
  std::shared_ptr<Encoder> encoder;
  at::Generator generator;
  std::shared_ptr<const AttentionTap> attentionTap;
  std::function<void(std::int64_t, const at::Tensor&)> blockTap;

  // Made for the last device and length seen, so that a training step makes nothing again.
  at::Tensor positions;  ///< [tokens, 2] int64 on the CPU, of the whole image
  at::Tensor angles;     ///< of the whole image, on the device of the last use
  at::Tensor relative;   ///< rows of tables of relative positions, of the whole image, on that, too

  [[nodiscard]] at::Device device() const { return encoder->head->weight.device(); }
  [[nodiscard]] std::int64_t patches() const { return grid[0] * grid[1]; }
  [[nodiscard]] std::int64_t classRow(std::array<std::int64_t, 2> of) const {
    return config.classToken == ClassToken::Last ? of[0] * of[1] : 0;
  }
  [[nodiscard]] std::int64_t firstPatch() const {
    return config.classToken == ClassToken::First ? 1 : 0;
  }

  /// Of all tokens of an image, [tokens, 2] int64 on the CPU.
  [[nodiscard]] at::Tensor positionsOf(std::array<std::int64_t, 2> of) const {
    const at::Tensor rows = at::arange(of[0], at::kLong).repeat_interleave(of[1]);
    const at::Tensor columns = at::arange(of[1], at::kLong).repeat({of[0]});
    const at::Tensor all = at::stack({rows, columns}, 1);
    const at::Tensor outside = at::full({1, 2}, -1, at::kLong);
    if (config.classToken == ClassToken::First) return at::cat({outside, all}, 0);
    if (config.classToken == ClassToken::Last) return at::cat({all, outside}, 0);
    return all;
  }

  /// Index in the whole sequence of tokens at `places` [.., tokens, 2], on their device.
  [[nodiscard]] at::Tensor sequenceIndex(const at::Tensor& places,
                                         std::array<std::int64_t, 2> of) const {
    const at::Tensor whole = places.to(at::kLong), rows = whole.select(-1, 0);
    const at::Tensor raster = rows * of[1] + whole.select(-1, 1) + firstPatch();
    return at::where(rows < 0, at::full_like(raster, classRow(of)), raster);
  }

  [[nodiscard]] at::Tensor madeAngles(const at::Tensor& places,
                                      std::array<std::int64_t, 2> of) const {
    if (config.rotation) {
      const at::Tensor made = config.rotation->angles(places, of);
      return made.defined() ? made.to(device()) : made;
    }
    RopeSpectrum spectrum{.channels = config.width / config.heads, .theta = *config.ropeTheta};
    return ropeAngles(sequenceIndex(places, of), spectrum).to(device());
  }

  [[nodiscard]] at::Tensor anglesOf(const at::Tensor& places, std::array<std::int64_t, 2> of) {
    if (!config.ropeTheta && !config.rotation) return {};
    if (!places.is_same(positions)) return madeAngles(places, of);
    if (!angles.defined() || angles.device() != device()) angles = madeAngles(places, of);
    return angles;
  }

  /// Rows of the tables of relative positions; undefined where there are none.
  [[nodiscard]] at::Tensor relativeOf(const at::Tensor& places) {
    if (!config.relativeBias) return {};
    if (!places.is_same(positions)) return relativeIndex(places, grid).to(device());
    if (!relative.defined() || relative.device() != device())
      relative = relativeIndex(places, grid).to(device());
    return relative;
  }

  /// The mask between tokens at `places`: of the whole image's rows and columns, those of the
  /// tokens. [tokens, tokens], or [batch, 1, tokens, tokens].
  [[nodiscard]] at::Tensor maskBetween(const at::Tensor& places, std::array<std::int64_t, 2> of) {
    const std::int64_t tokens = of[0] * of[1] + (config.classToken == ClassToken::None ? 0 : 1);
    const at::Tensor whole = config.mask->factor(tokens, device());
    if (places.is_same(positions)) return whole;
    const at::Tensor index = sequenceIndex(places, of).to(device());
    const at::Tensor seen = whole.index({index.unsqueeze(-1), index.unsqueeze(-2)});
    return seen.dim() == 3 ? seen.unsqueeze(1) : seen;
  }

  static void checkPlaces(const Tokens& tokens) {
    const at::Tensor &values = tokens.values, &places = tokens.positions;
    const bool isShared = places.dim() == 2, isOfSample = places.dim() == 3;
    if (values.dim() == 3 && (isShared || (isOfSample && places.size(0) == values.size(0))) &&
        places.size(-1) == 2 && places.size(-2) == values.size(1))
      return;
    throw ShapeError("positions " + c10::str(places.sizes()) + " do not fit tokens " +
                     c10::str(values.sizes()) + "; they are [tokens, 2] or [batch, tokens, 2]");
  }

  BlockCall callOf(const Tokens& tokens, const at::Tensor& mask, std::array<std::int64_t, 2> of) {
    checkPlaces(tokens);
    BlockCall call;
    call.angles = anglesOf(tokens.positions, of);
    call.generator = generator;
    call.additive = mask;
    if (config.mask) {
      const at::Tensor seen = maskBetween(tokens.positions, of);
      if (config.mask->mode() == MaskMode::Multiplicative) {
        call.multiplicative = seen;
      } else {
        const at::Tensor logs = seen.log();
        call.additive = mask.defined() ? mask + logs : logs;
      }
    }
    return call;
  }

  [[nodiscard]] bool isTapped(std::int64_t layer) const {
    return attentionTap && isChosenLayer(attentionTap->layers, layer);
  }

  /// Hands one layer's probabilities to the tap.
  void report(std::int64_t layer, const at::Tensor& places, const AttentionOutput& output) const {
    AttentionRecord record;
    record.layer = layer;
    record.weights =
        attentionTap->kind == AttentionTap::Kind::Softmax ? output.softmax : output.effective;
    record.queryPositions = record.keyPositions = places;
    attentionTap->receive(record);
  }

  /// What one pass through the blocks is asked for.
  struct Pass {
    at::Tensor mask = {};
    /// The one token wanted after the last block, or -1 for all; ignored where a tap wants to see
    /// all.
    std::int64_t row = -1;
    std::array<std::int64_t, 2> grid{};  ///< of the images
    std::int64_t depth = 0;              ///< blocks
    std::function<void(std::int64_t, const at::Tensor&)> seen = {};
  };
  [[nodiscard]] Pass wholePass() const { return {{}, -1, grid, config.depth, blockTap}; }

  Stream run(const Tokens& tokens, const Pass& pass) {
    BlockCall call = callOf(tokens, pass.mask, pass.grid);
    const at::Tensor mask = call.additive, index = relativeOf(tokens.positions);
    Stream stream{tokens.values, {}};
    for (std::int64_t i = 0; i < pass.depth; ++i) {
      const bool isLast = i + 1 == config.depth;
      const bool isSeen = isTapped(i);
      call.tap = nullptr;
      if (isSeen)
        call.tap = [&, i](const AttentionOutput& output) { report(i, tokens.positions, output); };
      call.row = isLast && !isSeen && !pass.seen ? pass.row : -1;
      const Block& block = *encoder->blocks[static_cast<std::size_t>(i)];
      if (index.defined()) {
        const at::Tensor bias = relativeBias(block.relativeTable, index);
        call.additive = mask.defined() ? mask + bias : bias;
      }
      stream = block.forward(stream, call);
      if (pass.seen) {
        if (stream.branch.defined()) stream = {stream.x + stream.branch, {}};
        pass.seen(i, stream.x);
      }
    }
    return stream;
  }

  /// Tokens of images whose patches a table of positions, if there is one, has rows for.
  [[nodiscard]] at::Tensor embedded(const at::Tensor& images) const {
    at::Tensor x = encoder->projection->forward(images);
    if (config.classToken != ClassToken::None) {
      const at::Tensor token =
          encoder->classToken.expand({x.size(0), 1, x.size(2)}).to(x.scalar_type());
      x = config.classToken == ClassToken::First ? at::cat({token, x}, 1) : at::cat({x, token}, 1);
    }
    if (encoder->positions.defined()) x = x + encoder->positions;
    if (encoder->fixedPositions.defined()) {
      if (encoder->fixedPositions.device() != x.device())
        encoder->fixedPositions = encoder->fixedPositions.to(x.device());
      x = x + encoder->fixedPositions.to(x.scalar_type());
    }
    // With the mode of the embedding: while the head alone is trained, nothing is dropped before
    // it.
    if (encoder->projection->is_training()) x = dropout(x, config.dropout, generator);
    return x;
  }

  // A checkpoint says how many patches it had, not how they lay: public ones are square.

  void resizeTable(WeightSource& source, ResizeRule rule) const {
    constexpr const char* kName = "pos_embed";
    const at::Tensor& table = encoder->positions;
    if (!table.defined() || !source.has(kName)) return;
    const WeightSource::Shape theirs = source.shape(kName);
    if (table.sizes() == theirs || theirs.size() != 3 || theirs[0] != 1 ||
        theirs[2] != config.width) {
      return;
    }
    const ClassToken classToken = config.classToken;
    const auto side = squareSide(theirs[1] - (classToken == ClassToken::None ? 0 : 1));
    if (!side) return;
    source.resize(kName, table.sizes().vec(),
                  [classToken, side = *side, to = grid, rule](const at::Tensor& value) {
                    return resizePositions(value, classToken, {side, side}, to, rule);
                  });
  }

  void resizeRelative(WeightSource& source, ResizeRule rule, std::int64_t block) const {
    const at::Tensor& table = encoder->blocks[static_cast<std::size_t>(block)]->relativeTable;
    const std::string name = "blocks." + std::to_string(block) + ".attn." + kRelativeTable;
    if (!table.defined() || !source.has(name)) return;
    const WeightSource::Shape theirs = source.shape(name);
    if (table.sizes() == theirs || theirs.size() != 2 || theirs[1] != config.heads) return;
    const ClassToken classToken = config.classToken;
    const auto distances = squareSide(theirs[0] - (classToken == ClassToken::None ? 0 : 3));
    if (!distances || *distances % 2 == 0) return;
    source.resize(name, table.sizes().vec(),
                  [classToken, side = (*distances + 1) / 2, to = grid,
                   rule](const at::Tensor& value) {
                    return resizeRelativeTable(value, classToken, {side, side}, to, rule);
                  });
  }

  at::Tensor pool(Stream stream) const {
    const std::int64_t count = stream.x.size(1);
    if (config.pool == Pool::ClassToken) {
      if (count > 1) {
        const auto pick = [&](const at::Tensor& t) {
          return t.defined() ? t.select(1, classRow(grid)) : t;
        };
        stream = {pick(stream.x), pick(stream.branch)};
      } else {
        stream = {stream.x.squeeze(1),
                  stream.branch.defined() ? stream.branch.squeeze(1) : stream.branch};
      }
      const auto& norm = encoder->norm ? encoder->norm : encoder->fcNorm;
      return norm->forward(stream.x, stream.branch).second;
    }
    const auto patchMean = [&](const at::Tensor& t) {
      return t.narrow(1, firstPatch(), patches()).mean(1);
    };
    if (encoder->norm) return patchMean(encoder->norm->forward(stream.x, stream.branch).second);
    return encoder->fcNorm->forward(
        patchMean(stream.branch.defined() ? stream.x + stream.branch : stream.x));
  }
};

VisionTransformer::VisionTransformer(const VisionTransformerConfig& config, std::uint64_t seed)
    : state_(std::make_unique<State>()) {
  check(config);
  state_->config = config;
  state_->grid = {config.imageSize[0] / config.patchSize[0],
                  config.imageSize[1] / config.patchSize[1]};
  state_->encoder = std::make_shared<Encoder>(config);
  const InitRule rule = config.init ? config.init : InitRule(smallInit);
  initialise(
      *state_->encoder,
      [&](const std::string& name, const at::Tensor& value) {
        return name.ends_with(kRelativeTable) ? constantInit(0) : rule(name, value);
      },
      seed);
  state_->generator = at::detail::createCPUGenerator(seed);
  state_->positions = state_->positionsOf(state_->grid);
}
VisionTransformer::~VisionTransformer() = default;

const VisionTransformerConfig& VisionTransformer::config() const noexcept { return state_->config; }
torch::nn::Module& VisionTransformer::module() { return *state_->encoder; }
std::vector<BlockCost> VisionTransformer::cost() const {
  return state_->encoder->cost(state_->config);
}
std::vector<OfferedCapability> VisionTransformer::capabilities() {
  return offersOf<ImageClassifier, TokenEncoder, AttentionSource, FeaturePyramid>(*this);
}
void VisionTransformer::setGenerator(const at::Generator& generator) {
  state_->generator = generator;
}

void VisionTransformer::transform(WeightSource& source) {
  const std::optional<ResizeRule> rule = resizeRule(source.resizePositions());
  if (!rule) return;
  state_->resizeTable(source, *rule);
  for (std::int64_t i = 0; i < state_->config.depth; ++i)
    state_->resizeRelative(source, *rule, i);
}

Tokens VisionTransformer::embed(const at::Tensor& images) {
  const State& s = *state_;
  if (images.dim() != 4 || images.size(1) != s.config.inChannels ||
      images.size(2) != s.config.imageSize[0] || images.size(3) != s.config.imageSize[1]) {
    refuseImages(images, "do not fit a model of", s.config.inChannels, s.config.imageSize);
  }
  return {s.embedded(images), s.positions};
}

at::Tensor VisionTransformer::encode(const Tokens& tokens, const at::Tensor& mask) {
  State::Pass pass = state_->wholePass();
  pass.mask = mask;
  const Stream stream = state_->run(tokens, pass);
  if (state_->encoder->norm) return state_->encoder->norm->forward(stream.x, stream.branch).second;
  return stream.branch.defined() ? stream.x + stream.branch : stream.x;
}

at::Tensor VisionTransformer::features(const at::Tensor& images) {
  // Of the last block only the class token is read, so only that row of it is computed.
  State::Pass pass = state_->wholePass();
  if (state_->config.pool == Pool::ClassToken) pass.row = state_->classRow(state_->grid);
  return state_->pool(state_->run(embed(images), pass));
}
at::Tensor VisionTransformer::head(const at::Tensor& features) {
  return state_->encoder->head->forward(features);
}
at::Tensor VisionTransformer::classify(const at::Tensor& images) { return head(features(images)); }

void VisionTransformer::setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> tap) {
  state_->blockTap = std::move(tap);
}
std::int64_t VisionTransformer::attentionLayers() const { return state_->config.depth; }
std::int64_t VisionTransformer::attentionHeads(std::int64_t) const { return state_->config.heads; }
void VisionTransformer::setAttentionTap(std::shared_ptr<const AttentionTap> tap) {
  state_->attentionTap = std::move(tap);
}

namespace {

/// The last block where none is named.
std::vector<std::int64_t> chosenBlocks(const std::vector<std::int64_t>& blocks,
                                       std::int64_t depth) {
  for (const std::int64_t block : blocks) {
    if (block < 0 || block >= depth) {
      throw ConfigError("there is no block " + std::to_string(block) +
                        "; the model has blocks 0 to " + std::to_string(depth - 1));
    }
  }
  return blocks.empty() ? std::vector{depth - 1} : blocks;
}

}  // namespace

std::vector<FeaturePyramid::Level> VisionTransformer::levels(
    const std::vector<std::int64_t>& blocks) const {
  const VisionTransformerConfig& c = state_->config;
  if (c.patchSize[0] != c.patchSize[1]) {
    throw ConfigError("a feature map has one stride, and patches of " + formatSides(c.patchSize) +
                      " pixels have two; use square patches");
  }
  const std::size_t count = chosenBlocks(blocks, c.depth).size();
  return std::vector<Level>(count, Level{c.width, c.patchSize[0]});
}

std::vector<at::Tensor> VisionTransformer::pyramid(const at::Tensor& images,
                                                   const std::vector<std::int64_t>& blocks) {
  State& s = *state_;
  const std::vector<std::int64_t> chosen = chosenBlocks(blocks, s.config.depth);
  const bool hasTable = s.encoder->positions.defined() || s.encoder->fixedPositions.defined() ||
                        s.config.relativeBias;
  State::Pass pass = s.wholePass();
  Tokens tokens;
  if (hasTable || images.dim() != 4) {
    tokens = embed(images);
  } else {
    tokens.values = s.embedded(images);  // checks channels and patches
    pass.grid = {images.size(2) / s.config.patchSize[0], images.size(3) / s.config.patchSize[1]};
    tokens.positions = pass.grid == s.grid ? s.positions : s.positionsOf(pass.grid);
  }
  std::vector<at::Tensor> maps(chosen.size());
  pass.depth = *std::max_element(chosen.begin(), chosen.end()) + 1;
  pass.seen = [&](std::int64_t block, const at::Tensor& stream) {
    if (s.blockTap) s.blockTap(block, stream);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] != block) continue;
      maps[i] = stream.narrow(1, s.firstPatch(), pass.grid[0] * pass.grid[1])
                    .transpose(1, 2)
                    .unflatten(-1, {pass.grid[0], pass.grid[1]});
    }
  };
  (void)s.run(tokens, pass);
  return maps;
}

}  // namespace vitrine::nn
