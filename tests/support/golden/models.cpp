#include "tests/support/golden/models.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/model/tensor_program.h"
#include "core/model/weights.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::testing {

namespace {

/// "swiglu (fc1 gate, fc3 up, fc2 down)" is swiglu, "multiplicative, after softmax" is
/// multiplicative.
std::string firstWord(const Json& text) {
  const std::string whole = text.get<std::string>();
  return whole.substr(0, whole.find_first_of(" ,("));
}

/// What no schema here has yet; a case that uses it is another model.
void refuseUnknownParts(const Json& theirs) {
  requireKnown(theirs, "model",
               {"image_size",   "patch_size", "in_channels", "width",
                "depth",        "heads",      "mlp_width",   "num_classes",
                "mlp",          "mlp_bias",   "mlp_ratio",   "mlp_hidden_multiple_of",
                "norm",         "norm_eps",   "qkv_bias",    "proj_bias",
                "qkv_layout",   "pool",       "final_norm",  "class_token",
                "pos_embed",    "rope",       "mask",        "pos_embed_has_class_row",
                "layer_scale",  "hybrid",     "placement",   "representation",
                "distill_token"});
  if (!theirs.value("proj_bias", true))
    throw Unmapped("attention without a bias behind it has no counterpart");
  if (theirs.value("distill_token", false))
    throw Unmapped("a distillation token has no counterpart");
  if (theirs.contains("representation") && !theirs.at("representation").is_null())
    throw Unmapped("a layer between the class token and the classifier has no counterpart");
  // DeiT III adds its positions to the patches alone.
  if (theirs.value("pos_embed", "") == "learned" && theirs.value("class_token", "") == "first" &&
      !theirs.value("pos_embed_has_class_row", true)) {
    throw Unmapped("positions without a row for the class token have no counterpart");
  }
  for (const char* part : {"hybrid", "placement"}) {
    if (theirs.contains(part) && !theirs.at(part).is_null())
      throw Unmapped("model." + std::string(part) + " has no counterpart");
  }
}

/// The gradient of a grid of positions [1, rows, columns, width] that became another one by bicubic
/// interpolation, from that of the other one.
at::Tensor pulledBack(const at::Tensor& gradient, const at::Tensor& stored) {
  const auto asImage = [](const at::Tensor& grid) { return grid.permute({0, 3, 1, 2}); };
  const at::Tensor leaf = at::zeros_like(stored).requires_grad_(true);
  const at::Tensor resized =
      at::upsample_bicubic2d(asImage(leaf), {gradient.size(1), gradient.size(2)}, false);
  (resized * asImage(gradient)).sum().backward();
  return leaf.grad();
}

/// The gradients the case stores, under its names: of the inputs, of our parameters, and of the
/// rows of ours that are parameters of their own under the names of the case's weights.
void addGradients(const GoldenCase& golden, Model& model, const TensorMap& inputs, Tensors& pass) {
  for (const auto& [name, input] : inputs) {
    if (input.grad().defined()) pass["grad/input/" + name] = input.grad().clone();
  }
  WeightSource source = openWeightSource(golden.weights());
  model.transform(source);
  for (const auto& [name, tensor] : namedTensors(model)) {
    const at::Tensor& whole = tensor.grad();
    if (!whole.defined() || !source.has(name)) continue;
    const auto resized = golden.gradients.find(name);
    if (source.isResized(name) && resized != golden.gradients.end() && whole.dim() == 4) {
      pass["grad/pos_embed_resized"] = whole.clone();
      pass[name] = pulledBack(whole, resized->second);
      continue;
    }
    std::int64_t first = 0;
    for (const std::string& theirs : source.origins(name)) {
      const auto expected = golden.gradients.find(theirs);
      if (expected == golden.gradients.end()) break;
      const bool isWhole = source.origins(name).size() == 1;
      const std::int64_t rows = isWhole ? 0 : expected->second.size(0);
      pass[theirs] = (isWhole ? whole : whole.narrow(0, first, rows)).clone();
      first += rows;
    }
  }
}

void clearGradients(Model& model) {
  for (const auto& [name, tensor] : namedTensors(model)) tensor.mutable_grad() = at::Tensor();
}

/// What the program makes of the case's inputs, and where it makes a loss its gradients.
Tensors runOnce(const GoldenCase& golden, Model& model, TensorProgram& program,
                const std::set<std::string>& wanted) {
  TensorMap inputs;
  for (const auto& [name, tensor] : golden.io) {
    if (name.starts_with("input/")) inputs[name.substr(6)] = tensor;
  }
  inputs = checkedInputs(program, inputs, golden.name());
  for (auto& [name, tensor] : inputs) {
    if (tensor.is_floating_point()) tensor = tensor.clone().requires_grad_(true);
  }
  std::set<std::string> made = wanted.empty() ? defaultOutputs(program, inputs) : wanted;
  for (const TensorOutput& output : program.tensorOutputs()) {
    const bool canBeMade =
        std::all_of(output.needs.begin(), output.needs.end(),
                    [&](const std::string& need) { return inputs.contains(need); });
    if (!canBeMade) made.erase(output.name);
  }
  clearGradients(model);
  Tensors pass;
  at::Tensor loss;
  for (const auto& [name, tensor] : program.runTensors(inputs, made)) {
    pass["output/" + name] = tensor.detach().clone();
    if (golden.io.contains(name)) pass[name] = pass["output/" + name];  // "cache/layer_0/key"
    if (name == "loss") loss = tensor;
  }
  if (!golden.gradients.empty() && loss.defined()) {
    loss.backward();
    addGradients(golden, model, inputs, pass);
  }
  return pass;
}

/// What the layers of an encoder see of each other, [tokens, tokens] float32.
at::Tensor maskOf(const nn::VisionTransformer& encoder, std::int64_t tokens) {
  const auto& mask = encoder.config().mask;
  return mask ? mask->factor(tokens, at::kCPU) : at::ones({tokens, tokens});
}

/// Positions and logits of every size that the case has an image of, by every rule it names.
Tensors runResized(const GoldenCase& golden, const Architecture& architecture,
                   const Json& overrides) {
  Tensors pass;
  for (const auto& [name, image] : golden.io) {
    if (!name.starts_with("input/image_")) continue;
    const std::string size = name.substr(12);
    Json changes = overrides;
    changes["image_size"] = Json{image.size(2), image.size(3)};
    for (const std::string rule : {"", "bicubic", "bicubic_antialias", "linear_corners"}) {
      const std::string suffix = (rule.empty() ? "" : rule + "_") + size;
      if (!golden.io.contains("output/logits_" + suffix)) continue;
      const auto model = architecture.build(modelConfig(golden, architecture, changes), 0);
      LoadOptions options;
      if (!rule.empty()) options.resizePositions = rule;
      (void)loadWeights(*model, golden.weights(), options);
      model->module().eval();
      for (const auto& [parameter, tensor] : namedTensors(*model)) {
        if (parameter == "pos_embed") pass["output/pos_embed_" + suffix] = tensor.detach().clone();
      }
      pass["output/logits_" + suffix] =
          capabilityOf<ImageClassifier>(*model)->classify(image).detach();
    }
  }
  return pass;
}

}  // namespace

