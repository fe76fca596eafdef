// vitrine infer: tensors in, tensors out, by the names that the model has for them. Public weights
// as they are published, images as the model reads them.
#include <torch/nn/module.h>
#include <unistd.h>

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
  std::vector<std::string> outputNames;
  bool wantsBlocks = false, wantsAttention = false, isEffective = false;
  std::int64_t batchSize = OutputChoice().batchSize;
  std::vector<std::string> overrides;
};

/// What --outputs, --blocks and --attention ask for; without --outputs what the inputs give.
std::set<std::string> chosenOutputs(const TensorProgram& program, const TensorMap& inputs,
                                    const InferOptions& options) {
  std::vector<std::string> asked = options.outputNames;
  if (options.wantsBlocks) asked.emplace_back(kBlockOutputs);
  if (options.wantsAttention)
    asked.emplace_back(options.isEffective ? kEffectiveOutputs : kAttentionOutputs);
  std::set<std::string> names = outputNames(program, inputs, asked);
  if (options.outputNames.empty()) names.merge(defaultOutputs(program, inputs));
  return names;
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
                 "safetensors file of the model's inputs by name: of a classifier `image` [batch, "
                 "channels, height, width], normalised, and optionally `target` [batch]")
      ->required()
      ->type_name("FILE");
  app.add_option("--output", options.output,
                 "safetensors file to write: the outputs, of a classifier `logits`, `features` and "
                 "with `target` also `loss`")
      ->required()
      ->type_name("FILE");
  app.add_option("--outputs", options.outputNames,
                 "the outputs to write instead, by name; all: each that the inputs suffice for")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  app.add_flag(
      "--blocks", options.wantsBlocks,
      "also `block_<i>` [batch, tokens, width] after every block; of stages `block_<stage>_<i>`");
  app.add_flag(
      "--attention", options.wantsAttention,
      "also `attention_<i>` [batch, heads, queries, keys] after the softmax of every layer");
  app.add_flag(
      "--effective", options.isEffective,
      "with --attention: the weights of the values, after a mask that follows the softmax");
  app.add_option(
         "--resize-positions", options.resizePositions,
         "bicubic, bicubic_antialias, linear_corners or none, for weights of another resolution")
      ->capture_default_str()
      ->type_name("RULE");
  app.add_option("--batch-size", options.batchSize,
                 "samples per pass; inputs or outputs that are not one for each sample go through "
                 "in one")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  addComputeOptions(line, options.device, options.precision);
  app.add_option("model", options.overrides,
                 "the model: model.architecture=NAME model.preset=NAME model.depth=6 ...")
      ->required()
      ->type_name("KEY=VALUE");
  line.parse(arguments);
  (void)train::precisionFrom(options.precision);
  if (options.isEffective && !options.wantsAttention)
    throw ConfigError("--effective says which attention is written; give --attention too");
  for (const std::string& file : {options.weights, options.input}) {
    if (!std::filesystem::exists(file)) throw NotFoundError("there is no file " + file);
    std::error_code error;
    if (std::filesystem::equivalent(file, options.output, error))
      throw ConfigError("--output " + options.output +
                        " is a file that is read and would be replaced; name another one");
  }
  std::error_code error;
  if (std::filesystem::exists(options.output, error) &&
      !std::filesystem::is_regular_file(options.output, error))
    throw ConfigError("--output " + options.output +
                      " is a folder, a device or a pipe; name another file");

  Engine engine;
  const Config config(modelTable(engine.registry, options.overrides));
  train::useThreads(std::nullopt);
  const WeightsModel opened =
      openWeights(engine.registry, config, options.weights, options.resizePositions);
  const LoadReport& report = opened.report;
  const std::shared_ptr<TensorProgram> program = programOf(*opened.model, imageShapeOf(config));
  const TensorMap inputs = checkedInputs(*program, readTensors(options.input), options.input);
  OutputChoice choice{.names = chosenOutputs(*program, inputs, options),
                      .isEffective = options.isEffective,
                      .batchSize = options.batchSize};
  const InputSource source = inputSource(*program, inputs, choice);
  const at::Device device = train::resolveDevice(options.device);
  opened.model->module().to(device);
  const NamedTensors tensors =
      modelOutputs(*program, source, choice, device, train::precisionFrom(options.precision));
  // A file of that name stays as it is until the new one is whole.
  const std::string made = options.output + ".tmp-" + std::to_string(::getpid());
  writeTensors(made, tensors);
  std::filesystem::rename(made, options.output, error);
  if (error) {
    std::filesystem::remove(made);
    throw FileError(options.output + " cannot be put in place: " + error.message());
  }

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
