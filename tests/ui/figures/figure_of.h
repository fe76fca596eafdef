// Figures of the samples, and what they say where.
#pragma once

#include <QColor>
#include <QRect>
#include <QSize>
#include <cstdlib>
#include <memory>

#include "tests/ui/figures/samples.h"
#include "ui/figures/figure.h"

namespace vitrine::ui {

inline constexpr QSize kSize(600, 420);

inline std::unique_ptr<Figure> figureOf(const Artifact& artifact, const FigureStyle& style = {}) {
  return makeFigure(QString::fromStdString(artifact.kind), artifact.meta, artifact.data, style);
}

/// Where describeAt() says `text`; the smallest rectangle around those points.
inline QRect where(const Figure& figure, const QString& text) {
  QRect found;
  for (int y = 0; y < kSize.height(); ++y) {
    for (int x = 0; x < kSize.width(); ++x) {
      if (figure.describeAt(QPointF(x + 0.5, y + 0.5)).contains(text))
        found = found.united(QRect(x, y, 1, 1));
    }
  }
  return found;
}

/// Of two colours: the sum over their channels.
inline int distance(const QColor& a, const QColor& b) {
  return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) +
         std::abs(a.blue() - b.blue());
}

}  // namespace vitrine::ui
