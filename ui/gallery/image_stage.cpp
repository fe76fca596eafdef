#include "ui/gallery/image_stage.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/figures/painting.h"
#include "ui/gallery/contact_sheet.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kFlickerMs = 500;  // two changes a second: well below what may cause harm
constexpr double kLineStep = 0.02;
constexpr std::array kStageViews{std::pair{ImageStage::View::One, "one"},
                                 std::pair{ImageStage::View::Slider, "slider"},
                                 std::pair{ImageStage::View::Side, "side"},
                                 std::pair{ImageStage::View::Difference, "difference"},
                                 std::pair{ImageStage::View::Flicker, "flicker"}};

QString psnrText(double psnr) {
  return std::isinf(psnr) ? QStringLiteral("\u221e dB")
                          : number(psnr, 1) + QStringLiteral("\u2009dB");
}

}  // namespace

QString toString(ImageStage::View view) {
  for (const auto& [one, name] : kStageViews)
    if (one == view) return QString::fromLatin1(name);
  return {};
}

std::optional<ImageStage::View> stageViewFromString(const QString& text) {
  for (const auto& [one, name] : kStageViews)
    if (text == QLatin1String(name)) return one;
  return std::nullopt;
}

ImageStage::ImageStage(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Image"));
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  flicker_.setInterval(kFlickerMs);
  connect(&flicker_, &QTimer::timeout, this, [this] {
    isSecond_ = !isSecond_;
    update();
  });
}

QSize ImageStage::minimumSizeHint() const { return {px(160), px(140)}; }

void ImageStage::keepTime() {
  const bool isRunning = isVisible() && shownView() == View::Flicker;
  if (isRunning && !flicker_.isActive()) flicker_.start();
  if (!isRunning) flicker_.stop();
  if (!isRunning) isSecond_ = false;
}

void ImageStage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  keepTime();
}

void ImageStage::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  keepTime();
}

void ImageStage::setView(View view) {
  view_ = view;
  keepTime();
  update();
}

void ImageStage::setImages(Shown a, Shown b) {
  a_ = std::move(a);
  b_ = std::move(b);
  sentence_.clear();
  difference_ = differenceOf(a_.picture, b_.picture);
  setAccessibleDescription(plotSummary());
  keepTime();
  update();
}

void ImageStage::setSentence(const QString& sentence) {
  a_ = b_ = {};
  difference_ = {};
  sentence_ = sentence;
  keepTime();
  update();
}

void ImageStage::setLine(double share) {
  line_ = std::clamp(share, 0.0, 1.0);
  update();
}

ImageStage::View ImageStage::shownView() const { return b_.picture.isNull() ? View::One : view_; }

QRectF ImageStage::stage() const {
  const double words = px(24);
  return QRectF(rect()).adjusted(px(8), words, -px(8), -px(8));
}

int ImageStage::scale() const {
  QRectF place = stage();
  if (shownView() == View::Side) place.setWidth((place.width() - px(12)) / 2);
  return wholeScale(a_.picture.size(), (place.size() * devicePixelRatioF()).toSize());
}

QRectF ImageStage::fitted(const QSize& image, const QRectF& place) const {
  const double dots = devicePixelRatioF();
  const int scale = wholeScale(image, (place.size() * dots).toSize());
  QRectF rect(QPointF(), QSizeF(scaledBy(image, scale)) / dots);
  rect.moveCenter(place.center());
  return {QPointF(std::round(rect.left() * dots) / dots, std::round(rect.top() * dots) / dots),
          rect.size()};
}

void ImageStage::drawImage(QPainter& painter, const QImage& image, const QRectF& rect) const {
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(rect, image);
}

