#include "core/diffusion/diffusion_transformer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/diffusion/diffusion_state.h"
#include "core/model/chosen_layers.h"
#include "core/model/weight_source.h"
#include "core/nn/position/position_embedding.h"

namespace vitrine::diffusion {

namespace {

/// Channels of a head that turn.
std::int64_t turned(const DiffusionTransformerOptions& o) {
  return static_cast<std::int64_t>(o.rope.ratio * static_cast<double>(o.width / o.heads));
}

nn::DenoisingTransformerConfig networkOf(const DiffusionTransformerOptions& o) {
  return {.inputSize = o.inputSize,
          .patchSize = o.patchSize,
          .inChannels = o.channels,
          .outChannels = o.learnsSigma ? 2 * o.channels : o.channels,
          .width = o.width,
          .depth = o.depth,
          .heads = o.heads,
          .mlpWidth = o.mlpWidth,
          .mlp = o.mlp,
          .norm = o.norm,
          .normEps = o.normEps,
          .normAffine = o.isNormAffine ? nn::Affine::Present : nn::Affine::None,
          .labels = o.classes + (o.labelDrop > 0 ? 1 : 0)};
}

at::Tensor anglesOf(const DiffusionTransformerOptions& o, std::array<std::int64_t, 2> grid) {
  const RotaryChoice& rope = o.rope;
  if (rope.mode == RotaryChoice::Mode::None) return {};
  const bool isGrid = rope.mode == RotaryChoice::Mode::Grid;
  nn::RopeSpectrum spectrum;
  spectrum.channels = turned(o);
  spectrum.axes = !isGrid           ? nn::RopeAxes::Line
                  : rope.isRowFirst ? nn::RopeAxes::RowFirst
                                    : nn::RopeAxes::ColumnFirst;
  spectrum.theta = rope.scale == RotaryChoice::Scale::Ntk
                       ? nn::ntkTheta(rope.theta, rope.ntkAlpha, rope.ntkRule, spectrum.channels)
                       : rope.theta;
  spectrum.heads = rope.isShared ? 0 : o.heads;
  at::Tensor positions =
      isGrid ? nn::gridPositions(grid) : at::arange(grid[0] * grid[1], at::kDouble);
  if (rope.scale == RotaryChoice::Scale::Anchor) {
    const auto factor =
        nn::anchorScale(grid, rope.anchor[0] > 0 ? rope.anchor : grid, rope.isPerAxis);
    positions = isGrid ? positions * at::tensor({factor[0], factor[1]}, at::kDouble)
                       : positions * (factor[0] * factor[1]);
  }
  return nn::ropeAngles(positions, spectrum);
}

}  // namespace

void requireSizes(const DiffusionTransformerOptions& o) {
  if (o.inputSize[0] % o.patchSize[0] != 0 || o.inputSize[1] % o.patchSize[1] != 0) {
    throw ConfigError("patch_size " + formatSides(o.patchSize) + " does not divide input_size " +
                      formatSides(o.inputSize) + "; each patch must lie wholly inside the input");
  }
  if (o.width % o.heads != 0) {
    throw ConfigError("heads " + std::to_string(o.heads) + " does not divide width " +
                      std::to_string(o.width));
  }
  if (o.addsPositions && o.width % 4 != 0) {
    throw ConfigError("pe = \"sincos\" needs a width that is a multiple of 4, not " +
                      std::to_string(o.width));
  }
  const std::int64_t unit = o.rope.mode == RotaryChoice::Mode::Grid ? 4 : 2;
  if (o.rope.mode != RotaryChoice::Mode::None && (turned(o) < unit || turned(o) % unit != 0)) {
    throw ConfigError(
        "rope turns " + std::to_string(turned(o)) + " of the " + std::to_string(o.width / o.heads) +
        " channels of a head, and that must be a "
        "multiple of " +
        std::to_string(unit) + "; change heads or rope.ratio, or set rope.mode = \"none\"");
  }
}

at::Tensor DiffusionTransformer::State::run(const at::Tensor& x, const at::Tensor& time,
                                            const at::Tensor& label, const Taps& taps) {
  const auto& size = options.inputSize;
  if (x.dim() != 4 || x.size(1) != options.channels || x.size(2) != size[0] ||
      x.size(3) != size[1]) {
    throw ShapeError("a state " + c10::str(x.sizes()) + " does not fit a model of " +
                     std::to_string(options.channels) + " channels, " + formatSides(size) +
                     "; states are [batch, channels, height, width]");
  }
  if (angles.defined() && angles.device() != x.device()) angles = angles.to(x.device());
  nn::DenoisingTransformer::Call call{
      .addsPositions = options.addsPositions, .angles = angles, .blockTap = taps.block};
  const auto depth = static_cast<std::size_t>(options.depth);
  if (taps.attention) {
    call.attentionTap = taps.attention;
    call.tapped.assign(depth, true);
  } else if (attentionTap) {
    for (std::int64_t layer = 0; layer < options.depth; ++layer)
      call.tapped.push_back(isChosenLayer(attentionTap->layers, layer));
    const double now = time.select(0, 0).item<double>();
    call.attentionTap = [this, now](std::int64_t layer, const nn::AttentionOutput& output) {
      AttentionRecord record;
      record.layer = layer;
      record.weights =
          attentionTap->kind == AttentionTap::Kind::Softmax ? output.softmax : output.effective;
      record.queryPositions = record.keyPositions = places;
      record.time = now;
      attentionTap->receive(record);
    };
  }
  const at::Tensor all = network->forward(x, time, label, call);
  return options.time == GuidedDenoiser::Time::Flow ? all.narrow(1, 0, options.channels) : all;
}

DiffusionTransformer::DiffusionTransformer(const DiffusionTransformerOptions& options,
                                           std::uint64_t seed)
    : state_(std::make_unique<State>()) {
  requireSizes(options);
  state_->options = options;
  state_->network = std::make_shared<nn::DenoisingTransformer>(networkOf(options));
  state_->network->start(seed);
  const auto grid = state_->network->config.grid();
  state_->angles = anglesOf(options, grid);
  state_->places = nn::gridPositions(grid).to(at::kLong);
}
DiffusionTransformer::~DiffusionTransformer() = default;

torch::nn::Module& DiffusionTransformer::module() { return *state_->network; }
std::vector<BlockCost> DiffusionTransformer::cost() const { return state_->network->cost(); }
std::vector<OfferedCapability> DiffusionTransformer::capabilities() {
  return offersOf<Denoiser, GuidedDenoiser, AttentionSource, TensorProgram>(*this);
}
void DiffusionTransformer::setGenerator(const at::Generator&) {}  // there is no dropout

void DiffusionTransformer::transform(WeightSource& source) {
  constexpr const char* kName = "pos_embed";
  if (!source.has(kName)) return;
  const at::Tensor& own = state_->network->positions;
  const WeightSource::Shape theirs = source.shape(kName);
  if (own.sizes() == theirs) return;
  if (!state_->options.addsPositions) {
    source.drop(kName);
    source.add(kName, own.sizes().vec(), [own] { return own.detach().cpu(); }, {kName});
    return;
  }
  const auto rule = nn::resizeRule(source.resizePositions());
  if (!rule || theirs.size() != 3 || theirs[0] != 1 || theirs[2] != state_->options.width) return;
  const auto side =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(theirs[1]))));
  if (side * side != theirs[1]) return;
  source.resize(kName, own.sizes().vec(),
                [side, grid = state_->network->config.grid(), rule = *rule](const at::Tensor& t) {
                  return nn::resizePositions(t, nn::ClassToken::None, {side, side}, grid, rule);
                });
}

