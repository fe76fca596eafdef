#include "ui/kit/icons.h"

#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPolygonF>

#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

struct Drawing {
  QPainterPath lines;
  QPainterPath filled;
};

void polyline(QPainterPath& path, const QList<QPointF>& points) { path.addPolygon(points); }

// In a box of 16 x 16.
Drawing drawingOf(Icon name) {
  Drawing d;
  switch (name) {
    case Icon::Plus:
      polyline(d.lines, {{8, 3}, {8, 13}});
      polyline(d.lines, {{3, 8}, {13, 8}});
      break;
    case Icon::More:
      for (const double x : {4.0, 8.5}) polyline(d.lines, {{x, 4}, {x + 4, 8}, {x, 12}});
      break;
    case Icon::Play:
      polyline(d.filled, {{4.5, 3}, {13, 8}, {4.5, 13}, {4.5, 3}});
      break;
    case Icon::Stop:
      d.filled.addRoundedRect(3.5, 3.5, 9, 9, 1, 1);
      break;
    case Icon::Search:
      d.lines.addEllipse(QPointF(7, 7), 4, 4);
      polyline(d.lines, {{10, 10}, {13.5, 13.5}});
      break;
    case Icon::Copy:
      d.lines.addRoundedRect(5.5, 5.5, 8, 8, 1.5, 1.5);
      polyline(d.lines, {{10.5, 3}, {4, 3}});
      d.lines.quadTo(2.5, 3, 2.5, 4.5);
      d.lines.lineTo(2.5, 10.5);
      break;
    case Icon::Panel:
      d.lines.addRoundedRect(2, 3, 12, 10, 1.5, 1.5);
      polyline(d.lines, {{10, 3}, {10, 13}});
      break;
    case Icon::Close:
      polyline(d.lines, {{4, 4}, {12, 12}});
      polyline(d.lines, {{12, 4}, {4, 12}});
      break;
    case Icon::Follow:
      d.lines.addEllipse(QPointF(8, 8), 5.5, 5.5);
      d.filled.addEllipse(QPointF(8, 8), 2.5, 2.5);
      break;
    case Icon::Fit:
      for (const int sx : {1, -1}) {
        for (const int sy : {1, -1})
          polyline(d.lines, {{8 + sx * 2.5, 8 + sy * 5.5},
                             {8 + sx * 5.5, 8 + sy * 5.5},
                             {8 + sx * 5.5, 8 + sy * 2.5}});
      }
      break;
    case Icon::Trash:
      polyline(d.lines, {{2.5, 4}, {13.5, 4}});
      polyline(d.lines, {{4, 4}, {4.8, 13.5}, {11.2, 13.5}, {12, 4}});
      polyline(d.lines, {{6, 2}, {10, 2}});
      break;
    case Icon::Folder:
      polyline(d.lines, {{2, 12.5}, {2, 3.5}, {6, 3.5}, {7.5, 5.5}, {14, 5.5}, {14, 12.5}});
      d.lines.closeSubpath();
      break;
    case Icon::Refresh:
      d.lines.arcMoveTo(QRectF(3, 3, 10, 10), 60);
      d.lines.arcTo(QRectF(3, 3, 10, 10), 60, 290);
      polyline(d.lines, {{10.2, 1.2}, {10.5, 3.7}, {8, 4.2}});
      break;
    case Icon::Moon:
      d.lines.addEllipse(QPointF(8, 8), 5.5, 5.5);
      d.filled.moveTo(8, 2.5);
      d.filled.arcTo(QRectF(2.5, 2.5, 11, 11), 90, 180);
      d.filled.closeSubpath();
      break;
    case Icon::Remove:
      polyline(d.lines, {{3, 8}, {13, 8}});
      break;
    case Icon::Pause:
      d.filled.addRect(QRectF(4, 3.5, 2.8, 9));
      d.filled.addRect(QRectF(9.2, 3.5, 2.8, 9));
      break;
    case Icon::Front:
      polyline(d.lines, {{3, 2.5}, {13, 2.5}});
      polyline(d.lines, {{8, 5.5}, {8, 13.5}});
      polyline(d.lines, {{4.5, 9}, {8, 5.5}, {11.5, 9}});
      break;
    case Icon::Clock:
      d.lines.addEllipse(QPointF(8, 8), 5.5, 5.5);
      polyline(d.lines, {{8, 4.8}, {8, 8}, {10.4, 9.4}});
      break;
    case Icon::Eye:
    case Icon::EyeOff:
      d.lines.moveTo(1.5, 8);
      d.lines.quadTo(8, 0, 14.5, 8);
      d.lines.quadTo(8, 16, 1.5, 8);
      d.filled.addEllipse(QPointF(8, 8), 2.2, 2.2);
      if (name == Icon::EyeOff) polyline(d.lines, {{3, 13.5}, {13, 2.5}});
      break;
    case Icon::Bookmark:
      polyline(d.lines, {{4.5, 13.5}, {4.5, 2.5}, {11.5, 2.5}, {11.5, 13.5}, {8, 10.5}});
      d.lines.closeSubpath();
      break;
  }
  return d;
}

