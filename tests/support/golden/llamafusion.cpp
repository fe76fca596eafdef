#include "tests/support/golden/llamafusion.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <sstream>

#include "core/base/error.h"
#include "core/diffusion/guidance.h"
#include "core/model/text_image_model.h"
#include "core/model/weights.h"
#include "core/nn/position/timestep_embedding.h"
#include "plugins/llamafusion/architectures.h"
#include "plugins/llamafusion/image_io.h"
#include "plugins/llamafusion/layout.h"
#include "plugins/llamafusion/text_decoder.h"
#include "plugins/tasks/text_image/noise_steps.h"
#include "tests/support/core_items.h"
#include "tests/support/golden/models.h"

namespace vitrine::testing {

namespace {

namespace fs = std::filesystem;
using namespace vitrine::llamafusion;
using namespace vitrine::text_image;

const LlamaFusionArchitecture& architecture() {
  static const LlamaFusionArchitecture item;
  return item;
}

/// "BOS t2 BOI i4 EOI | ..." as image index and document of each token.
struct Layout {
  std::vector<std::int64_t> image, document;
};

/// The place of the token that each token is to predict, -1 for none. Tokens of an image, the one
/// before an image and the last token of a document have none.
at::Tensor targetPlaces(const Layout& layout) {
  const auto& [image, document] = layout;
  std::vector<std::int64_t> places(image.size(), -1);
  for (std::size_t i = 0; i + 1 < image.size(); ++i) {
    if (image[i] == 0 && image[i + 1] == 0 && document[i] == document[i + 1])
      places[i] = static_cast<std::int64_t>(i) + 1;
  }
  return at::tensor(places, at::kLong);
}

Layout layoutOf(const std::string& words) {
  Layout layout;
  std::int64_t images = 0, documents = 0;
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    if (word == "|") {
      ++documents;
      continue;
    }
    const bool isRun = (word[0] == 't' || word[0] == 'i') && word.size() > 1 &&
                       word.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!isRun && word != "BOS" && word != "EOS" && word != "BOI" && word != "EOI")
      throw Unmapped("'" + word + "' of a layout has no counterpart");
    const std::int64_t count = isRun ? std::stoll(word.substr(1)) : 1;
    images += word[0] == 'i';
    layout.image.insert(layout.image.end(), static_cast<std::size_t>(count),
                        word[0] == 'i' ? images : 0);
    layout.document.insert(layout.document.end(), static_cast<std::size_t>(count), documents);
  }
  return layout;
}

Tensors masks(const GoldenCase& golden) {
  Tensors pass;
  std::size_t number = 0;
  for (const Json& each : golden.json.at("layouts")) {
    const Layout layout = layoutOf(each.at("layout").get<std::string>());
    const std::string name = "layout_" + std::to_string(number++) + "/";
    at::Tensor image = at::tensor(layout.image, at::kLong);
    const at::Tensor document = at::tensor(layout.document, at::kLong);
    const at::Tensor first = firstAllowedKey(document);
    const at::Tensor keys = at::arange(image.size(0), at::kLong);
    for (const auto mask : {ImageMask::Hybrid, ImageMask::Causal}) {
      const at::Tensor last = lastAllowedKey(image, mask);
      const bool isHybrid = mask == ImageMask::Hybrid;
      if (isHybrid) pass[name + "last_allowed_key"] = last;
      pass[name + (isHybrid ? "mask" : "causal_mask")] =
          keys.le(last.unsqueeze(1)).logical_and(keys.ge(first.unsqueeze(1))).to(at::kByte);
    }
    pass[name + "first_allowed_key"] = first;
    pass[name + "image_index"] = image;
    pass[name + "document"] = document;
    pass[name + "positions_sequential"] = tokenPositions(image, ImagePositions::Sequential);
    pass[name + "positions_shared"] = tokenPositions(image, ImagePositions::Shared);
    pass[name + "lm_target_position"] = targetPlaces(layout);
  }
  return pass;
}

