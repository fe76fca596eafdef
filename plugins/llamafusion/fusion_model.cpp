#include "plugins/llamafusion/fusion_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/chosen_layers.h"
#include "core/model/weight_source.h"

namespace vitrine::llamafusion {

namespace {

constexpr const char* kTextAxis = "tokens";

/// Values of a table at `time`, broadcast over images.
at::Tensor atTime(const at::Tensor& table, const at::Tensor& time, const at::Tensor& like) {
  return table.to(time.device()).index_select(0, time).to(like.scalar_type()).view({-1, 1, 1, 1});
}

/// What the layers of a file have for images; none where it is a language model's.
std::optional<Separation> separationOf(const WeightSource& source) {
  std::optional<Separation> separation;
  for (const std::string& name : source.names()) {
    if (name.find(".layers.") == std::string::npos || textCounterpart(name).empty()) continue;
    if (name.find(".img.self_attn.") != std::string::npos) return Separation::Deep;
    separation = Separation::Shallow;
  }
  return separation;
}

const char* wordOf(Separation separation) {
  switch (separation) {
    case Separation::Dense:
      return "dense";
    case Separation::Shallow:
      return "shallow";
    case Separation::Deep:
      break;
  }
  return "deep";
}

}  // namespace

FusionModel::FusionModel(const FusionConfig& config, std::uint64_t seed)
    : TextDecoder(config.text, config.separation, config.ownImageNorm),
      config_(config),
      shares_(cosineShares(kNoiseSteps)) {
  initialiseDecoder(*this, seed);
  if (!config.io) return;
  io_ = register_module("img_io", makeImageIo(*config.io));
  initialiseImageIo(*io_, "img_io.", seed);
}

void FusionModel::transform(WeightSource& source) {
  const std::optional<Separation> theirs = separationOf(source);
  if (theirs && *theirs != separation()) {
    const std::string word = wordOf(*theirs);
    throw ConfigError("its image modules are of " + word + " separation, those of the model of " +
                      wordOf(separation()) + " separation; set model.separation = \"" + word +
                      "\", or begin from the weights of the language model");
  }
  TextDecoder::transform(source);
}

std::vector<OfferedCapability> FusionModel::capabilities() {
  return offersOf<LanguageModel, PackedLanguageModel, TextImageModel, AttentionSource,
                  TensorProgram>(*this);
}

std::vector<BlockCost> FusionModel::cost() const {
  std::vector<BlockCost> all = TextDecoder::cost();
  if (io_) {
    for (BlockCost& part : io_->cost()) {
      part.parameters = 0;
      all.push_back(std::move(part));
    }
    BlockCost whole{.name = "img_io", .kind = "image modules' parameters"};
    for (const auto& parameter : io_->parameters()) whole.parameters += parameter.numel();
    all.push_back(whole);
  }
  return all;
}

ImageIo& FusionModel::io() const {
  if (io_) return *io_;
  throw ConfigError(
      "the model has no way in and out for images; set model.image_io to linear or unet");
}

TextImageModel::Sizes FusionModel::textImageSizes() const {
  Sizes sizes;
  sizes.imageTokens = io().tokens();
  sizes.channels = config_.io->channels;
  sizes.height = config_.io->size[0];
  sizes.width = config_.io->size[1];
  sizes.steps = kNoiseSteps;
  sizes.beginText = config_.beginText;
  sizes.endText = config_.endText;
  sizes.beginImage = config_.beginImage;
  sizes.endImage = config_.endImage;
  sizes.diffusionWeight = config_.diffusionWeight;
  return sizes;
}

bool FusionModel::isOfText(const std::string& parameter) const {
  return !parameter.starts_with("img_io.") && textCounterpart(parameter).empty();
}

std::function<void(std::int64_t, const at::Tensor&)> FusionModel::attentionReceiver(
    const at::Tensor& imageIndex, double time) const {
  at::Tensor places;
  if (config_.io) {
    const std::int64_t side = config_.io->isUNet ? 2 : config_.io->patch;
    places = patchPlaces(imageIndex, config_.io->size[0] / side, config_.io->size[1] / side);
  }
  return [tap = attentionTap_, places, time](std::int64_t layer, const at::Tensor& weights) {
    if (!isChosenLayer(tap->layers, layer)) return;
    // Nothing comes behind the softmax: both kinds are the same.
    AttentionRecord record{.layer = layer, .weights = weights};
    record.queryPositions = record.keyPositions = places;
    if (places.defined()) {
      const std::int64_t queries = weights.size(2);
      record.queryPositions = places.narrow(0, places.size(0) - queries, queries);
    }
    record.time = time;
    tap->receive(record);
  };
}

FusionModel::Joint FusionModel::joint(
    const MixedSequences& sequences, const at::Tensor& imageTokens,
    const std::function<void(std::int64_t, const at::Tensor&)>& tap) const {
  const at::Tensor& tokens = sequences.tokens;
  const at::Device device = tokens.device();
  const std::int64_t batch = tokens.size(0);
  requireTokens(tokens);
  DecoderPass pass{.batch = batch, .tap = tap};
  if (attentionTap_) {
    pass.attentionTap =
        attentionReceiver(sequences.imageIndex, std::numeric_limits<double>::quiet_NaN());
  }
  pass.routing = routingOf(sequences.imageIndex, batch, device);
  pass.positions = sequences.positions.defined()
                       ? sequences.positions
                       : tokenPositions(sequences.imageIndex, config_.positions).to(device);
  pass.lastKey = lastAllowedKey(sequences.imageIndex, config_.mask).to(device);
  if (sequences.documents.defined())
    pass.firstKey = firstAllowedKey(sequences.documents).to(device);
  const Routing& routing = pass.routing;
  const std::int64_t prefix = routing.prefix, width = tokens.size(1) - prefix;
  const std::int64_t given = imageTokens.defined() ? imageTokens.size(0) * imageTokens.size(1) : 0;
  if (routing.image.numel() != given) {
    throw ShapeError("the sequences have " + std::to_string(routing.image.numel()) +
                     " places of images, and the images fill " + std::to_string(given));
  }
  if (std::optional<Joint> out = jointSorted(tokens, imageTokens, sequences.imageIndex, pass))
    return *std::move(out);
  if (prefix > 0) pass.prefix = embed(tokens.narrow(1, 0, prefix));
  if (width > 0) {
    const at::Tensor words =
        embed(tokens.narrow(1, prefix, width).reshape({-1}).index_select(0, routing.text));
    pass.tail = at::cat({words, imageTokens.flatten(0, 1).to(words.scalar_type())})
                    .index_select(0, routing.inverse);
  }
  const DecoderStream stream = forward(pass);
  Joint out;
  std::vector<at::Tensor> logits;
  if (prefix > 0) logits.push_back(Decoder::logits(finishText(stream.prefix)));
  if (width > 0) {
    const at::Tensor finished = finishTail(stream.tail, routing);
    const at::Tensor words = Decoder::logits(finished.index_select(0, routing.text));
    logits.push_back(at::zeros({batch * width, config_.text.vocab}, words.options())
                         .index_copy(0, routing.text, words)
                         .view({batch, width, -1}));
    out.imageHidden = finished.index_select(0, routing.image).view(imageTokens.sizes());
  }
  out.logits = at::cat(logits, 1);
  return out;
}

std::optional<FusionModel::Joint> FusionModel::jointSorted(const at::Tensor& tokens,
                                                           const at::Tensor& imageTokens,
                                                           const at::Tensor& imageIndex,
                                                           const DecoderPass& pass) const {
  const SortedColumns sorted = sortedColumns(imageIndex);
  if (!takesSorted(sorted, pass)) return {};
  const at::Tensor columns = sorted.columns.expand(tokens.sizes());
  const std::int64_t batch = tokens.size(0), all = tokens.size(1), text = sorted.text;
  const at::Tensor textColumns = columns.narrow(1, 0, text);
  const at::Tensor words = embed(tokens.gather(1, textColumns));
  const at::Tensor images = imageTokens.reshape({batch, all - text, config_.text.dim});
  const at::Tensor stream =
      forwardSorted(at::cat({words, images.to(words.scalar_type())}, 1), sorted, pass);
  if (!stream.defined()) return {};
  const auto parts = stream.split_with_sizes({text, all - text}, 1);
  const at::Tensor logits = Decoder::logits(finishText(parts[0])).flatten(0, 1);
  const at::Tensor place =
      at::arange(batch, at::kLong).mul(all).unsqueeze(1).add(textColumns).flatten();
  return Joint{at::zeros({batch * all, config_.text.vocab}, logits.options())
                   .index_copy(0, place, logits)
                   .view({batch, all, -1}),
               (imageNorm ? imageNorm : norm)->forward(parts[1]).view(imageTokens.sizes())};
}

MixedPrediction FusionModel::mixed(const MixedSequences& sequences) {
  if (!sequences.images.defined() || sequences.images.size(0) == 0)
    return {joint(sequences, {}, {}).logits, {}};
  const ImageIo::Entered entered = io().enter(sequences.images, sequences.time);
  const Joint out = joint(sequences, entered.tokens, {});
  return {out.logits, io().leave(out.imageHidden, entered)};
}

at::Tensor FusionModel::noiseAfter(Cache& cache, const at::Tensor& images, const at::Tensor& time,
                                   Keep keep) {
  DecoderPass pass;
  pass.cache = &decoderCache(cache);
  pass.batch = images.size(0);
  pass.keepsKeys = keep == Keep::Yes;
  if (pass.cache->batch() != pass.batch) {
    throw ShapeError("a cache of " + std::to_string(pass.cache->batch()) +
                     " texts does not fit a batch of " + std::to_string(pass.batch) + " images");
  }
  const ImageIo::Entered entered = io().enter(images, time);
  const std::int64_t count = entered.tokens.size(1), before = pass.cache->length(),
                     first = pass.cache->nextPosition();
  const at::Tensor index = at::ones({count}, at::kLong);
  pass.routing = routingOf(index, pass.batch, images.device());
  pass.positions = tokenPositions(index, config_.positions).add(first).to(images.device());
  if (config_.mask == ImageMask::Causal)
    pass.lastKey = lastAllowedKey(index, config_.mask).add(before).to(images.device());
  pass.tail = entered.tokens.flatten(0, 1);
  std::vector<std::int64_t> keys = pass.cache->imageIndex();
  const std::int64_t image = keys.empty() ? 1 : 1 + *std::max_element(keys.begin(), keys.end());
  if (attentionTap_) {
    keys.resize(keys.size() + static_cast<std::size_t>(count), image);
    pass.attentionTap =
        attentionReceiver(at::tensor(keys, at::kLong), time.select(0, 0).item<double>());
  }
  const DecoderStream stream = forward(pass);
  if (pass.keepsKeys) {
    const at::Tensor places = pass.positions.to(at::kCPU);
    const std::int64_t* position = places.const_data_ptr<std::int64_t>();
    pass.cache->append({position, position + count}, image);
  }
  return io().leave(finishTail(stream.tail, pass.routing).view(entered.tokens.sizes()), entered);
}

at::Tensor FusionModel::noised(const at::Tensor& start, const at::Tensor& noise,
                               const at::Tensor& time) const {
  return atTime(shares_.sqrt(), time, start) * start +
         atTime((1 - shares_).sqrt(), time, start) * noise;
}

void FusionModel::requireMask(const at::Tensor& given, const MixedSequences& sequences) const {
  const at::Tensor last = lastAllowedKey(sequences.imageIndex, config_.mask);
  const at::Tensor key = at::arange(last.size(-1), at::kLong);
  at::Tensor own = key.le(last.unsqueeze(-1));
  if (sequences.documents.defined())
    own = own.logical_and(key.ge(firstAllowedKey(sequences.documents).unsqueeze(-1)));
  // One mask of all samples, or one of each.
  if (given.to(at::kCPU).ne(own).any().item<bool>()) {
    throw ConfigError(
        "the mask is not the one that image_index, document and model.mask give; leave `mask` "
        "out");
  }
}

std::vector<TensorInput> FusionModel::tensorInputs() const {
  const std::int64_t dim = config_.text.dim;
  const auto side = [&](std::int64_t i) -> Axis {
    if (!config_.io) return Axis(i == 0 ? "channels" : i == 1 ? "height" : "width");
    return Axis(i == 0 ? config_.io->channels : config_.io->size[static_cast<std::size_t>(i - 1)]);
  };
  const std::vector<Axis> image{"images", side(0), side(1), side(2)};
  const std::vector<Axis> rows{"images", "image tokens", dim};
  const std::vector<Axis> row{kBatchAxis, kTextAxis};
  return {
      {"ids", at::kLong, row, false, "tokens; anything in places of images"},
      {"image_index", at::kLong, row, false, "0 text, k the k-th image of the row", true},
      {"positions", at::kLong, row, true, "as the model counts where they are not given", true},
      documentInput(),
      {"mask",
       at::kBool,
       {kBatchAxis, kTextAxis, kTextAxis},
       true,
       "only compared with the model's own",
       true},
      {"target", at::kLong, {kBatchAxis, kTextAxis}, true, "token that each predicts; -100: none"},
      {"image_tokens", at::kFloat, rows, true, "in the place of latents"},
      {"upstream_image_hidden", at::kFloat, rows, true, "whose product with the images is a loss"},
      {"latent", at::kFloat, image, true, "clean images, by sample, then by place"},
      {"noise", at::kFloat, image, true, "that is added to them"},
      {"t", at::kLong, {"images"}, true, "step of the noise, 0 to 999"}};
}

std::vector<TensorOutput> FusionModel::tensorOutputs() const {
  const std::vector<std::string> noised{"latent", "noise", "t"};
  const std::vector<Axis> image{"images", "channels", "height", "width"};
  const std::vector<Axis> rows{"images", "image tokens", "dim"};
  return {{"logits", {kBatchAxis, kTextAxis, "vocabulary"}, {}, false, "zero in places of images"},
          {"image_hidden", rows, {}, false, "image tokens behind the final norm"},
          {"block_<i>", {kBatchAxis, kTextAxis, "dim"}, {}, true, "after every layer"},
          {"x_t", image, noised, false, "noised images"},
          {"image_tokens", rows, noised, false, "that the image module makes of them"},
          {"eps", image, noised, false, "predicted noise"},
          {"lm_loss", {}, {"target"}, false, "mean cross-entropy"},
          {"diffusion_loss", {}, noised, false, "mean squared error of the noise"},
          {"loss", {}, {"target"}, false, "of text and images together"}};
}

TensorMap FusionModel::runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) {
  const auto optional = [&](const char* name) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? at::Tensor() : found->second;
  };
  TensorMap out;
  MixedSequences sequences{.tokens = inputs.at("ids"),
                           .imageIndex = inputs.at("image_index").to(at::kCPU),
                           .positions = optional("positions"),
                           .documents = optional(kDocument)};
  if (const at::Tensor mask = optional("mask"); mask.defined()) requireMask(mask, sequences);
  at::Tensor imageTokens = optional("image_tokens");
  const at::Tensor latent = optional("latent"), noise = optional("noise"), time = optional("t");
  ImageIo::Entered entered;
  if (latent.defined() && noise.defined() && time.defined()) {
    out["x_t"] = noised(latent, noise, time);
    entered = io().enter(out["x_t"], time);
    imageTokens = out["image_tokens"] = entered.tokens;
  }
  std::function<void(std::int64_t, const at::Tensor&)> tap;
  if (wanted.contains("block_<i>")) {
    tap = [&out](std::int64_t layer, const at::Tensor& stream) {
      out["block_" + std::to_string(layer)] = stream;
    };
  }
  const Joint joined = joint(sequences, imageTokens, tap);
  out["logits"] = joined.logits;
  if (joined.imageHidden.defined()) out["image_hidden"] = joined.imageHidden;
  std::vector<at::Tensor> losses;
  if (const at::Tensor target = optional("target"); target.defined()) {
    out["lm_loss"] = at::cross_entropy_loss(joined.logits.flatten(0, 1), target.flatten(), {},
                                            at::Reduction::Mean, kIgnoredTarget);
    losses.push_back(out["lm_loss"]);
  }
  if (const at::Tensor upstream = optional("upstream_image_hidden"); upstream.defined())
    losses.push_back((joined.imageHidden * upstream).mean());
  if (entered.tokens.defined()) {
    out["eps"] = io().leave(joined.imageHidden, entered);
    out["diffusion_loss"] = (out["eps"] - noise).square().mean();
    losses.push_back(config_.diffusionWeight * out["diffusion_loss"]);
  }
  if (wanted.contains("loss")) {
    at::Tensor loss = losses.at(0);
    for (std::size_t i = 1; i < losses.size(); ++i) loss = loss + losses[i];
    out["loss"] = loss;
  }
  return out;
}

}  // namespace vitrine::llamafusion
