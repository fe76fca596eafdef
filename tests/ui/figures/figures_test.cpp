#include <QFontMetricsF>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QRectF>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/ui/figures/figure_of.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/figure_view.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/figures/side_by_side.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

std::set<QRgb> colorsOf(const QImage& image) {
  std::set<QRgb> colors;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) colors.insert(image.pixel(x, y));
  }
  return colors;
}

TEST(Figure, DrawsEveryKindInEveryTheme) {
  for (const Artifact& artifact : samples::all()) {
    for (const ThemeKind theme : {ThemeKind::Dark, ThemeKind::Light, ThemeKind::HighContrast}) {
      FigureStyle style{.theme = theme};
      const auto figure = figureOf(artifact, style);
      EXPECT_EQ(figure->error().toStdString(), "") << artifact.kind;
      const QImage image = figure->image(kSize, 1);
      EXPECT_EQ(QColor(image.pixel(1, 1)), themeColors(theme).panel) << artifact.kind;
      EXPECT_GE(colorsOf(image).size(), 4U) << artifact.kind;
      EXPECT_FALSE(figure->summary().isEmpty()) << artifact.kind;
    }
  }
}

TEST(Figure, PaintsTheSamePictureTwice) {
  for (const Artifact& artifact : samples::all()) {
    const auto figure = figureOf(artifact);
    EXPECT_EQ(figure->image(kSize, 1), figure->image(kSize, 1)) << artifact.kind;
  }
}

TEST(Figure, FitsIntoATinyRectangle) {
  for (const Artifact& artifact : samples::all()) {
    const auto figure = figureOf(artifact);
    EXPECT_EQ(figure->image(QSize(40, 30), 1).size(), QSize(40, 30)) << artifact.kind;
  }
}

TEST(Figure, ATitleIsNotCutForRoomThatTheDescriptionLeaves) {
  FigureStyle style;
  while (QFontMetricsF(titleLetters()).horizontalAdvance(style.title) < 190)
    style.title += QStringLiteral("word");
  const auto figure = figureOf(samples::confusion(), style);
  const auto titleAt = [&figure](int width) {
    return figure->image(QSize(width, 300), 1).copy(0, 0, 240, 32);
  };
  EXPECT_EQ(titleAt(320), titleAt(1000));
}

TEST(Figure, ShowsTheMetaOfAKindThatHasNoPainter) {
  const auto figure = makeFigure(QStringLiteral("hologram"), Json{{"wavelength", 633}}, {});
  EXPECT_EQ(figure->error().toStdString(), "");
  EXPECT_TRUE(figure->summary().contains(QStringLiteral("hologram")));
  EXPECT_TRUE(figure->csv().contains(QStringLiteral("633")));
  EXPECT_GE(colorsOf(figure->image(kSize, 1)).size(), 4U);
}

TEST(Figure, SaysWhyDamagedDataCannotBeDrawn) {
  for (Artifact artifact : samples::all()) {
    artifact.data.resize(3);
    const auto figure = figureOf(artifact);
    EXPECT_TRUE(figure->error().contains(QStringLiteral("cannot be drawn"))) << artifact.kind;
    EXPECT_GE(colorsOf(figure->image(kSize, 1)).size(), 4U) << artifact.kind;
  }
}

TEST(Figure, RefusesAShapeThatItsKindDoesNotHave) {
  Artifact artifact = samples::heatmap();
  for (const char* kind :
       {"reliability", "spectrum", "attention", "image_grid", "table", "image"}) {
    EXPECT_NE(makeFigure(QString::fromLatin1(kind), artifact.meta, artifact.data)->error(),
              QString())
        << kind;
  }
  artifact.meta["shape"] = {artifact.data.size() / sizeof(float), 1};
  EXPECT_NE(makeFigure(QStringLiteral("curve"), artifact.meta, artifact.data)->error(), QString());
}