Denoiser::Sizes DiffusionTransformer::denoiserSizes() const {
  const DiffusionTransformerOptions& o = state_->options;
  const bool isDoubled = o.learnsSigma && o.time == Time::Step;
  return {o.channels, o.inputSize[0], o.inputSize[1], o.classes,
          isDoubled ? 2 * o.channels : o.channels};
}

at::Tensor DiffusionTransformer::denoise(const at::Tensor& x, const at::Tensor& time,
                                         const Condition& condition) {
  at::Tensor label = condition.label;
  if (!label.defined()) {
    if (state_->options.labelDrop == 0)
      throw ConfigError(
          "this model was made with class_dropout_prob = 0 and knows no label for \"none of "
          "them\"; give every sample a class");
    label = at::full({x.size(0)}, state_->options.classes,
                     at::TensorOptions(at::kLong).device(x.device()));
  }
  return state_->run(x, time, label, {});
}

GuidedDenoiser::Time DiffusionTransformer::timeUnit() const { return state_->options.time; }
double DiffusionTransformer::labelDrop() const { return state_->options.labelDrop; }
std::int64_t DiffusionTransformer::attentionLayers() const { return state_->options.depth; }
std::int64_t DiffusionTransformer::attentionHeads(std::int64_t) const {
  return state_->options.heads;
}
void DiffusionTransformer::setAttentionTap(std::shared_ptr<const AttentionTap> tap) {
  state_->attentionTap = std::move(tap);
}

}  // namespace vitrine::diffusion
