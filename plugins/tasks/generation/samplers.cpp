#include "plugins/tasks/generation/samplers.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/plugin/sampler.h"
#include "plugins/tasks/generation/draw.h"

namespace vitrine::generation {

namespace {

using diffusion::GuidedDenoiser;
using Time = GuidedDenoiser::Time;

std::vector<Field> commonFields(std::int64_t steps, const char* stepsDoc) {
  return {
      integerField("class", nullptr, "class of the images; none: the classes in turn, by seed")
          .titled("Class")
          .atLeast(0)
          .orNone(),
      integerField("steps", steps, stepsDoc).titled("Steps").range(2, 100000),
      realField("guidance", 1.0, "1: none; above 1 the class counts more")
          .titled("Guidance")
          .range(0, 1000),
      integerField("guidance_channels", kGuidedChannels, "guided channels, the first; 0: all")
          .titled("Guided channels")
          .range(0, 4096),
      integerField("batch_size", 16, "images drawn together").titled("Batch size").range(1, 4096),
      previewsField(),
      attentionField(),
  };
}

Field clipField() {
  return choiceField("clip", "auto", {"auto", "yes", "no"}, "holds predicted data in [-1, 1]")
      .titled("Clip")
      .withChoiceDocs({"pixels, not latents", "always", "never"});
}

std::vector<Field> fieldsOf(Method method) {
  std::vector<Field> fields;
  switch (method) {
    case Method::Ddpm:
      fields = commonFields(250, "steps that are kept of the diffusion's");
      fields.push_back(clipField());
      break;
    case Method::Ddim:
      fields = commonFields(50, "steps that are kept, at one stride");
      fields.push_back(clipField());
      fields.push_back(
          realField("eta", 0.0, "share of DDPM's noise; 0: none").titled("Eta").range(0, 1));
      break;
    case Method::Ode:
      fields = commonFields(50, "steps of the solver; dopri5 chooses its own");
      fields.push_back(choiceField("solver", "heun",
                                   {"euler", "heun", "heun2", "midpoint", "rk4", "dopri5"},
                                   "solver of the equation")
                           .titled("Solver"));
      fields.push_back(realField("absolute_tolerance", 1e-6, "of dopri5")
                           .titled("Absolute tolerance")
                           .moreThan(0));
      fields.push_back(realField("relative_tolerance", 1e-3, "of dopri5")
                           .titled("Relative tolerance")
                           .moreThan(0));
      break;
    case Method::Sde:
      fields = commonFields(250, "steps, with the last one");
      fields.push_back(
          choiceField("solver", "sde_euler", {"sde_euler", "sde_heun"}, "solver of the equation")
              .titled("Solver"));
      fields.push_back(choiceField("form", "sigma",
                                   {"sigma", "linear", "decreasing", "increasing-decreasing",
                                    "sbdm", "constant"},
                                   "noise that is added along the path")
                           .titled("Diffusion"));
      fields.push_back(choiceField("last_step", "mean", {"none", "mean", "euler", "tweedie"},
                                   "the last piece, without noise")
                           .titled("Last step"));
      fields.push_back(realField("last_step_size", 0.04, "length of that piece")
                           .titled("Last step size")
                           .moreThan(0)
                           .lessThan(1));
      break;
  }
  return runOnly(std::move(fields));
}

/// [B, C, H, W] bytes of one image as the store keeps them.
GeneratedImage imageOf(const at::Tensor& bytes) {
  const at::Tensor pixels = bytes.permute({1, 2, 0}).contiguous();
  return generatedImage(
      {pixels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels.numel())},
      pixels.size(0), pixels.size(1), pixels.size(2));
}

class DiffusionSampler final : public Sampler {
 public:
  DiffusionSampler(Method method, const char* id, const char* title, const char* doc)
      : method_(method), id_(id), title_(title), doc_(doc) {}

  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Sampler, id_, title_, doc_);
    card.needs = {Denoiser::kId, GuidedDenoiser::kId};
    card.schema = samplerSchema(method_);
    return card;
  }

  Fit fit(TaskSession& session) const override {
    const auto* own = dynamic_cast<const GenerationSession*>(&session);
    if (own == nullptr) return Fit::None;
    const bool isOfSteps = method_ == Method::Ddpm || method_ == Method::Ddim;
    if (isOfSteps != (own->process() == Time::Step)) return Fit::None;
    return method_ == Method::Ddpm || method_ == Method::Ode ? Fit::Preferred : Fit::Possible;
  }

  void sample(const SampleRequest& request, Results& results) const override {
    const auto* session = dynamic_cast<const GenerationSession*>(&request.session);
    if (session == nullptr)
      throw ConfigError(std::string("sampler '") + id_ +
                        "' makes images of runs of the task generation, and this is another task");
    const Config& config = request.config;
    const std::int64_t classes = session->denoiser().denoiserSizes().classes;
    const std::optional<std::int64_t> asked = config.maybeInteger("class");
    if (asked && *asked >= classes) {
      throw ConfigError("class = " + std::to_string(*asked) + " is not one of the " +
                        std::to_string(classes) + " that this run learned; take 0 to " +
                        std::to_string(classes - 1));
    }
    const DrawSettings settings = drawSettings(*session, method_, config);
    const auto first = static_cast<std::uint64_t>(config.integer("seed"));
    const std::int64_t count = config.integer("count"), size = config.integer("batch_size");
    for (std::int64_t done = 0; done < count && !results.isCancelled();) {
      const std::int64_t batch = std::min(size, count - done);
      const Batch one{*session, settings, request, results,
                      done,     count,    batch,   first + static_cast<std::uint64_t>(done),
                      asked,    classes};
      if (!drawBatch(one)) return;
      done += batch;
    }
  }

 private:
  struct Batch {
    const GenerationSession& session;
    const DrawSettings& settings;
    const SampleRequest& request;
    Results& results;
    std::int64_t done, count, size;
    std::uint64_t firstSeed;
    std::optional<std::int64_t> asked;
    std::int64_t classes;
  };

  /// \returns  false when it was cancelled
  bool drawBatch(const Batch& b) const {
    std::vector<std::uint64_t> seeds;
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < b.size; ++i) {
      seeds.push_back(b.firstSeed + static_cast<std::uint64_t>(i));
      labels.push_back(b.asked.value_or(
          static_cast<std::int64_t>(seeds.back() % static_cast<std::uint64_t>(b.classes))));
    }
    PreviewClock previews(b.request.config.integer("previews"));
    // Progress is in thousandths of an image, since dopri5 does not know its steps.
    constexpr double kParts = 1000;
    const DrawWatch watch = [&](const DrawStep& step) {
      b.results.progress(std::llround(kParts * (static_cast<double>(b.done) +
                                                step.share * static_cast<double>(b.size))),
                         std::llround(kParts * static_cast<double>(b.count)));
      if (previews.isDue(step.share)) {
        Artifact preview =
            previewOf(id_, bytesOf(b.session.images(step.data())), step.time, b.firstSeed);
        preview.meta["classes"] = labels;
        b.results.artifact(std::move(preview));
        for (std::int64_t i = 0; step.attention != nullptr && i < b.size; ++i) {
          const std::uint64_t seed = seeds[static_cast<std::size_t>(i)];
          b.results.artifact(step.attention->ofImage(id_, i, seed, step.time));
        }
      }
      return !b.results.isCancelled();
    };
    const Drawn drawn =
        draw(b.session, b.settings, seeds, at::tensor(labels, at::kLong).to(b.request.device),
             b.request.device, watch);
    if (!drawn.isComplete) return false;
    if (const std::string why = notFinite(drawn.images, seeds); !why.empty())
      throw RefusedError(why);
    const at::Tensor bytes = bytesOf(drawn.images).cpu();
    for (std::int64_t i = 0; i < b.size; ++i) {
      const auto index = static_cast<std::size_t>(i);
      GeneratedImage image = imageOf(bytes[i]);
      image.seed = seeds[index];
      image.recipe = recipeOf(b.request, id_, image.seed);
      image.recipe["class"] = labels[index];
      image.recipe["batch"] = {{"first_seed", b.firstSeed}, {"size", b.size}};
      image.recipe["evaluations"] = drawn.evaluations;
      image.recipe["threads"] = at::get_num_threads();
      b.results.image(std::move(image));
    }
    return true;
  }

  Method method_;
  const char* id_;
  const char* title_;
  const char* doc_;
};

}  // namespace

Schema samplerSchema(Method method) { return {.fields = fieldsOf(method)}; }

void addSamplers(Registry& registry) {
  const auto add = [&](Method method, const char* id, const char* title, const char* doc) {
    registry.add(std::make_unique<DiffusionSampler>(method, id, title, doc));
  };
  add(Method::Ddpm, "ddpm", "DDPM", "Steps back through a diffusion, with noise at each");
  add(Method::Ddim, "ddim", "DDIM", "Steps back through a diffusion, without noise or with less");
  add(Method::Ode, "ode", "ODE", "Follows the velocity from noise to data");
  add(Method::Sde, "sde", "SDE", "Follows the velocity with noise and score along the way");
}

}  // namespace vitrine::generation