TEST(Reliability, DrawsTheDiagonalOfPerfectCalibration) {
  const auto zero = [](double) { return 0.0; };
  const auto figure = figureOf(samples::reliability(zero, zero));
  const QImage image = figure->image(kSize, 1);
  // The plot's rectangle: the regions of the first and of the last bin, the strip of counts left
  // out.
  const QRect first = where(*figure, QStringLiteral("Confidence 0.000"));
  const QRect last = where(*figure, QStringLiteral("Confidence 0.900"));
  const QRect strip = where(*figure, QStringLiteral("Confidence"));
  ASSERT_FALSE(first.isEmpty());
  const double width = last.right() + 1 - first.left();
  double height = 0;  // of the plot: the strip of counts stands apart below it
  while (!figure->describeAt(QPointF(first.left() + 2, first.top() + height + 0.5)).isEmpty())
    ++height;
  ASSERT_GT(strip.height(), height);
  int onDiagonal = 0, besideIt = 0;
  const QColor paper = themeColors().panel;
  const auto isInk = [&](double x, double y) {
    for (int dy = -1; dy <= 1; ++dy) {
      if (distance(image.pixelColor(static_cast<int>(x), static_cast<int>(y) + dy), paper) > 120)
        return true;
    }
    return false;
  };
  for (int i = 5; i < 100; ++i) {
    const double x = first.left() + width * i / 100, y = first.top() + height * (100 - i) / 100;
    onDiagonal += isInk(x, y) ? 1 : 0;
    besideIt += isInk(x, std::min(y + height / 8, first.top() + height - 2)) ? 1 : 0;
  }
  EXPECT_GT(onDiagonal, 40);
  EXPECT_LT(besideIt, 10);
}

TEST(Reliability, TellsTheCalibrationErrorOfItsBins) {
  const auto figure =
      figureOf(samples::reliability([](double m) { return m - 0.04; }, [](double m) { return m; }));
  EXPECT_TRUE(figure->summary().contains(percent(0.04, 2))) << figure->summary().toStdString();
}

TEST(Reliability, HatchesTheGapBetweenAccuracyAndConfidence) {
  const auto perfect = [](double m) { return m; };
  const auto close = figureOf(samples::reliability(perfect, perfect));
  const auto far = figureOf(samples::reliability([](double) { return 0.1; }, perfect));
  const auto warned = [](const QImage& image) {
    int pixels = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x)
        pixels += distance(image.pixelColor(x, y), themeColors().warn) < 40 ? 1 : 0;
    }
    return pixels;
  };
  EXPECT_GT(warned(far->image(kSize, 1)), 2 * warned(close->image(kSize, 1)) + 200);
}

TEST(Matrix, ColoursCountsByTheirShareOfTheRow) {
  const auto figure = figureOf(samples::confusion());
  const QImage image = figure->image(kSize, 1);
  const auto colorAt = [&](const QString& text) {
    const QRect cell = where(*figure, text);
    EXPECT_FALSE(cell.isEmpty()) << text.toStdString();
    return image.pixelColor(cell.left() + 3, cell.top() + 3);
  };
  EXPECT_LT(distance(colorAt(QStringLiteral("true coat, predicted coat")), viridis(0.8)), 12);
  EXPECT_LT(distance(colorAt(QStringLiteral("true shirt, predicted bag")), viridis(0.4)), 12);
  EXPECT_LT(distance(colorAt(QStringLiteral("true bag, predicted bag")), viridis(1.0)), 12);
  EXPECT_LT(distance(colorAt(QStringLiteral("true bag, predicted coat")), viridis(0.0)), 12);
  EXPECT_TRUE(figure->summary().contains(QStringLiteral("23 of 30 on the diagonal")));
}

TEST(Matrix, WritesTheCountIntoEveryCellOfTenClasses) {
  Artifact artifact = samples::confusion();
  std::vector<float> counts(100, 10);
  for (std::size_t i = 0; i < 10; ++i) counts[11 * i] = 123;
  setFloat32(artifact, counts, {10, 10}, {"true", "predicted"});
  artifact.meta["classes"] = Json::array();
  for (int i = 0; i < 10; ++i) artifact.meta["classes"].push_back("c" + std::to_string(i));
  const auto figure = figureOf(artifact);
  const QImage image = figure->image({460, 440}, 1);
  for (int i = 0; i < 10; ++i) {
    const QRect cell = where(*figure, QStringLiteral("true c%1, predicted c%1:").arg(i));
    ASSERT_GT(cell.width(), 12) << i;
    const QColor ground = image.pixelColor(cell.left() + 3, cell.top() + 3);
    int inked = 0;
    for (int y = cell.top() + 3; y < cell.bottom() - 2; ++y) {
      for (int x = cell.left() + 3; x < cell.right() - 2; ++x)
        inked += distance(image.pixelColor(x, y), ground) > 60 ? 1 : 0;
    }
    EXPECT_GT(inked, 10) << "class " << i;
  }
}

