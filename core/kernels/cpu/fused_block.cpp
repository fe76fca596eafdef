#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/kernels/cpu/block_chunk.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::cpu {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Gradients of parameters are summed in at most this many fixed shares, so the result does not
/// depend on the number of threads.
constexpr std::int64_t kBlockShares = 8;
/// Fewer rows of an image are not worth the keys and values that a part computes once more.
constexpr std::int64_t kLeastPart = 48;

const float* read(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

/// Hands `count` tasks to whichever thread is free: one that has to share its core takes fewer.
template <class Body>
void forEach(std::int64_t count, const Body& body) {
  std::atomic<std::int64_t> next{0};
  at::parallel_for(0, std::min<std::int64_t>(count, at::get_num_threads()), 1,
                   [&](std::int64_t, std::int64_t) {
                     for (std::int64_t task; (task = next.fetch_add(1)) < count;) body(task);
                   });
}

/// Everything of a call that is a constant, dense and float32.
struct BlockConstants {
  at::Tensor cosine, sine, additive, multiplicative, attentionGain, mlpGain;
  at::Tensor attentionDropout, mlpDropout, hiddenDropout;
  at::Tensor keysBefore, valuesBefore;  ///< not with a gradient, and so not kept
};
constexpr std::size_t kConstants = 9, kSaved = 8;

/// What identifies a call besides its tensors.
struct BlockSettings {
  NormKind norm;
  MlpKind mlp;
  double eps;
  std::int64_t heads, row, firstOther, constantTokens;
  Factor factor;
};
/// A constant mask whose values, [queries, keys], are those of each image.
bool isMaskOfImages(const at::Tensor& mask, std::int64_t batch, std::int64_t queries,
                    std::int64_t keys) {
  return mask.dim() >= 3 && mask.size(0) == batch && mask.size(-2) == queries &&
         mask.size(-1) == keys && mask.numel() == batch * queries * keys && !mask.requires_grad();
}

/// Whether a parameter may be [batch, width].
bool isOfImages(std::size_t which) {
  return which == kNorm1Weight || which == kNorm1Bias || which == kNorm2Weight ||
         which == kNorm2Bias || which == kAttentionGate || which == kMlpGate;
}

BlockPlan planOf(const at::Tensor& x, at::TensorList parameters, const BlockConstants& constants,
                 const BlockSettings& settings) {
  BlockPlan p{};
  p.batch = x.size(0), p.tokens = x.size(1), p.width = x.size(2);
  p.hidden = parameters[kFc1Weight].size(0);
  p.heads = settings.heads;
  p.rows = settings.row < 0 ? p.tokens : 1;
  p.firstRow = std::max<std::int64_t>(settings.row, 0);
  p.rowStep = settings.row < 0 ? 1 : p.tokens;
  p.imagesAtOnce = std::max<std::int64_t>(1, kChunkRows / p.tokens);
  p.norm = settings.norm, p.mlp = settings.mlp, p.eps = static_cast<float>(settings.eps);
  p.factor = settings.factor;
  p.keysBefore = read(constants.keysBefore), p.valuesBefore = read(constants.valuesBefore);
  if (constants.keysBefore.defined()) p.before = constants.keysBefore.size(1);
  p.firstOther = settings.firstOther < 0 ? p.tokens : settings.firstOther;
  p.constantTokens = settings.constantTokens;
  p.head.queries = p.rows, p.head.keys = p.keys(), p.head.headDim = p.width / p.heads;
  p.head.queryStride = p.head.keyStride = 3 * p.width;
  p.head.outStride = p.width;
  p.head.firstQuery = p.before + p.firstRow;
  p.head.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.head.headDim)));
  p.head.cosine = read(constants.cosine), p.head.sine = read(constants.sine);
  p.head.additive = read(constants.additive);
  if (constants.cosine.defined() && constants.cosine.dim() == 3)
    p.angleStep = constants.cosine.size(1) * constants.cosine.size(2);
  if (constants.additive.defined() && constants.additive.numel() > p.rows * p.tokens)
    p.additiveStep = p.rows * p.tokens;
  p.head.multiplicative = read(constants.multiplicative);
  p.attentionGain = read(constants.attentionGain), p.mlpGain = read(constants.mlpGain);
  p.attentionDropout = read(constants.attentionDropout);
  p.mlpDropout = read(constants.mlpDropout);
  p.hiddenDropout = read(constants.hiddenDropout);
  for (std::size_t i = 0; i < kBothKinds; ++i) {
    const std::size_t which = i % kBlockParameters;
    TokenKind& kind = p.kinds[i / kBlockParameters];
    kind.parameters[which] = read(parameters[i]);
    kind.isOfImage[which] =
        parameters[i].defined() && isOfImages(which) && parameters[i].dim() == 2;
  }
  if (const float* bias = p.kinds[0].parameters[kAttentionBias]; bias != nullptr) {
    p.head.additive = bias;
    p.headMaskStep = p.rows * p.tokens;
  }
  return p;
}

