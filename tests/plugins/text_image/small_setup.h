// A task of texts and images whose step takes milliseconds.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/config/experiment.h"
#include "core/plugin/pipeline.h"
#include "plugins/llamafusion/architectures.h"
#include "plugins/tasks/text_image/text_image.h"
#include "tests/plugins/text_image/two_kinds.h"
#include "tests/plugins/transforms/registry.h"

namespace vitrine::text_image {

struct Options {
  double ratio = 0, captionFirst = 0.8;
  double lambda = 5;  ///< weight of the images in the loss
  std::int64_t latent = 4, context = 64, vocab = 264, drawings = 0;
  bool addsEnds = false;
  double captionDrop = 0.1;
  Json guidance{};  ///< of drawings
  std::optional<AuxiliaryNetwork> judge{};
  const char* imageError = "noise";
  Json modelKeys = Json::object();  ///< further ones
};

inline TaskSetup setupOf(const Options& options) {
  const llamafusion::LlamaFusionArchitecture architecture;
  Json model{{"dim", 32},
             {"depth", 2},
             {"heads", 4},
             {"kv_heads", 2},
             {"ffn_hidden", 64},
             {"vocab", options.vocab},
             {"max_positions", options.context},
             {"image_io", "linear"},
             {"image_patch", 2},
             {"latent_size", options.latent},
             {"lambda", options.lambda}};
  model.update(options.modelKeys);
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", model))
    ADD_FAILURE() << problem.sentence();
  Json task{
      {"lr_ratio", options.ratio},
      {"caption_first", options.captionFirst},
      {"caption_drop", options.captionDrop},
      {"image_error", options.imageError},
      {"drawings", {{"count", options.drawings}, {"steps", 4}, {"guidance", options.guidance}}}};
  if (options.judge) task["judge"] = options.judge->name;
  for (const Problem& problem : resolveItem(TextImageTask().card().schema, "task", task))
    ADD_FAILURE() << problem.sentence();
  Json data = dataSchema().defaults();
  const Json list =
      Json::array({{{"name", "normalize"}, {"by", "half"}},
                   {{"name", "label_text"}, {"templates", {"a {class} one", "{class}"}}},
                   {{"name", "tokenize"}, {"begin", options.addsEnds}, {"end", options.addsEnds}}});
  data["pipeline"] = {{"train", list}, {"evaluate", list}};
  TaskSetup setup{
      .task = Config(task), .data = Config(data), .model = architecture.build(Config(model), 3)};
  setup.batchSize = setup.evaluationBatchSize = 8;
  setup.loaderWorkers = 0;
  setup.registry = &test::transformRegistry();
  if (options.judge) setup.auxiliaries = {*options.judge};
  setup.pipeline =
      std::make_shared<const Pipeline>(test::transformRegistry(), setup.data,
                                       std::make_shared<TwoKinds>(), 0, Pipeline::ImageShape{});
  return setup;
}

inline std::unique_ptr<TaskSession> opened(const Options& options = {}) {
  return TextImageTask().open(setupOf(options));
}

inline StepContext contextOf(std::int64_t step) {
  StepContext context;
  context.position.step = step;
  context.generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(step));
  return context;
}

}  // namespace vitrine::text_image
