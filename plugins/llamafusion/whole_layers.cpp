// Layers of a decoder that are one operation each on the CPU.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <limits>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/taken_paths.h"
#include "plugins/llamafusion/decoder.h"

namespace vitrine::llamafusion {

namespace {

/// Keys of a cache, [batch, tokens, keyHeads, headDim], as interleavedRows() orders those of a map,
/// or values, which keep their order; [batch, tokens, heads * headDim].
at::Tensor sharedRows(const at::Tensor& rows, std::int64_t times, bool isInterleaved) {
  at::Tensor heads = rows;
  if (isInterleaved) heads = rows.unflatten(3, {2, -1}).transpose(3, 4).flatten(3);
  if (times > 1) heads = heads.repeat_interleave(times, 2);
  return heads.flatten(2);
}

/// Rows of each head from half-split pairs to interleaved ones, and as often as queries share it.
at::Tensor interleavedRows(const at::Tensor& weight, std::int64_t headDim, std::int64_t times) {
  return weight.view({-1, 1, 2, headDim / 2, weight.size(1)})
      .transpose(2, 3)
      .expand({-1, times, -1, -1, -1})
      .reshape({-1, weight.size(1)});
}

at::Tensor hidingMask(const at::Tensor& isHidden) {
  return at::zeros(isHidden.sizes(), at::kFloat)
      .masked_fill_(isHidden, -std::numeric_limits<double>::infinity());
}

/// The parameters of one kind of tokens. \param maps  of queries, keys and values
cpu::BlockParameters parametersOf(const ModalityLayer& attention, const ModalityLayer& mlp,
                                  const at::Tensor& maps) {
  cpu::BlockParameters parameters;
  parameters[cpu::kQkvWeight] = maps;
  parameters[cpu::kProjWeight] = attention.attention->out->weight;
  parameters[cpu::kNorm1Weight] = attention.attentionNorm->gains();
  parameters[cpu::kNorm2Weight] = mlp.mlpNorm->gains();
  parameters[cpu::kFc1Weight] = mlp.mlp->in->weight;
  parameters[cpu::kFc2Weight] = mlp.mlp->out->weight;
  parameters[cpu::kFc3Weight] = mlp.mlp->up->weight;
  return parameters;
}

/// The block of these parameters, or nothing where it is not taken.
at::Tensor runIfTaken(const cpu::BlockInput& input) {
  const bool isTaken = cpu::takesBlock(input);
  cpu::recordCall(cpu::CallKind::Block, isTaken);
  return isTaken ? cpu::runBlock(input) : at::Tensor();
}

/// Values of columns, [N] or [B, N], in another order of the columns.
at::Tensor inOrder(const at::Tensor& values, const at::Tensor& columns) {
  if (columns.dim() == 1) return values.index_select(-1, columns);
  return values.expand(columns.sizes()).gather(1, columns);
}

}  // namespace

at::Tensor Decoder::textMask(const DecoderPass& pass) const {
  const at::Tensor& text = pass.prefix;
  if (pass.attentionTap) return {};
  if (!text.defined() || pass.tail.defined() || pass.cache != nullptr || pass.lastKey.defined() ||
      !text.is_cpu() || config_.heads * config_.headDim != config_.dim)
    return {};
  const cpu::BlockShape shape{text.size(0), text.size(1), config_.dim, config_.heads,
                              at::GradMode::is_enabled()};
  if (!cpu::takesBlock(shape)) return {};
  const at::Tensor place = at::arange(text.size(1), at::kLong), query = place.unsqueeze(1);
  at::Tensor isHidden = place.gt(query);
  if (pass.firstKey.defined()) {
    const at::Tensor first = pass.firstKey.unsqueeze(-1);
    // A query without any key: the layers know what to do.
    if (first.gt(query).any().item<bool>()) return {};
    isHidden = isHidden.logical_or(place.lt(first));
  }
  return hidingMask(isHidden);
}

bool Decoder::isImageAfterCache(const DecoderPass& pass) const {
  if (separation_ != Separation::Deep || pass.cache == nullptr || pass.keepsKeys ||
      !pass.tail.defined() || !pass.tail.is_cpu() || pass.routing.text.numel() > 0 ||
      pass.firstKey.defined() || pass.lastKey.defined() || at::GradMode::is_enabled() ||
      config_.heads * config_.headDim != config_.dim)
    return false;
  const std::int64_t tokens = pass.tail.size(0) / pass.batch;
  return cpu::takesBlock({pass.batch, tokens, config_.dim, config_.heads, false});
}

DecoderCache::Whole Decoder::wholeOf(const nn::MultiHeadAttention& attention,
                                     const DecoderCache::Layer& before) const {
  const std::int64_t times = config_.heads / config_.kvHeads, headDim = config_.headDim;
  const at::Tensor values = attention.value->weight.view({-1, 1, headDim, config_.dim})
                                .expand({-1, times, -1, -1})
                                .reshape({-1, config_.dim});
  // Scores are the same whatever the order of a head's channels.
  DecoderCache::Whole parts{
      at::cat({interleavedRows(attention.query->weight, headDim, 1),
               interleavedRows(attention.key->weight, headDim, times), values})};
  if (!before.keys.defined()) return parts;
  parts.keys = sharedRows(before.keys, times, true);
  parts.values = sharedRows(before.values, times, false);
  return parts;
}

at::Tensor Decoder::whole(const ModalityLayer& layer, const at::Tensor& rows,
                          const at::Tensor& mask, const at::Tensor& angles,
                          const DecoderCache::Whole& parts) const {
  cpu::BlockInput input = wholeInput(rows, mask, angles);
  input.parameters = parametersOf(layer, layer, parts.maps);
  input.keysBefore = parts.keys;
  input.valuesBefore = parts.values;
  return runIfTaken(input);
}

cpu::BlockInput Decoder::wholeInput(const at::Tensor& rows, const at::Tensor& mask,
                                    const at::Tensor& angles) const {
  cpu::BlockInput input{.x = rows};
  input.norm = nn::NormKind::Rms;
  input.normEps = config_.eps;
  input.mlp = nn::MlpKind::SwiGlu;
  input.heads = config_.heads;
  input.angles = angles;
  input.additive = mask;
  return input;
}

bool Decoder::takesSorted(const SortedColumns& sorted, const DecoderPass& pass) const {
  // Where layers are handed out, they are in the order of the sequence.
  if (pass.attentionTap || pass.tap || !sorted.columns.defined() || !embedding.is_cpu() ||
      config_.heads * config_.headDim != config_.dim)
    return false;
  const std::int64_t tokens = sorted.columns.size(-1);
  return sorted.text > 0 && sorted.text < tokens &&
         cpu::takesBlock(
             {pass.batch, tokens, config_.dim, config_.heads, at::GradMode::is_enabled()});
}

at::Tensor Decoder::forwardSorted(const at::Tensor& rows, const SortedColumns& sorted,
                                  const DecoderPass& pass) const {
  const at::Tensor& columns = sorted.columns;
  const at::Tensor key = columns.unsqueeze(-2);
  at::Tensor isHidden = key.gt(inOrder(pass.lastKey, columns).unsqueeze(-1));
  if (pass.firstKey.defined())
    isHidden = isHidden.logical_or(key.lt(inOrder(pass.firstKey, columns).unsqueeze(-1)));
  const at::Tensor angles = nn::ropeAngles(inOrder(pass.positions, columns), frequencies_,
                                           nn::RopeAxes::Line, at::kFloat);
  const cpu::BlockInput common = wholeInput(rows, hidingMask(isHidden), angles);
  at::Tensor stream = rows;
  // Text before every image, as long as nothing below is trained.
  bool isConstant = at::GradMode::is_enabled() && !kernels::isDifferentiated({embedding});
  for (const std::shared_ptr<DecoderLayer>& layer : layers) {
    const ModalityLayer& text = *layer;
    cpu::BlockInput input = common;
    input.x = stream;
    input.parameters = parametersOf(text, text, wholeOf(*text.attention, {}).maps);
    if (layer->image) {
      const bool isDeep = layer->image->attention != nullptr;
      const ModalityLayer& attention = isDeep ? *layer->image : text;
      input.others = parametersOf(
          attention, *layer->image,
          isDeep ? wholeOf(*attention.attention, {}).maps : input.parameters[cpu::kQkvWeight]);
      input.firstOther = sorted.text;
      isConstant = isConstant && !kernels::isDifferentiated(input.parameters);
      input.constantTokens = isConstant ? pass.routing.prefix : 0;
    }
    stream = runIfTaken(input);
    if (!stream.defined()) return {};
  }
  return stream;
}

}  // namespace vitrine::llamafusion