/// Rows `from`, from + 1, ... of one image, as a call of their own: they need the keys and values
/// of all rows, which every part computes for itself.
BlockPlan partOf(const BlockPlan& whole, std::int64_t image, std::int64_t from, std::int64_t rows) {
  BlockPlan p = whole;
  p.batch = p.imagesAtOnce = 1;
  p.firstRow = from;
  p.head.firstQuery = p.before + from;
  p.rows = p.head.queries = rows;
  const auto move = [](const float*& values, std::int64_t by) {
    if (values != nullptr) values += by;
  };
  move(p.head.cosine, image * p.angleStep);
  move(p.head.sine, image * p.angleStep);
  move(p.keysBefore, image * p.before * p.width);
  move(p.valuesBefore, image * p.before * p.width);
  move(p.head.additive, image * p.additiveStep + from * p.tokens);
  move(p.head.multiplicative, from * p.tokens);
  for (std::size_t i = 0; i < kBlockParameters; ++i)
    move(p.kinds[0].parameters[i], p.kinds[0].isOfImage[i] ? image * p.width : 0);
  move(p.attentionGain, image);
  move(p.mlpGain, image);
  return p;
}

/// Without gradient and with fewer images than threads: an image's rows are shared by several.
/// Rows are computed one by one, so that the result does not depend on the number of parts.
at::Tensor runInParts(const BlockPlan& p, const PackedMaps& maps, const at::Tensor& x,
                      std::int64_t partsOfImage) {
  at::Tensor out = at::empty({p.batch, p.rows, p.width}, x.options());
  const std::int64_t ofImage = p.tokens * p.width;
  forEach(p.batch * partsOfImage, [&](std::int64_t index) {
    const std::int64_t image = index / partsOfImage, part = index % partsOfImage;
    const std::int64_t from = p.rows * part / partsOfImage, to = p.rows * (part + 1) / partsOfImage;
    forwardChunk(partOf(p, image, from, to - from), 0, maps, read(x) + image * ofImage, {},
                 out.data_ptr<float>() + image * ofImage + from * p.width);
  });
  return out;
}

at::Tensor runForward(const BlockPlan& p, const PackedMaps& maps, const at::Tensor& x,
                      const SavedTensors& kept) {
  at::Tensor out = at::empty({p.batch, p.rows, p.width}, x.options());
  forEach(p.chunks(), [&](std::int64_t index) {
    forwardChunk(p, index, maps, read(x), kept, out.data_ptr<float>());
  });
  return out;
}

/// [count, total] floats, kept from block to block. Of a wide model they are more than the C
/// library keeps for itself. Otherwise the system would clear every page again, a tenth of a step.
at::Tensor sharesOfThread(std::int64_t count, std::int64_t total) {
  static thread_local at::Tensor floats;
  if (!floats.defined() || floats.numel() < count * total)
    floats = at::empty({count * total}, at::kFloat);
  return floats.narrow(0, 0, count * total).view({count, total});
}

