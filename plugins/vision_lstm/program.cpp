// Named tensors of a Vision-LSTM.
#include <ATen/ATen.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "plugins/vision_lstm/state.h"

namespace vitrine::vision_lstm {

namespace {

constexpr const char* kBlocks = "block_<i>";
constexpr const char* kWithin = "block_<i>/<part>";

std::vector<Axis> featureAxes(const VisionLstmConfig& c) {
  switch (c.pooling) {
    case Pooling::Tokens:
      return {kBatchAxis, c.tokens(), c.width};
    case Pooling::Image:
      return {kBatchAxis, c.width, c.grid().rows, c.grid().columns};
    default:
      return {kBatchAxis, c.pooledWidth()};
  }
}

}  // namespace

std::vector<TensorInput> VisionLstm::tensorInputs() const {
  const VisionLstmConfig& c = state_->config;
  std::vector<TensorInput> inputs{{"image",
                                   at::kFloat,
                                   {kBatchAxis, c.inChannels, c.imageSize[0], c.imageSize[1]},
                                   false,
                                   "as the model was trained on, normalised"}};
  if (c.classes > 0)
    inputs.push_back({"target", at::kLong, {kBatchAxis}, true, "label of each image"});
  else
    inputs.push_back({"cotangent", at::kFloat, featureAxes(c), true,
                      "the loss is the mean of its product with the features"});
  return inputs;
}

std::vector<TensorOutput> VisionLstm::tensorOutputs() const {
  const VisionLstmConfig& c = state_->config;
  const std::vector<Axis> stream{kBatchAxis, c.tokens(), c.width};
  std::vector<TensorOutput> outputs{
      {"features", featureAxes(c), {}, false, "input of the classifier"}};
  if (c.classes > 0) {
    outputs.push_back({"logits", {kBatchAxis, c.classes}});
    outputs.push_back({"loss", {}, {"target"}, false, "mean cross-entropy"});
  } else {
    outputs.push_back({"loss", {}, {"cotangent"}, false, "mean of features times cotangent"});
  }
  outputs.push_back({"tokens", stream, {}, true, "after the last norm"});
  outputs.push_back({"embeddings", stream, {}, true, "before the first block"});
  if (c.hasPositions) {
    outputs.push_back({"pos_embed",
                       {1, c.grid().rows, c.grid().columns, c.width},
                       {},
                       true,
                       "positions as they are added"});
  }
  outputs.push_back({kBlocks, stream, {}, true, "after every block, or pair that runs at once"});
  outputs.push_back({kWithin, {kBatchAxis}, {}, true, "activations within blocks, in scan order"});
  return outputs;
}

TensorMap VisionLstm::runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) {
  State& s = *state_;
  TensorMap out;
  Listener listener;
  const auto nameOfBlock = [](std::int64_t block) { return "block_" + std::to_string(block); };
  if (wanted.contains(kBlocks)) {
    listener.after = [&](std::int64_t block, const at::Tensor& stream) {
      out[nameOfBlock(block)] = stream;
    };
  }
  if (wanted.contains(kWithin)) {
    listener.within = [&](std::int64_t block, const std::string& name, const at::Tensor& value) {
      out[nameOfBlock(block) + "/" + name] = value;
    };
  }
  const Grid grid = s.config.grid();
  const Tokens embedded = embed(inputs.at("image"));
  if (wanted.contains("embeddings")) out["embeddings"] = embedded.values;
  if (wanted.contains("pos_embed")) out["pos_embed"] = s.positionsOf(grid);
  const at::Tensor tokens = s.network->norm->forward(s.run(embedded.values, grid, listener));
  if (wanted.contains("tokens")) out["tokens"] = tokens;
  const at::Tensor features = s.pool(tokens, grid);
  out["features"] = features;
  if (s.config.classes > 0) out["logits"] = head(features);
  if (wanted.contains("loss")) {
    out["loss"] = s.config.classes > 0 ? at::cross_entropy_loss(out["logits"], inputs.at("target"))
                                       : (features * inputs.at("cotangent")).mean();
  }
  return out;
}

}  // namespace vitrine::vision_lstm
