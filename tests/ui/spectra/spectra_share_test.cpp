// Names in the pictures of heads, and the threshold that is dragged on the chosen one.
#include <gmock/gmock.h>

#include <QCoreApplication>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/store/script_runs.h"
#include "tests/ui/figures/svg_document.h"
#include "tests/ui/spectra/falling.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/spectra/spectra_figures.h"
#include "ui/spectra/spectra_page.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

using samples::falling;

class SpectraShare : public PageTest<SpectraPage> {
 protected:
  /// Presses the button where the chart says `from` and moves it to `to`, as fast as events come.
  static void drag(FigureView& share, double from, double to) {
    const auto near = [](double wanted) {
      return [wanted](const FigureTarget& target) {
        return target.queryAt && std::abs((*target.queryAt)[0] - wanted) < 0.015;
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
  EXPECT_NEAR(shown->viewState()["threshold"].get<double>(), 0.4, 0.021);
}

TEST_F(SpectraShare, OfMoreRunsThanItDrawsThoseWithSpectraAreDrawn) {
  std::vector<std::int64_t> runs;
  for (int i = 0; i < 6; ++i) runs.push_back(runWith("a", {}));
  for (int i = 0; i < 2; ++i) runs.push_back(runWith("b", {falling(0.5, 0)}));
  const auto shown = page(runs);
  EXPECT_EQ(shown->shown().size(), 2U);
}

TEST_F(SpectraShare, SaysThatVitrineHasNoModelOfWhatAScriptLogged) {
  const std::int64_t run = runWith("a", {});
  store::RunStore other(workbench_.store().file());
  (void)other.openSegment(run, 0, store::thisWorker(), {{store::kScriptKey, "python train.py"}});
  const auto shown = page({run});
  EXPECT_THAT(labels(*shown),
              ::testing::HasSubstr("This run was logged by a script: Vitrine has no model of it."));
  EXPECT_EQ(button(*shown, "Compute the spectra"), nullptr);
}

TEST_F(SpectraShare, TheNumbersOfManyLayersAreWhole) {
  auto spectrum = std::make_shared<Spectrum>();
  for (int layer = 0; layer < 101; layer += 50)
    spectrum->layers.push_back({layer, {HeadSpectrum{{1, 0.5F}, {0.7F, 1}}}});
  HeadGridPicture picture;
  picture.runs.push_back({1, QStringLiteral("a"), spectrum});
  const auto figure = makeHeadGridFigure(std::move(picture));
  QStringList words;
  for (const SvgDocument::Text& one : readSvg(figureBytes(*figure, FigureFormat::Svg, {})).texts)
    words << one.words;
  EXPECT_TRUE(words.contains(QStringLiteral("layer 100")))
      << words.join(QLatin1Char(' ')).toStdString();
}

// Shares that rise evenly, and values that fall from corner to corner.
TEST_F(SpectraShare, NamesStandBelowTheChartWhereCurvesRunThroughItsCorners) {
  HeadSpectrum head;
  for (int k = 0; k < 10; ++k) {
    head.values.push_back(static_cast<float>(std::pow(10, -4 * k / 9.0)));
    head.shares.push_back(static_cast<float>((k + 1) / 10.0));
  }
  for (const bool isValues : {false, true}) {
    SharePicture picture{.isValues = isValues};
    for (int run = 1; run <= 6; ++run)
      picture.lines.push_back({run, QStringLiteral("variant %1").arg(run), head, run > 3});
    const auto figure = makeShareFigure(std::move(picture));
    const SvgDocument svg = readSvg(figureBytes(*figure, FigureFormat::Svg, {}));
    double axis = 0;
    for (const SvgDocument::Text& one : svg.texts)
      if (one.words == QLatin1String("k")) axis = one.box.bottom();
    ASSERT_GT(axis, 0);
    int names = 0;
    for (const SvgDocument::Text& one : svg.texts) {
      if (!one.words.startsWith(QLatin1String("variant"))) continue;
      ++names;
      EXPECT_GE(one.box.center().y(), axis) << isValues;
    }
    EXPECT_EQ(names, 6) << isValues;
  }
}

TEST_F(SpectraShare, NothingOnPaperOffersToDragTheThreshold) {
  SharePicture picture;
  picture.lines.assign(1, {1, QStringLiteral("one"), {{1, 0.5F}, {0.7F, 1}}});
  const SvgDocument svg = readSvg(figureBytes(*makeShareFigure(picture), FigureFormat::Svg, {}));
  const auto says = [&](const QString& words) {
    return std::any_of(svg.texts.begin(), svg.texts.end(),
                       [&](const SvgDocument::Text& text) { return text.words.contains(words); });
  };
  EXPECT_TRUE(says(QStringLiteral("80")));
  EXPECT_FALSE(says(QString(QChar(0x2195))));
}

TEST_F(SpectraShare, TheThresholdIsDraggedWhereNamesStandBelowTheChart) {
  const QString name = QStringLiteral("a run whose name is longer than a corner of its chart");
  const auto shown = page({runWith(name.toStdString(), {falling(0.5, 0), falling(0.9, 100)})});
  FigureView& share = figure(*shown, "Spectrum of the chosen head");
  (void)share.grab();  // painted, so that it knows its places
  int named = 0, inPlot = 0;
  for (int y = 0; y < share.height(); y += 2) {
    for (int x = 0; x < share.width(); x += 2) {
      if (share.figure()->describeAt(QPointF(x, y)) != name) continue;
      ++named;
      inPlot += share.figure()->targetAt(QPointF(x, y)).queryAt ? 1 : 0;
    }
  }
  EXPECT_GT(named, 0);
  EXPECT_EQ(inPlot, 0);
  for (const double wanted : {0.3, 0.9}) {
    drag(share, 0.6, wanted);
    EXPECT_NEAR(shown->viewState()["threshold"].get<double>(), wanted, 0.021);
  }
}

}  // namespace
}  // namespace vitrine::ui
