// Layer decay, groups of parameters by name, and what they do to an update.
#include "core/train/update/parameter_policy.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <fstream>

#include "core/base/error.h"
#include "core/config/train_schema.h"
#include "core/model/parameter_layers.h"
#include "core/model/weights.h"
#include "tests/core/train/fakes.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

using ::testing::ElementsAre;
using NameList = std::vector<std::string>;

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/golden/analysis" / name;
}

/// One parameter of four numbers for each name: those of one axis, called bias or norm, do not
/// decay.
std::vector<ParameterGroup> groupsOf(const NameList& names) {
  ParameterGroup decay{"decay", {}, {}, 1, 1}, plain{"no_decay", {}, {}, 0, 1};
  for (const std::string& name : names) {
    const bool isPlain =
        name.find("bias") != std::string::npos || name.find("norm") != std::string::npos;
    ParameterGroup& group = isPlain ? plain : decay;
    group.parameterNames.push_back(name);
    group.parameters.push_back(at::ones({2, 2}).set_requires_grad(true));
  }
  return {decay, plain};
}

const ParameterGroup& groupWith(const std::vector<ParameterGroup>& groups,
                                const std::string& name) {
  for (const ParameterGroup& group : groups) {
    if (std::count(group.parameterNames.begin(), group.parameterNames.end(), name) > 0)
      return group;
  }
  throw std::runtime_error("no group has " + name);
}

std::string problemOf(const std::function<void()>& action) {
  return test::refusal<ConfigError>([&] { action(); });
}

std::map<std::string, std::int64_t> layersByName(const NameList& names) {
  const std::vector<std::int64_t> layers = layersOf(names);
  std::map<std::string, std::int64_t> all;
  for (std::size_t i = 0; i < names.size(); ++i) all[names[i]] = layers[i];
  return all;
}

TEST(Layers, AreCountedByBlocksInTheOrderOfTheNetwork) {
  EXPECT_THAT(
      layersOf({"cls_token", "patch_embed.weight", "blocks.0.norm.weight",
                "blocks.0.mlp.fc1.weight", "blocks.1.norm.weight", "norm.weight", "head.bias"}),
      ElementsAre(0, 0, 1, 1, 2, 3, 3));
  EXPECT_THAT(layersOf({"stem.weight", "stages.0.blocks.0.w", "stages.0.blocks.1.w",
                        "stages.1.down.w", "stages.1.blocks.0.w", "head.w"}),
              ElementsAre(0, 1, 2, 3, 3, 4))
      << "what changes the resolution is of the block that follows";
  EXPECT_THAT(layersOf({"fc1", "fc2"}), ElementsAre(0, 0));
  EXPECT_THAT(layersOf({"a", "myblocks.0.w", "blocks.x.w"}), ElementsAre(0, 0, 0));
}

TEST(LayerDecay, GivesEveryParameterTheScaleOfTheReference) {
  std::ifstream in(golden("layer_decay") / "case.json");
  const Json settings = Json::parse(in).at("parameters");
  NameList names;
  for (const auto& [name, scale] : settings.at("scale").items()) names.push_back(name);
  train::ParameterPolicy policy{.layerDecay = settings.at("decay").get<double>()};
  const auto groups = train::withPolicy(groupsOf(names), policy, layersByName(names));
  for (const auto& [name, scale] : settings.at("scale").items())
    EXPECT_NEAR(groupWith(groups, name).learningRateScale, scale, 1e-12) << name;
  EXPECT_EQ(groupWith(groups, "norm.bias").weightDecayScale, 0);
  EXPECT_EQ(groupWith(groups, "blocks.3.attn.qkv.weight").weightDecayScale, 1);
}

TEST(LayerDecay, OfANetworkWithoutBlocksIsRefused) {
  train::ParameterPolicy policy{.layerDecay = 0.5};
  EXPECT_THAT(
      problemOf([&] {
        static_cast<void>(train::withPolicy(groupsOf({"fc1"}), policy, layersByName({"fc1"})));
      }),
      test::Names("train.layer_decay"));
}

