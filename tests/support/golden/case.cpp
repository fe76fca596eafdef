#include "tests/support/golden/case.h"

#include <ATen/ATen.h>

#include <fstream>

#include "core/config/experiment.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/rules.h"
#include "tests/support/golden/variants.h"

namespace vitrine::testing {

namespace {

std::filesystem::path goldenFolder() {
  return std::filesystem::path(VITRINE_SOURCE_DIR) / "tests" / "golden";
}

Json readJson(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return Json::parse(stream);
}

}  // namespace

GoldenCase openGoldenCase(const std::string& name) { return readGoldenCase(goldenFolder() / name); }

::testing::AssertionResult isClose(const at::Tensor& actual, const at::Tensor& expected,
                                   double tolerance) {
  const Compared result = compareTensors("", actual, expected, {.relativeToMost = tolerance});
  if (!result.isMiss()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "off by " << result.error << ", allowed " << result.allowed << " " << result.problem;
}

namespace {

void reproduce(const std::string& name, const Architecture& architecture, const Json& overrides) {
  SCOPED_TRACE(name);
  const GoldenCase golden = openGoldenCase(name);
  // Without fused multiply-add every product is rounded once more before it is added.
  const double roundings = cpuPath() == CpuPath::Baseline ? 2 : 1;
  int compared = 0;
  const std::vector<Tensors> passes = hasVariants(golden)
                                          ? runVariants(golden, architecture)
                                          : runModelCase(golden, architecture, overrides);
  for (const Compared& line : compareCase(golden, passes)) {
    EXPECT_TRUE(line.isMapped) << line.tensor << " was not compared";
    EXPECT_TRUE(line.problem.empty() && line.error <= roundings * line.allowed)
        << line.tensor << ": error " << line.error << ", allowed " << line.allowed << " "
        << line.problem;
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

}  // namespace

void expectReproduced(const std::string& name, const Architecture& architecture,
                      const Json& overrides) {
  onEveryCpuPath([&] { reproduce(name, architecture, overrides); });
}

void expectRuleReproduced(const std::string& name, const std::vector<std::string>& parts) {
  SCOPED_TRACE(name);
  const GoldenCase golden = openGoldenCase(name);
  const std::vector<Compared> lines = compareCase(golden, runRuleCase(golden));
  for (const std::string& part : parts) {
    int compared = 0;
    for (const Compared& line : lines) {
      if (line.tensor != part && !line.tensor.starts_with(part + "/")) continue;
      EXPECT_TRUE(line.isMapped) << line.tensor << " was not compared";
      EXPECT_FALSE(line.isMiss()) << line.tensor << ": error " << line.error << ", allowed "
                                  << line.allowed << " " << line.problem;
      ++compared;
    }
    EXPECT_GT(compared, 0) << "the case has nothing called " << part;
  }
}

void expectParameters(const std::string& file, const std::string& entry,
                      const Architecture& architecture, const Json& values) {
  SCOPED_TRACE(entry);
  const Json wanted = readJson(goldenFolder() / file).at(entry);
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const Json& item : wanted.at("parameters"))
    shapes[item.at(0)] = item.at(1).get<std::vector<std::int64_t>>();
  for (std::int64_t i = 0; i < wanted.at("depth").get<std::int64_t>(); ++i) {
    for (const Json& item : wanted.at("block")) {
      std::string name = item.at(0);
      name.replace(name.find('N'), 1, std::to_string(i));
      shapes[name] = item.at(1).get<std::vector<std::int64_t>>();
    }
  }
  Json complete = values;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", complete))
    ADD_FAILURE() << problem.sentence();
  const ScopedBuildDevice meta(at::kMeta);
  const std::shared_ptr<Model> model = architecture.build(Config(complete), 0);
  EXPECT_EQ(parameterCount(*model), wanted.at("total").get<std::int64_t>());
  std::map<std::string, std::vector<std::int64_t>> actual;
  for (const auto& [name, tensor] : namedTensors(*model)) actual[name] = tensor.sizes().vec();
  EXPECT_EQ(actual, shapes);
  std::int64_t counted = 0;
  for (const BlockCost& block : model->cost()) counted += block.parameters;
  EXPECT_EQ(counted, wanted.at("total").get<std::int64_t>())
      << "the cost table disagrees with the parameters";
}

}  // namespace vitrine::testing