class FusedBlock : public torch::autograd::Function<FusedBlock> {
 public:
  // The list holds the parameters that there are: autograd takes no undefined ones.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, at::TensorList,
                            const BothParameters& parameters, const BlockConstants& constants,
                            const BlockSettings& settings) {
    const BlockPlan p = planOf(x, parameters, constants, settings);
    const auto empty = [&](at::IntArrayRef shape) { return at::empty(shape, x.options()); };
    SavedTensors kept;
    if (p.hasAttention()) {
      kept.qkv = empty({p.batch, p.tokens, 3 * p.width});
      kept.probabilities = empty({p.batch, p.heads, p.rows, p.tokens});
      kept.attended = empty({p.batch, p.rows, p.width});
      kept.sum = empty({p.batch, p.rows, p.width});
    }
    kept.hidden = empty({p.batch, p.rows, p.hidden});
    if (p.mlp == MlpKind::SwiGlu) kept.up = empty({p.batch, p.rows, p.hidden});
    if (parameters[kAttentionGate].defined())
      kept.attentionBranch = empty({p.batch, p.rows, p.width});
    if (parameters[kMlpGate].defined()) kept.mlpBranch = empty({p.batch, p.rows, p.width});
    const PackedMaps& maps = PackedMaps::ofThread().pack(p, Way::Forward);
    const at::Tensor out = runForward(p, maps, x, kept);

    variable_list saved{x,
                        kept.qkv,
                        kept.probabilities,
                        kept.attended,
                        kept.sum,
                        kept.hidden,
                        kept.up,
                        kept.attentionBranch,
                        kept.mlpBranch,
                        constants.cosine,
                        constants.sine,
                        constants.additive,
                        constants.multiplicative,
                        constants.attentionGain,
                        constants.mlpGain,
                        constants.attentionDropout,
                        constants.mlpDropout,
                        constants.hiddenDropout};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    context->save_for_backward(std::move(saved));
    auto& data = context->saved_data;
    data["norm"] = static_cast<std::int64_t>(settings.norm);
    data["mlp"] = static_cast<std::int64_t>(settings.mlp);
    data["eps"] = settings.eps;
    data["heads"] = settings.heads;
    data["row"] = settings.row;
    data["firstOther"] = settings.firstOther;
    data["constantTokens"] = settings.constantTokens;
    data["factor"] = static_cast<std::int64_t>(settings.factor);
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    kernels::refuseSecondDerivative("a fused block");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const SavedTensors kept{saved[1], saved[2], saved[3], saved[4],
                            saved[5], saved[6], saved[7], saved[8]};
    const at::Tensor* of = &saved[1 + kSaved];
    const BlockConstants constants{of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8]};
    const at::TensorList parameters(of + kConstants, kBothKinds);
    auto& data = context->saved_data;
    BlockPlan p =
        planOf(x, parameters, constants,
               {static_cast<NormKind>(data["norm"].toInt()),
                static_cast<MlpKind>(data["mlp"].toInt()), data["eps"].toDouble(),
                data["heads"].toInt(), data["row"].toInt(), data["firstOther"].toInt(),
                data["constantTokens"].toInt(), static_cast<Factor>(data["factor"].toInt())});
    std::size_t edge = 1;  // of the parameters that there are, after x
    const auto isTrained = [&p](std::size_t i) -> bool& {
      return p.kinds[i / kBlockParameters].isTrained[i % kBlockParameters];
    };
    for (std::size_t i = 0; i < kBothKinds; ++i)
      isTrained(i) = parameters[i].defined() && context->needs_input_grad(edge++);
    const at::Tensor outGradient = gradients[0].contiguous();
    const at::Tensor result = at::empty_like(x);
    std::array<at::Tensor, kBlockParameters> ofImages;
    BlockGradients targets{result.data_ptr<float>(), nullptr, true, {}, nullptr};
    at::Tensor maskSlopes;
    if (isTrained(kAttentionBias)) {
      maskSlopes = at::empty_like(kept.probabilities);
      targets.mask = maskSlopes.data_ptr<float>();
    }
    for (std::size_t i = 0; i < kBlockParameters; ++i) {
      if (!isTrained(i) || !p.kinds[0].isOfImage[i]) continue;
      ofImages[i] = at::zeros_like(parameters[i]);
      targets.ofImages[i] = ofImages[i].data_ptr<float>();
    }
    const GradientLayout layout(p);
    const std::int64_t chunks = p.chunks(), count = std::min(kBlockShares, chunks);
    const at::Tensor shares = sharesOfThread(count, layout.total);
    const PackedMaps& maps = PackedMaps::ofThread().pack(p, Way::Backward);
    forEach(count, [&](std::int64_t index) {
      float* share = shares.data_ptr<float>() + index * layout.total;
      std::fill_n(share, layout.rows, 0.0F);
      const std::int64_t first = chunks * index / count;
      for (std::int64_t i = first; i < chunks * (index + 1) / count; ++i) {
        BlockGradients own = targets;
        own.share = share;
        own.isFirst = i == first;
        backwardChunk(p, i, maps, read(x), kept, read(outGradient), layout, own);
      }
    });
    const at::Tensor sums = at::empty({layout.total}, x.options());
    at::parallel_for(0, layout.total, 16384, [&](std::int64_t begin, std::int64_t end) {
      float* target = sums.data_ptr<float>() + begin;
      std::fill_n(target, end - begin, 0.0F);
      kernels().addRows(count, end - begin, read(shares) + begin, layout.total, target);
    });

    variable_list results{result};
    for (std::size_t i = 0; i < kBothKinds; ++i) {
      if (!parameters[i].defined()) continue;
      const std::size_t kind = i / kBlockParameters, which = i % kBlockParameters;
      if (p.kinds[kind].isOfImage[which]) {
        results.push_back(ofImages[which]);
      } else if (i == kAttentionBias) {
        results.push_back(maskSlopes.defined() ? maskSlopes.sum(0) : at::Tensor());
      } else if (isTrained(i)) {
        const std::int64_t offset = layout.offsets[kind][which];
        results.push_back(sums.narrow(0, offset, parameters[i].numel()).view_as(parameters[i]));
      } else {
        results.emplace_back();
      }
    }
    results.resize(results.size() + 3);  // none for tensors that are not variables
    return results;
  }
};

