#include "ui/calibration/sample_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QObject>
#include <QPainter>
#include <QScrollArea>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kThumb = 56, kCellWidth = 66, kCellHeight = kThumb + 3 * 15 + 10;

QString sampleSentence(const SampleStrip::Entry& entry) {
  if (!entry.target.isEmpty()) {
    return SampleStrip::tr("Image %1: true %2, predicted %3, probability of %4 %5")
        .arg(entry.id)
        .arg(entry.label, entry.predicted, entry.target, percent(entry.confidence, 0));
  }
  const QString sentence = entry.isRight
                               ? SampleStrip::tr("Image %1: true %2, predicted %3 (%4), right")
                               : SampleStrip::tr("Image %1: true %2, predicted %3 (%4), wrong");
  return sentence.arg(entry.id).arg(entry.label, entry.predicted, percent(entry.confidence, 0));
}

class SampleFigure final : public Figure {
 public:
  SampleFigure(SamplePicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {}
  QSize sizeHint() const override { return {280, 180}; }
  QString summary() const override {
    QStringList shares;
    for (const ClassShare& share : picture_.shares)
      shares << picture_.names.value(share.label) + QLatin1Char(' ') + number(share.probability, 3);
    return QStringLiteral("%1, %2; %3")
        .arg(picture_.title, picture_.about, shares.join(QStringLiteral(", ")));
  }
  QString csv() const override {
    QString text = QStringLiteral("class,probability,is_label\n");
    for (const ClassShare& share : picture_.shares) {
      text += QStringLiteral("%1,%2,%3\n")
                  .arg(csvText(picture_.names.value(share.label)), csvNumber(share.probability),
                       QString::number(share.label == picture_.label ? 1 : 0));
    }
    return text;
  }

 private:
  static constexpr double kBeside = 12;  ///< between the picture and the names
  static constexpr double kNumber = 46;  ///< of a probability, next to its name

  /// With the mark of the true class, or of a wrong answer.
  QString nameOf(const ClassShare& share) const {
    const QString sign = share.label == picture_.label       ? QStringLiteral("\u2713 ")
                         : share.label == picture_.predicted ? QStringLiteral("\u00d7 ")
                                                             : QString();
    return sign + picture_.names.value(share.label);
  }
  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    addRegion(QRectF(area.topLeft(), body.topRight()),
              [whole = picture_.title + QStringLiteral(", ") + picture_.about](const QPointF&) {
                return whole;
              });
    // The picture leaves the names the room that they need, within limits.
    double names = 0;
    for (const ClassShare& share : picture_.shares)
      names = std::max(names, QFontMetricsF(smallLetters()).horizontalAdvance(nameOf(share)));
    const double most = std::min({body.height(), 160.0,
                                  std::clamp(body.width() - kBeside - kNumber - std::ceil(names),
                                             body.width() * 0.25, body.width() * 0.42)});
    QRectF frame(body.left(), body.top(), most, most);
    if (picture_.picture.isNull()) {
      painter.fillRect(frame, themeColors().raised);
      painter.setFont(axisLetters());
      painter.setPen(themeColors().muted);
      painter.drawText(frame, Qt::AlignCenter | Qt::TextWordWrap, QObject::tr("no image"));
    } else {
      // Whole multiples, so that every pixel is as large as the others.
      const QSizeF size = picture_.picture.size();
      const double fit = std::min(most / size.width(), most / size.height());
      frame.setSize(size * (fit >= 1 ? std::floor(fit) : fit));
      drawPixels(painter, frame, picture_.picture);
    }
    painter.setFont(smallLetters());
    const double left = frame.right() + kBeside, width = body.right() - left;
    if (width < 70) return;
    double y = body.top();
    for (const ClassShare& share : picture_.shares) {
      if (y + 30 > body.bottom()) break;
      const bool isLabel = share.label == picture_.label;
      const bool isWrong = share.label == picture_.predicted && !isLabel;
      const QColor color = isLabel   ? themeColors().ok
                           : isWrong ? themeColors().bad
                                     : themeColors().muted;
      painter.setPen(isLabel || isWrong ? color : themeColors().text);
      drawLineWithTip(painter, QRectF(left, y, width - kNumber, 16),
                      Qt::AlignLeft | Qt::AlignVCenter, nameOf(share));
      painter.setPen(themeColors().text);
      drawLine(painter, QRectF(left + width - kNumber + 2, y, kNumber - 2, 16),
               Qt::AlignRight | Qt::AlignVCenter, number(share.probability, 3));
      painter.fillRect(QRectF(left, y + 18, width, 5), themeColors().grid);
      painter.fillRect(QRectF(left, y + 18, width * std::clamp(share.probability, 0.0, 1.0), 5),
                       color);
      y += 29;
    }
  }

  SamplePicture picture_;
};

}  // namespace

SampleStrip::SampleStrip(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Images"));
  makeRoom();
}

void SampleStrip::setEntries(std::vector<Entry> entries) {
  entries_ = std::move(entries);
  current_ = -1;
  makeRoom();
  update();
}

void SampleStrip::setPicture(std::int64_t id, const QImage& picture) {
  for (Entry& entry : entries_) {
    if (entry.id == id) entry.picture = picture;
  }
  update();
}