class LineIcon final : public QIconEngine {
 public:
  LineIcon(Icon name, IconTint tint) : name_(name), tint_(tint) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    const ThemeColors& t = themeColors();
    QColor color = tint_ == IconTint::OnAccent ? t.onAccent
                   : tint_ == IconTint::Bad    ? t.bad
                   : tint_ == IconTint::Muted  ? t.muted
                                               : t.text;
    if (mode == QIcon::Disabled) color = t.muted;
    const Drawing drawing = drawingOf(name_);
    const double scale = std::min(rect.width(), rect.height()) / 16.0;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->translate(rect.x() + (rect.width() - 16 * scale) / 2,
                       rect.y() + (rect.height() - 16 * scale) / 2);
    painter->scale(scale, scale);
    painter->setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->drawPath(drawing.lines);
    painter->fillPath(drawing.filled, color);
    painter->restore();
  }

  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    return scaledPixmap(size, mode, state, 1);
  }

  // Not cached by key: the colour of the theme may have changed since.
  QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override {
    if (size.isEmpty()) return {};  // of a button that has no room
    QPixmap picture(size);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return picture;
  }

  QIconEngine* clone() const override { return new LineIcon(*this); }

 private:
  Icon name_;
  IconTint tint_;
};

}  // namespace

QIcon icon(Icon name, IconTint tint) { return QIcon(new LineIcon(name, tint)); }

void drawRunMark(QPainter& painter, const QRectF& square, std::int64_t run, const QColor& color) {
  const bool isSolid = seriesDash(run) == Qt::SolidLine;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(isSolid ? QPen(Qt::NoPen) : QPen(color, 2));
  painter.setBrush(isSolid ? QBrush(color) : QBrush(Qt::NoBrush));
  painter.drawRoundedRect(square, 2, 2);
  painter.restore();
}

int writeLine(QPainter& painter, const QFont& font, const QColor& color, const QRect& rect,
              Qt::Alignment side, const QString& text, Qt::TextElideMode cut) {
  painter.setFont(font);
  painter.setPen(color);
  const QFontMetrics metrics = painter.fontMetrics();
  painter.drawText(rect, static_cast<int>(side | Qt::AlignVCenter),
                   metrics.elidedText(text, cut, rect.width()));
  return metrics.horizontalAdvance(text) + 1;
}

void drawProgress(QPainter& painter, const QRect& track, double share, const QColor& ground) {
  painter.fillRect(track, ground);
  painter.fillRect(QRect(track.topLeft(), QSize(qRound(track.width() * share), track.height())),
                   themeColors().accent);
}

void drawRowFocus(QPainter& painter, const QRect& row) {
  painter.setPen(QPen(themeColors().accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(row.adjusted(0, 0, -1, -1));
}

}  // namespace vitrine::ui
