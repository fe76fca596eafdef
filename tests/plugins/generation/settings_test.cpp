// What the task of image generation refuses before a run is stored, or before it trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "tests/plugins/generation/blobs.h"
#include "tests/support/refusal.h"

namespace vitrine::generation {
namespace {

using baselines::DitArchitecture;
using test::Fails, test::Names;
using visionllama_diffusion::SitLlamaArchitecture;

TEST(Generation, TrainingIsRefusedWhereItsSamplesCouldNotBeDrawnAtTheEnd) {
  const auto begun = [](const Json& samples, const Json& labelDrop = nullptr) {
    const auto session = GenerationTask().open(
        setupOf(smallModel<DitArchitecture>(), {{"samples", samples}, {"label_drop", labelDrop}}));
    (void)session->trainingStream(0);
  };
  EXPECT_THAT(
      [&] {
        begun({{"steps", 60}});
      },
      Fails<ConfigError>("task.samples.steps", "take 59 or 63"));
  EXPECT_THAT(
      [&] {
        begun({{"guidance", 2}}, 0.0);
      },
      Fails<ConfigError>("guidance = 2", "label drop"));
  EXPECT_NO_THROW(begun({{"guidance", 2}}));
  EXPECT_NO_THROW(begun({{"steps", 63}}));
  EXPECT_NO_THROW(begun({{"steps", 60}, {"count", 0}}));
  EXPECT_NO_THROW(begun({{"steps", 60}, {"sampler", "ddpm"}}));
}

TEST(Generation, ANewRunIsRefusedWhereItsSamplesCouldNotBeGuided) {
  const auto started = [](const Json& samples, const Json& labelDrop, double dropOfModel = 0.1) {
    const TaskSetup setup =
        setupOf(smallModel<DitArchitecture>({{"class_dropout_prob", dropOfModel}}),
                {{"samples", samples}, {"label_drop", labelDrop}});
    return test::refusal<ConfigError>(
        [&] { GenerationTask().requireStartable(setup.task, *setup.model); });
  };
  EXPECT_THAT(started({{"guidance", 2}}, 0.0), Names("guidance = 2", "label drop"));
  EXPECT_THAT(started({{"guidance", 2}}, nullptr, 0.0), Names("guidance = 2", "label drop"));
  EXPECT_EQ(started({{"guidance", 2}}, nullptr), "");
  EXPECT_EQ(started({{"guidance", 1}}, 0.0), "");
  EXPECT_EQ(started({{"guidance", 2}, {"count", 0}}, 0.0), "") << "it draws none";
}

TEST(Generation, ANewRunIsRefusedWhereAKeyOfTheOtherProcessIsSet) {
  const auto flow = smallModel<SitLlamaArchitecture>();
  const auto steps = smallModel<DitArchitecture>();
  const std::vector<std::pair<std::string, Json>> ofSteps{
      {"schedule", "cosine"}, {"steps", 500}, {"variance", "fixed_large"}};
  for (const auto& [key, value] : ofSteps) {
    Json task = Json::object();
    task[key] = value;
    EXPECT_THAT(refusedStart(flow, task), Names("task." + key + " = " + value.dump(), "dit"));
    EXPECT_EQ(refusedStart(steps, task), "") << key;
  }
  const std::vector<std::pair<std::string, Json>> ofPaths{
      {"path", "vp"}, {"prediction", "noise"}, {"weight", "likelihood"}};
  Json all = Json::object();
  for (const auto& [key, value] : ofPaths) {
    Json task = Json::object();
    task[key] = all[key] = value;
    EXPECT_THAT(refusedStart(steps, task), Names("task." + key + " = " + value.dump(), "sit"));
  }
  EXPECT_EQ(refusedStart(flow, all), "");
  EXPECT_EQ(refusedStart(flow, Json::object()), "");
  EXPECT_EQ(refusedStart(steps, Json::object()), "");
  EXPECT_THAT(refusedStart(steps, {{"process", "transport"}}), Names("task.process", "sit"));
}

TEST(Generation, ANewRunIsRefusedWhereTheLossOfAVelocityHasAWeight) {
  const auto flow = smallModel<SitLlamaArchitecture>();
  for (const char* weight : {"velocity", "likelihood"}) {
    EXPECT_THAT(refusedStart(flow, {{"weight", weight}}),
                Names("task.weight = \"" + std::string(weight) + "\"", "task.prediction"));
    EXPECT_EQ(refusedStart(flow, {{"weight", weight}, {"prediction", "score"}}), "");
  }
  // One that was stored before opens as it was trained.
  EXPECT_NO_THROW((void)GenerationTask().open(setupOf(flow, {{"weight", "velocity"}})));
}

TEST(Generation, ANewRunIsRefusedWhereItsSamplesCannotBeDrawnAsAsked) {
  const auto flow = smallModel<SitLlamaArchitecture>();
  const auto steps = smallModel<DitArchitecture>();
  const auto refused = [](const std::shared_ptr<Model>& model, const Json& samples) {
    return refusedStart(model, {{"samples", samples}});
  };
  EXPECT_THAT(refused(flow, {{"sampler", "ddim"}}), Names("task.samples.sampler", "ode", "sde"));
  EXPECT_THAT(refused(steps, {{"sampler", "ode"}}), Names("task.samples.sampler", "ddpm", "ddim"));
  EXPECT_THAT(refused(flow, {{"solver", "sde_heun"}}), Names("task.samples.solver", "ode", "rk4"));
  EXPECT_THAT(refused(steps, {{"solver", "heun"}}), Names("task.samples.solver", "ddim"));
  EXPECT_EQ(refused(flow, {{"sampler", "sde"}, {"solver", "sde_heun"}}), "");
  EXPECT_EQ(refused(steps, {{"sampler", "ddpm"}}), "");
}

}  // namespace
}  // namespace vitrine::generation
