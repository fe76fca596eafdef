// The words inside of a chart: notes at a place, and what the rules are, where no line runs through
// them.
#include <QFontMetricsF>
#include <QLineF>
#include <QPainter>
#include <QPolygonF>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr double kWordGap = 2;     // between a rule and its word
constexpr double kNotePad = 8;     // of the ground next to a note's letters
constexpr double kLineCost = 50;   // of a line or a symbol that a word would lie on
constexpr double kWordCost = 1e5;  // of another word: more than of all lines

/// Where the word of a rule may stand, the best first: at the ends, then along the way.
std::vector<QRectF> wordPlaces(const QRectF& plot, Qt::Orientation direction, double at,
                               const QSizeF& size) {
  std::vector<QRectF> places;
  const bool isAcross = direction == Qt::Horizontal;
  for (const double way : {0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.875}) {
    const double share = isAcross ? 1 - way : way;  // from the right, from the top
    for (const bool isFirst : {true, false}) {      // above the rule or right of it
      QRectF box(QPointF(0, 0), size);
      if (isAcross) {
        box.moveLeft(plot.left() + share * (plot.width() - size.width()));
        box.moveTop(isFirst ? at - kWordGap - size.height() : at + kWordGap);
      } else {
        box.moveTop(plot.top() + share * (plot.height() - size.height()));
        box.moveLeft(isFirst ? at + kWordGap : at - kWordGap - size.width());
      }
      if (plot.adjusted(-0.5, -0.5, 0.5, 0.5).contains(box)) places.push_back(box);
    }
  }
  return places;
}

/// Where the words of a note at `x` may stand: in the row `first`, then along its line from above.
std::vector<QRectF> notePlaces(const QRectF& plot, double x, int first, const QSizeF& size) {
  std::vector<QRectF> places{noteBox(plot, x, noteTop(plot, first, size.height()), size)};
  for (double top = plot.top(); top + size.height() <= plot.bottom(); top += size.height() + 2) {
    places.push_back(noteBox(plot, x, top, size));
    const QRectF left(QPointF(x - size.width() - 2, top), size);
    if (left.left() >= plot.left()) places.push_back(left);
  }
  return places;
}

}  // namespace

struct LineChartFigure::Obstacles {
  std::vector<QLineF> lines;
  std::vector<QRectF> boxes, words;
  std::vector<QPolygonF> bands;

  [[nodiscard]] double cost(const QRectF& word) const {
    const QRectF box = word.adjusted(-1.5, -1.5, 1.5, 1.5);
    double cost = 0;
    for (const QLineF& line : lines) {
      QPointF from = line.p1(), to = line.p2();
      cost += cutLine(box, from, to) ? kLineCost : 0;
    }
    for (const QRectF& other : boxes) cost += box.intersects(other) ? kLineCost : 0;
    for (const QRectF& other : words) cost += box.intersects(other) ? kWordCost : 0;
    for (const QPolygonF& band : bands)
      cost += band.containsPoint(box.center(), Qt::OddEvenFill) ? 1 : 0;
    return cost;
  }
};

LineChartFigure::Obstacles LineChartFigure::obstaclesIn(const QRectF& plot,
                                                        const std::vector<Drawn>& all) const {
  Obstacles obstacles;
  const auto placed = [&](const QPointF& point) { return placeOf(plot, point.x(), point.y()); };
  for (const Drawn& drawn : all) {
    for (const auto* line : {&drawn.line, &drawn.raw}) {
      for (std::size_t i = 1; i < line->size(); ++i) {
        if (!std::isnan((*line)[i - 1].y()) && !std::isnan((*line)[i].y()))
          obstacles.lines.emplace_back(placed((*line)[i - 1]), placed((*line)[i]));
      }
    }
    const QPointF corner(kSymbolRadius + 1, kSymbolRadius + 1);
    for (const QPointF& symbol : drawn.symbols)
      obstacles.boxes.emplace_back(placed(symbol) - corner, placed(symbol) + corner);
    for (const auto& band : drawn.bands) {
      QPolygonF shape;
      for (const QPointF& point : band) shape << placed(point);
      obstacles.bands.push_back(std::move(shape));
    }
  }
  return obstacles;
}

bool LineChartFigure::isWorded(const ChartRule& rule) const {
  const double share = rule.direction == Qt::Horizontal ? yUnit(rule.at) : xUnit(rule.at);
  return !rule.text.isEmpty() && share >= 0 && share <= 1;
}

LineChartFigure::Words LineChartFigure::wordsIn(const QRectF& plot, const std::vector<Drawn>& all,
                                                double margin) const {
  Words words;
  const bool hasRules = std::any_of(chart_.rules.begin(), chart_.rules.end(),
                                    [this](const ChartRule& rule) { return isWorded(rule); });
  if (chart_.notes.empty() && !hasRules) return words;
  Obstacles obstacles = obstaclesIn(plot, all);
  words.notes = noteWords(plot, obstacles);
  if (hasRules) words.rules = ruleWords(plot, obstacles, margin);
  return words;
}

