// The film of the reliability diagram and the confusion matrix.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>

#include "ui/calibration/calibration_figures.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"

namespace vitrine::ui {

namespace {

class FilmFigure final : public Figure {
 public:
  FilmFigure(FilmPicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {}

  QSize sizeHint() const override { return {760, 140}; }
  QString summary() const override {
    QStringList steps;
    for (const FilmPicture::Frame& frame : picture_.frames)
      steps << QObject::tr("step %1: %2").arg(count(frame.step), frame.ece);
    return QStringLiteral("%1; %2").arg(picture_.title, steps.join(QStringLiteral(", ")));
  }
  QString csv() const override {
    QString text = QStringLiteral("step,run,bin,lower,upper,count,confidence,accuracy\n");
    for (const FilmPicture::Frame& frame : picture_.frames) {
      for (const auto& [run, bins] : frame.lines) {
        for (std::size_t i = 0; i < bins.size(); ++i) {
          const ReliabilityBin& bin = bins[i];
          const QStringList cells{
              QString::number(frame.step),
              csvText(nameOf(run)),
              QString::number(i + 1),
              csvNumber(bin.lower),
              csvNumber(bin.upper),
              QString::number(bin.count),
              csvNumber(bin.count > 0 ? bin.confidence : std::nan("")),
              csvNumber(bin.count > 0 ? bin.accuracy : std::nan(""))};
          text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
        }
      }
    }
    return text;
  }
  int imageCount() const override { return static_cast<int>(picture_.frames.size()); }

 private:
  QString nameOf(std::int64_t run) const {
    const auto found = picture_.names.find(run);
    return found == picture_.names.end() ? QString() : found->second;
  }
  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    if (picture_.frames.empty()) return;
    constexpr double kWords = 34, kGap = 8;
    const auto frames = static_cast<double>(picture_.frames.size());
    const double side = std::clamp((body.width() - kGap * (frames - 1)) / frames, 12.0,
                                   std::max(24.0, body.height() - kWords));
    painter.setFont(axisLetters());
    for (std::size_t i = 0; i < picture_.frames.size(); ++i) {
      const QRectF frame(body.left() + static_cast<double>(i) * (side + kGap), body.top(), side,
                         side);
      drawFrame(painter, frame, i, kWords);
    }
  }

  void drawFrame(QPainter& painter, const QRectF& box, std::size_t i, double words) {
    const FilmPicture::Frame& frame = picture_.frames[i];
    const bool isShown = static_cast<int>(i) == picture_.shown;
    painter.fillRect(box, themeColors().raised);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(isShown ? QPen(themeColors().accent, 2) : QPen(themeColors().line, 1));
    painter.drawRect(box);
    const QRectF plot = box.adjusted(3, 3, -3, -3);
    painter.setPen(QPen(themeColors().muted, 1, Qt::DotLine));
    painter.drawLine(plot.bottomLeft(), plot.topRight());
    for (const auto& [run, bins] : frame.lines) {
      std::vector<QPointF> points;
      for (const ReliabilityBin& bin : bins) {
        if (bin.count > 0)
          points.emplace_back(plot.left() + bin.confidence * plot.width(),
                              plot.bottom() - bin.accuracy * plot.height());
      }
      painter.setPen(
          QPen(seriesColor(seriesOf(run), style().theme), 1.2, seriesDash(seriesOf(run))));
      drawPolyline(painter, plot, points);
    }
    const double room = box.width() + 8;
    const auto word = [&](double y, const QString& text, const QColor& color) {
      painter.setPen(color);
      drawLine(painter, QRectF(box.center().x() - room / 2, box.bottom() + y, room, 14),
               Qt::AlignCenter, text);
    };
    word(3, frame.ece, isShown ? themeColors().text : themeColors().muted);
    word(18, count(frame.step), isShown ? themeColors().text : themeColors().muted);
    const QRectF whole = box.adjusted(0, 0, 0, words);
    addRegion(
        whole,
        [text = QObject::tr("Step %1, calibration error %2").arg(count(frame.step), frame.ece)](
            const QPointF&) { return text; });
    addTarget(whole, FigureTarget{.image = static_cast<int>(i)});
  }

