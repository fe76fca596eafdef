// A chart of lines, bands and points as plain data, and the figure that draws it. It is the one
// picture behind the screen, PNG, SVG, PDF and CSV.
#pragma once

#include <QColor>
#include <QObject>
#include <QString>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ui/figures/chart_axis.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

struct ChartFrame;

enum class ChartSymbol { Disc, Square, Triangle, Diamond, Ring, Plus, Cross };

/// The symbol of a run: with the dash the second encoding, so that colour is never the only one.
/// \param run  as in seriesColor(): from 1
[[nodiscard]] ChartSymbol seriesSymbol(std::int64_t run);

/// One line, band or cloud of points.
struct ChartSeries {
  enum class Draw { Line, Points, LineAndPoints };

  QString name;
  /// From 1: gives the colour, dash and symbol that a run has everywhere. 0: the figure's run.
  std::int64_t run = 1;
  QColor color;                       ///< instead of the run's; invalid: the run's in the theme
  std::optional<Qt::PenStyle> dash;   ///< instead of the run's
  std::optional<ChartSymbol> symbol;  ///< instead of the run's
  /// A line of at most 60 points shows them too, a longer one a few symbols along its way.
  Draw draw = Draw::Line;
  double width = 1.5;  ///< of the line, logical pixels

  /// Ascending x for a line. A y that is not finite is a gap and a mark on the edge: a cross for
  /// NaN, an arrow for an infinite one.
  std::vector<double> x, y;
  std::vector<double> low, high;      ///< a band; empty, or of the length of x
  std::vector<double> raw;            ///< a faint line behind; empty, or of the length of x
  std::vector<double> segmentStarts;  ///< x where a later segment of the run begins
  std::vector<QString> labels;        ///< of points, for tool tips; empty, or of the length of x
};

/// Words at a place of the chart.
struct ChartNote {
  double x = 0;
  std::optional<double> y;  ///< none: a line over the whole height
  QString text;
  std::int64_t run = 0;  ///< whose colour it has; 0: muted
};

/// A straight line over the whole chart: zero of a difference, a published number.
struct ChartRule {
  Qt::Orientation direction = Qt::Horizontal;
  double at = 0;
  QString text;
};

struct LineChart {
  QString title;  ///< left of the first line
  QString about;  ///< right of it: what it is
  ChartAxis x, y;
  std::vector<ChartSeries> series;  ///< later ones lie above earlier ones
  std::vector<ChartNote> notes;
  std::vector<ChartRule> rules;
  /// Of at most 24 names; "and 3 more" says how many there are beyond them.
  FigureLegend legend = FigureLegend::Below;
  QString footnote;  ///< what a reader must know: smoothing, clipping, n
  QString emptyText = QObject::tr("There are no points to draw.");
};

class LineChartFigure : public Figure {
 public:
  LineChartFigure(LineChart chart, FigureStyle style);
  ~LineChartFigure() override;

  [[nodiscard]] const LineChart& chart() const { return chart_; }
  void setStyle(const FigureStyle& style) override;

  /// The words at the axes, as drawn.
  [[nodiscard]] QString xTitle() const;
  [[nodiscard]] QString yTitle() const;

  [[nodiscard]] QSize sizeHint() const override { return {540, 420}; }
  /// Room for a plot that can be read, with all of the legend and the footnote.
  [[nodiscard]] double leastHeight(double width) const override;
  [[nodiscard]] QString summary() const override;
  /// One row a point that is drawn: series, x, y, and where there are such low, high, raw, label.
  [[nodiscard]] QString csv() const override;
  [[nodiscard]] std::optional<std::array<double, 2>> valueRange() const override;
  [[nodiscard]] QString note() const override { return chart_.footnote; }

 private:
  friend class LineChartProbe;  ///< of tests

