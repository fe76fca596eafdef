// The card of image generation: its configuration keys and the display of its runs.
#include "core/config/item_card.h"
#include "plugins/tasks/generation/draw.h"
#include "plugins/tasks/generation/generation.h"

namespace vitrine::generation {

namespace {

using diffusion::GuidedDenoiser;

std::vector<Field> processFields() {
  return {
      choiceField("process", "auto", {"auto", "transport", "ddpm"},
                  "process that the model learns to invert")
          .titled("Process")
          .withChoiceDocs({"the process of the model's time", "a path from noise to data",
                           "the steps of a diffusion"}),
      choiceField("path", "linear", {"linear", "gvp", "vp"}, "transport: from noise to data")
          .titled("Path"),
      choiceField("prediction", "velocity", {"velocity", "noise", "score"},
                  "transport: what the model predicts")
          .titled("Prediction"),
      choiceField("weight", "none", {"none", "velocity", "likelihood"},
                  "transport: weight of the loss of noise and score; velocity has none")
          .titled("Loss weight"),
      choiceField("schedule", "linear", {"linear", "cosine"}, "ddpm: how noise grows")
          .titled("Noise schedule"),
      integerField("steps", 1000, "ddpm: steps of the diffusion").titled("Steps").range(2, 100000),
      choiceField("variance", "learned_range", {"learned_range", "fixed_small", "fixed_large"},
                  "ddpm: variance of a step back")
          .titled("Variance"),
      realField("label_drop", nullptr,
                "share of samples that learn without their label; none: the model's own")
          .titled("Label drop")
          .range(0, 1)
          .orNone(),
      textField("codec", nullptr,
                "[aux] table of the codec whose latents are learned; none: pixels")
          .titled("Codec")
          .orNone(),
      flagField("latent_cache", true,
                "latents of the training images are made once and kept in the cache folder")
          .titled("Latent cache"),
      textField("judge", nullptr, "[aux] table of the classifier that looks at samples")
          .titled("Judge")
          .orNone(),
      tableField(
          "samples",
          {integerField("count", 10, "images of an evaluation; 0: none; a judge needs 4")
               .titled("Samples")
               .range(0, 100000),
           choiceField("sampler", "auto", {"auto", "ddpm", "ddim", "ode", "sde"},
                       "sampler that draws them")
               .titled("Sampler")
               .withChoiceDocs({"ode for transport, ddim for ddpm", "ddpm: with noise",
                                "ddpm: without noise", "transport: without noise",
                                "transport: with noise"}),
           choiceField("solver", "auto",
                       {"auto", "euler", "heun", "heun2", "midpoint", "rk4", "dopri5", "sde_euler",
                        "sde_heun"},
                       "solver of ode or sde; auto: heun or sde_euler")
               .titled("Solver"),
           integerField("steps", 50, "of the solver, or steps that ddpm and ddim keep")
               .titled("Sampling steps")
               .range(2, 1000),
           realField("guidance", 1.0, "1: none").titled("Guidance").range(0, 1000),
           integerField("guidance_channels", kGuidedChannels, "guided channels, the first; 0: all")
               .titled("Guided channels")
               .range(0, 4096),
           integerField("every_epochs", nullptr, "none: at the end alone")
               .titled("Every")
               .range(1, 1000000)
               .withUnit("epochs")
               .orNone()},
          "images that evaluations make")
          .titled("Samples"),
  };
}

}  // namespace

ItemCard GenerationTask::card() const {
  ItemCard card = itemCard(ItemKind::Task, "generation", "Image generation",
                           "A network learns to remove noise from images of a class");
  card.needs = {Denoiser::kId, GuidedDenoiser::kId, "image", "label"};
  card.metrics = {
      {"samples/agreement", "samples/frechet", "loss"}, {"train/loss", "test/loss"}, "images"};
  card.metrics.declared = {
      {"*/samples/agreement", "judge agrees", "fraction", "higher",
       "share of samples that the judge assigns to the requested class"},
      {"*/samples/frechet", "Frechet distance (judge)", "", "lower",
       "between the judge's features of samples and of as many real images"},
      {"*/samples/precision", "precision (judge)", "fraction", "higher",
       "share of samples within a ball of a real image and its 3 neighbours"},
      {"*/samples/recall", "recall (judge)", "fraction", "higher",
       "share of real images within a ball of a sample and its 3 neighbours"},
      {"*/samples/inception", "inception score (judge)", "", "higher",
       "by the judge's classes, one split"},
      {"*/mse", "squared error of the noise", "", "lower", "mean over pixels and samples"},
      {"*/vb", "variational bound", "bits", "lower", "per dimension, of the learned variance"}};
  card.schema.fields = runOnly(processFields());
  return card;
}

}  // namespace vitrine::generation