/// Tables of the cosine schedule, whole and in fewer steps.
Tensors schedule(const GoldenCase& golden) {
  const Json& model = golden.settings();
  requireKnown(model, "model", {"schedule", "timesteps", "s", "beta_max", "respaced"});
  if (model.value("schedule", "cosine") != "cosine" || model.value("s", 0.008) != 0.008 ||
      model.value("beta_max", 0.999) != 0.999)
    throw Unmapped("a schedule is cosine here, with s = 0.008 and beta_max = 0.999");
  const at::Tensor shares = cosineShares(model.at("timesteps"));
  Tensors pass{{"cosine/alpha_bar", shares},
               {"cosine/beta", 1 - shares / at::cat({at::ones({1}, at::kDouble),
                                                     shares.narrow(0, 0, shares.size(0) - 1)})}};
  for (const Json& count : model.at("respaced")) {
    const std::vector<NoiseStep> steps = noiseSteps(shares, count.get<std::int64_t>());
    std::vector<std::int64_t> times;
    std::vector<double> kept, beta, variance, clean, now;
    double before = 1;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      times.push_back(step->time);
      kept.push_back(step->kept);
      beta.push_back(1 - step->kept / before);
      variance.push_back(step->variance);
      clean.push_back(step->cleanPart);
      now.push_back(step->nowPart);
      before = step->kept;
    }
    const std::string name = "respaced_" + count.dump() + "/";
    pass[name + "timesteps"] = at::tensor(times, at::kLong);
    pass[name + "alpha_bar"] = at::tensor(kept, at::kDouble);
    pass[name + "beta"] = at::tensor(beta, at::kDouble);
    pass[name + "posterior_variance"] = at::tensor(variance, at::kDouble);
    pass[name + "coef_x0"] = at::tensor(clean, at::kDouble);
    pass[name + "coef_xt"] = at::tensor(now, at::kDouble);
  }
  for (const auto& [name, tensor] : golden.io) {
    if (name.starts_with("cfg/w_"))
      pass[name] =
          diffusion::guided(golden.io.at("cfg/eps_conditional"),
                            golden.io.at("cfg/eps_unconditional"), std::stod(name.substr(6)));
    if (name.starts_with("time_embedding/dim_"))
      pass[name] = nn::timestepEmbedding(golden.io.at("time_embedding/t"), tensor.size(1));
  }
  const at::Tensor kept = shares.index_select(0, golden.io.at("q_sample/t")).view({-1, 1, 1, 1});
  pass["q_sample/x_t"] = kept.sqrt() * golden.io.at("q_sample/x0") +
                         (1 - kept).sqrt() * golden.io.at("q_sample/noise");
  return pass;
}

struct Built {
  std::shared_ptr<Model> model;
  TextImageModel* images;
  LanguageModel* language;
};

Built buildOf(const GoldenCase& golden) {
  Built built{.model = architecture().build(modelConfig(golden, architecture()), 0)};
  const LoadReport report = loadWeights(*built.model, golden.weights());
  if (!report.unused.empty()) throw ConfigError(report.unused.front() + " was not used");
  built.model->module().eval();
  built.images = capabilityOf<TextImageModel>(*built.model);
  built.language = capabilityOf<LanguageModel>(*built.model);
  return built;
}

/// The cached tokens before the first image of `ids`.
std::unique_ptr<LanguageModel::Cache> prefixOf(const Built& built, const at::Tensor& ids,
                                               std::int64_t imageTokens) {
  auto cache = built.language->makeCache(ids.size(0));
  (void)built.language->next(ids.narrow(1, 0, ids.size(1) - imageTokens), cache.get(),
                             LanguageModel::Rows::Last);
  return cache;
}

/// The same noise as `ids` with `x` in the place of its image, in one pass without a cache.
at::Tensor wholePass(const Built& built, const at::Tensor& ids, const at::Tensor& x,
                     std::int64_t time) {
  const std::int64_t count = built.images->textImageSizes().imageTokens;
  MixedSequences sequences;
  sequences.tokens = ids;
  sequences.imageIndex =
      at::cat({at::zeros({ids.size(1) - count}, at::kLong), at::ones({count}, at::kLong)});
  sequences.images = x;
  sequences.time = at::full({x.size(0)}, time, at::kLong);
  return built.images->mixed(sequences).noise;
}