  struct Drawn;   ///< what of a series remains after decimation
  struct Legend;  ///< the names below the plot and their columns
  /// As the style says, else its own.
  [[nodiscard]] QString nameOf(const ChartSeries& series) const;
  /// The first line: on paper not what the axis says already.
  [[nodiscard]] QString headerTitle() const;
  struct Word;       ///< words inside the plot or right of it
  struct Words;      ///< those of notes and of rules
  struct Obstacles;  ///< what words should not lie on
  void draw(QPainter& painter, const QRectF& area) override;
  void findRanges();
  [[nodiscard]] Drawn drawnOf(const ChartSeries& series, int columns) const;
  [[nodiscard]] double xUnit(double value) const;
  [[nodiscard]] double yUnit(double value) const;
  [[nodiscard]] QPointF placeOf(const QRectF& plot, double x, double y) const;
  [[nodiscard]] QColor colorOf(const ChartSeries& series) const;
  [[nodiscard]] QPen penOf(const ChartSeries& series) const;

  // The frame above, below and next to the plot.
  [[nodiscard]] bool hasHeader() const;
  [[nodiscard]] QString footnoteText() const;
  /// The least height of plot, numbers and titles.
  [[nodiscard]] double leastFrame() const;
  /// \param margin  kept free right of the plot
  [[nodiscard]] ChartFrame frameOf(const QRectF& area, double margin) const;
  QRectF drawFootnote(QPainter& painter, const QRectF& area) const;

  // The legend.
  [[nodiscard]] double widestName() const;
  /// Where it is drawn: below the plot where there is too little room in or next to it.
  [[nodiscard]] FigureLegend legendPlace(double width) const;
  [[nodiscard]] Legend legendOf(double width) const;
  [[nodiscard]] double legendHeight(double width) const;
  QRectF drawLegendBelow(QPainter& painter, const QRectF& area);
  QRectF drawLegendRight(QPainter& painter, const QRectF& area);
  /// The corner of the plot where the legend covers nothing that is drawn; none: there is no such.
  [[nodiscard]] std::optional<QRectF> freeLegendBox(const QRectF& plot,
                                                    const std::vector<Drawn>& all) const;
  void drawLegendInside(QPainter& painter, const QRectF& box);
  void drawLegendEntry(QPainter& painter, const QRectF& rect, const ChartSeries& series);
  void drawLegendLines(QPainter& painter, QRectF line, int most);

  // The words.
  [[nodiscard]] Obstacles obstaclesIn(const QRectF& plot, const std::vector<Drawn>& all) const;
  /// \param margin  right of the plot: the last resort of the words of rules
  [[nodiscard]] Words wordsIn(const QRectF& plot, const std::vector<Drawn>& all,
                              double margin) const;
  /// One for each note, where no line runs through it; an empty box outside of the plot. Both add
  /// their words to what later ones should not lie on.
  [[nodiscard]] std::vector<Word> noteWords(const QRectF& plot, Obstacles& obstacles) const;
  /// One for each rule that has a text.
  [[nodiscard]] std::vector<Word> ruleWords(const QRectF& plot, Obstacles& obstacles,
                                            double margin) const;
  /// Whether a rule in the plot has a text.
  [[nodiscard]] bool isWorded(const ChartRule& rule) const;
  void drawRuleWords(QPainter& painter, const std::vector<Word>& words) const;
  void drawNotes(QPainter& painter, const QRectF& plot, const std::vector<Word>& words) const;

  void drawSeries(QPainter& painter, const QRectF& plot, const std::vector<Drawn>& all) const;
  void drawRules(QPainter& painter, const QRectF& plot) const;
  void drawMarks(QPainter& painter, const QRectF& plot, const Drawn& drawn,
                 const QColor& color) const;
  [[nodiscard]] QString yText(double value) const;
  [[nodiscard]] QString describe(const QRectF& plot, const QPointF& point) const;
  [[nodiscard]] bool hasFloor() const;

  LineChart chart_;
  std::array<double, 2> xRange_{0, 1}, yRange_{0, 1};
};

/// How strong the ground of one of so many bands is: many fills over each other cannot be told
/// apart.
[[nodiscard]] double bandShade(std::ptrdiff_t bands);

/// What stands before a run's name: its line with the symbol, in its colour.
void drawSeriesKey(QPainter& painter, const QRectF& rect, std::int64_t run, ThemeKind theme);

[[nodiscard]] std::unique_ptr<LineChartFigure> makeLineChart(LineChart chart,
                                                             FigureStyle style = {});

}  // namespace vitrine::ui
