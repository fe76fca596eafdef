// The pyramid's outputs by their names.
#include <ATen/ATen.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "plugins/visionllama/pyramid_model.h"

namespace vitrine::visionllama {

namespace {

std::string numbered(const char* name, std::size_t stage) {
  return std::string(name) + "_" + std::to_string(stage);
}

}  // namespace

TensorInput PyramidModel::imageInput() const {
  return {"image",
          at::kFloat,
          {kBatchAxis, options_.inChannels, options_.imageSize[0], options_.imageSize[1]},
          false,
          "as the model was trained on, normalised"};
}

std::vector<TensorOutput> PyramidModel::watchedOutputs() const {
  std::vector<TensorOutput> all{{"stage_<i>",
                                 {kBatchAxis, "channels", "rows", "columns"},
                                 {},
                                 options_.classes > 0,
                                 "the map behind each stage"}};
  for (std::size_t s = 0; s < options_.stages.size(); ++s) {
    all.push_back({numbered("block", s) + "_<i>",
                   {kBatchAxis, numbered("tokens", s), options_.stages[s].width},
                   {},
                   true,
                   "after every block of the stage"});
  }
  if (options_.hasPeg) {
    all.push_back({"peg_<i>",
                   {kBatchAxis, "tokens", "channels"},
                   {},
                   true,
                   "behind the convolution of each stage"});
  }
  all.push_back({"attention_<i>",
                 {kBatchAxis, "heads or windows", "queries", "keys"},
                 {},
                 true,
                 "after the softmax of every layer; of windows [batch, windows, heads, queries, "
                 "keys], padding included"});
  return all;
}

PyramidModel::Watch PyramidModel::watchFor(const std::set<std::string>& wanted,
                                           TensorMap& out) const {
  Watch watch;
  bool wantsBlocks = false;
  for (std::size_t s = 0; s < options_.stages.size(); ++s)
    wantsBlocks = wantsBlocks || wanted.contains(numbered("block", s) + "_<i>");
  if (wantsBlocks) {
    watch.block = [&out, wanted](std::size_t stage, std::size_t block, const at::Tensor& tokens) {
      const std::string family = numbered("block", stage) + "_";
      if (wanted.contains(family + "<i>")) out[family + std::to_string(block)] = tokens;
    };
  }
  if (wanted.contains("peg_<i>")) {
    watch.peg = [&out](std::size_t stage, const at::Tensor& tokens) {
      out[numbered("peg", stage)] = tokens;
    };
  }
  if (wanted.contains("attention_<i>")) {
    watch.attention = [&out](std::int64_t layer, const at::Tensor& softmax) {
      out["attention_" + std::to_string(layer)] = softmax;
    };
  }
  return watch;
}

std::vector<OfferedCapability> PyramidClassifier::capabilities() {
  return offersOf<ImageClassifier, AttentionSource, FeaturePyramid, TensorProgram>(*this);
}

at::Tensor PyramidClassifier::features(const at::Tensor& images) {
  const at::Tensor mean = pooled(run(images, {}).back());
  return options().isNormedTwice ? normed(mean) : mean;
}
at::Tensor PyramidClassifier::head(const at::Tensor& features) { return classified(features); }
at::Tensor PyramidClassifier::classify(const at::Tensor& images) { return head(features(images)); }

std::vector<TensorInput> PyramidClassifier::tensorInputs() const {
  return {imageInput(), {"target", at::kLong, {kBatchAxis}, true, "label of each image"}};
}

std::vector<TensorOutput> PyramidClassifier::tensorOutputs() const {
  const std::int64_t width = options().stages.back().width, classes = options().classes;
  std::vector<TensorOutput> all{
      {"features", {kBatchAxis, width}, {}, false, "input of the classifier"},
      {"logits", {kBatchAxis, classes}},
      {"loss", {}, {"target"}, false, "mean cross-entropy"},
      {"features_double_norm",
       {kBatchAxis, width},
       {},
       true,
       "the pooled tokens through the final norm once more"},
      {"logits_double_norm", {kBatchAxis, classes}, {}, true, "the classifier on those"}};
  for (TensorOutput& output : watchedOutputs()) all.push_back(std::move(output));
  return all;
}

TensorMap PyramidClassifier::runTensors(const TensorMap& inputs,
                                        const std::set<std::string>& wanted) {
  const at::Tensor& image = inputs.at("image");
  TensorMap out;
  const std::vector<at::Tensor> tokens = run(image, watchFor(wanted, out));
  if (wanted.contains("stage_<i>")) {
    for (std::size_t s = 0; s < tokens.size(); ++s)
      out[numbered("stage", s)] = mapOf(tokens[s], gridOf(image, s)).contiguous();
  }
  const at::Tensor mean = pooled(tokens.back());
  out["features"] = options().isNormedTwice ? normed(mean) : mean;
  out["logits"] = classified(out["features"]);
  if (wanted.contains("features_double_norm")) out["features_double_norm"] = normed(mean);
  if (wanted.contains("logits_double_norm")) out["logits_double_norm"] = classified(normed(mean));
  if (wanted.contains("loss"))
    out["loss"] = at::cross_entropy_loss(out["logits"], inputs.at("target"));
  return out;
}

std::vector<OfferedCapability> PyramidBackbone::capabilities() {
  return offersOf<AttentionSource, FeaturePyramid, TensorProgram>(*this);
}

std::vector<TensorInput> PyramidBackbone::tensorInputs() const {
  std::vector<TensorInput> all{imageInput()};
  for (std::size_t s = 0; s < options().stages.size(); ++s) {
    const std::int64_t stride = options().stride(s);
    all.push_back({numbered("probe", s),
                   at::kFloat,
                   {kBatchAxis, options().stages[s].width, options().imageSize[0] / stride,
                    options().imageSize[1] / stride},
                   true,
                   "weights of that stage's map in the loss"});
  }
  return all;
}

std::vector<TensorOutput> PyramidBackbone::tensorOutputs() const {
  std::vector<TensorOutput> all = watchedOutputs();
  TensorOutput loss{"loss", {}, {}, false, "sum over the stages of mean(map * probe)"};
  for (std::size_t s = 0; s < options().stages.size(); ++s)
    loss.needs.push_back(numbered("probe", s));
  all.push_back(std::move(loss));
  return all;
}

TensorMap PyramidBackbone::runTensors(const TensorMap& inputs,
                                      const std::set<std::string>& wanted) {
  const at::Tensor& image = inputs.at("image");
  TensorMap out;
  const std::vector<at::Tensor> tokens = run(image, watchFor(wanted, out));
  at::Tensor loss;
  for (std::size_t s = 0; s < tokens.size(); ++s) {
    const at::Tensor map = mapOf(tokens[s], gridOf(image, s)).contiguous();
    out[numbered("stage", s)] = map;
    if (!wanted.contains("loss")) continue;
    const at::Tensor part = (map * inputs.at(numbered("probe", s))).mean();
    loss = loss.defined() ? loss + part : part;
  }
  if (loss.defined()) out["loss"] = loss;
  return out;
}

}  // namespace vitrine::visionllama
