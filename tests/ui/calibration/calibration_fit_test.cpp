// The split whose answers choose the temperature.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/ui/calibration/answers.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/soon.h"
#include "ui/calibration/calibration_page.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr;

class CalibrationFit : public PageTest<CalibrationPage> {};

TEST_F(CalibrationFit, ChoosesTheTemperatureOnTheValidationSplitWhereThereIsOne) {
  std::vector<samples::Answer> sure(50, {{std::log(9), 0}, 0});
  sure[0].label = 1;  // right about 98 %: T below 1
  const auto shown =
      page({runWith("a", {samples::predictions(samples::overconfident(), 100, "test"),
                          samples::predictions(sure, 100, "validation")})});
  EXPECT_EQ(shown->current()->fittedOn, "validation");
  EXPECT_LT(shown->current()->fitted.temperature, 1);
  EXPECT_THAT(labels(*shown), HasSubstr("fitted on the validation split"));
}

TEST_F(CalibrationFit, FitsTheTemperatureAgainOnceTheValidationSplitIsEvaluated) {
  const std::int64_t run =
      runWith("a", {samples::predictions(samples::overconfident(), 100, "test")});
  const auto shown = page({run});
  EXPECT_EQ(shown->current()->fittedOn, "test");
  std::vector<samples::Answer> sure(50, {{std::log(9), 0}, 0});
  sure[0].label = 1;
  store::RunStore other(workbench_.store().file());
  other.addArtifact(run, samples::predictions(sure, 100, "validation"));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->current()->fittedOn == "validation"; }));
  EXPECT_LT(shown->current()->fitted.temperature, 1);
}

}  // namespace
}  // namespace vitrine::ui
