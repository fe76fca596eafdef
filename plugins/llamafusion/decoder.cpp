#include "plugins/llamafusion/decoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/kernels/linear.h"
#include "core/model/build_device.h"
#include "core/nn/cost.h"
#include "core/nn/init.h"

namespace vitrine::llamafusion {

namespace {

/// Tokens that a cache has room for at first.
constexpr std::int64_t kLeastRoom = 64;

/// A module that only holds others: "model.layers", "model.img".
struct Holder final : torch::nn::Module {
  template <class Child>
  std::shared_ptr<Child> add(const std::string& name, std::shared_ptr<Child> child) {
    return register_module(name, std::move(child));
  }
};

/// A table of rows. Parameter: weight [rows, width].
struct Table final : torch::nn::Module {
  Table(std::int64_t rows, std::int64_t width) {
    weight = register_parameter("weight", builtTensor({rows, width}));
  }
  at::Tensor weight;
};

std::shared_ptr<nn::Norm> makeNorm(const LlamaConfig& config) {
  return std::make_shared<nn::Norm>(nn::NormKind::Rms, config.dim, config.eps);
}

/// Rows in another order; the gradient goes back the same way, without sums.
class Reordered : public torch::autograd::Function<Reordered> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& rows,
                            const at::Tensor& order, const at::Tensor& inverse) {
    context->save_for_backward({order, inverse});
    return rows.index_select(0, order);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {apply(gradients[0], saved[1], saved[0]), {}, {}};
  }
};

/// What each modality's modules make of its rows of some tensors, in the order of the rows.
/// \param apply  (rows of each tensor, whether they are an image's)
template <class Apply>
at::Tensor byModality(const std::vector<at::Tensor>& all, const Routing& routing,
                      const Apply& apply) {
  if (routing.image.numel() == 0) return apply(all, false);
  if (routing.text.numel() == 0) return apply(all, true);
  const at::Tensor order = at::cat({routing.text, routing.image});
  std::vector<at::Tensor> text, image;
  for (const at::Tensor& rows : all) {
    const auto parts = Reordered::apply(rows, order, routing.inverse)
                           .split_with_sizes({routing.text.numel(), routing.image.numel()});
    text.push_back(parts[0]);
    image.push_back(parts[1]);
  }
  return Reordered::apply(at::cat({apply(text, false), apply(image, true)}), routing.inverse,
                          order);
}

/// q, k and v of normalised rows, one behind the other in the last axis.
at::Tensor packedMaps(const nn::MultiHeadAttention& attention, const at::Tensor& rows) {
  return at::cat({attention.query->forward(rows), attention.key->forward(rows),
                  attention.value->forward(rows)},
                 -1);
}

at::Tensor columns(const at::Tensor& bounds, std::int64_t first, std::int64_t count) {
  return bounds.defined() ? bounds.narrow(-1, first, count) : bounds;
}

at::Tensor joinedKeys(const at::Tensor& before, const at::Tensor& now) {
  return before.defined() ? at::cat({before, now}, 1) : now;
}

}  // namespace

ModalityLayer::ModalityLayer(const LlamaConfig& config, bool hasAttention, bool hasMlp) {
  if (hasAttention) {
    nn::MultiHeadOptions options;
    options.width = config.dim;
    options.heads = config.heads;
    options.keyHeads = config.kvHeads;
    options.headDim = config.headDim;
    options.projections = nn::Projections::Separate;
    options.inBias = options.outBias = nn::Bias::None;
    options.names.query = "q_proj";
    options.names.key = "k_proj";
    options.names.value = "v_proj";
    options.names.out = "o_proj";
    attentionNorm = register_module("input_layernorm", makeNorm(config));
    attention = register_module("self_attn", std::make_shared<nn::MultiHeadAttention>(options));
  }
  if (hasMlp) {
    nn::MlpOptions options;
    options.width = config.dim;
    options.hidden = config.ffnHidden;
    options.kind = nn::MlpKind::SwiGlu;
    options.bias = nn::Bias::None;
    options.names = {"gate_proj", "down_proj", "up_proj"};
    mlpNorm = register_module("post_attention_layernorm", makeNorm(config));
    mlp = register_module("mlp", std::make_shared<nn::Mlp>(options));
  }
}

DecoderLayer::DecoderLayer(const LlamaConfig& config, Separation separation)
    : ModalityLayer(config, true, true) {
  if (separation == Separation::Dense) return;
  image = register_module(
      "img", std::make_shared<ModalityLayer>(config, separation == Separation::Deep, true));
}