TEST(Matrix, NamesItsManyRowsOrEveryFewOfThem) {
  constexpr int kRows = 56, kColumns = 8;
  Artifact artifact = samples::confusion();
  std::vector<float> values;
  for (int i = 0; i < kRows * kColumns; ++i) values.push_back(0.5F + static_cast<float>(i));
  setFloat32(artifact, values, {kRows, kColumns}, {"parameter", "step"});
  artifact.meta.erase("classes");
  artifact.meta["row_labels"] = Json::array();
  for (int i = 0; i < kRows; ++i)
    artifact.meta["row_labels"].push_back("blocks." + std::to_string(i) + ".attention.weight");
  const auto figure = figureOf(artifact);
  const auto namesAt = [&](const QSize& size) {
    const QImage image = figure->image(size, 1);
    const auto said = [&](int x, int y) { return figure->describeAt(QPointF(x + 0.5, y + 0.5)); };
    int left = 0;  // of the cells
    while (left < size.width() && said(left, size.height() / 2).isEmpty()) ++left;
    std::map<QString, int> inked;  // of each row, beside its cells
    for (int y = 0; y < size.height(); ++y) {
      const QString row = said(left + 2, y).section(QLatin1Char(','), 0, 0);
      for (int x = 12; x < left - 6 && !row.isEmpty(); ++x)
        inked[row] += distance(image.pixelColor(x, y), themeColors().panel) > 60 ? 1 : 0;
    }
    EXPECT_EQ(inked.size(), static_cast<std::size_t>(kRows));
    return std::count_if(inked.begin(), inked.end(),
                         [](const auto& row) { return row.second > 20; });
  };
  const int high = static_cast<int>(std::ceil(figure->leastHeight(640)));
  EXPECT_EQ(namesAt({640, high}), kRows) << "the picture is as high as its names need";
  EXPECT_GT(namesAt({640, 400}), kRows / 8) << "not all fit, and some are there";
}

TEST(Matrix, WritesItsCellsAsCsvWithLabels) {
  EXPECT_EQ(figureOf(samples::confusion())->csv().toStdString(),
            ",coat,shirt,bag\ncoat,8,2,0\nshirt,1,5,4\nbag,0,0,10\n");
}

TEST(Heatmap, PaintsOneColourPerValue) {
  const auto figure = figureOf(samples::heatmap());
  const QImage image = figure->image(kSize, 1);
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 3; ++column) {
      const QRect cell =
          where(*figure,
                QStringLiteral("row %1, column %2: %3").arg(row).arg(column).arg(row * 3 + column));
      ASSERT_FALSE(cell.isEmpty());
      EXPECT_LT(distance(image.pixelColor(cell.center()), viridis((row * 3 + column) / 5.0)), 6);
    }
  }
}

TEST(Heatmap, TakesAFixedRangeSoThatTwoCanBeCompared) {
  FigureStyle style{.range = {{0, 10}}};
  const auto figure = figureOf(samples::heatmap(), style);
  const QImage image = figure->image(kSize, 1);
  EXPECT_LT(distance(image.pixelColor(where(*figure, QStringLiteral("row 1, column 2")).center()),
                     viridis(0.5)),
            6);
  EXPECT_EQ(figure->valueRange(), (std::array{0.0, 5.0}));
}

TEST(Matrix, HasTheRangeOfTheNumbersWhereSomeAreNone) {
  Artifact artifact = samples::named("log", "correlation", artifact_kind::kMatrix);
  const double infinite = std::numeric_limits<double>::infinity();
  setFloat64(artifact, std::vector<double>{std::nan(""), 0.5, infinite, -0.25}, {2, 2},
             {"row", "column"});
  const auto figure = figureOf(artifact);
  EXPECT_EQ(figure->error(), QString());
  ASSERT_TRUE(figure->valueRange());
  EXPECT_EQ(*figure->valueRange(), (std::array{-0.25, 0.5}));
  EXPECT_FALSE(figure->image(kSize, 1).isNull());
}