void ImageStage::drawDifference(QPainter& painter) {
  const ThemeColors& colors = themeColors();
  if (!difference_.isThere) {
    painter.setFont(bodyFont());
    painter.setPen(colors.muted);
    painter.drawText(rect().adjusted(px(16), px(16), -px(16), -px(16)),
                     Qt::AlignCenter | Qt::TextWordWrap,
                     tr("A has %1 \u00d7 %2 pixels and B %3 \u00d7 %4: images of different sizes "
                        "have no difference.")
                         .arg(a_.picture.width())
                         .arg(a_.picture.height())
                         .arg(b_.picture.width())
                         .arg(b_.picture.height()));
    return;
  }
  QRectF place = stage();
  const double bar = px(30);
  place.setHeight(place.height() - bar - px(20));
  drawImage(painter, difference_.picture, fitted(difference_.picture.size(), place));
  const QRectF scale(place.center().x() - px(110), place.bottom() + px(6), px(220), bar);
  if (difference_.range > 0)
    drawColorBar(painter, colors, scale, -difference_.range, difference_.range, QString(),
                 [](double t) { return diverging(2 * t - 1); });
  painter.setFont(smallFont());
  painter.setPen(colors.text);
  drawLine(painter, QRectF(place.left(), height() - px(24), place.width(), px(20)), Qt::AlignCenter,
           differenceWords());
}

QString ImageStage::differenceWords() const {
  return tr("mean |A \u2212 B| %1 \u00b7 largest %2 \u00b7 PSNR %3")
      .arg(number(difference_.meanAbsolute, 3), number(difference_.largest, 2),
           psnrText(difference_.psnr));
}

