// vitrine infer: tensors in, tensors out. Public weights as they are published, images as the model
// reads them.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "app/vitrine/output.h"
#include "app/vitrine/trained_model.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/model/capabilities.h"
#include "core/model/weights.h"
#include "core/train/device.h"

namespace vitrine::app {

namespace {

struct InferOptions {
  std::string weights, input, output;
  std::string device = "cpu", precision = "fp32";
  std::string resizePositions = "bicubic";
  std::int64_t batchSize = 64;
  bool wantsBlocks = false, wantsAttention = false, isEffective = false;
  std::vector<std::string> overrides;
};

/// The [model] table that the command line means.
Json modelTable(const Registry& registry, const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    overrides.push_back(parseOverride(text));
    const std::string& key = overrides.back().key;
    if (key != "model" && !key.starts_with("model."))
      throw ConfigError("infer takes keys of [model] alone, not '" + key + "'");
  }
  Json model;
  const std::vector<Problem> problems = planModel(registry.catalog(), overrides, model);
  if (!model.contains("architecture"))
    throw ConfigError(
        "say which model it is: model.architecture=NAME; `vitrine describe` lists them");
  (void)registry.architecture(model.at("architecture").get<std::string>());
  requireSound(problems);
  return model;
}

at::Tensor readImages(const std::string& file, const Config& model) {
  const auto tensors = readTensors(file);
  const auto found = tensors.find("image");
  if (found == tensors.end()) {
    throw ConfigError(
        file +
        " has no tensor 'image'; it must have one of shape [batch, channels, height, width]");
  }
  const at::Tensor images = found->second.to(at::kFloat).contiguous();
  const auto [height, width] = model.size("image_size");
  const std::int64_t channels = model.integer("in_channels");
  if (images.dim() != 4 || images.size(0) == 0 || images.size(1) != channels ||
      images.size(2) != height || images.size(3) != width) {
    std::string shape;
    for (const std::int64_t side : images.sizes())
      shape += (shape.empty() ? "" : ", ") + std::to_string(side);
    throw ShapeError("'image' in " + file + " has shape [" + shape + "], the model reads [batch, " +
                     std::to_string(channels) + ", " + std::to_string(height) + ", " +
                     std::to_string(width) + "]; set model.image_size and model.in_channels");
  }
  return images;
}

/// What comes out of one batch, by name.
class Collector {
 public:
  void add(const std::string& name, const at::Tensor& value) {
    for (auto& [known, parts] : parts_) {
      if (known == name) {
        parts.push_back(copyOf(value));
        return;
      }
    }
    parts_.push_back({name, {copyOf(value)}});
  }
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> take() const {
    std::vector<std::pair<std::string, at::Tensor>> whole;
    for (const auto& [name, parts] : parts_)
      whole.emplace_back(name, at::cat(parts, 0).contiguous());
    return whole;
  }

 private:
  /// float32 on the CPU, whatever it was computed in.
  static at::Tensor copyOf(const at::Tensor& value) {
    const bool isHalf = value.scalar_type() == at::kBFloat16 || value.scalar_type() == at::kHalf;
    return value.detach().to(at::kCPU, isHalf ? at::kFloat : value.scalar_type(), false, true);
  }
  std::vector<std::pair<std::string, std::vector<at::Tensor>>> parts_;
};

void setTaps(Model& model, const InferOptions& options, Collector& out) {
  if (options.wantsBlocks) {
    auto* encoder = capabilityOf<TokenEncoder>(model);
    if (encoder == nullptr)
      throw RefusedError("this model has no blocks to tap (token_encoder); leave --blocks out");
    encoder->setBlockTap([&out](std::int64_t block, const at::Tensor& tokens) {
      out.add("block_" + std::to_string(block), tokens);
    });
  }
  if (options.wantsAttention) {
    auto* source = capabilityOf<AttentionSource>(model);
    if (source == nullptr)
      throw RefusedError(
          "this model has no attention to tap (attention_source); leave --attention out");
    auto tap = std::make_shared<AttentionTap>();
    tap->kind = options.isEffective ? AttentionTap::Kind::Effective : AttentionTap::Kind::Softmax;
    tap->receive = [&out](const AttentionRecord& record) {
      out.add("attention_" + std::to_string(record.layer), record.weights);
    };
    source->setAttentionTap(tap);
  }
}

void clearTaps(Model& model) {
  if (auto* encoder = capabilityOf<TokenEncoder>(model)) encoder->setBlockTap({});
  if (auto* source = capabilityOf<AttentionSource>(model)) source->setAttentionTap(nullptr);
}

/// One pass over the images. The taps see the pass that makes the features; the head follows from
/// them.
std::vector<std::pair<std::string, at::Tensor>> infer(Model& model, const at::Tensor& images,
                                                      const InferOptions& options) {
  auto* classifier = capabilityOf<ImageClassifier>(model);
  if (classifier == nullptr)
    throw RefusedError(
        "this model does not classify images (image_classifier), so infer has nothing to write");
  const c10::NoGradGuard noGradient;
  const at::Device device = resolveDevice(options.device);
  model.module().to(device);
  const AutocastScope autocast(precisionFrom(options.precision), device.type());
  Collector out;
  setTaps(model, options, out);
  for (std::int64_t first = 0; first < images.size(0); first += options.batchSize) {
    const at::Tensor part =
        images.narrow(0, first, std::min(options.batchSize, images.size(0) - first)).to(device);
    const at::Tensor features = classifier->features(part);
    out.add("features", features);
    out.add("logits", classifier->head(features));
  }
  clearTaps(model);
  return out.take();
}

}  // namespace

