// Curves of one metric: decimated to pixels, zoomed and panned by hand, with a cursor that all
// plots share.
#pragma once

#include <QElapsedTimer>
#include <QImage>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/store/metrics/metric_format.h"
#include "ui/figures/chart_frame.h"
#include "ui/figures/figure.h"
#include "ui/kit/plot_accessible.h"
#include "ui/monitor/curve_line.h"
#include "ui/monitor/curve_series.h"

namespace vitrine::ui {

/// A curve as it is drawn. `series` belongs to the page and outlives the plot's use of it.
struct PlottedCurve {
  std::int64_t run = 0;
  QString name;
  const CurveSeries* series = nullptr;
  /// `series` is the centre of these curves of a group, of which `run` is the first.
  std::shared_ptr<const GroupedCurve> group = {};
};

/// Words at a step of a curve.
struct CurveNote {
  std::string runUuid, metric;
  std::int64_t run = 0;  ///< 0: of a run that is not selected
  std::int64_t step = 0;
  QString text;
};

/// How every plot of the page looks at its curves.
struct PlotSettings {
  XAxis x = XAxis::Step;
  std::string xMetric;  ///< with XAxis::Metric
  QString xTitle;       ///< of that metric
  Smoothing smoothing = kAutomaticSmoothing;
  bool isLogX = false;
  bool isLogY = false;
  bool isClipped = false;  ///< y ends at the shares below; what lies beyond is marked on the edge
  static constexpr double kLowShare = 0.01, kHighShare = 0.99;
  /// Seeds of a variant are one curve with this around it; None: each run is one.
  Spread band = Spread::None;
  [[nodiscard]] bool isGrouped() const {
    return band != Spread::None && x != XAxis::Wall && x != XAxis::Metric;
  }
};

/// Ctrl and wheel zoom at the cursor, X or Y held and wheel along one axis; the wheel alone is left
/// to the page. Drag zooms to a rectangle; middle drag pans; double click enlarges. With the focus:
/// + and - zoom, the arrows move, Home fits, X and Y pressed alone make that axis logarithmic or
/// linear. Noisy lines are one stroke in each device
/// column (DrawnLine): a wider one costs many times as much. Smoothed and calm lines need two
/// points a column and are wider, so that the mean stands out from its noise.
class CurvePlot : public QWidget, public DescribedPlot {
  Q_OBJECT
 public:
  explicit CurvePlot(QWidget* parent = nullptr);

  void setCurves(std::vector<PlottedCurve> curves);
  void setSettings(const PlotSettings& settings);
  void setNotes(std::vector<CurveNote> notes);
  [[nodiscard]] const std::vector<CurveNote>& notes() const { return notes_; }
  /// How values are written: in the read-out, next to bars and, percent, on the axis.
  void setFormat(const store::MetricFormat& format);
  [[nodiscard]] const std::vector<PlottedCurve>& curves() const { return curves_; }
  [[nodiscard]] const PlotSettings& settings() const { return settings_; }

  /// Takes in new points and the range. The drawing comes with the next turn of the event loop, one
  /// for all that was asked until then.
  void refresh();
  /// Shows everything: x over all curves of all plots (`from`, `to`), y of this one.
  void fit(double from, double to);
  /// A range of x chosen in another plot.
  void showRange(double from, double to);
  /// A range of y, which then stays; false: fitted to the data again.
  void chooseY(double from, double to);
  [[nodiscard]] bool isYChosen() const { return isYChosen_; }
  /// Ends of the data on the x axis in use, above zero for a logarithmic one; false without points.
  bool extent(double& from, double& to, bool isLog) const;
  /// The dashed line; none to hide. The plot under the mouse also shows the values there.
  void setCursor(std::optional<double> x, bool hasReadout);
  /// Whether there are a grid and numbers.
  void setAxesShown(bool isShown);

  /// Ranges and pixels of the axes.
  [[nodiscard]] const PlotAxis& xAxis() const { return frame_.x; }
  [[nodiscard]] const PlotAxis& yAxis() const { return frame_.y; }
  /// Where the curves are, in whole pixels.
  [[nodiscard]] QRect plotRect() const { return frame_.plot.toRect(); }
  /// The lines of the last drawing: raw ones first, then a smoothed or plain one a curve.
  [[nodiscard]] const std::vector<DrawnLine>& lines() const { return lines_; }
  /// Whether a curve is that of several runs.
  [[nodiscard]] bool hasGroups() const;

