#include "ui/figures/chart_marks.h"

#include <QFontMetricsF>
#include <QPen>
#include <QPolygonF>
#include <algorithm>

#include "ui/kit/theme.h"

namespace vitrine::ui {

void drawSymbol(QPainter& painter, ChartSymbol symbol, const QPointF& at, const QColor& color,
                const QColor& paper, double radius) {
  const double r = radius;
  painter.setPen(QPen(paper, 0.7));
  painter.setBrush(color);
  switch (symbol) {
    case ChartSymbol::Disc:
      painter.drawEllipse(at, r, r);
      break;
    case ChartSymbol::Square:
      painter.drawRect(QRectF(at.x() - 0.9 * r, at.y() - 0.9 * r, 1.8 * r, 1.8 * r));
      break;
    case ChartSymbol::Triangle:
      painter.drawPolygon(QPolygonF({{at.x(), at.y() - 1.2 * r},
                                     {at.x() + 1.1 * r, at.y() + 0.8 * r},
                                     {at.x() - 1.1 * r, at.y() + 0.8 * r}}));
      break;
    case ChartSymbol::Diamond:
      painter.drawPolygon(QPolygonF({{at.x(), at.y() - 1.3 * r},
                                     {at.x() + 1.1 * r, at.y()},
                                     {at.x(), at.y() + 1.3 * r},
                                     {at.x() - 1.1 * r, at.y()}}));
      break;
    case ChartSymbol::Ring:
      painter.setPen(QPen(color, 1.4));
      painter.setBrush(paper);
      painter.drawEllipse(at, 0.85 * r, 0.85 * r);
      break;
    case ChartSymbol::Plus:
      painter.setPen(QPen(color, 1.6));
      painter.drawLine(at - QPointF(1.1 * r, 0), at + QPointF(1.1 * r, 0));
      painter.drawLine(at - QPointF(0, 1.1 * r), at + QPointF(0, 1.1 * r));
      break;
    case ChartSymbol::Cross:
      painter.setPen(QPen(color, 1.6));
      painter.drawLine(at - QPointF(0.9 * r, 0.9 * r), at + QPointF(0.9 * r, 0.9 * r));
      painter.drawLine(at - QPointF(0.9 * r, -0.9 * r), at + QPointF(0.9 * r, -0.9 * r));
      break;
  }
}

void drawMark(QPainter& painter, ChartMark mark, const QRectF& plot, double x, const QColor& color,
              double size) {
  if (mark == ChartMark::NotANumber) {
    const QPointF at(x, plot.bottom() - size), down(size, size), up(size, -size);
    painter.setPen(QPen(color, 0.4 * size));
    painter.drawLine(at - down, at + down);
    painter.drawLine(at - up, at + up);
    return;
  }
  const bool isUp = mark == ChartMark::Above;
  const QPointF tip(x, isUp ? plot.top() : plot.bottom());
  const double back = isUp ? 1.5 * size : -1.5 * size;
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF({tip, tip + QPointF(size, back), tip + QPointF(-size, back)}));
}

void drawSegmentStart(QPainter& painter, const QRectF& plot, double x, const QColor& color,
                      double height) {
  painter.setPen(QPen(color, 1, Qt::DotLine));
  painter.drawLine(QPointF(x, plot.bottom() - height), QPointF(x, plot.bottom()));
}

QRectF noteBox(const QRectF& plot, double x, double top, const QSizeF& size) {
  const double width = std::min(size.width(), plot.width());
  double left = x + width > plot.right() ? x - width - 2 : x + 2;
  if (left < plot.left()) left = plot.right() - width;  // too long for either side
  return {QPointF(left, top), QSizeF(width, size.height())};
}

double noteTop(const QRectF& plot, int number, double height) {
  constexpr int kRows = 4;
  return plot.top() + (number % kRows) * (height + 2);
}

void drawNoteWords(QPainter& painter, const QRectF& box, const QString& text,
                   const ThemeColors& colors) {
  QColor paper = colors.panel;
  paper.setAlpha(215);
  painter.fillRect(box, paper);
  painter.setPen(colors.text);
  const QRectF inside = box.adjusted(3, 0, -3, 0);
  painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(painter.font()).elidedText(text, Qt::ElideRight, inside.width()));
}

}  // namespace vitrine::ui