TEST(Spectrum, FindsTheRankAtEightyPercentOfEveryHead) {
  const auto figure = figureOf(samples::spectrum());
  (void)figure->image(kSize, 1);
  EXPECT_TRUE(figure->summary().contains(QStringLiteral("by layer: 3.5, 1.5")))
      << figure->summary().toStdString();
  const QRect layer = where(*figure, QStringLiteral("layer 1"));
  ASSERT_FALSE(layer.isEmpty());
  const QString text = figure->describeAt(layer.center());
  EXPECT_TRUE(text.contains(QStringLiteral("rank at 80 % 1"))) << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("rank at 80 % 2"))) << text.toStdString();
}

TEST(Spectrum, WritesValuesAndTheirCumulativeShare) {
  const QStringList lines =
      figureOf(samples::spectrum())->csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 17);
  EXPECT_EQ(lines[1].toStdString(), "0,0,1,1,0.25");
  EXPECT_EQ(lines[8].toStdString(), "0,1,4,0,1");
  EXPECT_EQ(lines[9].toStdString(), "1,0,1,9,0.9");
}

TEST(Spectrum, WritesTheLayersByTheirNumbersInTheModel) {
  Artifact artifact = samples::spectrum();
  artifact.meta["layers"] = {2, 5};
  const QStringList lines = figureOf(artifact)->csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  EXPECT_EQ(lines[1].toStdString(), "2,0,1,1,0.25");
  EXPECT_EQ(lines[9].toStdString(), "5,0,1,9,0.9");
}

TEST(Curve, WritesItsPointsAndLeavesGapsEmpty) {
  EXPECT_EQ(figureOf(samples::curve())->csv().toStdString(), "x,y\n0,1\n1,4\n2,\n3,9\n");
}

TEST(Curve, OfSeveralLinesHasTheirNamesAndTheAxesThatItSays) {
  Artifact artifact = samples::named("cost", "by tokens", artifact_kind::kCurve);
  setFloat64(artifact, std::vector<double>{256, 1, 4, 512, 2, 16}, {2, 3}, {"point", "x, y"});
  artifact.meta["x"] = "tokens";
  artifact.meta["lines"] = {"chunkwise", "quadratic"};
  artifact.meta["scale"] = "log";
  const auto figure = figureOf(artifact);
  EXPECT_EQ(figure->csv().toStdString(), "tokens,chunkwise,quadratic\n256,1,4\n512,2,16\n");
  const auto* lines = dynamic_cast<const LineChartFigure*>(figure.get());
  ASSERT_NE(lines, nullptr);
  EXPECT_EQ(lines->chart().x.scale, AxisScale::Log);
  EXPECT_EQ(lines->chart().y.scale, AxisScale::Log);
  EXPECT_FALSE(figure->image({400, 300}, 1).isNull());
}

TEST(Curve, KeepsASpikeAmongManyPoints) {
  Artifact artifact = samples::named("other", "long", artifact_kind::kCurve);
  std::vector<double> values;
  for (int i = 0; i < 100000; ++i)
    values.insert(values.end(), {static_cast<double>(i), i == 54321 ? 10.0 : 0.0});
  setFloat64(artifact, values, {100000, 2}, {"point", "xy"});
  const auto figure = figureOf(artifact);
  const QImage image = figure->image(kSize, 1);
  int inMiddle = 0;  // pixels of the line halfway up, where only the spike passes
  const int row = kSize.height() / 2;
  for (int x = 80; x < kSize.width() - 20; ++x)
    inMiddle += distance(image.pixelColor(x, row), themeColors().accent) < 160 ? 1 : 0;
  EXPECT_GE(inMiddle, 1);
  EXPECT_LE(inMiddle, 3);
}

TEST(Histogram, NamesTheBinUnderThePointer) {
  const auto figure = figureOf(samples::histogram());
  (void)figure->image(kSize, 1);
  EXPECT_FALSE(where(*figure, QStringLiteral("1 to 2: 7")).isEmpty());
  EXPECT_EQ(figure->csv().toStdString(), "lower,upper,count\n0,1,5\n1,2,7\n");
}

