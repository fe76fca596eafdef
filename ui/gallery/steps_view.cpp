#include "ui/gallery/steps_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <set>

#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/image_pair.h"
#include "ui/kit/icons.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kStepsHead = 24, kStepsGap = 8, kNamesWidth = 150;  // design pixels

}  // namespace

StepsTable StepsTable::of(const std::vector<SamePicture>& pictures, std::int64_t first,
                          std::size_t mostRuns) {
  StepsTable table;
  std::set<std::int64_t> runs, steps;
  for (const SamePicture& one : pictures) runs.insert(one.run);
  table.runs.assign(runs.begin(), runs.end());
  if (table.runs.size() > mostRuns) {
    // The current run, and the newest others.
    std::stable_partition(table.runs.begin(), table.runs.end(),
                          [&](std::int64_t run) { return run != first; });
    table.runs.erase(table.runs.begin(), table.runs.end() - static_cast<std::ptrdiff_t>(mostRuns));
    std::sort(table.runs.begin(), table.runs.end());
  }
  for (const SamePicture& one : pictures) {
    if (std::find(table.runs.begin(), table.runs.end(), one.run) == table.runs.end()) continue;
    steps.insert(one.step);
    table.cells[{one.run, one.step}] = one;
  }
  table.steps.assign(steps.begin(), steps.end());
  return table;
}

const SamePicture* StepsTable::at(std::int64_t run, std::int64_t step) const {
  const auto found = cells.find({run, step});
  return found == cells.end() ? nullptr : &found->second;
}

StepsView::StepsView(Thumbnails& pictures, std::function<QString(std::int64_t)> runName,
                     QWidget* parent)
    : QWidget(parent), pictures_(pictures), runName_(std::move(runName)) {
  setAccessibleName(tr("Runs and steps"));
  setFocusPolicy(Qt::StrongFocus);
  connect(&pictures_, &Thumbnails::arrived, this, qOverload<>(&QWidget::update));
}

void StepsView::setTable(StepsTable table) {
  table_ = std::move(table);
  updateGeometry();
  update();
}

void StepsView::setTile(int designPixels) {
  tile_ = std::clamp(designPixels, 32, ContactSheet::kMostTile);
  updateGeometry();
  update();
}

void StepsView::setCurrent(std::int64_t run, std::int64_t step) {
  run_ = run;
  step_ = step;
  setAccessibleDescription(tr("%1, step %2").arg(runName_(run), count(step)));
  update();
}

void StepsView::setOther(std::int64_t id) {
  other_ = id;
  update();
}

int StepsView::namesWidth() const { return px(kNamesWidth); }

QRect StepsView::cell(std::size_t row, std::size_t column) const {
  const int side = px(tile_), gap = px(kStepsGap);
  return {namesWidth() + static_cast<int>(column) * (side + gap) + gap / 2,
          px(kStepsHead) + static_cast<int>(row) * (side + gap) + gap / 2, side, side};
}

QRect StepsView::placeOf(std::int64_t run, std::int64_t step) const {
  const auto row = std::find(table_.runs.begin(), table_.runs.end(), run);
  const auto column = std::find(table_.steps.begin(), table_.steps.end(), step);
  if (row == table_.runs.end() || column == table_.steps.end()) return {};
  return cell(static_cast<std::size_t>(row - table_.runs.begin()),
              static_cast<std::size_t>(column - table_.steps.begin()));
}

QSize StepsView::sizeHint() const {
  const int one = px(tile_) + px(kStepsGap);
  return {namesWidth() + std::max(1, static_cast<int>(table_.steps.size())) * one,
          px(kStepsHead) + std::max(1, static_cast<int>(table_.runs.size())) * one};
}