DecoderCache::DecoderCache(std::int64_t batch, std::int64_t depth)
    : batch_(batch), rooms_(static_cast<std::size_t>(depth)) {}

DecoderCache::Layer DecoderCache::layer(std::int64_t i) const {
  const Layer& room = rooms_[static_cast<std::size_t>(i)];
  if (length() == 0) return {};
  return {room.keys.narrow(1, 0, length()), room.values.narrow(1, 0, length())};
}

DecoderCache::Layer DecoderCache::extended(std::int64_t i, const Layer& more) {
  const Layer all = written(i, more);
  // Tensors of inference cannot be kept for a gradient.
  if (!at::GradMode::is_enabled()) return all;
  return {all.keys.clone(), all.values.clone()};
}

DecoderCache::Layer DecoderCache::written(std::int64_t i, const Layer& more) {
  const c10::InferenceMode inference;
  Layer& room = rooms_[static_cast<std::size_t>(i)];
  const std::int64_t before = length(), count = more.keys.size(1), after = before + count;
  if (!room.keys.defined() || room.keys.size(1) < after) {
    const auto grown = [&](const at::Tensor& old, const at::Tensor& like) {
      std::vector<std::int64_t> shape = like.sizes().vec();
      shape[1] = std::max(kLeastRoom, 2 * after);
      at::Tensor fresh = at::empty(shape, like.options());
      if (before > 0) fresh.narrow(1, 0, before).copy_(old.narrow(1, 0, before));
      return fresh;
    };
    room = {grown(room.keys, more.keys), grown(room.values, more.values)};
  }
  room.keys.narrow(1, before, count).copy_(more.keys);
  room.values.narrow(1, before, count).copy_(more.values);
  return {room.keys.narrow(1, 0, after), room.values.narrow(1, 0, after)};
}

void DecoderCache::truncate(std::int64_t length) {
  if (length < 0 || length > this->length()) {
    throw ShapeError("a cache of " + std::to_string(this->length()) + " tokens cannot be cut to " +
                     std::to_string(length));
  }
  wholes_.clear();
  positions_.resize(static_cast<std::size_t>(length));
  images_.resize(static_cast<std::size_t>(length));
}

void DecoderCache::append(const std::vector<std::int64_t>& positions, std::int64_t image) {
  wholes_.clear();
  positions_.insert(positions_.end(), positions.begin(), positions.end());
  images_.resize(positions_.size(), image);
}

Decoder::Decoder(const LlamaConfig& config, Separation separation, bool ownImageNorm)
    : config_(config), separation_(separation), frequencies_(llamaFrequencies(config)) {
  const auto body = register_module("model", std::make_shared<Holder>());
  embedding = body->add("embed_tokens", std::make_shared<Table>(config.vocab, config.dim))->weight;
  const auto list = body->add("layers", std::make_shared<Holder>());
  for (std::int64_t i = 0; i < config.depth; ++i) {
    layers.push_back(
        list->add(std::to_string(i), std::make_shared<DecoderLayer>(config, separation)));
  }
  norm = body->add("norm", makeNorm(config));
  if (ownImageNorm)
    imageNorm = body->add("img", std::make_shared<Holder>())->add("norm", makeNorm(config));
  headWeight =
      config.isTied
          ? embedding
          : register_module("lm_head", std::make_shared<Table>(config.vocab, config.dim))->weight;
}

at::Tensor Decoder::embed(const at::Tensor& tokens) const {
  return at::embedding(embedding, tokens);
}

at::Tensor Decoder::logits(const at::Tensor& features) const {
  return kernels::linear(features, headWeight, {});
}

Decoder::Projected Decoder::turned(at::Tensor packed, const at::Tensor& angles,
                                   std::int64_t batch) const {
  packed = packed.view({batch, -1, config_.heads + 2 * config_.kvHeads, config_.headDim});
  const std::int64_t turning = config_.heads + config_.kvHeads;
  const auto parts = packed.split_with_sizes({turning, config_.kvHeads}, 2);
  const auto both = nn::applyRope(parts[0].transpose(1, 2), angles, nn::RopePairs::HalfSplit)
                        .transpose(1, 2)
                        .split_with_sizes({config_.heads, config_.kvHeads}, 2);
  return {both[0], both[1], parts[1]};
}