std::vector<LineChartFigure::Word> LineChartFigure::ruleWords(const QRectF& plot,
                                                              Obstacles& obstacles,
                                                              double margin) const {
  std::vector<Word> words;
  for (const ChartRule& rule : chart_.rules) {
    const QPointF at = placeOf(plot, rule.at, rule.at);
    if (rule.direction == Qt::Horizontal) {
      obstacles.lines.emplace_back(plot.left(), at.y(), plot.right(), at.y());
    } else {
      obstacles.lines.emplace_back(at.x(), plot.top(), at.x(), plot.bottom());
    }
  }

  const QFontMetricsF metrics(axisLetters());
  double freeFrom = plot.top();
  for (const ChartRule& rule : chart_.rules) {
    if (!isWorded(rule)) continue;
    const QSizeF size(metrics.horizontalAdvance(rule.text) + 6, metrics.height());
    const bool isAcross = rule.direction == Qt::Horizontal;
    const QPointF at = placeOf(plot, rule.at, rule.at);
    Word word{rule.text, {}, false};
    double least = 1e9;
    for (const QRectF& box : wordPlaces(plot, rule.direction, isAcross ? at.y() : at.x(), size)) {
      const double cost = obstacles.cost(box);
      if (!(cost < least)) continue;
      least = cost;
      word.box = box;
    }
    word.isFree = least < kLineCost || !isAcross;
    if (!word.isFree && isAcross && margin > 0) {
      const double top = std::max(at.y() - size.height() / 2, freeFrom);
      word.box = QRectF(QPointF(plot.right() + kWordGap, top), size);
      word.isFree = true;
      freeFrom = word.box.bottom();
    }
    obstacles.words.push_back(word.box);
    words.push_back(std::move(word));
  }
  return words;
}

// On a ground of their own: a word that lines run through is none.
void LineChartFigure::drawRuleWords(QPainter& painter, const std::vector<Word>& words) const {
  painter.setFont(axisLetters());
  QColor paper = themeColors().panel;
  paper.setAlpha(200);
  for (const Word& word : words) {
    if (word.box.isEmpty()) continue;
    painter.fillRect(word.box, paper);
    painter.setPen(themeColors().muted);
    painter.drawText(word.box, Qt::AlignCenter, word.text);
  }
}

std::vector<LineChartFigure::Word> LineChartFigure::noteWords(const QRectF& plot,
                                                              Obstacles& obstacles) const {
  std::vector<Word> words;
  const QFontMetricsF metrics(axisLetters());
  int row = 0;
  for (const ChartNote& note : chart_.notes) {
    Word word{note.text, {}, true};
    const double share = xUnit(note.x);
    if (share >= 0 && share <= 1) {
      const double x = plot.left() + share * plot.width();
      const QSizeF size(metrics.horizontalAdvance(note.text) + kNotePad, metrics.height());
      if (note.y && std::isfinite(yUnit(*note.y))) {
        const double y = placeOf(plot, note.x, *note.y).y();
        const double top = std::clamp(y - size.height() - 6, plot.top(),
                                      std::max(plot.top(), plot.bottom() - size.height()));
        word.box = noteBox(plot, x, top, size);
      } else {
        double least = std::numeric_limits<double>::infinity();
        for (const QRectF& box : notePlaces(plot, x, row++, size)) {
          const double cost = obstacles.cost(box);
          if (cost < least) word.box = box;
          least = std::min(least, cost);
          if (least < kLineCost) break;
        }
      }
      obstacles.words.push_back(word.box);
    }
    words.push_back(std::move(word));
  }
  return words;
}

void LineChartFigure::drawNotes(QPainter& painter, const QRectF& plot,
                                const std::vector<Word>& words) const {
  painter.setFont(axisLetters());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ChartNote& note = chart_.notes[i];
    if (words[i].box.isEmpty()) continue;
    const QColor color = note.run > 0 ? seriesColor(note.run, style().theme) : themeColors().muted;
    const double x = plot.left() + xUnit(note.x) * plot.width();
    if (note.y && std::isfinite(yUnit(*note.y))) {
      painter.setPen(QPen(color, 1.2));
      painter.setBrush(themeColors().panel);
      painter.drawEllipse(placeOf(plot, note.x, *note.y), 4, 4);
    } else {
      painter.setPen(QPen(color, 1, Qt::DashLine));
      painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    }
    drawNoteWords(painter, words[i].box, words[i].text, themeColors());
  }
}

}  // namespace vitrine::ui
