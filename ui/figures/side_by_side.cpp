// A grid of figures.
#include "ui/figures/side_by_side.h"

#include <algorithm>

#include "ui/figures/painting.h"

namespace vitrine::ui {

FigureGrid figureGrid(int count, int columns, double width) {
  const int total = std::max(1, count);
  FigureGrid grid;
  grid.across = std::clamp(static_cast<int>(width / FigureGrid::kLeastWidth), 1,
                           std::min(std::max(1, columns), total));
  grid.down = (total + grid.across - 1) / grid.across;
  return grid;
}

SideBySide::SideBySide(std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures,
                       int columns, FigureStyle style)
    : Figure(std::move(style)), figures_(std::move(figures)), columns_(std::max(1, columns)) {
  lend();
}

SideBySide::~SideBySide() = default;

QString SideBySide::note() const {
  QStringList notes;
  for (const auto& [name, figure] : figures_) {
    if (const QString text = figure->note(); !text.isEmpty() && !notes.contains(text))
      notes << text;
  }
  return notes.join(QLatin1Char(' '));
}

QSize SideBySide::sizeHint() const {
  QSize largest(0, 0);
  for (const auto& entry : figures_) largest = largest.expandedTo(entry.second->sizeHint());
  const int total = static_cast<int>(figures_.size());
  const int across = std::min(columns_, std::max(1, total));
  return {largest.width() * across, largest.height() * ((total + across - 1) / across)};
}

double SideBySide::leastHeight(double width) const {
  const FigureGrid grid = figureGrid(count(), columns_, width);
  double highest = count() > 1 ? FigureGrid::kLeastHeight : 0;
  for (const auto& entry : figures_)
    highest = std::max(highest, entry.second->leastHeight(width / grid.across));
  return highest * grid.down;
}

bool SideBySide::breaksWords(double width) const {
  const FigureGrid grid = figureGrid(count(), columns_, width);
  return std::any_of(figures_.begin(), figures_.end(), [&](const auto& entry) {
    return entry.second->breaksWords(width / grid.across);
  });
}

void SideBySide::setStyle(const FigureStyle& style) {
  Figure::setStyle(style);
  lend();
}

void SideBySide::lend() {
  FigureStyle shown = style();
  shown.stacksHeader = shown.isOnPaper() && count() > 1;
  for (const auto& entry : figures_) lendStyle(*entry.second, shown);
}

double SideBySide::fittingHeight(double width) const {
  const FigureGrid grid = figureGrid(count(), columns_, width);
  double highest = 0;
  for (const auto& entry : figures_) {
    const double height = entry.second->fittingHeight(width / grid.across);
    if (!(height > 0)) return 0;
    highest = std::max(highest, height);
  }
  return highest * grid.down;
}

QString SideBySide::summary() const {
  QStringList parts;
  for (const auto& [name, figure] : figures_)
    parts << name + QStringLiteral(": ") + figure->summary();
  return parts.join(QStringLiteral("; "));
}

QString SideBySide::csv() const {
  QString text, titles;
  for (const auto& [name, figure] : figures_) {
    const QStringList rows = csvRows(figure->csv());
    if (rows.isEmpty()) continue;
    if (rows.front() != titles) {
      if (!text.isEmpty()) text += QLatin1Char('\n');
      titles = rows.front();
      text += QStringLiteral("run,") + titles + QLatin1Char('\n');
    }
    for (const QString& row : rows.mid(1))
      text += csvText(name) + QLatin1Char(',') + row + QLatin1Char('\n');
  }
  return text;
}

void SideBySide::draw(QPainter& painter, const QRectF& area) {
  const int total = count();
  if (total == 0) return;
  // Each has a margin of its own.
  const QRectF whole = area.adjusted(-kMargin, -kMargin, kMargin, kMargin);
  const auto [across, down] = figureGrid(total, columns_, whole.width());
  const double width = whole.width() / across, height = whole.height() / down;
  for (int i = 0; i < total; ++i) {
    Figure& figure = *figures_[static_cast<std::size_t>(i)].second;
    const QRectF place(whole.left() + (i % across) * width, whole.top() + (i / across) * height,
                       width, height);
    figure.paint(painter, place);
    addRegion(place, [&figure](const QPointF& point) { return figure.describeAt(point); });
  }
}

}  // namespace vitrine::ui