  FilmPicture picture_;
};

class ConfusionFigure final : public Figure {
 public:
  ConfusionFigure(ConfusionPicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {
    classes_ = static_cast<int>(picture_.names.size());
    for (int label = 0; label < classes_; ++label) {
      for (int predicted = 0; predicted < classes_; ++predicted) {
        if (label != predicted) most_ = std::max(most_, at(label, predicted));
      }
    }
  }

  QSize sizeHint() const override { return {360, 360}; }
  double leastHeight(double) const override { return 220; }
  QString summary() const override {
    std::int64_t right = 0, all = 0;
    for (int label = 0; label < classes_; ++label) {
      right += at(label, label);
      for (int predicted = 0; predicted < classes_; ++predicted) all += at(label, predicted);
    }
    return QObject::tr("%1: %2 of %3 on the diagonal; most confused: %4")
        .arg(picture_.title, count(right), count(all), worst());
  }
  QString csv() const override {
    QString text = QStringLiteral("label,predicted,count\n");
    for (int label = 0; label < classes_; ++label) {
      for (int predicted = 0; predicted < classes_; ++predicted) {
        text += QStringLiteral("%1,%2,%3\n")
                    .arg(csvText(picture_.names[label]), csvText(picture_.names[predicted]),
                         QString::number(at(label, predicted)));
      }
    }
    return text;
  }
  std::array<int, 2> cellCount() const override { return {classes_, classes_}; }

 private:
  std::int64_t at(int label, int predicted) const {
    return picture_.cells[static_cast<std::size_t>(label) * static_cast<std::size_t>(classes_) +
                          static_cast<std::size_t>(predicted)];
  }
  QString worst() const {
    for (int label = 0; label < classes_; ++label) {
      for (int predicted = 0; predicted < classes_; ++predicted) {
        if (label != predicted && most_ > 0 && at(label, predicted) == most_)
          return QObject::tr("%1 as %2, %3")
              .arg(picture_.names[label], picture_.names[predicted], count(most_));
      }
    }
    return QObject::tr("none");
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    if (classes_ == 0) return;
    painter.setFont(axisLetters());
    const QFontMetricsF metrics(painter.font());
    double longest = 0;
    for (const QString& name : picture_.names)
      longest = std::max(longest, metrics.horizontalAdvance(name));
    const double room = std::min(longest + 4, body.width() * 0.28);
    const double foot = 16;
    const double guess = std::min((body.width() - room) / classes_,
                                  (body.height() - foot - std::min(room, 60.0)) / classes_);
    const bool hasNames = guess >= 12;
    const double left = hasNames ? room + 4 : 0, above = hasNames ? std::min(room, 60.0) + 4 : 0;
    const double width = (body.width() - left) / classes_;
    const double height = (body.height() - foot - above) / classes_;
    const QPointF origin(body.left() + left, body.top() + above);
    const auto cellOf = [&](int label, int predicted) {
      return QRectF(origin.x() + predicted * width, origin.y() + label * height, width, height);
    };
    for (int label = 0; label < classes_; ++label) {
      for (int predicted = 0; predicted < classes_; ++predicted)
        drawCell(painter, cellOf(label, predicted), label, predicted, metrics);
    }
    if (hasNames) drawNames(painter, origin, width, height, room);
    painter.setPen(themeColors().muted);
    drawLine(painter, QRectF(origin.x(), body.bottom() - foot, body.width() - left, foot),
             Qt::AlignLeft | Qt::AlignVCenter, QObject::tr("columns: what the model said"));
    if (picture_.label >= 0 && picture_.label < classes_ && picture_.predicted >= 0 &&
        picture_.predicted < classes_)
      drawOutline(painter, cellOf(picture_.label, picture_.predicted));
    const QRectF cells(origin, QSizeF(width * classes_, height * classes_));
    addRegion(cells, [this, cells](const QPointF& point) {
      const auto [label, predicted] = cellAt(cells, classes_, classes_, point);
      return QObject::tr("true %1, predicted %2: %3")
          .arg(picture_.names[label], picture_.names[predicted], count(at(label, predicted)));
    });
    addTarget(cells, [this, cells](const QPointF& point) {
      return FigureTarget{.cell = cellAt(cells, classes_, classes_, point)};
    });
  }

  void drawCell(QPainter& painter, const QRectF& cell, int label, int predicted,
                const QFontMetricsF& metrics) const {
    const std::int64_t value = at(label, predicted);
    const double share = label == predicted || most_ == 0
                             ? 0
                             : std::sqrt(static_cast<double>(value) / static_cast<double>(most_));
    const QColor from = themeColors().raised, to = themeColors().accent;
    const auto mixed = [share](int a, int b) { return static_cast<int>(a + share * (b - a)); };
    const QColor fill(mixed(from.red(), to.red()), mixed(from.green(), to.green()),
                      mixed(from.blue(), to.blue()));
    const bool isLarge = cell.width() > 6;
    painter.fillRect(isLarge ? cell.adjusted(0.5, 0.5, -0.5, -0.5) : cell, fill);
    const QString text = count(value);
    if (value == 0 || metrics.horizontalAdvance(text) + 2 > cell.width() ||
        metrics.height() > cell.height() + 2)
      return;
    painter.setPen(label == predicted ? themeColors().muted : inkOn(fill));
    painter.drawText(cell, Qt::AlignCenter, text);
  }

  void drawNames(QPainter& painter, const QPointF& origin, double width, double height,
                 double room) {
    const double above = std::min(room, 60.0);
    for (int i = 0; i < classes_; ++i) {
      const QString& name = picture_.names[i];
      painter.setPen(i == picture_.label ? themeColors().text : themeColors().muted);
      drawLineWithTip(painter, QRectF(origin.x() - room - 4, origin.y() + i * height, room, height),
                      Qt::AlignRight | Qt::AlignVCenter, name);
      painter.save();
      painter.setPen(i == picture_.predicted ? themeColors().text : themeColors().muted);
      painter.translate(origin.x() + (i + 0.5) * width, origin.y() - 4);
      painter.rotate(-90);
      drawLine(painter, QRectF(0, -8, above, 16), Qt::AlignLeft | Qt::AlignVCenter, name);
      painter.restore();
      addRegion(QRectF(origin.x() + i * width, origin.y() - 4 - above, width, above),
                [name](const QPointF&) { return name; });
    }
  }

  ConfusionPicture picture_;
  int classes_ = 0;
  std::int64_t most_ = 0;  ///< off the diagonal
};

}  // namespace

std::unique_ptr<Figure> makeFilmFigure(FilmPicture picture, FigureStyle style) {
  return std::make_unique<FilmFigure>(std::move(picture), std::move(style));
}

std::unique_ptr<Figure> makeConfusionFigure(ConfusionPicture picture, FigureStyle style) {
  return std::make_unique<ConfusionFigure>(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
