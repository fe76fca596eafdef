#include "tests/support/golden_case.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <fstream>
#include <set>

#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::testing {

namespace {

std::filesystem::path goldenFolder() {
  return std::filesystem::path(VITRINE_SOURCE_DIR) / "tests" / "golden";
}

Json readJson(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return Json::parse(stream);
}

/// "swiglu (fc1 gate, fc3 up, fc2 down)" is swiglu, "multiplicative, after softmax" is
/// multiplicative.
std::string firstWord(const Json& text) {
  const std::string whole = text.get<std::string>();
  return whole.substr(0, whole.find_first_of(" ,("));
}

void compare(const GoldenCase& golden, const std::string& name, const at::Tensor& actual) {
  const auto found = golden.io.find(name);
  if (found != golden.io.end()) {
    EXPECT_TRUE(isClose(actual, found->second, golden.tolerance("output"))) << name;
  }
}

/// The gradient of `theirs`, a row block of ours where names are those of another library.
void compareGradients(const GoldenCase& golden, Model& model, const at::Tensor& image) {
  std::map<std::string, at::Tensor> ours;
  for (const auto& [name, tensor] : namedTensors(model)) ours.emplace(name, tensor.grad());
  std::map<std::string, WeightRename> renames;
  for (const auto& table : model.otherNames()) {
    for (const WeightRename& entry : table) renames.emplace(entry.theirs, entry);
  }
  std::size_t compared = 0;
  for (const auto& [name, expected] : golden.gradients) {
    at::Tensor actual;
    if (name == "grad/input/image") {
      actual = image.grad();
    } else if (const auto own = ours.find(name); own != ours.end()) {
      actual = own->second;
    } else if (const auto entry = renames.find(name); entry != renames.end()) {
      actual = ours.at(entry->second.ours)
                   .chunk(entry->second.parts, 0)[static_cast<std::size_t>(entry->second.part)];
    }
    ASSERT_TRUE(actual.defined()) << "no gradient for " << name;
    EXPECT_TRUE(isClose(actual, expected, golden.tolerance("grad"))) << "gradient of " << name;
    ++compared;
  }
  EXPECT_GT(compared, 10U);
}

void clearGradients(Model& model) {
  for (const auto& [name, tensor] : namedTensors(model)) tensor.mutable_grad() = at::Tensor();
}

void compareAttention(const GoldenCase& golden, Model& model, const at::Tensor& image,
                      AttentionTap::Kind kind, const std::string& prefix) {
  auto tap = std::make_shared<AttentionTap>();
  tap->kind = kind;
  std::int64_t heard = 0;
  tap->receive = [&](const AttentionRecord& record) {
    EXPECT_EQ(record.layer, heard);
    EXPECT_EQ(record.keyPositions.size(0), record.weights.size(-1));
    compare(golden, prefix + std::to_string(record.layer), record.weights);
    ++heard;
  };
  auto* source = capabilityOf<AttentionSource>(model);
  source->setAttentionTap(tap);
  (void)capabilityOf<ImageClassifier>(model)->classify(image);
  source->setAttentionTap(nullptr);
  EXPECT_EQ(heard, source->attentionLayers());
}

}  // namespace

double GoldenCase::tolerance(const std::string& kind) const {
  return json.at("tolerance").at(kind).get<double>();
}

GoldenCase openGoldenCase(const std::string& name) {
  GoldenCase golden;
  golden.folder = goldenFolder() / name;
  golden.json = readJson(golden.folder / "case.json");
  golden.io = readTensors(golden.folder / "io.safetensors");
  if (std::filesystem::exists(golden.folder / "grads.safetensors")) {
    golden.gradients = readTensors(golden.folder / "grads.safetensors");
  }
  return golden;
}

Json modelTable(const GoldenCase& golden, const Schema& schema) {
  const Json& theirs = golden.json.at("model");
  Json ours = Json::object();
  for (const char* key : {"image_size", "patch_size", "in_channels", "width", "depth", "heads",
                          "mlp_width", "num_classes", "norm_eps", "qkv_bias", "class_token", "pool",
                          "final_norm", "pos_embed", "norm"}) {
    ours[key] = theirs.at(key);
  }
  ours["mlp"] = firstWord(theirs.at("mlp"));
  // Some cases say mlp_bias where their SwiGLU has none: the weights decide.
  const auto weights = readTensors(golden.weights());
  ours["mlp_bias"] =
      weights.contains("blocks.0.mlp.fc1.bias") || weights.contains("vit.layers.0.mlp.fc1.bias");
  const Json& rope = theirs.at("rope");
  if (schema.find("rope.mode") != nullptr) {
    ours["rope"] =
        rope.is_null() ? Json{{"mode", "none"}} : Json{{"mode", "1d"}, {"theta", rope.at("theta")}};
  } else {
    EXPECT_TRUE(rope.is_null()) << "the architecture has no rope";
  }
  const Json& mask = theirs.at("mask");
  if (schema.find("mask.kind") != nullptr) {
    const std::string mode = firstWord(mask.at("mode"));
    ours["mask"] =
        Json{{"kind", mask.at("kind")}, {"mode", mode == "none" ? "multiplicative" : mode}};
    if (mask.contains("alpha")) ours["mask"]["alpha"] = mask.at("alpha");
  } else {
    EXPECT_EQ(mask.at("kind"), "bidirectional") << "the architecture has no mask";
  }
  EXPECT_FALSE(theirs.at("layer_scale").get<bool>());
  return ours;
}

