#include "core/nn/vision_transformer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/nn/drop_path.h"
#include "core/nn/modules.h"
#include "core/nn/rope.h"

namespace vitrine::nn {

namespace {

std::string pairText(std::array<std::int64_t, 2> size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]);
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
    throw ConfigError("patch_size " + pairText(c.patchSize) + " does not divide image_size " +
                      pairText(c.imageSize) + "; each patch must lie wholly inside the image");
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
  if (c.positions == PositionKind::SinCos && c.width % 4 != 0) {
    throw ConfigError("pos_embed = \"sincos\" needs a width that is a multiple of 4, not " +
                      std::to_string(c.width));
  }
  if (c.pool == Pool::ClassToken && c.classToken == ClassToken::None) {
    throw ConfigError("pool = \"cls\" needs a class token; set class_token, or pool = \"gap\"");
  }
  if (c.mask == MaskKind::Soft && c.maskMode == MaskMode::Additive) {
    throw ConfigError(
        "a soft mask exists only multiplicatively; set mask.mode = \"multiplicative\"");
  }
}

}  // namespace

struct VisionTransformer::State {
  VisionTransformerConfig config;
  std::array<std::int64_t, 2> grid{};
  std::shared_ptr<Encoder> encoder;
  at::Generator generator;
  std::shared_ptr<const AttentionTap> attentionTap;
  std::function<void(std::int64_t, const at::Tensor&)> blockTap;
  double alpha = 0;
  at::Tensor alphaOnDevice;  ///< 0-d float32

  // Made for the last device and length seen, so that a training step makes nothing anew.
  at::Tensor positions;  ///< [tokens, 2] int64 on the CPU, of the whole image
  at::Tensor angles;     ///< of the whole image, on the device of the last use
  at::Tensor factor;     ///< of the whole image

  [[nodiscard]] at::Device device() const { return encoder->head->weight.device(); }
  [[nodiscard]] std::int64_t patches() const { return grid[0] * grid[1]; }
  [[nodiscard]] std::int64_t tokens() const {
    return patches() + (config.classToken == ClassToken::None ? 0 : 1);
  }
  [[nodiscard]] std::int64_t classRow() const {
    return config.classToken == ClassToken::Last ? patches() : 0;
  }

  void makePositions() {
    const at::Tensor rows = at::arange(grid[0], at::kLong).repeat_interleave(grid[1]);
    const at::Tensor columns = at::arange(grid[1], at::kLong).repeat({grid[0]});
    positions = at::stack({rows, columns}, 1);
    const at::Tensor outside = at::full({1, 2}, -1, at::kLong);
    if (config.classToken == ClassToken::First) positions = at::cat({outside, positions}, 0);
    if (config.classToken == ClassToken::Last) positions = at::cat({positions, outside}, 0);
  }

  /// Index in the whole sequence of tokens at `places` [tokens, 2].
  [[nodiscard]] at::Tensor sequenceIndex(const at::Tensor& places) const {
    const at::Tensor cpu = places.to(at::kCPU, at::kLong);
    const at::Tensor raster = cpu.select(1, 0) * grid[1] + cpu.select(1, 1) +
                              (config.classToken == ClassToken::First ? 1 : 0);
    return at::where(cpu.select(1, 0) < 0, at::full_like(raster, classRow()), raster);
  }

  [[nodiscard]] at::Tensor anglesOf(const at::Tensor& places) {
    if (!config.ropeTheta) return {};
    const std::int64_t headDim = config.width / config.heads;
    if (places.is_same(positions)) {
      if (!angles.defined() || angles.device() != device()) {
        angles = ropeAngles(sequenceIndex(places), headDim, *config.ropeTheta).to(device());
      }
      return angles;
    }
    return ropeAngles(sequenceIndex(places), headDim, *config.ropeTheta).to(device());
  }

  [[nodiscard]] at::Tensor maskFactorOf(std::int64_t count) {
    if (!alphaOnDevice.defined() || alphaOnDevice.device() != device()) {
      alphaOnDevice = at::full({}, alpha, at::TensorOptions(at::kFloat).device(device()));
    }
    if (config.mask == MaskKind::Soft) return maskFactor(config.mask, count, alphaOnDevice);
    if (!factor.defined() || factor.size(0) != count || factor.device() != device()) {
      factor = maskFactor(config.mask, count, alphaOnDevice);
    }
    return factor;
  }

  SequenceContext contextOf(const Tokens& tokens, const at::Tensor& mask) {
    SequenceContext context;
    const std::int64_t count = tokens.values.size(1);
    context.positions = tokens.positions;
    context.angles = anglesOf(tokens.positions);
    context.generator = generator;
    context.additive = mask;
    if (config.mask != MaskKind::Bidirectional) {
      const at::Tensor seen = maskFactorOf(count);
      if (config.maskMode == MaskMode::Multiplicative) {
        context.multiplicative = seen;
      } else {
        const at::Tensor logs = seen.log();
        context.additive = mask.defined() ? mask + logs : logs;
      }
    }
    return context;
  }

  [[nodiscard]] bool isTapped(std::int64_t layer) const {
    if (!attentionTap) return false;
    const auto& layers = attentionTap->layers;
    return layers.empty() || std::find(layers.begin(), layers.end(), layer) != layers.end();
  }