namespace {

/// Keys of a case that are ours as they are: those of the fact sheets.
Json sameKeys(const Json& theirs, const Schema& schema) {
  Json ours = Json::object();
  for (const auto& [key, value] : theirs.items()) {
    if (schema.find(key) == nullptr)
      throw Unmapped("model." + key + " has no counterpart in the architecture's schema");
    ours[key] = value;
  }
  return ours;
}

}  // namespace

Json modelTable(const GoldenCase& golden, const Schema& schema) {
  const Json& theirs = golden.json.at("model");
  // Plain encoders of images have a dialect of their own.
  if (!theirs.contains("mlp") || !theirs.contains("mask")) return sameKeys(theirs, schema);
  refuseUnknownParts(theirs);
  Json ours = Json::object();
  for (const char* key : {"image_size", "patch_size", "in_channels", "width", "depth", "heads",
                          "mlp_width", "num_classes", "norm_eps", "qkv_bias", "class_token", "pool",
                          "final_norm", "pos_embed", "norm"}) {
    if (theirs.contains(key)) ours[key] = theirs.at(key);
  }
  ours["mlp"] = firstWord(theirs.at("mlp"));
  // Some cases say mlp_bias where their SwiGLU has none: the weights decide.
  const Tensors weights = readTensors(golden.weights());
  ours["mlp_bias"] =
      weights.contains("blocks.0.mlp.fc1.bias") || weights.contains("vit.layers.0.mlp.fc1.bias");
  const Json& rope = theirs.at("rope");
  if (!rope.is_null()) {
    requireKnown(rope, "model.rope", {"theta", "pairing", "class_token_rotated"});
    if (rope.value("pairing", "interleaved") != "interleaved" ||
        !rope.value("class_token_rotated", true))
      throw Unmapped("model.rope of " + rope.dump() + " has no counterpart");
  }
  if (schema.find("rope.mode") != nullptr) {
    ours["rope"] =
        rope.is_null() ? Json{{"mode", "none"}} : Json{{"mode", "1d"}, {"theta", rope.at("theta")}};
  } else if (!rope.is_null()) {
    throw Unmapped("the architecture has no rope");
  }
  const Json& mask = theirs.at("mask");
  requireKnown(mask, "model.mask", {"kind", "mode", "alpha"});
  if (schema.find("mask.kind") != nullptr) {
    const std::string mode = firstWord(mask.at("mode"));
    ours["mask"] =
        Json{{"kind", mask.at("kind")}, {"mode", mode == "none" ? "multiplicative" : mode}};
    if (mask.contains("alpha")) ours["mask"]["alpha"] = mask.at("alpha");
  } else if (mask.at("kind") != "bidirectional") {
    throw Unmapped("the architecture has no mask");
  }
  // A gain per channel is in the weights; its first value is of no account here.
  if (theirs.at("layer_scale").get<bool>()) ours["layer_scale"] = 1e-4;
  return ours;
}