int runInfer(const Arguments& arguments) {
  CommandLine line(
      "infer",
      {"vitrine infer --weights vit_b16.safetensors --input cats.safetensors --output "
       "out.safetensors model.architecture=vit model.preset=vit/b16",
       "vitrine infer --weights w.safetensors --input in.safetensors --output out.safetensors "
       "--attention --blocks model.architecture=illama model.preset=illama/tiny"});
  InferOptions options;
  CLI::App& app = line.app();
  app.add_option("--weights", options.weights,
                 "safetensors file of the model's weights, in any of the public namings")
      ->required()
      ->type_name("FILE");
  app.add_option("--input", options.input,
                 "safetensors file with `image` [batch, channels, height, width], normalised")
      ->required()
      ->type_name("FILE");
  app.add_option("--output", options.output,
                 "safetensors file to write: `logits`, `features` and what is asked for")
      ->required()
      ->type_name("FILE");
  app.add_flag("--blocks", options.wantsBlocks,
               "also `block_<i>` [batch, tokens, width] after every block");
  app.add_flag(
      "--attention", options.wantsAttention,
      "also `attention_<i>` [batch, heads, queries, keys] after the softmax of every layer");
  app.add_flag(
      "--effective", options.isEffective,
      "with --attention: what multiplies the values, after a mask that follows the softmax");
  app.add_option(
         "--resize-positions", options.resizePositions,
         "bicubic, bicubic_antialias, linear_corners or none, for weights of another resolution")
      ->capture_default_str()
      ->type_name("RULE");
  app.add_option("--batch-size", options.batchSize, "images per pass")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  addComputeOptions(line, options.device, options.precision);
  app.add_option("model", options.overrides,
                 "the model: model.architecture=NAME model.preset=NAME model.depth=6 ...")
      ->required()
      ->type_name("KEY=VALUE");
  line.parse(arguments);
  (void)precisionFrom(options.precision);
  if (options.isEffective && !options.wantsAttention)
    throw ConfigError("--effective says which attention is written; give --attention too");
  for (const std::string& file : {options.weights, options.input}) {
    if (!std::filesystem::exists(file)) throw NotFoundError("there is no file " + file);
  }

  Engine engine;
  loadEngine(engine);
  const Config config(modelTable(engine.registry, options.overrides));
  const at::Tensor images = readImages(options.input, config);
  useThreads(std::nullopt);
  const auto model = engine.registry.architecture(config.text("architecture")).build(config, 0);
  LoadOptions load;
  load.resizePositions = options.resizePositions;
  const LoadReport report = loadWeights(*model, options.weights, load);
  for (const std::string& name : report.unused)
    log::warning("the model has no use for tensor '" + name + "' of " + options.weights);
  setEvaluationMode(*model);
  const auto tensors = infer(*model, images, options);
  writeTensors(options.output, tensors);

  Json written = Json::object();
  Table table{{"tensor", "shape"}, {}};
  for (const auto& [name, tensor] : tensors) {
    Json shape = Json::array();
    for (const std::int64_t side : tensor.sizes()) shape.push_back(side);
    written[name] = shape;
    table.rows.push_back({name, shape.dump()});
  }
  if (line.wantsJson()) {
    print(Json{{"output", options.output},
               {"loaded", report.loaded.size()},
               {"resized", report.resized},
               {"unused", report.unused},
               {"tensors", written}});
  } else {
    print(table, Format::Text);
  }
  return 0;
}

}  // namespace vitrine::app