/// Every intermediate of a guided sampling, with the prefixes cached or computed again.
Tensors sampled(const GoldenCase& golden, bool isCached) {
  const c10::NoGradGuard noGradient;
  GoldenCase plain = golden;
  Json& model = plain.json.at("model");
  const double scale = model.at("cfg");
  if (model.at("schedule") != "cosine")
    throw Unmapped("the schedule " + model.at("schedule").dump() + " has no counterpart");
  const std::int64_t count = model.at("steps");
  for (const char* key : {"cfg", "steps", "schedule"}) model.erase(key);
  const Built built = buildOf(plain);
  const std::int64_t tokens = built.images->textImageSizes().imageTokens;
  const at::Tensor &conditionalIds = golden.io.at("input/ids_conditional"),
                   &unconditionalIds = golden.io.at("input/ids_unconditional");
  const auto conditional = prefixOf(built, conditionalIds, tokens);
  const auto unconditional = prefixOf(built, unconditionalIds, tokens);
  at::Tensor x = golden.io.at("input/x_start");
  Tensors pass;
  std::size_t number = 0;
  for (const NoiseStep& step : noiseSteps(built.images->keptShares(), count)) {
    const auto noiseOf = [&](LanguageModel::Cache& cache, const at::Tensor& ids) {
      return isCached
                 ? built.images->noiseAfter(cache, x, at::full({x.size(0)}, step.time, at::kLong),
                                            TextImageModel::Keep::No)
                 : wholePass(built, ids, x, step.time);
    };
    const at::Tensor with = noiseOf(*conditional, conditionalIds),
                     without = noiseOf(*unconditional, unconditionalIds);
    const at::Tensor noise = diffusion::guided(with, without, scale);
    const SteppedDown down = stepDown(step, x, noise, 1.0);
    const std::string name = "output/step_" + std::to_string(number) + "/";
    pass[name + "x_t"] = x;
    pass[name + "eps_conditional"] = with;
    pass[name + "eps_unconditional"] = without;
    pass[name + "eps"] = noise;
    pass[name + "x0"] = down.clean;
    pass[name + "mean"] = down.mean;
    x = down.mean;
    if (step.variance > 0) {
      x = x + std::sqrt(step.variance) *
                  golden.io.at("input/step_noise")[static_cast<std::int64_t>(number)];
    }
    ++number;
  }
  pass["output/sample"] = x;
  return pass;
}

/// "BOS BOI image EOI" with the first clean latent at time 0, then the likeliest tokens.
at::Tensor greedyCaption(const GoldenCase& golden) {
  const c10::NoGradGuard noGradient;
  const Built built = buildOf(golden);
  const TextImageModel::Sizes sizes = built.images->textImageSizes();
  const auto ids = [](std::initializer_list<std::int64_t> tokens) {
    return at::tensor(std::vector<std::int64_t>(tokens), at::kLong).unsqueeze(0);
  };
  const auto cache = built.language->makeCache(1);
  (void)built.language->next(ids({sizes.beginText, sizes.beginImage}), cache.get(),
                             LanguageModel::Rows::Last);
  (void)built.images->noiseAfter(*cache, golden.io.at("input/latent").narrow(0, 0, 1),
                                 at::zeros({1}, at::kLong), TextImageModel::Keep::Yes);
  const at::Tensor logits =
      built.language->next(ids({sizes.endImage}), cache.get(), LanguageModel::Rows::Last);
  const at::Tensor begin =
      at::cat({ids({sizes.beginText, sizes.beginImage}),
               at::zeros({1, sizes.imageTokens}, at::kLong), ids({sizes.endImage})},
              1);
  return continuedGreedily(*built.language, *cache, begin, logits,
                           golden.io.at("output/greedy_caption").size(1) - begin.size(1));
}

struct AdamSteps {
  int count = 3;
  double ratio = 1;  ///< rate of text over that of images; 0 leaves text out of the optimizer
  double weightDecay = 0, clip = 0;
};