at::Tensor plain(const at::Tensor& values) {
  return values.defined() ? values.detach().to(at::kFloat).contiguous() : values;
}

/// How a block's maps are multiplied: float32, or bfloat16 under autocast to that. Nothing where
/// the machine or the autocast asks for something else.
std::optional<Factor> blockFactor() {
  if (!hasOwnLoops()) return {};
  if (!at::autocast::is_autocast_enabled(at::kCPU)) return Factor::Float32;
  if (at::autocast::get_autocast_dtype(at::kCPU) != at::kBFloat16 || !hasBFloat16Products())
    return {};
  return Factor::BFloat16;
}

at::Tensor runWhole(const BlockInput& input) {
  const at::Tensor x = input.x.to(at::kFloat).contiguous();
  BlockConstants constants;
  constants.keysBefore = plain(input.keysBefore);
  constants.valuesBefore = plain(input.valuesBefore);
  if (input.angles.defined()) {
    at::Tensor angles = input.angles;
    // The given keys are turned: an angle of 0.
    if (input.keysBefore.defined())
      angles = at::constant_pad_nd(angles, {0, 0, input.keysBefore.size(1), 0});
    constants.cosine = angles.cos().contiguous();
    constants.sine = angles.sin().contiguous();
  }
  BothParameters parameters;
  std::copy(input.parameters.begin(), input.parameters.end(), parameters.begin());
  if (input.firstOther >= 0)
    std::copy(input.others.begin(), input.others.end(), parameters.begin() + kBlockParameters);
  const std::int64_t queries = input.row < 0 ? x.size(1) : 1;
  if (isMaskOfHeads(input.additive, input.heads, queries, x.size(1)) &&
      !isSharedMask(input.additive, queries, x.size(1))) {
    parameters[kAttentionBias] = input.additive.to(at::kFloat).squeeze(0).contiguous();
  } else {
    constants.additive = plain(input.additive);
  }
  constants.multiplicative = plain(input.multiplicative);
  constants.attentionGain = plain(input.attentionGain);
  constants.mlpGain = plain(input.mlpGain);
  constants.attentionDropout = plain(input.attentionDropout);
  constants.mlpDropout = plain(input.mlpDropout);
  constants.hiddenDropout = plain(input.hiddenDropout);
  const BlockSettings settings{
      input.norm, input.mlp,        input.normEps,        input.heads,
      input.row,  input.firstOther, input.constantTokens, blockFactor().value()};
  variable_list given;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.defined()) given.push_back(parameter);
  }
  if (!kernels::isDifferentiated({x}) && !kernels::isDifferentiated(given)) {
    BlockPlan plan = planOf(x, parameters, constants, settings);
    const PackedMaps& maps = PackedMaps::withoutGradient(plan, parameters);
    // Images by themselves: a small batch is shared by all threads.
    const std::int64_t threads = at::get_num_threads();
    const std::int64_t parts = std::min(threads / plan.batch, plan.rows / kLeastPart);
    const bool drops = constants.attentionDropout.defined() || constants.mlpDropout.defined() ||
                       constants.hiddenDropout.defined();
    if (parts > 1 && !drops && input.firstOther < 0) return runInParts(plan, maps, x, parts);
    plan.imagesAtOnce = std::min(plan.imagesAtOnce, (plan.batch + threads - 1) / threads);
    return runForward(plan, maps, x, {});
  }
  return FusedBlock::apply(x, at::TensorList(given), parameters, constants, settings);
}