TEST(Table, QuotesCsvAndShowsMissingAsADash) {
  const auto figure = figureOf(samples::table());
  (void)figure->image(kSize, 1);
  EXPECT_EQ(figure->csv().toStdString(),
            "class,samples,accuracy\n\"coat, long\",1000,0.5\nbag,1000,0.125\nshirt,,\n");
  EXPECT_FALSE(where(*figure, QStringLiteral("samples: \u2013")).isEmpty());
}

TEST(Table, WritesAColumnWithTheSameDecimals) {
  const auto figure = figureOf(samples::table());
  (void)figure->image(kSize, 1);
  EXPECT_FALSE(where(*figure, QStringLiteral("accuracy: 0.500")).isEmpty());
  EXPECT_FALSE(where(*figure, QStringLiteral("accuracy: 0.125")).isEmpty());
}

TEST(Table, IsAsHighAsItsLongTextsNeedAndNoColumnIsNarrowerThanAWord) {
  Artifact artifact = samples::named("other", "table", artifact_kind::kTable);
  Json table;
  table["columns"] = {"key", "what"};
  table["rows"] = Json::array(
      {Json::array({"model.class_token",
                    "one two three four five six seven eight nine ten eleven twelve thirteen "
                    "fourteen fifteen"})});
  setJson(artifact, table);
  const auto figure = figureOf(artifact);
  EXPECT_GT(figure->leastHeight(320), figure->leastHeight(1200) + 20);
  const double least = figure->leastHeight(320);
  (void)figure->image(QSizeF(320, least), 1);
  QRect key, what;
  for (int y = 0; y < static_cast<int>(least); ++y) {
    for (int x = 0; x < 320; ++x) {
      const QString said = figure->describeAt(QPointF(x + 0.5, y + 0.5));
      if (said.startsWith(QStringLiteral("key:"))) key = key.united(QRect(x, y, 1, 1));
      if (said.startsWith(QStringLiteral("what:"))) what = what.united(QRect(x, y, 1, 1));
    }
  }
  EXPECT_GT(key.width(), QFontMetricsF(bodyLetters()).horizontalAdvance("model.class_token"));
  EXPECT_GT(what.height(), 56) << "three lines and more";
  EXPECT_LE(what.right(), 320 - 12);
}

TEST(Figure, ATitleThatIsCutIsReadInItsToolTip) {
  FigureStyle style;
  style.title = QStringLiteral("a title that is much longer than its picture is wide");
  const auto figure = figureOf(samples::image(), style);
  const QPointF onTitle(20, 22);
  (void)figure->image({200, 160}, 1);
  EXPECT_EQ(figure->describeAt(onTitle).toStdString(), style.title.toStdString());
  (void)figure->image({100, 160}, 1);
  EXPECT_EQ(figure->describeAt(onTitle).section(QLatin1Char('\n'), 0, 0), style.title);
  EXPECT_TRUE(figure->describeAt(onTitle).contains(QStringLiteral("px")))
      << "and what had no room next to it";
  (void)figure->image({900, 160}, 1);
  EXPECT_EQ(figure->describeAt(onTitle).toStdString(), "") << "it is whole";
}

TEST(ImageGrid, DrawsEveryImageAndChoosesByClick) {
  const auto figure = figureOf(samples::imageGrid());
  const QImage image = figure->image(kSize, 1);
  EXPECT_EQ(figure->imageCount(), 3);
  const QRect last = where(*figure, QStringLiteral("image 2, row 1, column 1"));
  ASSERT_FALSE(last.isEmpty());
  EXPECT_EQ(image.pixelColor(last.center()), QColor(123, 123, 123));
  EXPECT_EQ(figure->targetAt(last.center()).image, 2);
}