  /// \param row  the one token wanted after the last block, or -1 for all; ignored where a tap
  /// wants to see all
  Stream run(const Tokens& tokens, const at::Tensor& mask, std::int64_t row) {
    SequenceContext context = contextOf(tokens, mask);
    Stream stream{tokens.values, {}};
    for (std::int64_t i = 0; i < config.depth; ++i) {
      const bool isLast = i + 1 == config.depth;
      context.tap = isTapped(i) ? attentionTap.get() : nullptr;
      const bool wantsAll = !isLast || context.tap != nullptr || blockTap;
      stream = encoder->blocks[static_cast<std::size_t>(i)]->forward(stream, i, wantsAll ? -1 : row,
                                                                     context);
      if (blockTap) {
        if (stream.branch.defined()) stream = {stream.x + stream.branch, {}};
        blockTap(i, stream.x);
      }
    }
    return stream;
  }

  at::Tensor pool(Stream stream) const {
    const std::int64_t count = stream.x.size(1);
    if (config.pool == Pool::ClassToken) {
      if (count > 1) {
        const auto pick = [&](const at::Tensor& t) {
          return t.defined() ? t.select(1, classRow()) : t;
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
      return t.narrow(1, config.classToken == ClassToken::First ? 1 : 0, patches()).mean(1);
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
  state_->encoder->initialiseAll(config, seed);
  state_->generator = at::detail::createCPUGenerator(seed);
  state_->makePositions();
}
VisionTransformer::~VisionTransformer() = default;

const VisionTransformerConfig& VisionTransformer::config() const noexcept { return state_->config; }
std::array<std::int64_t, 2> VisionTransformer::grid() const noexcept { return state_->grid; }
torch::nn::Module& VisionTransformer::module() { return *state_->encoder; }
std::vector<BlockCost> VisionTransformer::cost() const { return costOf(state_->config); }
std::vector<OfferedCapability> VisionTransformer::capabilities() {
  return offersOf<ImageClassifier, TokenEncoder, AttentionSource>(*this);
}
void VisionTransformer::setGenerator(const at::Generator& generator) {
  state_->generator = generator;
}

at::Tensor VisionTransformer::adapt(const std::string& parameter, const at::Tensor& value,
                                    const std::string& rule) const {
  const std::optional<ResizeRule> resize = resizeRule(rule);
  if (parameter != "pos_embed" || !state_->encoder->positions.defined() || !resize ||
      value.dim() != 3 || value.size(0) != 1 || value.size(2) != state_->config.width) {
    return {};
  }
  // A checkpoint says how many patches it had, not how they lay: public ones are square.
  const std::int64_t rows = value.size(1) - (state_->config.classToken == ClassToken::None ? 0 : 1);
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(rows))));
  if (rows < 1 || side * side != rows) return {};
  return resizePositions(value, state_->config.classToken, {side, side}, state_->grid, *resize);
}

Tokens VisionTransformer::embed(const at::Tensor& images) {
  State& s = *state_;
  if (images.dim() != 4 || images.size(1) != s.config.inChannels ||
      images.size(2) != s.config.imageSize[0] || images.size(3) != s.config.imageSize[1]) {
    throw ShapeError("images " + c10::str(images.sizes()) + " do not fit a model of " +
                     std::to_string(s.config.inChannels) + " channels, " +
                     pairText(s.config.imageSize) +
                     " pixels; images are [batch, channels, height, width]");
  }
  at::Tensor x = s.encoder->projection->forward(images);
  if (s.config.classToken != ClassToken::None) {
    const at::Tensor token =
        s.encoder->classToken.expand({x.size(0), 1, x.size(2)}).to(x.scalar_type());
    x = s.config.classToken == ClassToken::First ? at::cat({token, x}, 1) : at::cat({x, token}, 1);
  }
  if (s.encoder->positions.defined()) x = x + s.encoder->positions;
  if (s.encoder->fixedPositions.defined()) {
    if (s.encoder->fixedPositions.device() != x.device())
      s.encoder->fixedPositions = s.encoder->fixedPositions.to(x.device());
    x = x + s.encoder->fixedPositions.to(x.scalar_type());
  }
  // With the mode of the embedding: while the head alone is trained, nothing is dropped before it.
  if (s.encoder->projection->is_training()) x = dropout(x, s.config.dropout, s.generator);
  return {x, s.positions};
}

at::Tensor VisionTransformer::encode(const Tokens& tokens, const at::Tensor& mask) {
  const Stream stream = state_->run(tokens, mask, -1);
  if (state_->encoder->norm) return state_->encoder->norm->forward(stream.x, stream.branch).second;
  return stream.branch.defined() ? stream.x + stream.branch : stream.x;
}

at::Tensor VisionTransformer::features(const at::Tensor& images) {
  // Of the last block only the class token is read, so only that row of it is computed.
  const std::int64_t row = state_->config.pool == Pool::ClassToken ? state_->classRow() : -1;
  return state_->pool(state_->run(embed(images), {}, row));
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

at::Tensor VisionTransformer::attentionMask(std::int64_t tokens) const {
  return state_->maskFactorOf(tokens);
}
void VisionTransformer::setMaskAlpha(double alpha) {
  state_->alpha = alpha;
  if (state_->alphaOnDevice.defined()) state_->alphaOnDevice.fill_(alpha);
}
double VisionTransformer::maskAlpha() const noexcept { return state_->alpha; }

}  // namespace vitrine::nn
