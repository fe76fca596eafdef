#include "ui/playground/film_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr double kLeastTile = 48, kMostTile = 96, kFilmGap = 6, kFilmEdge = 4, kFilmLabel = 96,
                 kTimeLine = 16;
constexpr int kMostFilmScale = 8;
constexpr std::size_t kMostWords = 3;   // that are named at a step
constexpr double kCursorStep = 0.0625;  // of the image's side, where patches are not known yet

}  // namespace

FilmStrip::FilmStrip(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Steps of the image"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void FilmStrip::setFilm(std::vector<FilmFrame> film, const Replay* replay, bool keepsStep) {
  film_ = std::move(film);
  attention_ = replay == nullptr ? std::vector<AttentionFrame>() : replay->attention;
  if (replay != nullptr) {
    patch_ = replay->patch;
    if (!replay->film.empty()) film_ = replay->film;
  }
  const int last = std::max(0, frameCount() - 1);
  step_ = keepsStep ? std::min(step_, last) : last;
  measure();
  updateGeometry();
  update();
}

void FilmStrip::setAsksPatch(bool asks) {
  asksPatch_ = asks;
  update();
}

void FilmStrip::setChannel(int layer, int head) {
  layer_ = layer;
  head_ = head;
  measure();
  update();
}

// One scale for the whole film, so that its steps can be compared.
void FilmStrip::measure() {
  maps_.clear();
  largest_ = 0;
  const auto [layers, heads] = channels();
  if (layer_ >= layers) layer_ = -1;
  if (head_ >= heads) head_ = -1;
  for (const AttentionFrame& frame : attention_) {
    maps_.push_back(frame.map(layer_, head_));
    for (const float value : maps_.back()) largest_ = std::max(largest_, double{value});
  }
}

std::array<int, 2> FilmStrip::channels() const {
  if (attention_.empty()) return {0, 0};
  return {attention_.front().layers, attention_.front().heads};
}

void FilmStrip::setStep(int step) {
  const int next = std::clamp(step, 0, std::max(0, frameCount() - 1));
  if (next == step_) return;
  step_ = next;
  update();
  Q_EMIT stepChanged();
}

double FilmStrip::timeAt(int step) const {
  return step >= 0 && step < frameCount() ? film_[static_cast<std::size_t>(step)].time : 0;
}

QImage FilmStrip::imageAt(int step) const {
  return step >= 0 && step < frameCount() ? film_[static_cast<std::size_t>(step)].image : QImage();
}

