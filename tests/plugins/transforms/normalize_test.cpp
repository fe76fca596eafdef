#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/plugins/transforms/patterns.h"

namespace vitrine::test {
namespace {

using test::Fails;

at::Tensor normalized(const std::shared_ptr<Patterns>& set, const Json& settings) {
  Json data = dataValues();
  Json element = settings;
  element["name"] = "normalize";
  data["pipeline"] = {{"evaluate", Json::array({element})}};
  const std::vector<std::int64_t> ids{3};
  return pipelineOf(set, data)->read(Split::Test, ids).at("image")[0];
}

TEST(Normalize, TakesEachChannelByItsOwnMeanAndDeviation) {
  const auto set = std::make_shared<Patterns>(2, 3, 5, 8);
  set->info_.mean = {0.2, 0.6};
  set->info_.deviation = {0.5, 0.25};
  std::vector<std::uint8_t> image(30);
  (void)set->readImage(Split::Test, 3, image);
  const at::Tensor bytes =
      at::tensor(at::ArrayRef<std::uint8_t>(image)).view({2, 3, 5}).to(at::kDouble) / 255;
  const auto expected = [&](at::ArrayRef<double> mean, at::ArrayRef<double> deviation) {
    return (bytes - at::tensor(mean, at::kDouble).view({2, 1, 1})) /
           at::tensor(deviation, at::kDouble).view({2, 1, 1});
  };
  const auto close = [](const at::Tensor& a, const at::Tensor& b) {
    return at::allclose(a.to(at::kDouble), b, 0, 1e-6);
  };
  EXPECT_TRUE(close(normalized(set, {{"by", "dataset"}}), expected({0.2, 0.6}, {0.5, 0.25})));
  EXPECT_TRUE(close(normalized(set, {{"by", "half"}}), expected({0.5, 0.5}, {0.5, 0.5})));
  EXPECT_TRUE(close(normalized(set, {{"by", "none"}}), bytes));
  EXPECT_TRUE(
      close(normalized(set, {{"by", "values"}, {"mean", {0.1, 0.9}}, {"deviation", {2.0, 4.0}}}),
            expected({0.1, 0.9}, {2.0, 4.0})));
}

TEST(Normalize, RefusesWhatDoesNotFit) {
  const auto set = std::make_shared<Patterns>(3, 4, 4, 8);
  set->info_.mean = {0.5};
  EXPECT_THAT([&] { (void)normalized(set, {{"by", "dataset"}}); }, Fails<ConfigError>("1 and 3"));
  set->info_.mean = {0.5, 0.5, 0.5};
  set->info_.deviation = {1, 0, 1};
  EXPECT_THAT([&] { (void)normalized(set, {{"by", "dataset"}}); }, Fails<ConfigError>(0));
  Json data = dataValues();
  data["normalize"] = "half";  // of the training list
  data["pipeline"] = {
      {"evaluate",
       {{{"name", "normalize"}, {"by", "half"}}, {{"name", "normalize"}, {"by", "half"}}}}};
  EXPECT_THAT([&] { (void)pipelineOf(set, data); }, Fails<ConfigError>("normalize"));
}

}  // namespace
}  // namespace vitrine::test