/// Losses before each AdamW step and after the last. Parameters then go into `pass`.
at::Tensor lossesOf(const GoldenCase& golden, const AdamSteps& steps, Tensors& pass) {
  const Built built = buildOf(golden);
  auto& program = *capabilityOf<TensorProgram>(*built.model);
  TensorMap inputs;
  for (const TensorInput& input : program.tensorInputs()) {
    const auto given = golden.io.find("input/" + input.name);
    if (given != golden.io.end()) inputs[input.name] = given->second;
  }
  ParameterGroup text{"text", {}, {}, 1, steps.ratio}, image{"image", {}, {}, 1, 1};
  for (const auto& [name, parameter] : namedTensors(*built.model)) {
    const bool isText = built.images->isOfText(name);
    if (isText && steps.ratio == 0) {
      parameter.set_requires_grad(false);
      continue;
    }
    ParameterGroup& group = isText ? text : image;
    group.parameterNames.push_back(name);
    group.parameters.push_back(parameter);
  }
  std::vector<ParameterGroup> groups;
  for (const ParameterGroup& group : {image, text}) {
    if (!group.parameters.empty()) groups.push_back(group);
  }
  train::Optimizer optimizer = test::optimizerOf({{"name", "adamw"},
                                                  {"weight_decay", steps.weightDecay},
                                                  {"beta1", 0.9},
                                                  {"beta2", 0.95},
                                                  {"eps", 1e-8}},
                                                 groups);
  std::vector<double> losses;
  for (int step = 0;; ++step) {
    const at::Tensor loss = program.runTensors(inputs, {"loss"}).at("loss");
    losses.push_back(loss.item<double>());
    if (step == steps.count) break;
    loss.backward();
    at::Tensor divisor;
    if (steps.clip > 0) divisor = optimizer.gradientNorm().add(1e-6).div(steps.clip).clamp_min(1);
    optimizer.step(1e-3, at::zeros({}), divisor);
    optimizer.clearGradients();
  }
  for (const auto& [name, parameter] : namedTensors(*built.model))
    pass["after/" + name] = parameter.detach().clone();
  return at::tensor(losses, at::kDouble);
}

Tensors extras(const GoldenCase& golden) {
  Tensors pass;
  if (golden.io.contains("output/greedy_caption"))
    pass["output/greedy_caption"] = greedyCaption(golden);
  if (golden.io.contains("output/losses_adamw")) {
    Tensors after;
    pass["output/losses_adamw"] = lossesOf(golden, {4, 1, 0.1, 1}, after);
  }
  for (const auto& [name, expected] : golden.io) {
    if (!name.starts_with("output/losses_ratio_")) continue;
    Tensors after;
    pass[name] = lossesOf(golden, {3, std::stod(name.substr(20)), 0, 0}, after);
    const fs::path file = golden.folder / ("after_3_steps_" + name.substr(14) + ".safetensors");
    if (!fs::exists(file)) continue;
    // Stored apart from the case's outputs, so it is compared here and shown as one of them.
    double worst = 0;
    for (const auto& [parameter, wanted] : readTensors(file)) {
      const Compared line =
          compareTensors(parameter, after.at("after/" + parameter), wanted, Allowance{0, 0, 1e-4});
      if (line.isMiss()) worst = std::max(worst, line.error / line.allowed);
    }
    if (worst > 0) pass[name] = pass[name] + worst;
  }
  return pass;
}

}  // namespace

bool isFusionCase(const GoldenCase& golden) {
  const std::string architecture = golden.json.value("architecture", "");
  // One dense decoder of text and images from scratch is the same program.
  return architecture == "llamafusion" || golden.io.contains("cosine/alpha_bar") ||
         (architecture == "baselines" && golden.json.contains("/model/separation"_json_pointer));
}

std::vector<Tensors> runFusionCase(const GoldenCase& golden) {
  if (golden.json.contains("layouts")) return {masks(golden)};
  if (golden.io.contains("cosine/alpha_bar")) return {schedule(golden)};
  if (golden.io.contains("input/x_start")) return {sampled(golden, true), sampled(golden, false)};
  std::vector<Tensors> passes = runModelCase(golden, architecture());
  passes.push_back(extras(golden));
  return passes;
}

}  // namespace vitrine::testing