QString FilmStrip::wordsAt(int step) const {
  const AttentionFrame* frame = attentionAt(step);
  if (frame == nullptr || frame->words.isEmpty()) return {};
  const std::vector<float> weights = frame->wordMap(layer_, head_);
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  order.resize(std::min(order.size(), kMostWords));
  QStringList most;
  for (const std::size_t word : order) {
    const QString text = frame->words.at(static_cast<qsizetype>(word)).trimmed();
    most << QStringLiteral("%1 %2").arg(text.isEmpty() ? tr("space") : text,
                                        shortNumber(double{weights[word]}));
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  return tr("%1; all words %2").arg(most.join(QStringLiteral(", ")), shortNumber(all));
}

const AttentionFrame* FilmStrip::attentionAt(int step) const {
  const auto index = static_cast<std::size_t>(step);
  return step >= 0 && index < attention_.size() ? &attention_[index] : nullptr;
}

FilmStrip::Places FilmStrip::places() const {
  Places places;
  if (film_.empty()) return places;
  const QSize image = film_.front().image.size();
  places.label = px(kFilmLabel);
  const double room = std::max(1.0, width() - places.label - 2 * kFilmEdge);
  // As large as all steps allow, but never too small to be seen: then only some are drawn.
  const int least = std::max(1, static_cast<int>(std::ceil(kLeastTile / image.width())));
  const double each = room / frameCount() - kFilmGap;
  const int scale = std::clamp(static_cast<int>(each / image.width()), least, kMostFilmScale);
  const int most = std::max(least, px(kMostTile) / image.width());
  places.tile = QSizeF(image) * std::min(scale, most);
  // Of a large image a small picture is shown: its pixels are on the board.
  if (image.width() > px(kMostTile)) places.tile *= px(kMostTile) / double(image.width());
  const int fitting =
      std::max(1, static_cast<int>((room + kFilmGap) / (places.tile.width() + kFilmGap)));
  places.shown = std::min(fitting, frameCount());
  return places;
}

// Evenly from the first to the last step; the chosen one stands in place of its neighbour.
std::vector<int> FilmStrip::shownSteps() const {
  const int number = places().shown;
  std::vector<int> shown;
  for (int i = 0; i < number; ++i)
    shown.push_back(number == 1 ? frameCount() - 1 : i * (frameCount() - 1) / (number - 1));
  if (!shown.empty() && std::find(shown.begin(), shown.end(), step_) == shown.end()) {
    *std::min_element(shown.begin(), shown.end(), [&](int a, int b) {
      return std::abs(a - step_) < std::abs(b - step_);
    }) = step_;
  }
  return shown;
}

QRectF FilmStrip::frameRect(int step) const {
  const std::vector<int> shown = shownSteps();
  const auto found = std::find(shown.begin(), shown.end(), step);
  if (found == shown.end()) return {};
  const Places at = places();
  const auto index = static_cast<double>(found - shown.begin());
  return {QPointF(at.label + kFilmEdge + index * (at.tile.width() + kFilmGap), kFilmEdge), at.tile};
}

QSize FilmStrip::sizeHint() const {
  const QSizeF tile = film_.empty() ? QSizeF(0, kLeastTile) : places().tile;
  const int rows = attention_.empty() ? 1 : 2;
  return {px(kFilmLabel) + px(160),
          static_cast<int>(rows * (tile.height() + kFilmEdge) + kFilmEdge + px(kTimeLine))};
}

void FilmStrip::paintLabels(QPainter& painter, const Places& at) const {
  const ThemeColors& colors = themeColors();
  painter.setFont(smallFont());
  painter.setPen(colors.text);
  const QRectF first(0, kFilmEdge, at.label - kFilmGap, at.tile.height());
  painter.drawText(first, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                   tr("Predicted clean image"));
  if (maps_.empty()) return;
  const QRectF second = first.translated(0, at.tile.height() + kFilmEdge);
  painter.drawText(second, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                   tr("Attention of the patch"));
  const double line = QFontMetricsF(axisFont()).height();
  const QRectF bar(0, second.bottom() - line - 8, at.label - 2 * kFilmGap, 6);
  for (int x = 0; x < static_cast<int>(bar.width()); ++x)
    painter.fillRect(QRectF(bar.left() + x, bar.top(), 1, bar.height()), viridis(x / bar.width()));
  painter.setFont(axisFont());
  painter.setPen(colors.muted);
  const QRectF ends(0, bar.bottom() + 1, bar.width(), line);
  painter.drawText(ends, Qt::AlignLeft, QStringLiteral("0"));
  painter.drawText(ends, Qt::AlignRight, shortNumber(largest_));
}

void FilmStrip::paintEvent(QPaintEvent*) {
  if (film_.empty()) return;
  QPainter painter(this);
  const ThemeColors& colors = themeColors();
  const Places at = places();
  const double down = at.tile.height() + kFilmEdge;
  const int rows = maps_.empty() ? 1 : 2;
  paintLabels(painter, at);
  for (const int step : shownSteps()) {
    const QRectF rect = frameRect(step);
    const bool isChosen = step == step_;
    if (isChosen) {
      painter.fillRect(rect.adjusted(-3, -kFilmEdge, 3, (rows - 1) * down + px(kTimeLine) + 2),
                       colors.selection);
    }
    drawPixels(painter, rect, film_[static_cast<std::size_t>(step)].image);
    const AttentionFrame* frame = attentionAt(step);
    if (frame != nullptr) {
      const QRectF map = rect.translated(0, down);
      const std::vector<float>& values = maps_[static_cast<std::size_t>(step)];
      drawCells(painter, map, frame->rows, frame->columns, [&](int row, int column) {
        const auto index =
            static_cast<std::size_t>(row) * static_cast<std::size_t>(frame->columns) +
            static_cast<std::size_t>(column);
        return viridis(unitOf(values[index], 0, largest_));
      });
      drawPatchFrame(painter, patchIn(rect, *frame, patch_), 1.5);
      drawPatchFrame(painter, patchIn(map, *frame, patch_), 1.5);
    }
    painter.setFont(axisFont());
    painter.setPen(isChosen ? colors.text : colors.muted);
    const QRectF words(rect.left() - kFilmGap / 2, rect.bottom() + (rows - 1) * down + 2,
                       rect.width() + kFilmGap, px(kTimeLine) - 2);
    painter.drawText(words, Qt::AlignHCenter | Qt::AlignTop, shortNumber(timeAt(step)));
    if (isChosen && asksPatch_ && hasFocus()) {
      const QPointF point(rect.left() + cursor_[1] * rect.width(),
                          rect.top() + cursor_[0] * rect.height());
      painter.setPen(QPen(colors.accent, 1.5));
      painter.drawLine(point - QPointF(4, 0), point + QPointF(4, 0));
      painter.drawLine(point - QPointF(0, 4), point + QPointF(0, 4));
    }
  }
  if (hasFocus()) {
    painter.setPen(QPen(colors.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

void FilmStrip::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  const double down = places().tile.height() + kFilmEdge;
  for (const int step : shownSteps()) {
    const QRectF image = frameRect(step);
    const QPointF point = event->position();
    const bool isOnMap = !maps_.empty() && image.translated(0, down).contains(point);
    if (!image.contains(point) && !isOnMap) continue;
    const QPointF at = point - (isOnMap ? image.translated(0, down) : image).topLeft();
    cursor_ = {at.y() / image.height(), at.x() / image.width()};
    setStep(step);
    if (asksPatch_) Q_EMIT patchRequested(cursor_);
    update();
    return;
  }
}

void FilmStrip::keyPressEvent(QKeyEvent* event) {
  const bool isShifted = event->modifiers() == Qt::ShiftModifier;
  if (event->modifiers() != Qt::NoModifier && !isShifted) return QWidget::keyPressEvent(event);
  const auto move = [&](double down, double right) {
    const AttentionFrame* frame = attentionAt(step_);
    const double stepDown = frame == nullptr ? kCursorStep : 1.0 / std::max(1, frame->rows);
    const double stepRight = frame == nullptr ? kCursorStep : 1.0 / std::max(1, frame->columns);
    cursor_ = {std::clamp(cursor_[0] + down * stepDown, 0.0, 0.999),
               std::clamp(cursor_[1] + right * stepRight, 0.0, 0.999)};
    update();
  };
  switch (event->key()) {
    case Qt::Key_Left:
      isShifted ? move(0, -1) : setStep(step_ - 1);
      return;
    case Qt::Key_Right:
      isShifted ? move(0, 1) : setStep(step_ + 1);
      return;
    case Qt::Key_Up:
      if (isShifted) return move(-1, 0);
      break;
    case Qt::Key_Down:
      if (isShifted) return move(1, 0);
      break;
    case Qt::Key_Home:
      return setStep(0);
    case Qt::Key_End:
      return setStep(frameCount() - 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (asksPatch_ && !film_.empty()) Q_EMIT patchRequested(cursor_);
      return;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

bool FilmStrip::event(QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  if (event->type() == QEvent::Resize) updateGeometry();
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QString words;
    for (const int step : shownSteps()) {
      const QRectF image = frameRect(step);
      if (help->pos().x() < image.left() || help->pos().x() > image.right()) continue;
      words = tr("Picture %1 of %2, time %3")
                  .arg(step + 1)
                  .arg(frameCount())
                  .arg(shortNumber(timeAt(step)));
      if (asksPatch_) words += tr(". Click a patch to see where it reads");
    }
    QToolTip::showText(help->globalPos(), words, this);
    return true;
  }
  return QWidget::event(event);
}

QString FilmStrip::plotSummary() const {
  if (film_.empty()) return tr("No steps of an image");
  const QString steps = counted(frameCount(), tr("step"), tr("steps"));
  if (attention_.empty()) return tr("%1 of the predicted clean image").arg(steps);
  return tr("%1 of the predicted clean image, and where the patch in row %2, column %3 reads; the "
            "largest weight is %4")
      .arg(steps)
      .arg(patch_[0])
      .arg(patch_[1])
      .arg(shortNumber(largest_));
}

DescribedPlot::Table FilmStrip::plotTable() const {
  Table table{.columns = {tr("step"), tr("time")}};
  if (!attention_.empty()) table.columns << tr("row") << tr("column") << tr("weight");
  for (int step = 0; step < frameCount(); ++step) {
    const QStringList begin{QString::number(step + 1), shortNumber(timeAt(step))};
    const AttentionFrame* frame = attentionAt(step);
    if (attention_.empty()) table.rows.push_back(begin);
    if (frame == nullptr || frame->columns <= 0) continue;
    const std::vector<float>& map = maps_[static_cast<std::size_t>(step)];
    for (int at = 0; at < static_cast<int>(map.size()); ++at) {
      table.rows.push_back(begin + QStringList{QString::number(at / frame->columns),
                                               QString::number(at % frame->columns),
                                               shortNumber(map[static_cast<std::size_t>(at)])});
    }
    const std::vector<float> words = frame->wordMap(layer_, head_);
    for (std::size_t at = 0; at < words.size(); ++at) {
      table.rows.push_back(begin + QStringList{QString(),
                                               frame->words.at(static_cast<qsizetype>(at)),
                                               shortNumber(double{words[at]})});
    }
  }
  return table;
}

}  // namespace vitrine::ui
