// The spectrum of the chosen head: names of its lines, and the threshold that is dragged on it.
#include <QCoreApplication>
#include <QMouseEvent>
#include <cmath>

#include "tests/ui/figures/qt_test.h"
#include "tests/ui/spectra/falling.h"
#include "tests/ui/support/page_test.h"
#include "ui/spectra/spectra_figures.h"
#include "ui/spectra/spectra_page.h"

namespace vitrine::ui {
namespace {

using samples::falling;

class SpectraShare : public PageTest<SpectraPage> {
 protected:
  /// Presses the button where the chart says `from` and moves it to `to`, as fast as events come.
  static void drag(FigureView& share, double from, double to) {
    const auto near = [](double wanted) {
      return [wanted](const FigureTarget& target) {
        return target.queryAt && std::abs((*target.queryAt)[0] - wanted) < 0.01;
      };
    };
    const QPoint first = placeOf(share, near(from)), last = placeOf(share, near(to));
    QTest::mousePress(&share, Qt::LeftButton, Qt::NoModifier, first);
    QMouseEvent move(QEvent::MouseMove, QPointF(last), share.mapToGlobal(QPointF(last)),
                     Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&share, &move);
    QTest::mouseRelease(&share, Qt::LeftButton, Qt::NoModifier, last);
  }
};

TEST_F(SpectraShare, ADragBeginsAnywhereInTheChart) {
  const auto shown = page({runWith("a", {falling(0.5, 0), falling(0.9, 100)})});
  drag(figure(*shown, "Spectrum of the chosen head"), 0.6, 0.4);
  EXPECT_NEAR(shown->viewState()["threshold"].get<double>(), 0.4, 0.011);
}

}  // namespace
}  // namespace vitrine::ui