/// Without attention a row is by itself, so that a thread takes as many as it likes: the rows of an
/// image as images of their own, as large ones as have the parameters of that image.
BlockInput inPieces(const BlockInput& input) {
  BlockInput pieces = input;
  std::vector<at::Tensor*> ofImages;
  for (std::size_t i = 0; i < kBlockParameters; ++i) {
    at::Tensor& parameter = pieces.parameters[i];
    if (isOfImages(i) && parameter.defined() && parameter.dim() == 2)
      ofImages.push_back(&parameter);
  }
  const std::int64_t tokens = input.x.size(1);
  std::int64_t rows = ofImages.empty() ? 1 : std::min(tokens, kChunkRows);
  while (tokens % rows != 0) --rows;
  pieces.x = input.x.reshape({-1, rows, input.x.size(2)});
  if (pieces.mlpGain.defined()) ofImages.push_back(&pieces.mlpGain);
  for (at::Tensor* values : ofImages) *values = values->repeat_interleave(tokens / rows, 0);
  return pieces;
}

/// Whether the parameters of a second kind of tokens go with those of the first.
bool takesOthers(const BlockInput& input) {
  const std::int64_t tokens = input.x.size(1);
  if (input.firstOther == 0 || input.firstOther >= tokens || input.row >= 0 ||
      input.keysBefore.defined() || !input.parameters[kQkvWeight].defined())
    return false;
  if (input.constantTokens > 0 &&
      (input.constantTokens > input.firstOther || kernels::isDifferentiated({input.additive}) ||
       kernels::isDifferentiated(input.parameters)))
    return false;
  for (std::size_t i = 0; i < kBlockParameters; ++i) {
    const at::Tensor &one = input.parameters[i], &other = input.others[i];
    if (one.defined() != other.defined()) return false;
    if (!one.defined()) continue;
    if (one.sizes() != other.sizes() || other.scalar_type() != at::kFloat ||
        !other.is_contiguous() || (isOfImages(i) && one.dim() == 2))
      return false;
  }
  return true;
}

}  // namespace

bool takesBlock(const BlockInput& input) {
  const at::Tensor& x = input.x;
  const std::optional<Factor> factor = blockFactor();
  if (!factor || !x.device().is_cpu() || x.dim() != 3) return false;
  const bool isTaken = x.scalar_type() == at::kFloat ||
                       (*factor == Factor::BFloat16 && x.scalar_type() == at::kBFloat16);
  const bool hasAttention = input.parameters[kQkvWeight].defined();
  const std::int64_t tokens = x.size(1), width = x.size(2);
  const std::int64_t queries = input.row < 0 ? tokens : 1;
  const bool hasGradient = kernels::isDifferentiated({x, input.additive}) ||
                           kernels::isDifferentiated(input.parameters) ||
                           (input.firstOther >= 0 && kernels::isDifferentiated(input.others));
  // The products of half types were not measured beyond the widths of training.
  const bool isTraining = hasGradient || *factor != Factor::Float32;
  const BlockShape shape{x.size(0), tokens, width, input.heads, isTraining};
  if (!isTaken || !(hasAttention ? takesBlock(shape) : takesMlpBranch(shape))) return false;
  for (std::size_t i = 0; i < kBlockParameters; ++i) {
    const at::Tensor& parameter = input.parameters[i];
    if (!parameter.defined()) continue;
    if (parameter.scalar_type() != at::kFloat || !parameter.is_contiguous()) return false;
    if (isOfImages(i) && parameter.dim() == 2 && parameter.size(0) != x.size(0)) return false;
  }
  if (input.parameters[kNorm2Weight].size(-1) != width) return false;
  if (input.firstOther >= 0 ? !takesOthers(input) : input.constantTokens > 0) return false;
  if (!hasAttention) return true;
  if (input.keysBefore.defined() &&
      (hasGradient || input.row >= 0 || input.additive.defined() ||
       input.multiplicative.defined() || tokens + input.keysBefore.size(1) > kMostKeys))
    return false;
  const at::Tensor& angles = input.angles;
  const bool isItsTurn =
      !angles.defined() ||
      ((angles.dim() == 2 || (angles.dim() == 3 && angles.size(0) == x.size(0))) &&
       angles.size(-2) == tokens && 2 * angles.size(-1) * input.heads == width);
  return isItsTurn &&
         (isSharedMask(input.additive, queries, tokens) ||
          isMaskOfHeads(input.additive, input.heads, queries, tokens) ||
          isMaskOfImages(input.additive, x.size(0), queries, tokens)) &&
         isSharedMask(input.multiplicative, queries, tokens);
}

at::Tensor runBlock(const BlockInput& input) {
  if (input.parameters[kQkvWeight].defined()) return runWhole(input);
  return runWhole(inPieces(input)).view(input.x.sizes());
}

}  // namespace vitrine::cpu
