#include "tests/support/golden_models.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "core/base/error.h"
#include "core/config/experiment.h"
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
  if (theirs.value("distill_token", false))
    throw Unmapped("a distillation token has no counterpart");
  if (theirs.contains("representation") && !theirs.at("representation").is_null()) {
    throw Unmapped("a layer between the class token and the classifier has no counterpart");
  }
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

/// The gradients the case stores, under its names; row blocks of ours where names are those of
/// another library.
void addGradients(const GoldenCase& golden, Model& model, const at::Tensor& image, Tensors& pass) {
  Tensors ours;
  for (const auto& [name, tensor] : namedTensors(model)) ours.emplace(name, tensor.grad());
  std::map<std::string, WeightRename> renames;
  for (const auto& table : model.otherNames()) {
    for (const WeightRename& entry : table) renames.emplace(entry.theirs, entry);
  }
  for (const auto& [name, expected] : golden.gradients) {
    if (name == "grad/input/image") {
      pass[name] = image.grad().clone();
    } else if (const auto own = ours.find(name); own != ours.end() && own->second.defined()) {
      pass[name] = own->second.clone();
    } else if (const auto entry = renames.find(name); entry != renames.end()) {
      const at::Tensor& whole = ours.at(entry->second.ours);
      if (!whole.defined()) continue;
      pass[name] =
          whole.chunk(entry->second.parts, 0)[static_cast<std::size_t>(entry->second.part)].clone();
    }
  }
}

void clearGradients(Model& model) {
  for (const auto& [name, tensor] : namedTensors(model)) tensor.mutable_grad() = at::Tensor();
}

void addAttention(Model& model, const at::Tensor& image, AttentionTap::Kind kind,
                  const std::string& prefix, Tensors& pass) {
  auto* source = capabilityOf<AttentionSource>(model);
  if (source == nullptr) return;
  auto tap = std::make_shared<AttentionTap>();
  tap->kind = kind;
  tap->receive = [&](const AttentionRecord& record) {
    pass[prefix + std::to_string(record.layer)] = record.weights.detach().clone();
  };
  source->setAttentionTap(tap);
  (void)capabilityOf<ImageClassifier>(model)->classify(image);
  source->setAttentionTap(nullptr);
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

Json modelTable(const GoldenCase& golden, const Schema& schema) {
  const Json& theirs = golden.json.at("model");
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
  if (schema.find("rope.mode") != nullptr) {
    ours["rope"] =
        rope.is_null() ? Json{{"mode", "none"}} : Json{{"mode", "1d"}, {"theta", rope.at("theta")}};
  } else if (!rope.is_null()) {
    throw Unmapped("the architecture has no rope");
  }
  const Json& mask = theirs.at("mask");
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
  if (!golden.io.contains("input/image")) return {runResized(golden, architecture, overrides)};
  const std::shared_ptr<Model> model =
      architecture.build(modelConfig(golden, architecture, overrides), 0);
  const LoadReport report = loadWeights(*model, golden.weights());
  if (!report.unused.empty())
    throw ConfigError(report.unused.front() + " of the case's weights was not used");
  model->module().eval();
  auto* classifier = capabilityOf<ImageClassifier>(*model);
  auto* encoder = capabilityOf<TokenEncoder>(*model);
  const at::Tensor target = golden.io.at("input/target");
  at::Tensor image = golden.io.at("input/image").clone().requires_grad_(true);

  Tensors tapped;  // every row of every block, as taps see them
  addAttention(*model, image, AttentionTap::Kind::Softmax, "output/attention_", tapped);
  addAttention(*model, image, AttentionTap::Kind::Effective, "output/attention_masked_", tapped);
  tapped["output/embeddings"] = encoder->embed(image).values.detach();
  if (const auto mask = golden.io.find("output/mask"); mask != golden.io.end()) {
    tapped["output/mask"] =
        dynamic_cast<nn::VisionTransformer&>(*model).attentionMask(mask->second.size(-1));
  }
  encoder->setBlockTap([&](std::int64_t index, const at::Tensor& stream) {
    tapped["output/block_" + std::to_string(index)] = stream.detach().clone();
  });
  const at::Tensor whole = classifier->classify(image);
  encoder->setBlockTap({});
  tapped["output/logits"] = whole.detach();
  at::cross_entropy_loss(whole, target).backward();
  addGradients(golden, *model, image, tapped);

  Tensors plain;  // as training and inference run it
  clearGradients(*model);
  image.mutable_grad() = at::Tensor();
  const at::Tensor features = classifier->features(image);
  const at::Tensor logits = classifier->head(features);
  const at::Tensor loss = at::cross_entropy_loss(logits, target);
  plain["output/features"] = features.detach();
  plain["output/logits"] = logits.detach();
  plain["output/loss"] = loss.detach();
  loss.backward();
  addGradients(golden, *model, image, plain);
  return {std::move(tapped), std::move(plain)};
}

}  // namespace vitrine::testing
