// vitrine infer: tensors in, tensors out. Public weights as they are published, images as the model
// reads them.
#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/model_outputs.h"
#include "app/vitrine/run/weights_model.h"
#include "core/base/error.h"
#include "core/train/device.h"

namespace vitrine::app {

namespace {

struct InferOptions {
  std::string weights, input, output;
  std::string device = "cpu", precision = "fp32";
  std::string resizePositions = "bicubic";
  OutputChoice outputs;
  std::vector<std::string> overrides;
};

at::Tensor readImages(const std::string& file, const Config& model) {
  const auto tensors = readTensors(file);
  const auto found = tensors.find("image");
  if (found == tensors.end()) {
    throw ConfigError(
        file +
        " has no tensor 'image'; it must have one of shape [batch, channels, height, width]");
  }
  const at::Tensor images = found->second.to(at::kFloat).contiguous();
  requireImageShape(model, images.sizes().vec(), "'image' in " + file);
  return images;
}

}  // namespace

int inferVerb(const Arguments& arguments) {
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
  app.add_flag("--blocks", options.outputs.wantsBlocks,
               "also `block_<i>` [batch, tokens, width] after every block");
  app.add_flag(
      "--attention", options.outputs.wantsAttention,
      "also `attention_<i>` [batch, heads, queries, keys] after the softmax of every layer");
  app.add_flag(
      "--effective", options.outputs.isEffective,
      "with --attention: what multiplies the values, after a mask that follows the softmax");
  app.add_option(
         "--resize-positions", options.resizePositions,
         "bicubic, bicubic_antialias, linear_corners or none, for weights of another resolution")
      ->capture_default_str()
      ->type_name("RULE");
  app.add_option("--batch-size", options.outputs.batchSize, "images per pass")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  addComputeOptions(line, options.device, options.precision);
  app.add_option("model", options.overrides,
                 "the model: model.architecture=NAME model.preset=NAME model.depth=6 ...")
      ->required()
      ->type_name("KEY=VALUE");
  line.parse(arguments);
  (void)train::precisionFrom(options.precision);
  if (options.outputs.isEffective && !options.outputs.wantsAttention)
    throw ConfigError("--effective says which attention is written; give --attention too");
  for (const std::string& file : {options.weights, options.input}) {
    if (!std::filesystem::exists(file)) throw NotFoundError("there is no file " + file);
  }

  Engine engine;
  loadEngine(engine);
  const Config config(modelTable(engine.registry, options.overrides));
  const at::Tensor images = readImages(options.input, config);
  train::useThreads(std::nullopt);
  const WeightsModel opened =
      openWeights(engine.registry, config, options.weights, options.resizePositions);
  const LoadReport& report = opened.report;
  const at::Device device = train::resolveDevice(options.device);
  opened.model->module().to(device);
  const ImageSource source{images.size(0), [&images](std::int64_t first, std::int64_t number) {
                             return images.narrow(0, first, number);
                           }};
  const NamedTensors tensors = modelOutputs(*opened.model, source, options.outputs, device,
                                            train::precisionFrom(options.precision));
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