Config modelConfig(const GoldenCase& golden, const Architecture& architecture,
                   const Json& overrides) {
  const Schema schema = architecture.card().schema;
  Json values = modelTable(golden, schema);
  values.update(overrides);
  for (const Problem& problem : resolveItem(schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return Config(values);
}

::testing::AssertionResult isClose(const at::Tensor& actual, const at::Tensor& expected,
                                   double tolerance) {
  if (!actual.defined()) return ::testing::AssertionFailure() << "there is no tensor";
  const at::Tensor flatShape =
      actual.numel() == expected.numel() ? actual.reshape(expected.sizes()) : actual;
  if (flatShape.sizes() != expected.sizes()) {
    return ::testing::AssertionFailure()
           << "shape " << c10::str(actual.sizes()) << " instead of " << c10::str(expected.sizes());
  }
  const at::Tensor wanted = expected.to(at::kDouble);
  const at::Tensor difference = (flatShape.detach().to(at::kCPU, at::kDouble) - wanted).abs();
  if (!difference.isfinite().all().item<bool>())
    return ::testing::AssertionFailure() << "not finite";
  const double allowed = tolerance * std::max(0.01, wanted.abs().max().item<double>());
  const double worst = difference.max().item<double>();
  if (worst <= allowed) return ::testing::AssertionSuccess();
  std::int64_t flat = difference.argmax().item<std::int64_t>();
  std::string index;
  for (std::int64_t axis = wanted.dim() - 1; axis >= 0; --axis) {
    index = std::to_string(flat % wanted.size(axis)) + (index.empty() ? "" : ", ") + index;
    flat /= wanted.size(axis);
  }
  return ::testing::AssertionFailure() << "off by " << worst << " at [" << index << "] of "
                                       << c10::str(expected.sizes()) << ", allowed " << allowed;
}

void expectReproduced(const std::string& name, const Architecture& architecture,
                      const Json& overrides) {
  SCOPED_TRACE(name);
  const GoldenCase golden = openGoldenCase(name);
  const std::shared_ptr<Model> model =
      architecture.build(modelConfig(golden, architecture, overrides), 0);
  const LoadReport report = loadWeights(*model, golden.weights());
  EXPECT_TRUE(report.unused.empty());
  model->module().eval();
  auto* classifier = capabilityOf<ImageClassifier>(*model);
  auto* encoder = capabilityOf<TokenEncoder>(*model);
  const at::Tensor target = golden.io.at("input/target");
  at::Tensor image = golden.io.at("input/image").clone().requires_grad_(true);

  compareAttention(golden, *model, image, AttentionTap::Kind::Softmax, "output/attention_");
  compareAttention(golden, *model, image, AttentionTap::Kind::Effective,
                   "output/attention_masked_");
  compare(golden, "output/embeddings", encoder->embed(image).values);
  if (golden.io.contains("output/mask")) {
    const auto& mask = golden.io.at("output/mask");
    compare(golden, "output/mask",
            dynamic_cast<nn::VisionTransformer&>(*model).attentionMask(mask.size(-1)));
  }

  // Every row of every block, as taps see them.
  std::int64_t blocks = 0;
  encoder->setBlockTap([&](std::int64_t index, const at::Tensor& stream) {
    compare(golden, "output/block_" + std::to_string(index), stream);
    ++blocks;
  });
  const at::Tensor tapped = classifier->classify(image);
  encoder->setBlockTap({});
  EXPECT_TRUE(golden.io.contains("output/block_" + std::to_string(blocks - 1)));
  compare(golden, "output/logits", tapped);
  at::cross_entropy_loss(tapped, target).backward();
  compareGradients(golden, *model, image);

  // As training and inference run it.
  clearGradients(*model);
  image.mutable_grad() = at::Tensor();
  const at::Tensor features = classifier->features(image);
  const at::Tensor logits = classifier->head(features);
  const at::Tensor loss = at::cross_entropy_loss(logits, target);
  compare(golden, "output/features", features);
  compare(golden, "output/logits", logits);
  compare(golden, "output/loss", loss);
  loss.backward();
  compareGradients(golden, *model, image);
}

void expectParameters(const std::string& file, const std::string& entry,
                      const Architecture& architecture, const Json& values) {
  SCOPED_TRACE(entry);
  const Json wanted = readJson(goldenFolder() / file).at(entry);
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const Json& item : wanted.at("parameters"))
    shapes[item.at(0)] = item.at(1).get<std::vector<std::int64_t>>();
  for (std::int64_t i = 0; i < wanted.at("depth").get<std::int64_t>(); ++i) {
    for (const Json& item : wanted.at("block")) {
      std::string name = item.at(0);
      name.replace(name.find('N'), 1, std::to_string(i));
      shapes[name] = item.at(1).get<std::vector<std::int64_t>>();
    }
  }
  Json complete = values;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", complete))
    ADD_FAILURE() << problem.sentence();
  const ScopedBuildDevice meta(at::kMeta);
  const std::shared_ptr<Model> model = architecture.build(Config(complete), 0);
  EXPECT_EQ(parameterCount(*model), wanted.at("total").get<std::int64_t>());
  std::map<std::string, std::vector<std::int64_t>> actual;
  for (const auto& [name, tensor] : namedTensors(*model)) actual[name] = tensor.sizes().vec();
  EXPECT_EQ(actual, shapes);
  std::int64_t counted = 0;
  for (const BlockCost& block : model->cost()) counted += block.parameters;
  EXPECT_EQ(counted, wanted.at("total").get<std::int64_t>())
      << "the cost table disagrees with the parameters";
}

}  // namespace vitrine::testing
