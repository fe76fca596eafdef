// A plan that was printed is stored as it is, and nothing else is taken for one.
#include "core/config/plan_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "tests/core/config/sample_catalog.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using test::Names;
using testing_support::codes, testing_support::planMore, testing_support::sampleCatalog;

/// Everything that a plan can have: variants, stages, a sweep, sources, a grid, what is left out.
Plan richPlan() {
  const Plan plan = planMore(
      "[train]\noptimizer = { name = 'sgd', learning_rate = 1e-3 }\n"
      "groups.head = { match = ['head.*'], learning_rate_scale = 10 }\n"
      "[observe]\ncalibration = true\n[sweep]\n'model.depth' = [2, 3]\n"
      "[select]\ngrid = { 'model.preset' = ['vit/tiny', 'vit/soft'], 'train.seed' = [0, 1] }\n"
      "[aux.teacher]\nrun = '0f8fad5b-d9cb-469f-a165-70867728950e'\n"
      "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n"
      "set = { 'init.run' = 'variant:a', 'init.rename' = { 'head.weight' = 'fc.weight' }, "
      "'aux.first.run' = 'variant:a' }\n"
      "[[exclude]]\nvariant = 'b'\n'model.depth' = 3\n"
      "[[stage]]\nname = 'one'\n[[stage]]\nname = 'two'\ninit = 'previous'\nskip = ['head.*']\n");
  EXPECT_EQ(codes(plan), "");
  EXPECT_EQ(plan.runs.size(), 30u);
  return plan;
}

/// As another process reads it.
Json printed(const Plan& plan) { return readJson(toJson(plan).dump()); }

std::string refusal(const Json& json) {
  return test::refusal<ConfigError>([&] { (void)planFromJson(json, sampleCatalog()); });
}

TEST(PlanJson, ComesBackWithEveryRunAsItWas) {
  const Plan plan = richPlan();
  const Plan again = planFromJson(printed(plan), sampleCatalog());
  EXPECT_EQ(again.title, plan.title);
  EXPECT_EQ(again.sourceText, plan.sourceText);
  ASSERT_EQ(again.runs.size(), plan.runs.size());
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun &was = plan.runs[i], &is = again.runs[i];
    EXPECT_EQ(is.config, was.config) << i;
    EXPECT_EQ(is.selection, was.selection) << i;
    EXPECT_EQ(is.selectedFrom, was.selectedFrom) << i;
    EXPECT_EQ(is.part, was.part) << i;
    EXPECT_EQ(is.seed, was.seed) << i;
    EXPECT_EQ(is.dependsOn, was.dependsOn) << i;
    ASSERT_EQ(is.init.has_value(), was.init.has_value()) << i;
    if (was.init) {
      EXPECT_EQ(is.init->plannedRun, was.init->plannedRun) << i;
      EXPECT_EQ(is.init->run, was.init->run) << i;
      EXPECT_EQ(is.init->skip, was.init->skip) << i;
      EXPECT_EQ(is.init->rename, was.init->rename) << i;
    }
    ASSERT_EQ(is.auxiliaries.size(), was.auxiliaries.size()) << i;
    for (std::size_t k = 0; k < was.auxiliaries.size(); ++k) {
      EXPECT_EQ(is.auxiliaries[k].plannedRun, was.auxiliaries[k].plannedRun) << i;
      EXPECT_EQ(is.auxiliaries[k].run, was.auxiliaries[k].run) << i;
    }
  }
  // What is printed of it is the same text, origins and all, apart from what is left out.
  Json first = printed(plan), second = printed(again);
  first.erase("left_out");
  second.erase("left_out");
  EXPECT_EQ(first.dump(), second.dump());
}

TEST(PlanJson, IsRefusedWhereARunIsNotAsItsItemsSay) {
  const Json plan = printed(planMore("", {"model.depth=3"}));
  ASSERT_EQ(refusal(plan), "");
  const auto with = [&plan](const std::string& pointer, const Json& value) {
    Json changed = plan;
    changed[Json::json_pointer(pointer)] = value;
    return refusal(changed);
  };
  EXPECT_THAT(with("/runs/0/config/model/depth", -1), Names("run 1", "model.depth"));
  const std::vector<std::pair<const char*, Json>> changes{{"config/model/depht", 3},
                                                          {"config/model/image_size", 28},
                                                          {"config/model/architecture", "vti"},
                                                          {"config", nullptr},
                                                          {"seed", 7},
                                                          {"name", ""},
                                                          {"part", "refit"},
                                                          {"depends_on", 0},
                                                          {"depends_on", -1}};
  for (const auto& [key, value] : changes)
    EXPECT_THAT(with(std::string("/runs/0/") + key, value), Names("run 1")) << key;
  EXPECT_THAT(with("/problems", Json::array({Json::object()})), Names("1 problem"));
  EXPECT_THAT(with("/plan", 2), Names("version 2"));
  Json less = plan;
  less["runs"][0]["config"]["train"].erase("epochs");
  EXPECT_THAT(refusal(less), Names("run 1"));
  Json unknown = printed(planMore("[init]\nrun = '0f8fad5b-d9cb-469f-a165-70867728950e'\n"));
  ASSERT_EQ(refusal(unknown), "");
  unknown["runs"][0]["config"]["init"]["run"] = "variant:a";
  EXPECT_THAT(refusal(unknown), Names("run 1", "variant:a"));
}

TEST(PlanJson, IsRefusedWhereAChoiceIsNotOfItsGrid) {
  const Json plan =
      printed(planMore("[select]\ngrid = { 'train.optimizer.learning_rate' = [1e-3, 3e-4] }\n"));
  ASSERT_EQ(refusal(plan), "");
  Json other = plan;
  other["runs"][2]["selected_from"] = {0};
  EXPECT_THAT(refusal(other), Names("run 3"));
  other = plan;
  other["runs"][2]["selection"]["candidates"][0]["set"] = {{"model.depth", -1}};
  EXPECT_THAT(refusal(other), Names("run 3"));
  std::string deep = "model";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  other["runs"][2]["selection"]["candidates"][0]["set"] = {{deep, 1}};
  EXPECT_THAT(refusal(other), Names("run 3", 64));
}

// A plan that lacks any one of its parts, or has another type there, is a sentence and not a crash.
TEST(PlanJson, IsRefusedWhereverItIsCutOrOfAnotherType) {
  const Json plan =
      printed(planMore("[select]\ngrid = { 'train.optimizer.learning_rate' = [1e-3, 3e-4] }\n"));
  const auto walk = [&plan](const auto& self, const Json& at, const std::string& pointer) -> void {
    if (!at.is_structured() || pointer.find("/origins/") != std::string::npos ||
        pointer.find("/config/") != std::string::npos)
      return;
    for (const auto& [key, value] : at.items()) {
      if (key == "left_out" || key == "values") continue;  // shown, not stored
      const std::string place = pointer + "/" + key;
      Json changed = plan;
      changed[Json::json_pointer(place)] = value.is_object() ? Json("x") : Json::object({{"x", 1}});
      EXPECT_NE(refusal(changed), "") << place;
      // A candidate may be the first one: it sets nothing then.
      if (key != "origins" && key != "set") self(self, value, place);
      if (at.is_object()) {
        changed = plan;
        changed[Json::json_pointer(pointer)].erase(key);
        const bool isOptional = place.find("_from") != std::string::npos ||
                                place.find("depends_on") != std::string::npos;
        if (isOptional) continue;
        EXPECT_NE(refusal(changed), "") << place << " is missing";
      }
    }
  };
  walk(walk, plan, "");
}

}  // namespace
}  // namespace vitrine
