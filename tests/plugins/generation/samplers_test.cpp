// Samplers of generation: recipes, equal bytes, cancelling, and what they refuse.
#include "plugins/tasks/generation/samplers.h"

#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <limits>

#include "core/base/error.h"
#include "core/nn/init.h"
#include "core/plugin/sampler.h"
#include "tests/plugins/generation/blobs.h"
#include "tests/support/refusal.h"

namespace vitrine::generation {
namespace {

using test::Names;
using visionllama_diffusion::DitLlamaArchitecture, visionllama_diffusion::SitLlamaArchitecture;

const Registry& samplers() {
  static const std::unique_ptr<Registry> made = [] {
    auto one = std::make_unique<Registry>();
    addSamplers(*one);
    return one;
  }();
  return *made;
}

/// A session whose model answers something, as a new one does not.
template <class AnyArchitecture>
std::unique_ptr<TaskSession> session(const Json& model = Json::object(),
                                     const Json& task = Json::object()) {
  const auto made = smallModel<AnyArchitecture>(model);
  nn::initialise(
      made->module(),
      [](const std::string& name, const at::Tensor&) -> std::optional<nn::Init> {
        const bool isZero = name.find("adaLN") != std::string::npos || name.starts_with("final");
        if (!isZero) return std::nullopt;
        return nn::normalInit(0.02);
      },
      8);
  made->module().eval();
  return GenerationTask().open(setupOf(made, task));
}

CollectedResults sampled(TaskSession& task, const std::string& name, const Json& settings) {
  const Sampler& sampler = samplers().sampler(name);
  Schema schema = sampleSchema();
  for (const Field& field : sampler.card().schema.fields) schema.fields.push_back(field);
  Json values = settings;
  const auto problems = resolveItem(schema, name, values);
  if (!problems.empty()) throw ConfigError(problems.front().sentence());
  const at::NoGradGuard noGradient;
  CollectedResults results;
  sampler.sample({task, Config(values), at::kCPU, 7, {{"run", "r"}}}, results);
  return results;
}

std::string refusalOf(TaskSession& task, const std::string& name, const Json& settings) {
  return test::refusal<ConfigError>([&] { (void)sampled(task, name, settings); });
}

TEST(Samplers, EqualRecipesGiveEqualBytesAndOtherSeedsOthers) {
  const auto flow = session<SitLlamaArchitecture>();
  const auto steps = session<DitLlamaArchitecture>();
  for (const auto& [name, settings] : std::vector<std::pair<std::string, Json>>{
           {"ode", {{"solver", "euler"}, {"steps", 3}}},
           {"ode", {{"solver", "heun"}, {"steps", 3}}},
           {"ode", {{"solver", "midpoint"}, {"steps", 3}}},
           {"ode", {{"solver", "rk4"}, {"steps", 2}}},
           {"ode", {{"solver", "dopri5"}}},
           {"sde", {{"steps", 5}}},
           {"sde",
            {{"solver", "sde_heun"},
             {"form", "decreasing"},
             {"last_step", "tweedie"},
             {"steps", 4}}},
           {"ddpm", {{"steps", 4}}},
           {"ddim", {{"steps", 4}}},
           {"ddim", {{"steps", 4}, {"eta", 1}, {"clip", "no"}}}}) {
    TaskSession& task = name.starts_with("dd") ? *steps : *flow;
    Json one = settings;
    one.update({{"count", 2}, {"seed", 3}, {"guidance", 2}});
    const CollectedResults a = sampled(task, name, one), b = sampled(task, name, one);
    ASSERT_EQ(a.images.size(), 2U) << name;
    EXPECT_EQ(a.images[0].sha256, b.images[0].sha256) << name << settings;
    EXPECT_EQ(a.images[0].recipe, b.images[0].recipe) << name;
    EXPECT_NE(a.images[0].sha256, a.images[1].sha256) << name;
  }
}

TEST(Samplers, ARecipeTellsEverythingThatWasAskedAndItsBatch) {
  const auto flow = session<SitLlamaArchitecture>();
  const CollectedResults made =
      sampled(*flow, "ode", {{"count", 5}, {"seed", 10}, {"steps", 4}, {"batch_size", 3}});
  ASSERT_EQ(made.images.size(), 5U);
  const Json& recipe = made.images[4].recipe;
  EXPECT_EQ(recipe.at("run"), "r");
  EXPECT_EQ(recipe.at("sampler"), "ode");
  EXPECT_EQ(recipe.at("seed"), 14);
  EXPECT_EQ(recipe.at("class"), 14 % kBlobClasses);
  EXPECT_EQ(recipe.at("batch").at("first_seed"), 13);
  EXPECT_EQ(recipe.at("batch").at("size"), 2);
  EXPECT_EQ(recipe.at("evaluations"), 8);
  EXPECT_EQ(recipe.at("settings").at("solver"), "heun");
  // A batch made again by its recipe.
  const CollectedResults again =
      sampled(*flow, "ode", {{"count", 2}, {"seed", 13}, {"steps", 4}, {"batch_size", 3}});
  EXPECT_EQ(again.images[1].sha256, made.images[4].sha256);
}

TEST(Samplers, GuidanceOfOneIsTheConditionalModelAndOthersMoveIt) {
  const auto flow = session<SitLlamaArchitecture>();
  const auto bytes = [&](const Json& changes) {
    Json settings{{"count", 1}, {"steps", 4}, {"class", 1}};
    settings.update(changes);
    return sampled(*flow, "ode", settings).images.front().sha256;
  };
  EXPECT_EQ(bytes({{"guidance", 1}}), bytes(Json::object()));
  EXPECT_NE(bytes({{"guidance", 4}}), bytes(Json::object()));
  EXPECT_NE(bytes({{"class", 2}}), bytes(Json::object()));
}

TEST(Samplers, RefuseWhatTheRunCannotDoWithASentence) {
  const auto flow = session<SitLlamaArchitecture>();
  const auto steps = session<DitLlamaArchitecture>();
  const auto unguided = session<SitLlamaArchitecture>({{"class_dropout_prob", 0}});
  EXPECT_THAT(refusalOf(*flow, "ode", {{"class", 3}}), Names("0 to 2"));
  EXPECT_THAT(refusalOf(*flow, "ddim", Json::object()), Names("ode", "sde"));
  EXPECT_THAT(refusalOf(*steps, "ode", Json::object()), Names("ddpm", "ddim"));
  EXPECT_EQ(refusalOf(*unguided, "ode", {{"guidance", 2}, {"steps", 2}}),
            "guidance = 2 needs a model that also learned without labels, and the label drop of "
            "this one is 0; set guidance = 1, or train with label drop");
  EXPECT_EQ(refusalOf(*unguided, "ode", {{"guidance", 1}, {"steps", 2}}), "");
  const auto labelled = session<SitLlamaArchitecture>(Json::object(), {{"label_drop", 0.0}});
  EXPECT_THAT(refusalOf(*labelled, "ode", {{"guidance", 2}, {"steps", 2}}), Names("guidance = 2"))
      << "the run never left a label out, whatever the model could";
  EXPECT_THAT(refusalOf(*flow, "sde", {{"form", "sbdm"}}), Names("sbdm"));
  EXPECT_THAT(refusalOf(*flow, "sde", {{"form", "constant"}}), Names("constant"));
  EXPECT_THAT(refusalOf(*flow, "ode", {{"solver", "rk45"}}), Names("rk45"));
  EXPECT_THAT(refusalOf(*steps, "ddim", {{"steps", 1000}, {"count", 1}, {"eta", 2}}), Names("eta"));
  EXPECT_THAT(refusalOf(*steps, "ddpm", {{"steps", 1001}}), Names("1 to 1000"));
}

TEST(Samplers, RefuseToWriteAnImageThatIsNotFinite) {
  const auto flow = session<SitLlamaArchitecture>();
  for (const at::Tensor& parameter : flow->model().module().parameters())
    parameter.detach().fill_(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT([&] { (void)sampled(*flow, "ode", {{"count", 2}, {"seed", 7}, {"steps", 2}}); },
              test::Fails<RefusedError>("seed", 7, "not finite"));
}

TEST(Samplers, KnowWhichRunsTheySuit) {
  const auto flow = session<SitLlamaArchitecture>();
  const auto steps = session<DitLlamaArchitecture>();
  const auto fit = [](const char* name, TaskSession& task) {
    return samplers().sampler(name).fit(task);
  };
  EXPECT_EQ(fit("ode", *flow), Sampler::Fit::Preferred);
  EXPECT_EQ(fit("sde", *flow), Sampler::Fit::Possible);
  EXPECT_EQ(fit("ddpm", *flow), Sampler::Fit::None);
  EXPECT_EQ(fit("ddpm", *steps), Sampler::Fit::Preferred);
  EXPECT_EQ(fit("ode", *steps), Sampler::Fit::None);
}

TEST(Samplers, EndBetweenTwoStepsWhenCancelled) {
  struct Impatient final : CollectedResults {
    void progress(std::int64_t, std::int64_t) override { ++steps; }
    bool isCancelled() override { return steps >= 3; }
    int steps = 0;
  } results;
  const auto flow = session<SitLlamaArchitecture>();
  const Sampler& sampler = samplers().sampler("ode");
  Json values{{"count", 4}, {"seed", 0}, {"steps", 50}};
  Schema schema = sampleSchema();
  for (const Field& field : sampler.card().schema.fields) schema.fields.push_back(field);
  ASSERT_TRUE(resolveItem(schema, "ode", values).empty());
  const at::NoGradGuard noGradient;
  sampler.sample({*flow, Config(values), at::kCPU, 0, Json::object()}, results);
  EXPECT_EQ(results.steps, 3);
  EXPECT_TRUE(results.images.empty());
}

TEST(Samplers, PreviewsShowWhatTheModelTakesTheImageFor) {
  const auto flow = session<SitLlamaArchitecture>();
  const CollectedResults made =
      sampled(*flow, "ode", {{"count", 2}, {"steps", 4}, {"previews", 2}});
  ASSERT_EQ(made.artifacts.size(), 2U);
  EXPECT_EQ(made.artifacts[0].kind, artifact_kind::kImageGrid);
  EXPECT_EQ(made.artifacts[0].meta.at("shape"), (Json{2, kBlobSide, kBlobSide, 1}));
  EXPECT_EQ(made.artifacts[0].meta.at("classes"), (Json{0, 1})) << "in turn, by seed";
}

TEST(Samplers, ShowAtMostOnePreviewAStepAndAsManyAsTheyAreAskedFor) {
  const auto flow = session<SitLlamaArchitecture>();
  const auto steps = session<DitLlamaArchitecture>();
  const auto shown = [](TaskSession& task, const char* sampler, const Json& settings) {
    return sampled(task, sampler, settings).artifacts.size();
  };
  for (const std::int64_t wanted : {1, 3, 5, 100000})
    EXPECT_EQ(shown(*flow, "ode", {{"count", 1}, {"steps", 5}, {"previews", wanted}}),
              std::min<std::size_t>(5, static_cast<std::size_t>(wanted)));
  EXPECT_EQ(shown(*flow, "sde", {{"count", 1}, {"steps", 5}, {"previews", 5}}), 5U);
  EXPECT_EQ(shown(*steps, "ddpm", {{"count", 1}, {"steps", 6}, {"previews", 3}}), 3U);
}

TEST(Samplers, TellWhereAPatchReadsAtEachPreview) {
  const auto flow = session<SitLlamaArchitecture>();
  const Json settings{{"count", 2}, {"seed", 4}, {"steps", 4}, {"guidance", 2}};
  Json asking = settings;
  asking.update({{"previews", 2}, {"attention", {1, 2}}});
  const CollectedResults made = sampled(*flow, "ode", asking);
  ASSERT_EQ(made.artifacts.size(), 6U) << "a picture of both images, then the attention of each";
  std::vector<std::string> names;
  for (const Artifact& each : made.artifacts) names.push_back(each.name);
  EXPECT_EQ(names[1], "attention of seed 4 at time 0.5");
  EXPECT_EQ(names[5], "attention of seed 5 at time 1");
  const Artifact& attention = made.artifacts[2];
  EXPECT_EQ(attention.kind, artifact_kind::kAttention);
  EXPECT_EQ(attention.meta.at("shape"), (Json{2, 2, 1, 16}));
  EXPECT_EQ(attention.meta.at("query_positions"), (Json::array({{1, 2}})));
  const ArrayView view = arrayOf(attention.meta, attention.data);
  double sum = 0;
  for (std::int64_t i = 0; i < view.count(); ++i) sum += view.at(i);
  EXPECT_NEAR(sum, 4, 1e-4) << "four rows of the softmax";
  // Nothing of it stays behind.
  EXPECT_TRUE(sampled(*flow, "ode", settings).artifacts.empty());
  EXPECT_THAT(refusalOf(*flow, "ode", {{"attention", {4, 0}}, {"steps", 2}}),
              Names("attention = [4, 0]", "0 to 3"));
  EXPECT_THAT(refusalOf(*flow, "ode", {{"attention", {1}}, {"steps", 2}}),
              Names("attention = [1]"));
  EXPECT_TRUE(sampled(*flow, "ode", settings).artifacts.empty());
}

}  // namespace
}  // namespace vitrine::generation