void SampleStrip::setCurrent(int index) {
  index = std::clamp(index, -1, static_cast<int>(entries_.size()) - 1);
  if (index == current_) return;
  current_ = index;
  if (index >= 0) {
    for (QWidget* above = parentWidget(); above != nullptr; above = above->parentWidget()) {
      if (auto* area = qobject_cast<QScrollArea*>(above)) {
        const QPoint middle = mapTo(area->widget(), cellOf(index).center());
        area->ensureVisible(middle.x(), middle.y(), px(kCellWidth), px(kCellHeight) / 2);
        break;
      }
    }
  }
  update();
  Q_EMIT currentChanged(index);
}

int SampleStrip::across() const { return std::max(1, width() / px(kCellWidth)); }

QRect SampleStrip::cellOf(int index) const {
  return {(index % across()) * px(kCellWidth), (index / across()) * px(kCellHeight), px(kCellWidth),
          px(kCellHeight)};
}

void SampleStrip::makeRoom() {
  const int rows = (static_cast<int>(entries_.size()) + across() - 1) / across();
  setMinimumSize(px(kCellWidth), std::max(1, rows) * px(kCellHeight));
}

void SampleStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  makeRoom();
}

QSize SampleStrip::sizeHint() const { return {px(6 * kCellWidth), minimumHeight()}; }

QString SampleStrip::plotSummary() const {
  return entries_.empty() ? tr("No images")
                          : counted(std::ssize(entries_), tr("image"), tr("images"));
}

DescribedPlot::Table SampleStrip::plotTable() const {
  Table table;
  const QString target = entries_.empty() ? QString() : entries_.front().target;
  table.columns = {tr("image"), tr("true"), tr("predicted"),
                   target.isEmpty() ? tr("confidence") : tr("probability of %1").arg(target),
                   target.isEmpty() ? tr("right") : tr("is %1").arg(target)};
  for (const Entry& entry : entries_) {
    table.rows.push_back({QString::number(entry.id), entry.label, entry.predicted,
                          number(entry.confidence, 3), entry.isRight ? tr("yes") : tr("no")});
  }
  return table;
}

void SampleStrip::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::SmoothPixmapTransform);
  painter.setFont(axisFont());
  const ThemeColors& colors = themeColors();
  for (int i = 0; i < static_cast<int>(entries_.size()); ++i) {
    const QRect cell = cellOf(i);
    if (!cell.intersects(event->rect())) continue;
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    const QRect thumb(cell.left() + px(4), cell.top() + px(4), px(kThumb), px(kThumb));
    if (entry.picture.isNull()) {
      painter.fillRect(thumb, colors.raised);
      painter.setPen(colors.muted);
      painter.drawText(thumb, Qt::AlignCenter, QString::number(entry.id));
    } else {
      const QSize size = entry.picture.size().scaled(thumb.size(), Qt::KeepAspectRatio);
      QRect place({0, 0}, size);
      place.moveCenter(thumb.center());
      painter.drawImage(place, entry.picture);
    }
    if (i == current_) {
      painter.setPen(QPen(colors.accent, px(2)));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(thumb.adjusted(-px(2), -px(2), px(1), px(1)));
    }
    int y = thumb.bottom() + px(4);
    const auto line = [&](const QString& text, const QColor& color) {
      painter.setPen(color);
      const QRect place(cell.left() + px(4), y, cell.width() - px(6), px(15));
      painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter,
                       painter.fontMetrics().elidedText(text, Qt::ElideRight, place.width()));
      y += px(15);
    };
    line(entry.label, colors.text);
    if (entry.target.isEmpty())
      line(
          (entry.isRight ? QStringLiteral("\u2713 ") : QStringLiteral("\u00d7 ")) + entry.predicted,
          entry.isRight ? colors.ok : colors.bad);
    else
      line((entry.isRight ? tr("is %1") : tr("not %1")).arg(entry.target),
           entry.isRight ? colors.ok : colors.muted);
    line(number(entry.confidence, 3), colors.muted);
  }
  if (hasFocus() && !entries_.empty()) {
    painter.setPen(QPen(colors.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void SampleStrip::mousePressEvent(QMouseEvent* event) {
  for (int i = 0; i < static_cast<int>(entries_.size()); ++i) {
    if (cellOf(i).contains(event->position().toPoint())) return setCurrent(i);
  }
  QWidget::mousePressEvent(event);
}

void SampleStrip::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(entries_.size()) - 1;
  const auto go = [&](int to) { setCurrent(std::clamp(to, 0, last)); };
  if (last >= 0 && (event->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier) {
    switch (event->key()) {
      case Qt::Key_Left:
        return go(current_ - 1);
      case Qt::Key_Right:
        return go(current_ + 1);
      case Qt::Key_Up:
        return go(current_ - across());
      case Qt::Key_Down:
        return go(current_ < 0 ? 0 : current_ + across());
      case Qt::Key_Home:
        return go(0);
      case Qt::Key_End:
        return go(last);
      default:
        break;
    }
  }
  QWidget::keyPressEvent(event);
}

bool SampleStrip::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QString text;
    for (int i = 0; i < static_cast<int>(entries_.size()); ++i)
      if (cellOf(i).contains(help->pos()))
        text = sampleSentence(entries_[static_cast<std::size_t>(i)]);
    QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  return QWidget::event(event);
}

std::unique_ptr<Figure> makeSampleFigure(SamplePicture picture, FigureStyle style) {
  return std::make_unique<SampleFigure>(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
