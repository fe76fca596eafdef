// A picture of one artifact: painted from values into any painter, so that files and tests need no
// window.
#pragma once

#include <QColor>
#include <QImage>
#include <QPainter>
#include <QRectF>
#include <QSize>
#include <QSizeF>
#include <QString>
#include <QStringList>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/json.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// Where a chart says which line is which.
enum class FigureLegend {
  None,
  Below,
  Right,
  Inside,  ///< in a corner that no line runs through; where there is none, next to or below
};

/// What the viewer chooses; everything else comes from the artifact.
struct FigureStyle {
  enum class Palette { Viridis, Cividis };
  enum class Scale {
    Shared,  ///< one colour range for all maps of the figure
    PerMap,  ///< each map from its own smallest to its own largest value
  };
  enum class AttentionView {
    PatchMap,  ///< one query's row laid out on the patch grid
    Matrix,    ///< all queries x all keys
  };

  ThemeKind theme = currentTheme();
  Palette palette = Palette::Viridis;
  Scale scale = Scale::Shared;
  AttentionView attention = AttentionView::PatchMap;
  QString title;         ///< left of the first line; empty: the figure's own
  std::int64_t run = 0;  ///< whose colour it has; 0: none, and the theme's accent
  /// Fixed range of the colours, so that figures side by side can be compared.
  std::optional<std::array<double, 2>> range;
  QImage picture;  ///< what the model looked at, shown next to its attention
  int layer = 0;   ///< the enlarged one, from 0
  int head = 0;    ///< the enlarged one, from 0
  int image = 0;   ///< of an image grid or a stack of maps: the outlined one, from 0
  /// Where in the image the patch lies whose attention is drawn: down and right, 0 to 1.
  /// Tokens have other numbers in every model, patches have not. None: the class token, else the
  /// patch in the middle.
  std::optional<std::array<double, 2>> queryAt;
  std::optional<std::array<int, 2>> cell;  ///< of a matrix: the outlined one, row and column
  int query = -1;  ///< the token instead, as figures of older versions say it; -1: none
  std::optional<FigureLegend> legend;  ///< instead of the chart's own
  bool hasAxisTitles = true;           ///< of charts
  bool hasTitle = true;                ///< of charts: the first line
  QString xTitle, yTitle;              ///< of a chart, instead of its own; "": its own
  QStringList seriesNames;             ///< likewise, in the order of the series
  int markerEvery = 0;                 ///< symbols at each such point of a line; 0: as the chart
  /// On paper, where a reader can neither enlarge nor point: points of type per pixel of the
  /// design. 0 on a screen.
  double pointsPerPixel = 0;
  /// On paper: the title has a line of its own, as it has in a figure next to this one.
  bool stacksHeader = false;
  /// On a screen, too, what stands right of the title wraps below it where it has no room there.
  bool wrapsAbout = false;

  [[nodiscard]] bool isOnPaper() const { return pointsPerPixel > 0; }
};

/// Where a click fell; -1 where the figure has no such thing.
struct FigureTarget {
  int image = -1, layer = -1, head = -1;
  std::optional<std::array<double, 2>> queryAt = {};  ///< as in FigureStyle
  std::optional<std::array<int, 2>> cell = {};        ///< as in FigureStyle
  /// Of the tokens that lie on no patch (a class token, words) the one of this number; -1: the mean
  /// of all queries.
  std::optional<int> token = {};
};

/// One artifact with its style. Painting remembers the layout, which describeAt() and targetAt()
/// then use.
class Figure {
 public:
  virtual ~Figure();
  Figure(const Figure&) = delete;
  Figure& operator=(const Figure&) = delete;

  /// Fills `area` with the panel colour and draws the figure into it; `area` in logical pixels.
  void paint(QPainter& painter, const QRectF& area);
  /// A size at which everything can be read.
  [[nodiscard]] virtual QSize sizeHint() const;
  /// The height that a picture of this width needs for nothing to be left out or to lie on
  /// something else; 0: any. Exports are never lower.
  [[nodiscard]] virtual double leastHeight(double width) const;
  /// The height that leaves nothing empty at this width, where a figure has a shape of its own; 0:
  /// any.
  [[nodiscard]] virtual double fittingHeight(double width) const;
  /// The width below which words are cut; 0: any. Exports choose smaller letters for it.
  [[nodiscard]] virtual double leastWidth() const;
  /// Whether words are broken at this width although the letters are as small as they may be.
  [[nodiscard]] virtual bool breaksWords(double width) const;
  /// The value under a point of the last painting, for a tool tip; "" where there is none.
  [[nodiscard]] QString describeAt(const QPointF& point) const;
  /// What a click there chooses.
  [[nodiscard]] FigureTarget targetAt(const QPointF& point) const;