void ImageStage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const ThemeColors& colors = themeColors();
  painter.fillRect(rect(), colors.panel);
  const View view = shownView();
  if (a_.picture.isNull()) {
    painter.setFont(bodyFont());
    painter.setPen(colors.muted);
    painter.drawText(rect().adjusted(px(16), px(16), -px(16), -px(16)),
                     Qt::AlignCenter | Qt::TextWordWrap, sentence_);
    return;
  }
  const QRectF all = stage();
  const QRectF words(px(8), px(2), width() - px(16), px(20));
  painter.setFont(smallFont());
  painter.setPen(colors.muted);
  const auto drawName = [&](const QRectF& where, Qt::Alignment side, const QString& text) {
    painter.drawText(
        where, side | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(text, Qt::ElideMiddle, static_cast<int>(where.width())));
  };
  const QRectF left(words.left(), words.top(), words.width() / 2 - px(4), words.height());
  const QRectF right(words.center().x() + px(4), words.top(), words.width() / 2 - px(4),
                     words.height());
  if (view == View::One) {
    const int times = scale();
    const QString size = times >= 1 ? tr("%1 \u00d7 %2 pixels, %3 times")
                                          .arg(a_.picture.width())
                                          .arg(a_.picture.height())
                                          .arg(times)
                                    : tr("%1 \u00d7 %2 pixels, one of %3")
                                          .arg(a_.picture.width())
                                          .arg(a_.picture.height())
                                          .arg(-times);
    const int beside = painter.fontMetrics().horizontalAdvance(size) + px(12);
    drawName(words.adjusted(0, 0, -beside, 0), Qt::AlignLeft, a_.name);
    drawImage(painter, a_.picture, fitted(a_.picture.size(), all));
    drawName(words, Qt::AlignRight, size);
  } else if (view == View::Flicker) {
    const Shown& shown = isSecond_ ? b_ : a_;
    const QRectF rect = fitted(shown.picture.size(), all);
    drawName(words, Qt::AlignLeft, shown.name);
    drawImage(painter, shown.picture, rect);
    drawPairMark(painter, rect.topLeft().toPoint() + QPoint(px(4), px(4)), !isSecond_);
  } else if (view == View::Difference) {
    drawName(left, Qt::AlignLeft, tr("A %1").arg(a_.name));
    drawName(right, Qt::AlignRight, tr("B %1").arg(b_.name));
    drawDifference(painter);
  } else {
    drawName(left, Qt::AlignLeft, tr("A %1").arg(a_.name));
    drawName(right, Qt::AlignRight, tr("B %1").arg(b_.name));
    QRectF placeA = all, placeB = all;
    if (view == View::Side) {
      placeA.setWidth((all.width() - px(12)) / 2);
      placeB.setLeft(placeA.right() + px(12));
    }
    const QRectF rectA = fitted(a_.picture.size(), placeA);
    const QRectF rectB = fitted(b_.picture.size(), placeB);
    if (view == View::Slider) {
      // Both over each other; the line runs over the larger of them.
      const QRectF area = rectA.united(rectB);
      const double x = std::round(area.left() + line_ * area.width());
      painter.save();
      painter.setClipRect(QRectF(area.left(), area.top(), x - area.left(), area.height()));
      drawImage(painter, a_.picture, rectA);
      painter.setClipRect(QRectF(x, area.top(), area.right() - x, area.height()));
      drawImage(painter, b_.picture, rectB);
      painter.restore();
      painter.setPen(QPen(Qt::black, 4));
      painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
      painter.setPen(QPen(Qt::white, 2));
      painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(QPen(Qt::white, 1.5));
      painter.setBrush(QColor(20, 24, 30));
      painter.drawEllipse(QPointF(x, area.center().y()), px(10), px(10));
      painter.setFont(axisFont());
      painter.drawText(QRectF(x - px(10), area.center().y() - px(10), px(20), px(20)),
                       Qt::AlignCenter, QStringLiteral("\u2039\u203a"));
      drawPairMark(painter, area.topLeft().toPoint() + QPoint(px(4), px(4)), true);
      drawPairMark(painter, area.topRight().toPoint() + QPoint(-px(18), px(4)), false);
    } else {
      drawImage(painter, a_.picture, rectA);
      drawImage(painter, b_.picture, rectB);
      drawPairMark(painter, rectA.topLeft().toPoint() + QPoint(px(4), px(4)), true);
      drawPairMark(painter, rectB.topLeft().toPoint() + QPoint(px(4), px(4)), false);
    }
  }
  if (hasFocus()) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(QPen(colors.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void ImageStage::mousePressEvent(QMouseEvent* event) { mouseMoveEvent(event); }

void ImageStage::mouseMoveEvent(QMouseEvent* event) {
  if (shownView() != View::Slider || !event->buttons().testFlag(Qt::LeftButton)) return;
  const QRectF area = fitted(a_.picture.size(), stage()).united(fitted(b_.picture.size(), stage()));
  setLine((event->position().x() - area.left()) / std::max(1.0, area.width()));
  Q_EMIT lineMoved(line_);
}

void ImageStage::keyPressEvent(QKeyEvent* event) {
  const Qt::KeyboardModifiers keys = event->modifiers() & ~Qt::KeypadModifier;
  if (keys == Qt::ShiftModifier && shownView() == View::Slider &&
      (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
    setLine(line_ + (event->key() == Qt::Key_Left ? -kLineStep : kLineStep));
    Q_EMIT lineMoved(line_);
    return;
  }
  if (keys != Qt::NoModifier) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up:
      Q_EMIT stepRequested(-1);
      return;
    case Qt::Key_Right:
    case Qt::Key_Down:
      Q_EMIT stepRequested(1);
      return;
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Escape:
      Q_EMIT closed();
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

bool ImageStage::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const View view = shownView();
  const bool isRight = view != View::One && help->pos().x() > width() / 2;
  const bool isB = view == View::Flicker ? isSecond_ : isRight;
  QString words;
  if (help->pos().y() < stage().top()) {
    words = (isB ? b_ : a_).name;
  } else if (view == View::Difference && difference_.isThere &&
             help->pos().y() > height() - px(24)) {
    words = differenceWords();
  }
  QToolTip::showText(help->globalPos(), words, this);
  return true;
}

QString ImageStage::plotSummary() const {
  if (a_.picture.isNull()) return sentence_;
  QString text = tr("%1, %2 by %3 pixels")
                     .arg(a_.name, QString::number(a_.picture.width()),
                          QString::number(a_.picture.height()));
  if (b_.picture.isNull()) return text;
  text += tr("; compared with %1").arg(b_.name);
  if (difference_.isThere)
    text += tr("; mean difference %1, largest %2, PSNR %3")
                .arg(number(difference_.meanAbsolute, 3), number(difference_.largest, 2),
                     psnrText(difference_.psnr));
  return text;
}

DescribedPlot::Table ImageStage::plotTable() const {
  Table table{.columns = {tr("Image"), tr("Name"), tr("Width"), tr("Height")}};
  for (const auto& [mark, shown] : {std::pair(tr("A"), &a_), std::pair(tr("B"), &b_)}) {
    if (shown->picture.isNull()) continue;
    table.rows.push_back({mark, shown->name, QString::number(shown->picture.width()),
                          QString::number(shown->picture.height())});
  }
  return table;
}

}  // namespace vitrine::ui