Config modelConfig(const GoldenCase& golden, const Architecture& architecture,
                   const Json& overrides) {
  const Schema schema = architecture.card().schema;
  Json values = modelTable(golden, schema);
  values.update(overrides);
  const std::vector<Problem> problems = resolveItem(schema, "model", values);
  if (!problems.empty()) throw Unmapped(problems.front().sentence());
  return Config(values);
}

std::vector<Tensors> runModelCase(const GoldenCase& golden, const Architecture& architecture,
                                  const Json& overrides) {
  const bool isResized = std::any_of(golden.io.begin(), golden.io.end(), [](const auto& each) {
    return each.first.starts_with("input/image_") && each.second.dim() == 4;
  });
  if (isResized) return {runResized(golden, architecture, overrides)};
  const Config config = modelConfig(golden, architecture, overrides);
  const auto builtWith = [&](const std::filesystem::path& weights) {
    std::shared_ptr<Model> model = architecture.build(config, 0);
    const LoadReport report = loadWeights(*model, weights);
    if (!report.unused.empty())
      throw ConfigError(report.unused.front() + " of " + weights.filename().string() +
                        " was not used");
    model->module().eval();
    return model;
  };
  const std::shared_ptr<Model> model = builtWith(golden.weights());
  const std::shared_ptr<TensorProgram> program = programOf(*model);
  std::set<std::string> all;
  for (const TensorOutput& output : program->tensorOutputs()) all.insert(output.name);
  // Every row of every block, as taps see them; and as training and inference run it.
  Tensors tapped = runOnce(golden, *model, *program, all);
  Tensors plain = runOnce(golden, *model, *program, {});
  if (const auto mask = golden.io.find("output/mask"); mask != golden.io.end()) {
    if (const auto* encoder = dynamic_cast<nn::VisionTransformer*>(model.get()))
      tapped["output/mask"] = maskOf(*encoder, mask->second.size(-1));
  }
  std::vector<Tensors> passes{std::move(tapped), std::move(plain)};
  // The same weights in other layouts. Gradients have the names of weights.safetensors.
  GoldenCase outputs = golden;
  outputs.gradients.clear();
  for (const char* file : {"weights_ldm.safetensors", "model.safetensors.index.json",
                           "consolidated.safetensors", "model_v0.bin", "model_v1.bin"}) {
    if (!std::filesystem::exists(golden.folder / file)) continue;
    const std::shared_ptr<Model> other = builtWith(golden.folder / file);
    passes.push_back(runOnce(outputs, *other, *programOf(*other), {}));
  }
  return passes;
}

}  // namespace vitrine::testing