void StepsView::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  const ThemeColors& colors = themeColors();
  painter.fillRect(rect(), colors.panel);
  pictures_.setMost(qRound(px(tile_) * devicePixelRatioF()));
  std::vector<std::int64_t> missing;
  const int gap = px(kStepsGap);
  for (std::size_t column = 0; column < table_.steps.size(); ++column) {
    const QRect top = cell(0, column);
    const bool isCurrent = table_.steps[column] == step_;
    if (isCurrent)
      painter.fillRect(QRect(top.left() - gap / 2, 0, top.width() + gap, height()),
                       colors.selection);
    painter.setFont(axisFont());
    painter.setPen(isCurrent ? colors.text : colors.muted);
    painter.drawText(QRect(top.left() - gap / 2, 0, top.width() + gap, px(kStepsHead)),
                     Qt::AlignCenter, count(table_.steps[column]));
  }
  painter.setPen(colors.muted);
  painter.drawText(QRect(0, 0, namesWidth(), px(kStepsHead)), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("step"));
  for (std::size_t row = 0; row < table_.runs.size(); ++row) {
    const std::int64_t run = table_.runs[row];
    const QRect first = cell(row, 0);
    const int mark = px(9);
    drawRunMark(painter, QRectF(0, first.center().y() - mark / 2.0, mark, mark), seriesOf(run),
                seriesColor(seriesOf(run)));
    painter.setFont(bodyFont());
    painter.setPen(colors.text);
    const QRect names(mark + px(6), first.top(), namesWidth() - mark - px(14), first.height());
    painter.drawText(
        names, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(runName_(run), Qt::ElideRight, names.width()));
    for (std::size_t column = 0; column < table_.steps.size(); ++column) {
      const QRect place = cell(row, column);
      if (!place.adjusted(-gap, -gap, gap, gap).intersects(event->rect())) continue;
      const SamePicture* one = table_.at(run, table_.steps[column]);
      if (one == nullptr) {
        painter.setPen(QPen(colors.line, 1, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(place.adjusted(0, 0, -1, -1));
        painter.setPen(colors.muted);
        painter.drawText(place, Qt::AlignCenter, QStringLiteral("\u2013"));
        continue;
      }
      const QImage* picture = pictures_.find(one->id);
      if (picture == nullptr) {
        painter.fillRect(place, colors.grid);
        missing.push_back(one->id);
      } else {
        // Whole times in pixels of the screen, so that each of the image is as large as another.
        const double dots = devicePixelRatioF();
        const int scale = wholeScale(picture->size(), (QSizeF(place.size()) * dots).toSize());
        QRectF drawn(QPointF(), QSizeF(scaledBy(picture->size(), scale)) / dots);
        drawn.moveCenter(QRectF(place).center());
        painter.fillRect(place, Qt::black);
        painter.setRenderHint(QPainter::SmoothPixmapTransform, scale < 1);
        painter.drawImage(QRectF(drawn.topLeft().toPoint(), drawn.size()), *picture);
      }
      if (run == run_ && table_.steps[column] == step_) {
        painter.setPen(QPen(colors.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(place.adjusted(-1, -1, 0, 0));
        if (other_ != 0) drawPairMark(painter, place.topLeft() + QPoint(2, 2), true);
      }
      if (one->id == other_) drawPairMark(painter, place.topLeft() + QPoint(2, 2), false);
      if (isStarred_ && isStarred_(one->id)) {
        const int side = px(13);
        drawStar(painter, QRectF(place.right() - side - 1, place.top() + 3, side, side));
      }
      if (!one->differences.isEmpty()) {
        const QRect sign(place.left() + 2, place.bottom() - px(15), px(14), px(14));
        painter.fillRect(sign, QColor(0, 0, 0, 170));
        painter.setFont(axisFont());
        painter.setPen(Qt::white);
        painter.drawText(sign, Qt::AlignCenter, QStringLiteral("\u2260"));
      }
    }
  }
  if (hasFocus()) {
    painter.setPen(QPen(colors.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
  if (!missing.empty()) pictures_.want(missing);
}

const SamePicture* StepsView::at(const QPoint& point) const {
  for (const auto& [place, one] : table_.cells)
    if (placeOf(place.first, place.second).contains(point)) return &one;
  return nullptr;
}

void StepsView::mousePressEvent(QMouseEvent* event) {
  const SamePicture* one = at(event->position().toPoint());
  if (one == nullptr || event->button() == Qt::MiddleButton) return;
  if (event->modifiers().testFlag(Qt::AltModifier)) {
    Q_EMIT otherChosen(one->id);
  } else {
    Q_EMIT currentChosen(one->id);
  }
}

void StepsView::mouseDoubleClickEvent(QMouseEvent*) { Q_EMIT activated(); }

void StepsView::move(int rows, int columns) {
  auto row = std::find(table_.runs.begin(), table_.runs.end(), run_) - table_.runs.begin();
  auto column = std::find(table_.steps.begin(), table_.steps.end(), step_) - table_.steps.begin();
  // Over cells that a run does not have.
  for (;;) {
    row += rows;
    column += columns;
    if (row < 0 || column < 0 || row >= std::ssize(table_.runs) ||
        column >= std::ssize(table_.steps))
      return;
    const SamePicture* one = table_.at(table_.runs[static_cast<std::size_t>(row)],
                                       table_.steps[static_cast<std::size_t>(column)]);
    if (one == nullptr) continue;
    Q_EMIT currentChosen(one->id);
    return;
  }
}

void StepsView::keyPressEvent(QKeyEvent* event) {
  if ((event->modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier)
    return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
      return move(0, -1);
    case Qt::Key_Right:
      return move(0, 1);
    case Qt::Key_Up:
      return move(-1, 0);
    case Qt::Key_Down:
      return move(1, 0);
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      Q_EMIT activated();
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

bool StepsView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const SamePicture* one = at(help->pos());
    QStringList lines;
    if (one != nullptr) {
      lines << tr("%1, step %2").arg(runName_(one->run), count(one->step));
      lines << one->differences;
    }
    for (std::size_t row = 0; one == nullptr && row < table_.runs.size(); ++row) {
      const QRect first = cell(row, 0);
      if (QRect(0, first.top(), namesWidth(), first.height()).contains(help->pos()))
        lines << runName_(table_.runs[row]);
    }
    QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
    return true;
  }
  return QWidget::event(event);
}

QString StepsView::plotSummary() const {
  return tr("%1, %2").arg(
      counted(static_cast<std::int64_t>(table_.runs.size()), tr("run"), tr("runs")),
      counted(static_cast<std::int64_t>(table_.steps.size()), tr("step"), tr("steps")));
}

DescribedPlot::Table StepsView::plotTable() const {
  Table table{.columns = {tr("Run")}};
  for (const std::int64_t step : table_.steps) table.columns << tr("Step %1").arg(count(step));
  for (const std::int64_t run : table_.runs) {
    QStringList row{runName_(run)};
    for (const std::int64_t step : table_.steps) {
      const SamePicture* one = table_.at(run, step);
      row << (one == nullptr               ? QStringLiteral("\u2013")
              : one->differences.isEmpty() ? tr("image %1").arg(one->id)
                                           : tr("image %1: %2")
                                                 .arg(one->id)
                                                 .arg(one->differences.join(QStringLiteral("; "))));
    }
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace vitrine::ui