TEST(ImageGrid, WithNamesOfRowsAndColumnsIsATableWithoutItsAbsentCells) {
  Artifact grid{.kind = artifact_kind::kImageGrid};
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 4; ++i) pixels.push_back(static_cast<std::uint8_t>(60 * i));
  setUint8(grid, pixels, {4, 1, 1, 1}, {"image", "row", "column", "channel"});
  grid.meta["row_names"] = {"first run", "second run"};
  grid.meta["column_names"] = {"step 100", "step 200"};
  grid.meta["absent"] = {2};
  const auto figure = figureOf(grid);
  EXPECT_EQ(figure->csv().toStdString(),
            "row_name,column_name,row,column,red,green,blue\n"
            "first run,step 100,0,0,0,0,0\n"
            "first run,step 200,0,0,60,60,60\n"
            "second run,step 200,0,0,180,180,180\n");
  EXPECT_TRUE(figure->summary().startsWith(QStringLiteral("3 images")));
  const QImage image = figure->image({400, figure->fittingHeight(400)}, 1);
  const QRect last = where(*figure, QStringLiteral("second run, step 200, row 0, column 0"));
  const QRect above = where(*figure, QStringLiteral("first run, step 200, row 0, column 0"));
  const QRect first = where(*figure, QStringLiteral("first run, step 100, row 0, column 0"));
  ASSERT_FALSE(last.isEmpty() || above.isEmpty() || first.isEmpty());
  EXPECT_EQ(image.pixelColor(last.center()), QColor(180, 180, 180));
  EXPECT_NEAR(above.center().x(), last.center().x(), 1);
  EXPECT_NEAR(above.center().y(), first.center().y(), 1);
  EXPECT_TRUE(where(*figure, QStringLiteral("second run, step 100")).isEmpty());
}

TEST(Image, KeepsItsPixelsSharp) {
  const auto figure = figureOf(samples::image());
  const QImage image = figure->image(kSize, 1);
  EXPECT_EQ(image.pixelColor(where(*figure, QStringLiteral("column 0: 255 0 0")).center()),
            QColor(255, 0, 0));
  EXPECT_EQ(image.pixelColor(where(*figure, QStringLiteral("column 1: 0 0 255")).center()),
            QColor(0, 0, 255));
  EXPECT_EQ(figure->csv().toStdString(), "row,column,red,green,blue\n0,0,255,0,0\n0,1,0,0,255\n");
}

TEST(Ticks, AreRoundAndInsideTheRange) {
  const Ticks ticks = niceTicks(0.13, 0.92, 5);
  EXPECT_EQ(ticks.values, (std::vector<double>{0.2, 0.4, 2 * 0.2 + 0.2, 0.8}));
  EXPECT_EQ(ticks.decimals, 1);
  EXPECT_EQ(niceTicks(0, 1, 4).decimals, 2);
  EXPECT_EQ(niceTicks(0, 50000, 5).decimals, 0);
}

TEST(FigureView, ReadsItsFigureToAScreenReader) {
  FigureView view;
  view.setEmptyText(QStringLiteral("Nothing here."));
  EXPECT_EQ(view.accessibleDescription().toStdString(), "Nothing here.");
  view.setFigure(figureOf(samples::heatmap()));
  EXPECT_TRUE(view.accessibleDescription().contains(QStringLiteral("2 x 3 cells")));
  EXPECT_FALSE(view.accessibleName().isEmpty());
}

TEST(FigureView, DrawsSmallerWhereThereIsNoRoomAndIsClickedWhereItIsDrawn) {
  FigureView view;
  view.setFigure(figureOf(samples::imageGrid()));
  int chosen = -1;
  QObject::connect(&view, &FigureView::clicked, &view,
                   [&](const FigureTarget& target) { chosen = target.image; });
  for (const QSize size : {QSize(520, 400), QSize(130, 100)}) {
    view.resize(size);
    const QImage drawn = view.grab().toImage();
    // The second image of three: the middle of what has its grey.
    QRect second;
    for (int y = 0; y < drawn.height(); ++y) {
      for (int x = 0; x < drawn.width(); ++x) {
        const QRgb pixel = drawn.pixel(x, y);
        const bool isGrey = qRed(pixel) == qGreen(pixel) && qGreen(pixel) == qBlue(pixel);
        if (isGrey && qRed(pixel) >= 60 && qRed(pixel) <= 63)
          second = second.united(QRect(x, y, 1, 1));
      }
    }
    ASSERT_FALSE(second.isEmpty());
    chosen = -1;
    const QPointF at = second.center();
    QMouseEvent press(QEvent::MouseButtonPress, at, at, Qt::LeftButton, Qt::LeftButton,
                      Qt::NoModifier);
    QCoreApplication::sendEvent(&view, &press);
    EXPECT_EQ(chosen, 1) << size.width();
  }
}

}  // namespace
}  // namespace vitrine::ui