DecoderStream Decoder::layer(std::int64_t index, const DecoderStream& stream,
                             const DecoderPass& pass, const at::Tensor& angles) const {
  const DecoderLayer& all = *layers[static_cast<std::size_t>(index)];
  const ModalityLayer& own = all;
  const ModalityLayer& image = all.image ? *all.image : own;
  const ModalityLayer& imageAttention = image.attention ? image : own;
  const std::int64_t prefix = pass.prefix.defined() ? pass.prefix.size(1) : 0;
  const std::int64_t width = pass.tail.defined() ? pass.tail.size(0) / pass.batch : 0;
  const bool isSharedAttention = &imageAttention == &own, isSharedMlp = &image == &own;
  const Routing& routing = pass.routing;

  DecoderCache::Layer keys;
  const auto take = [&](const Projected& p) {
    if (pass.cache != nullptr) {
      keys = pass.cache->extended(index, {p.key, p.value});
    } else {
      keys = {joinedKeys(keys.keys, p.key), joinedKeys(keys.values, p.value)};
    }
  };
  DecoderStream out = stream;
  const auto residual = [](const ModalityLayer& modules, const at::Tensor& x,
                           const at::Tensor& branch) {
    const auto [sum, normed] = modules.mlpNorm->forward(x, branch);
    return sum + modules.mlp->forward(normed);
  };
  std::vector<at::Tensor> seen;  // probabilities of the prefix, then of the tail
  const auto attend = [&](const at::Tensor& query, nn::AttendOptions options) {
    at::Tensor values = nn::attend(query, keys.keys, keys.values, options).values;
    if (pass.attentionTap) {
      options.path = nn::AttentionPath::Explicit;
      seen.push_back(nn::attend(query, keys.keys, keys.values, options).softmax);
    }
    return values;
  };
  if (pass.textMask.defined()) {
    const at::Tensor after =
        whole(all, out.prefix, pass.textMask, angles, wholeOf(*all.attention, {}));
    if (after.defined()) return {after, {}};
  }
  at::Tensor drawn;  // what a tap of the layers below does not change
  if (isImageAfterCache(pass)) {
    const at::Tensor rows = out.tail.view({pass.batch, width, config_.dim});
    const DecoderCache::Whole& parts = pass.cache->whole(
        index, [&] { return wholeOf(*image.attention, pass.cache->layer(index)); });
    const at::Tensor after = whole(image, rows, {}, angles, parts);
    if (after.defined()) drawn = after.flatten(0, 1);
    if (after.defined() && !pass.attentionTap) return {{}, drawn};
  }
  if (prefix > 0) {
    const Projected p = turned(packedMaps(*own.attention, own.attentionNorm->forward(out.prefix)),
                               angles.narrow(-2, 0, prefix), pass.batch);
    take(p);
    nn::AttendOptions options;
    options.isCausal = true;
    options.firstAllowedKey = columns(pass.firstKey, 0, prefix);
    out.prefix = residual(own, out.prefix, own.attention->join(attend(p.query, options)));
    if (pass.attentionTap) seen.back() = at::constant_pad_nd(seen.back(), {0, width}, 0);
  }
  if (width > 0) {
    const auto maps = [&](const std::vector<at::Tensor>& rows, bool isImage) {
      const ModalityLayer& modules = isImage ? imageAttention : own;
      return packedMaps(*modules.attention, modules.attentionNorm->forward(rows[0]));
    };
    const at::Tensor packed =
        isSharedAttention ? maps({out.tail}, false) : byModality({out.tail}, routing, maps);
    const Projected p = turned(packed, angles.narrow(-2, prefix, width), pass.batch);
    take(p);
    nn::AttendOptions options{.firstAllowedKey = columns(pass.firstKey, prefix, width),
                              .lastAllowedKey = columns(pass.lastKey, prefix, width)};
    const at::Tensor values = attend(p.query, options).reshape({width * pass.batch, -1});
    const auto finish = [&](const std::vector<at::Tensor>& rows, bool isImage) {
      const ModalityLayer& modules = isImage ? image : own;
      return residual(modules, rows[0],
                      isSharedAttention ? rows[1] : modules.attention->out->forward(rows[1]));
    };
    const std::vector<at::Tensor> both{
        out.tail, isSharedAttention ? own.attention->out->forward(values) : values};
    out.tail = isSharedMlp ? finish(both, false) : byModality(both, routing, finish);
  }
  if (pass.attentionTap) pass.attentionTap(index, at::cat(seen, 2));
  if (drawn.defined()) out.tail = drawn;
  return out;
}

