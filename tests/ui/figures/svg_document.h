// The texts and lines of an SVG document, in the units of its view box.
#pragma once

#include <QByteArray>
#include <QColor>
#include <QLineF>
#include <QRectF>
#include <QStringList>
#include <QTransform>
#include <QXmlStreamReader>
#include <vector>

namespace vitrine::ui {

struct SvgDocument {
  struct Text {
    QRectF box;
    QString words;
    double letters = 0;     ///< height of the font
    bool isTurned = false;  ///< not from left to right
  };
  struct Line {
    QLineF line;  ///< one segment
    QColor color;
  };
  std::vector<Text> texts;
  std::vector<Line> lines;
  QString error;  ///< "" when the document is well formed

  [[nodiscard]] std::vector<QLineF> linesOf(const QColor& color) const {
    std::vector<QLineF> found;
    for (const Line& one : lines)
      if (one.color == color) found.push_back(one.line);
    return found;
  }
};

inline SvgDocument readSvg(const QByteArray& document) {
  struct State {
    QTransform transform;
    QColor stroke;
  };
  SvgDocument svg;
  std::vector<State> states(1);
  QXmlStreamReader reader(document);
  while (!reader.atEnd()) {
    reader.readNext();
    if (reader.isEndElement()) states.pop_back();
    if (!reader.isStartElement()) continue;
    const QXmlStreamAttributes given = reader.attributes();
    const auto numberOf = [&given](const char* name) {
      return given.value(QLatin1String(name)).toDouble();
    };
    State state = states.back();
    QString matrix = given.value(QLatin1String("transform")).toString();
    if (matrix.startsWith(QLatin1String("matrix("))) {
      const QStringList m = matrix.mid(7).chopped(1).split(QLatin1Char(','));
      state.transform =
          QTransform(m.value(0).toDouble(), m.value(1).toDouble(), m.value(2).toDouble(),
                     m.value(3).toDouble(), m.value(4).toDouble(), m.value(5).toDouble()) *
          state.transform;
    }
    if (given.hasAttribute(QLatin1String("stroke")))
      state.stroke = QColor(given.value(QLatin1String("stroke")).toString());
    if (reader.name() == QLatin1String("polyline")) {
      const QStringList points = given.value(QLatin1String("points"))
                                     .toString()
                                     .split(QLatin1Char(' '), Qt::SkipEmptyParts);
      const auto pointAt = [&](qsizetype i) {
        const QStringList xy = points[i].split(QLatin1Char(','));
        return state.transform.map(QPointF(xy.value(0).toDouble(), xy.value(1).toDouble()));
      };
      for (qsizetype i = 1; i < points.size(); ++i)
        svg.lines.push_back({QLineF(pointAt(i - 1), pointAt(i)), state.stroke});
    }
    if (reader.name() == QLatin1String("text")) {
      const double high = numberOf("font-size");
      const QRectF box(numberOf("x"), numberOf("y") - 0.75 * high, numberOf("textLength"), high);
      svg.texts.push_back({state.transform.mapRect(box), reader.readElementText(),
                           high * state.transform.m22(), state.transform.isRotating()});
      continue;
    }
    states.push_back(state);
  }
  if (reader.hasError()) svg.error = reader.errorString();
  return svg;
}

}  // namespace vitrine::ui