  /// One sentence for a screen reader: content, size, extremes.
  [[nodiscard]] virtual QString summary() const = 0;
  /// The numbers that are drawn, comma separated with a header line; full precision.
  [[nodiscard]] virtual QString csv() const = 0;
  /// Smallest and largest value that the colours stand for, where colours stand for values.
  [[nodiscard]] virtual std::optional<std::array<double, 2>> valueRange() const;
  [[nodiscard]] virtual int imageCount() const;  ///< 0 where the figure has no images
  [[nodiscard]] virtual int layerCount() const;  ///< 0 where layers do not apply
  [[nodiscard]] virtual int headCount() const;
  /// Rows and columns of counts, whose cells a click chooses; 0, 0 where there are none.
  [[nodiscard]] virtual std::array<int, 2> cellCount() const;
  /// Why the artifact cannot be drawn, one sentence; "" when it can.
  [[nodiscard]] virtual QString error() const;
  /// A remark that belongs under the figure: how it must not be misread; "" where there is none.
  [[nodiscard]] virtual QString note() const;

  [[nodiscard]] const FigureStyle& style() const { return style_; }
  virtual void setStyle(const FigureStyle& style) { style_ = style; }

  /// \param scale  device pixels per logical pixel
  [[nodiscard]] QImage image(QSizeF size, double scale);

 protected:
  static constexpr double kMargin = 12;  ///< around the drawing

  explicit Figure(FigureStyle style);

  virtual void draw(QPainter& painter, const QRectF& area) = 0;

  /// Says what lies in a rectangle of this painting; later regions lie above earlier ones.
  void addRegion(const QRectF& rect, std::function<QString(const QPointF&)> describe);
  void addTarget(const QRectF& rect, std::function<FigureTarget(const QPointF&)> target);
  void addTarget(const QRectF& rect, const FigureTarget& target);  ///< the same wherever in it
  [[nodiscard]] const ThemeColors& themeColors() const { return ui::themeColors(style_.theme); }
  /// The run's colour in the theme.
  [[nodiscard]] QColor seriesOrAccent() const;
  [[nodiscard]] QColor mapColor(double t) const;
  /// Marks the chosen part, on its edge.
  void drawOutline(QPainter& painter, const QRectF& part) const;
  /// The same, rounded around it.
  void drawRing(QPainter& painter, const QRectF& part) const;
  /// First line: title left, description right; returns the rest of `area` below it. On paper
  /// nothing of it is cut: what does not fit continues in lines of its own.
  QRectF drawHeader(QPainter& painter, const QRectF& area, const QString& title,
                    const QString& about);
  /// Text in one line; where it is cut, the tool tip has the whole.
  void drawLineWithTip(QPainter& painter, const QRectF& rect, int flags, const QString& text);
  /// Instead of the drawing, where there is nothing to draw.
  void drawNothing(QPainter& painter, const QRectF& body, const QString& sentence) const;
  /// What the first line takes of an area of this width.
  [[nodiscard]] double headerHeight(double width, const QString& title, const QString& about) const;
  /// What parts of a figure take from the whole: the theme, and how it is drawn on paper.
  static void lendStyle(Figure& part, const FigureStyle& whole);

 private:
  /// Where the words of the first line stand.
  struct Header {
    double markWidth = 0, titleHeight = 0;
    double aboutHeight = 0;  ///< below the title; 0: right of it
    double height = 0;
  };
  [[nodiscard]] Header headerOf(double width, const QString& title, const QString& about) const;

  FigureStyle style_;
  struct Region {
    QRectF rect;
    std::function<QString(const QPointF&)> describe;
  };
  struct Target {
    QRectF rect;
    std::function<FigureTarget(const QPointF&)> target;
  };
  std::vector<Region> regions_;
  std::vector<Target> targets_;
};

/// The figure of an artifact. Never throws for what the artifact holds. Data that do not fit their
/// `meta` become a figure that says so (Figure::error), an unknown kind one that shows its `meta`.
/// \param kind  see core/artifact/artifact.h
[[nodiscard]] std::unique_ptr<Figure> makeFigure(const QString& kind, const Json& meta,
                                                 std::vector<std::byte> data,
                                                 FigureStyle style = {});

}  // namespace vitrine::ui