const NameList kNames{"embed.weight",    "blocks.0.weight", "blocks.0.bias",
                   "blocks.1.weight", "head.weight",     "head.bias"};

TEST(Groups, ScaleRatesAndDecayOfWhatTheyMatchAndLeaveTheRest) {
  const auto plain = train::withPolicy(groupsOf(kNames), {}, layersByName(kNames));
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_EQ(plain[0].name, "decay");

  train::ParameterPolicy policy;
  policy.groups = {{"head", {"head.*"}, 10, 0.5, false, Json{{"beta2", 0.9}}}};
  const auto groups = train::withPolicy(groupsOf(kNames), policy, layersByName(kNames));
  ASSERT_EQ(groups.size(), 4u);
  const ParameterGroup& head = groupWith(groups, "head.weight");
  EXPECT_EQ(head.name, "decay head");
  EXPECT_EQ(head.learningRateScale, 10);
  EXPECT_EQ(head.weightDecayScale, 0.5);
  EXPECT_EQ(head.settings, (Json{{"beta2", 0.9}}));
  EXPECT_EQ(groupWith(groups, "head.bias").weightDecayScale, 0) << "a bias does not decay";
  EXPECT_EQ(groupWith(groups, "head.bias").learningRateScale, 10);
  EXPECT_EQ(groupWith(groups, "embed.weight").learningRateScale, 1);
  EXPECT_TRUE(groupWith(groups, "embed.weight").settings.is_null());
}

TEST(Groups, MultiplyTheScaleOfTheLayer) {
  train::ParameterPolicy policy{
      .layerDecay = 0.5, .groups = {{"first", {"embed.*", "blocks.0.*"}, 4, 1, false, nullptr}}};
  const auto groups = train::withPolicy(groupsOf(kNames), policy, layersByName(kNames));
  EXPECT_EQ(groupWith(groups, "embed.weight").learningRateScale, 4 * 0.125);
  EXPECT_EQ(groupWith(groups, "blocks.0.bias").learningRateScale, 4 * 0.25);
  EXPECT_EQ(groupWith(groups, "blocks.1.weight").learningRateScale, 0.5);
  EXPECT_EQ(groupWith(groups, "head.weight").learningRateScale, 1);
}

TEST(Groups, AreRefusedWhereAPatternMatchesNothingOrTwoGroupsMeet) {
  train::ParameterPolicy policy{.groups = {{"head", {"head.*", "haed.*"}, 1, 1, false, nullptr}}};
  EXPECT_EQ(problemOf([&] {
              static_cast<void>(train::withPolicy(groupsOf(kNames), policy, layersByName(kNames)));
            }),
            "train.groups.head.match: no trained parameter matches 'haed.*'; the first one is "
            "'embed.weight'");
  policy.groups = {{"a", {"head.*"}, 1, 1, false, nullptr},
                   {"b", {"*.bias"}, 1, 1, false, nullptr}};
  EXPECT_EQ(problemOf([&] {
              static_cast<void>(train::withPolicy(groupsOf(kNames), policy, layersByName(kNames)));
            }),
            "train.groups: parameter 'head.bias' is in the groups 'a' and 'b'; it belongs in one");
}