  /// No curve has more than one point: bars are drawn in place of dots.
  [[nodiscard]] bool hasOneValue() const;
  /// The bars. \param title  "": no first line
  [[nodiscard]] std::unique_ptr<Figure> bars(const QString& title, const QString& about) const;

  /// Curves over the x in sight.
  [[nodiscard]] QString plotSummary() const override;
  /// A curve a row: points, last value, least and greatest value in sight.
  [[nodiscard]] Table plotTable() const override;

  /// "× 1e−4": what the y numbers are multiples of; mostly empty.
  [[nodiscard]] const QString& factor() const { return factor_; }
  /// Value of a curve at x as the read-out shows it: raw, never smoothed; NaN where it has none.
  [[nodiscard]] static double valueAt(const PlottedCurve& curve, XAxis axis, double x);
  /// A line of the read-out.
  struct ReadoutRow {
    std::int64_t run = 0;
    QString name, value;
  };
  /// What the read-out says at the cursor, the greatest value first, and those without one last. Of
  /// many curves: those next to the mouse.
  [[nodiscard]] std::vector<ReadoutRow> readout() const;
  static constexpr std::size_t kMostReadoutRows = 12;
  /// Where the cursor is: "step 1,200", "0:02:05".
  [[nodiscard]] QString readoutTitle() const;
  /// "not smoothed" where a line is smoothed, which its values are not; else "".
  [[nodiscard]] QString readoutNote() const;

 Q_SIGNALS:
  void cursorMoved(double x);
  void cursorLeft();
  void picked(double x);
  void rangeChosen(double from, double to);
  void fitRequested();
  void enlargeRequested();  ///< or made small again
  void factorChanged(const QString& factor);
  void menuRequested(const QPoint& place);
  void logRequested(Qt::Orientation axis);  ///< or linear, when it is logarithmic

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  friend class Probe;  ///< of tests

  enum class Drag { None, Zoom, Pan };
  enum class Line { Faint, Smoothed, Plain };
  void fitY();
  /// Axes and numbers for the ranges and the size.
  void layOut();
  /// The picture under marks, notes and cursor. \param ratio  device pixels per pixel
  void drawPicture(double ratio);
  /// \param columns  device pixels across
  void fillLines(int columns);
  void fillBands(int columns);
  void drawBands(QPainter& painter) const;
  void drawXName(QPainter& painter) const;
  void drawRing(QPainter& painter) const;
  void drawRubberBand(QPainter& painter) const;
  void drawMarks(QPainter& painter) const;
  void drawClipped(QPainter& painter) const;
  void drawNotes(QPainter& painter) const;
  void drawCursor(QPainter& painter) const;
  void drawReadout(QPainter& painter) const;
  [[nodiscard]] QString valueText(double value) const;
  [[nodiscard]] std::size_t mostReadoutRows() const;
  bool moveByKey(int key);
  /// Moves the cursor to where the mouse is.
  void pointCursor();

  std::vector<PlottedCurve> curves_;
  PlotSettings settings_;
  ChartFrame frame_;
  std::vector<DrawnLine> lines_;
  std::vector<DrawnBand> bands_;
  QImage picture_;
  bool isStale_ = true;  ///< the picture does not show what it should
  bool hasAxes_ = true;
  std::vector<CurveNote> notes_;
  std::optional<double> cursor_;
  bool hasReadout_ = false;
  bool isPointed_ = false;  ///< the cursor is where the mouse is
  bool isEntered_ = false;  ///< the mouse came and has not moved since
  bool isYChosen_ = false;  ///< zoomed by hand: new points do not move it
  bool isRinged_ = false;   ///< the focus came from the keyboard, and is to be seen
  bool isXHeld_ = false, isYHeld_ = false;
  bool isTap_ = false;  ///< X or Y is down and has bounded no wheel or drag
  QElapsedTimer sinceKey_;
  Drag drag_ = Drag::None;
  QPoint pressed_, now_;
  PlotAxis pressedX_, pressedY_;
  store::MetricFormat format_;
  QString factor_;
  std::int64_t drawings_ = 0;
};

}  // namespace vitrine::ui
