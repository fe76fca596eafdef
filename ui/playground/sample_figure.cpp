#include "ui/playground/sample_figure.h"

#include <algorithm>
#include <utility>

#include "ui/figures/painting.h"
#include "ui/kit/value_text.h"
#include "ui/playground/board_layout.h"

namespace vitrine::ui {

namespace {

constexpr int kHintWidth = 640, kHintHeight = 480;

BoardLayout figureLayout(const Drawing& drawing, double width) {
  // Any room: it is scaled to the width of the paper.
  return layoutBoard(drawing, {width, width}, imageSizeOf(drawing, {28, 28}), 0, smallLetters());
}

}  // namespace

QString drawnFrom(const Drawing& drawing, const Json& values) {
  QStringList parts{drawing.runName, QObject::tr("step %1").arg(QString::fromStdString(
                                         drawing.base.model.checkpoint))};
  for (const char* key : {"seed", "steps", "guidance"}) {
    const auto found = values.find(key);
    const bool isAxis = (drawing.grid.rows && drawing.grid.rows->key == key) ||
                        (drawing.grid.columns && drawing.grid.columns->key == key);
    if (found == values.end() || isAxis) continue;
    parts << QStringLiteral("%1 %2").arg(QLatin1String(key), valueText(*found));
  }
  return parts.join(QStringLiteral(", "));
}

SampleFigure::SampleFigure(Drawing drawing, FigureStyle style)
    : Figure(std::move(style)), drawing_(std::move(drawing)) {}

QString SampleFigure::title() const { return drawing_.title(); }

QString SampleFigure::about() const { return drawnFrom(drawing_, drawing_.base.values); }

QSize SampleFigure::sizeHint() const { return {kHintWidth, kHintHeight}; }

double SampleFigure::fittingHeight(double width) const {
  const double inner = width - 2 * kMargin;
  const BoardLayout layout = figureLayout(drawing_, inner);
  const double share = std::max(1.0, layout.size.width() / inner);
  return 2 * kMargin + headerHeight(inner, title(), about()) + layout.size.height() / share;
}

QString SampleFigure::summary() const {
  return QObject::tr("%1: %2 of %3")
      .arg(drawing_.title(), drawing_.countText(), drawing_.runName);
}

QString SampleFigure::csv() const {
  QString text = QStringLiteral("row,column,seed,sha256,text,recipe\n");
  const int columns = drawing_.grid.columnCount();
  const auto label = [](const std::optional<GridAxis>& axis, int index) {
    return axis ? csvText(axis->labels.value(index)) : QString();
  };
  for (std::size_t i = 0; i < drawing_.cells.size(); ++i) {
    const DrawnCell& cell = drawing_.cells[i];
    const int number = static_cast<int>(i);
    const QString place = label(drawing_.grid.rows, number / columns) + QLatin1Char(',') +
                          label(drawing_.grid.columns, number % columns) + QLatin1Char(',');
    for (const DrawnImage& image : cell.images) {
      text += place + QStringLiteral("%1,%2,,%3\n")
                          .arg(image.seed)
                          .arg(QString::fromStdString(image.sha256),
                               csvText(QString::fromStdString(image.recipe.dump())));
    }
    for (const DrawnText& one : cell.texts) {
      text +=
          place + QStringLiteral("%1,,%2,%3\n")
                      .arg(one.seed)
                      .arg(csvText(one.text), csvText(QString::fromStdString(one.recipe.dump())));
    }
  }
  return text;
}

void SampleFigure::draw(QPainter& painter, const QRectF& area) {
  const QRectF body = drawHeader(painter, area, title(), about());
  const BoardLayout layout = figureLayout(drawing_, body.width());
  const double share = std::min({1.0, body.width() / std::max(1.0, layout.size.width()),
                                 body.height() / std::max(1.0, layout.size.height())});
  painter.save();
  painter.translate(body.topLeft());
  painter.scale(share, share);
  paintBoard(painter, drawing_, layout, themeColors(), smallLetters(), bodyLetters());
  painter.restore();
  for (const BoardTile& tile : layout.tiles) {
    const QRectF rect(body.topLeft() + tile.rect.topLeft() * share, tile.rect.size() * share);
    const QString words = QObject::tr("seed %1").arg(
        drawing_.cells[static_cast<std::size_t>(tile.place.cell)].settings.seed() +
        static_cast<std::uint64_t>(tile.place.image));
    addRegion(rect, [words](const QPointF&) { return words; });
  }
}

}  // namespace vitrine::ui