DecoderStream Decoder::forward(const DecoderPass& asked) const {
  DecoderPass pass = asked;
  pass.textMask = textMask(pass);
  const at::Tensor& any = pass.prefix.defined() ? pass.prefix : pass.tail;
  const at::Tensor angles = nn::ropeAngles(
      pass.positions.to(any.device()), frequencies_.to(any.device()), nn::RopeAxes::Line,
      any.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  DecoderStream stream{pass.prefix, pass.tail};
  for (std::int64_t i = 0; i < config_.depth; ++i) {
    stream = layer(i, stream, pass, angles);
    if (!pass.tap) continue;
    std::vector<at::Tensor> parts;
    if (stream.prefix.defined()) parts.push_back(stream.prefix);
    if (stream.tail.defined()) parts.push_back(stream.tail.view({pass.batch, -1, config_.dim}));
    pass.tap(i, at::cat(parts, 1));
  }
  return stream;
}

at::Tensor Decoder::finishTail(const at::Tensor& tail, const Routing& routing) const {
  if (!imageNorm) return norm->forward(tail);
  return byModality({tail}, routing, [&](const std::vector<at::Tensor>& rows, bool isImage) {
    return (isImage ? imageNorm : norm)->forward(rows[0]);
  });
}

at::Tensor Decoder::text(const at::Tensor& tokens, DecoderPass pass) const {
  const std::int64_t first = pass.cache != nullptr ? pass.cache->nextPosition() : 0;
  const std::int64_t count = tokens.size(1);
  if (pass.cache != nullptr && pass.cache->batch() != tokens.size(0)) {
    throw ShapeError("a cache of " + std::to_string(pass.cache->batch()) +
                     " texts cannot continue with " + std::to_string(tokens.size(0)));
  }
  if (!pass.positions.defined())
    pass.positions = at::arange(first, first + count, tokens.options());
  pass.prefix = embed(tokens);
  pass.batch = tokens.size(0);
  const DecoderStream stream = forward(pass);
  if (pass.keepsKeys) {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < count; ++i) positions.push_back(first + i);
    pass.cache->append(positions, 0);
  }
  return stream.prefix;
}

std::vector<BlockCost> decoderCost(const Decoder& decoder, double tokens) {
  const LlamaConfig& c = decoder.config();
  std::vector<BlockCost> costs;
  costs.push_back({.name = "model.embed_tokens",
                   .kind = "embedding:" + std::to_string(c.vocab) + " rows",
                   .parameters = decoder.embedding.numel()});
  const auto add = [&](const std::string& name, BlockCost cost) {
    cost.name = name;
    costs.push_back(std::move(cost));
  };
  for (std::size_t i = 0; i < decoder.layers.size(); ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    const DecoderLayer& layer = *decoder.layers[i];
    add(prefix + "input_layernorm", layer.attentionNorm->cost(tokens));
    add(prefix + "self_attn", layer.attention->cost(tokens, tokens));
    add(prefix + "post_attention_layernorm", layer.mlpNorm->cost(tokens));
    add(prefix + "mlp", layer.mlp->cost(tokens));
    if (!layer.image) continue;
    // Each token goes through one set of modules: the copies add parameters, no work.
    BlockCost copies{.kind = "image copies"};
    for (const auto& parameter : layer.image->parameters()) copies.parameters += parameter.numel();
    add(prefix + "img", copies);
  }
  add("model.norm", decoder.norm->cost(tokens));
  if (decoder.imageNorm) add("model.img.norm", {.kind = "image copies", .parameters = c.dim});
  BlockCost head{.kind = "linear:" + std::to_string(c.dim) + " to " + std::to_string(c.vocab),
                 .parameters = c.isTied ? 0 : decoder.headWeight.numel(),
                 .macs = tokens * static_cast<double>(c.dim * c.vocab)};
  head.flops = 2 * head.macs;
  head.activationBytes = nn::kFloatBytes * tokens * static_cast<double>(c.dim + c.vocab);
  add("lm_head", head);
  return costs;
}

std::string textCounterpart(const std::string& name) {
  const std::size_t at = name.find(".img.");
  if (at == std::string::npos || !name.starts_with("model.")) return "";
  return name.substr(0, at + 1) + name.substr(at + 5);
}

void initialiseDecoder(Decoder& decoder, std::uint64_t seed) {
  nn::initialise(
      decoder,
      [](const std::string& name, const at::Tensor& value) -> std::optional<nn::Init> {
        if (value.dim() != 2 || !textCounterpart(name).empty()) return std::nullopt;
        return nn::normalInit(0.02);
      },
      seed);
  const c10::NoGradGuard noGradient;
  const auto parameters = decoder.named_parameters();
  for (const auto& item : parameters) {
    const std::string text = textCounterpart(item.key());
    if (text.empty() || item.value().is_meta()) continue;
    item.value().copy_(parameters[text]);
  }
}

}  // namespace vitrine::llamafusion