/// The reference's parameters follow its trajectory where a policy gives them its rates, decay and
/// constants, while the run's own are others.
TEST(Groups, FollowTheTrajectoryOfTheReferenceUnderAPolicy) {
  const auto all = readTensors(golden("optimizer_trajectory") / "io.safetensors");
  const std::string rule = "output/adamw_no_decay_1d_pos_cls/";
  ParameterGroup decay{"decay", {}, {}, 1, 1}, plain{"no_decay", {}, {}, 0, 1};
  NameList names;
  std::vector<at::Tensor> parameters;
  for (const auto& [full, value] : all) {
    if (!full.starts_with("input/param/")) continue;
    const std::string name = full.substr(12);
    names.push_back(name);
    parameters.push_back(value.clone().set_requires_grad(true));
    ParameterGroup& group =
        value.dim() <= 1 || name == "pos_embed" || name == "cls_token" ? plain : decay;
    group.parameterNames.push_back(name);
    group.parameters.push_back(parameters.back());
  }
  train::ParameterPolicy policy;
  const Json constants{{"beta1", 0.9}, {"beta2", 0.999}};
  // In the order of the file a block comes first and all others stand behind it: with the decay of
  // the layer both groups have 4 times the run's rate.
  policy.layerDecay = 0.5;
  policy.groups = {
      {"blocks", {"blocks.*"}, 8, 0.5, false, constants},
      {"rest", {"head.*", "patch_embed.*", "cls_token", "pos_embed"}, 4, 0.5, false, constants}};
  train::Optimizer optimizer =
      optimizerOf({{"weight_decay", 0.1}, {"beta1", 0.5}, {"beta2", 0.6}},
                  train::withPolicy({decay, plain}, policy, layersByName(names)));
  const double rates[] = {0.01, 0.03, 0.02};
  for (int step = 0; step < 3; ++step) {
    const std::string number = std::to_string(step);
    for (std::size_t i = 0; i < names.size(); ++i)
      parameters[i].mutable_grad() = all.at("input/grad_" + number + "/" + names[i]).clone();
    optimizer.step(rates[step] / 4, at::zeros({}), {});
    for (std::size_t i = 0; i < names.size(); ++i) {
      const at::Tensor wanted = all.at(rule + "step_" + number + "/" + names[i]);
      EXPECT_LT((parameters[i].detach() - wanted).abs().max().item<double>(), 1e-5)
          << names[i] << " after step " << step;
    }
  }
}

Config withGroups(const Json& groups, const std::vector<std::pair<std::string, Json>>& more = {}) {
  std::vector<std::pair<std::string, Json>> values{{"steps", 6}, {"optimizer.name", "sgd"}};
  values.insert(values.end(), more.begin(), more.end());
  Json train = trainConfig(values).json();
  for (const auto& [name, table] : groups.items()) {
    Json whole = parameterGroupSchema().defaults();
    whole.update(table);
    train["groups"][name] = whole;
  }
  return Config(train);
}

TEST(Groups, OfARunFreezeAndScaleItsParameters) {
  const SmallModel untouched(3);
  SmallRun run(withGroups({{"first", {{"match", {"fc1", "bias1"}}, {"freeze", true}}},
                           {"still", {{"match", {"bias2"}}, {"learning_rate_scale", 0.0}}}}));
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  const auto before = untouched.named_parameters(), after = run.model->named_parameters();
  for (const char* name : {"fc1", "bias1", "bias2"})
    EXPECT_TRUE(at::equal(before[name], after[name])) << name;
  EXPECT_FALSE(after["fc1"].requires_grad());
  EXPECT_FALSE(at::equal(before["fc2"], after["fc2"]));
}

TEST(Groups, OfARunNameThePatternThatMatchesNothing) {
  for (const bool freeze : {false, true}) {
    SmallRun run(withGroups({{"first", {{"match", {"fc9*"}}, {"freeze", freeze}}}}));
    EXPECT_THAT(problemOf([&] { static_cast<void>(run.go()); }),
                test::Names("train.groups.first.match"));
  }
  SmallRun run(withGroups(Json::object(), {{"layer_decay", 0.5}}));
  EXPECT_THAT(problemOf([&] { static_cast<void>(run.go()); }), test::Names("train.layer_decay"));
}

TEST(Groups, OfOneRateLeaveARunAsItWasToTheLastBit) {
  SmallRun plain(withGroups(Json::object(), {{"optimizer.name", "adamw"}}));
  static_cast<void>(plain.go());
  SmallRun grouped(withGroups({{"all", {{"match", {"fc*"}}}}}, {{"optimizer.name", "adamw"}}));
  static_cast<void>(grouped.go());
  EXPECT_TRUE(at::equal(plain.weights(), grouped.weights()));
}

}  // namespace
}  // namespace vitrine::test
