// Waterfalls of singular values over training, and the controls of a claim about ranks.
#include <QFontMetricsF>
#include <QImage>
#include <QObject>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/figures/chart_frame.h"
#include "ui/figures/chart_marks.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/spectra/spectra_figures.h"

namespace vitrine::ui {

namespace {

constexpr double kDecades = 1e-4;  // of the largest value: the darkest colour

/// There is no step and no singular value between two.
bool isWhole(double tick) { return tick == std::round(tick); }

class WaterfallFigure final : public Figure {
 public:
  WaterfallFigure(WaterfallPicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {
    for (const WaterfallPicture::Run& run : picture_.runs) {
      double low = std::numeric_limits<double>::infinity(), high = 0;
      for (const HeadSpectrum& column : run.columns) {
        for (const float value : column.values) {
          if (!(value > 0) || !std::isfinite(value)) continue;
          low = std::min<double>(low, value);
          high = std::max<double>(high, value);
        }
      }
      scales_.push_back(picture_.isSameScale || !(high > 0) ? 1 : 1 / high);
      low_ = std::min(low_, low * scales_.back());
      high_ = std::max(high_, high * scales_.back());
      last_ = std::max({last_, run.totalSteps, run.steps.empty() ? 0 : run.steps.back()});
    }
    if (!(high_ > 0)) high_ = 1;
    low_ = std::clamp(low_, high_ * kDecades, high_ * 0.5);
  }

  QSize sizeHint() const override { return {480, 340}; }
  double leastHeight(double) const override {
    return 60 + 90 * static_cast<double>(std::max<std::size_t>(1, picture_.runs.size()));
  }
  std::optional<std::array<double, 2>> valueRange() const override { return {{low_, high_}}; }

  QString summary() const override {
    QStringList runs;
    for (const WaterfallPicture::Run& run : picture_.runs) {
      if (run.columns.empty()) continue;
      runs << QObject::tr("%1, %2: rank %3 at step %4, %5 at step %6")
                  .arg(run.name, run.state, rankText(run.columns.front()), count(run.steps.front()),
                       rankText(run.columns.back()), count(run.steps.back()));
    }
    return QObject::tr("%1, %2, singular values from %3 to %4; %5")
        .arg(picture_.title, picture_.about, shortNumber(low_), shortNumber(high_),
             runs.join(QStringLiteral("; ")));
  }
  QString csv() const override {
    QString text = QStringLiteral("run,step,index,singular_value,share\n");
    for (const WaterfallPicture::Run& run : picture_.runs) {
      for (std::size_t i = 0; i < run.steps.size(); ++i) {
        const HeadSpectrum& column = run.columns[i];
        for (std::size_t k = 0; k < column.values.size(); ++k) {
          text += QStringLiteral("%1,%2,%3,%4,%5\n")
                      .arg(csvText(run.name), QString::number(run.steps[i]),
                           QString::number(k + 1), csvNumber(column.values[k]),
                           csvNumber(column.shares[k]));
        }
      }
    }
    return text;
  }

 private:
  QString rankText(const HeadSpectrum& column) const {
    const double rank = rankAt(column.shares, picture_.threshold);
    return std::isnan(rank) ? QStringLiteral("\u2013") : number(rank, 0);
  }
  double unit(double value) const {
    return std::clamp(std::log(std::max(value, low_) / low_) / std::log(high_ / low_), 0.0, 1.0);
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    if (picture_.runs.empty()) return;
    constexpr double kBar = 58, kName = 18, kAxis = 18, kFoot = 16;
    const auto runs = static_cast<double>(picture_.runs.size());
    const double height = (body.height() - kAxis - kFoot - runs * kName) / runs;
    const double left = body.left() + 26, right = body.right() - kBar;
    painter.setFont(axisLetters());
    double top = body.top();
    for (std::size_t i = 0; i < picture_.runs.size(); ++i) {
      drawName(painter, QRectF(left, top, right - left, kName), picture_.runs[i]);
      top += kName;
      drawRun(painter, QRectF(left, top, right - left, std::max(20.0, height - 4)), i);
      top += height;
    }
    drawSteps(painter, QRectF(left, top - 2, right - left, kAxis));
    painter.setPen(QPen(Qt::white, 2));
    const double foot = body.bottom() - kFoot / 2;
    painter.fillRect(QRectF(left, foot - 6, 22, 12), mapColor(0.2));
    painter.drawLine(QPointF(left + 2, foot), QPointF(left + 20, foot));
    painter.setPen(themeColors().muted);
    drawLine(painter, QRectF(left + 28, foot - 8, right - left - 28, 16),
             Qt::AlignLeft | Qt::AlignVCenter,
             QObject::tr("rank at %1").arg(percent(picture_.threshold, 0)));
    drawBar(painter,
            QRectF(right + 10, body.top() + kName, 9, body.height() - kName - kAxis - kFoot - 4));
  }

  void drawName(QPainter& painter, const QRectF& line, const WaterfallPicture::Run& run) {
    painter.fillRect(QRectF(line.left(), line.center().y() - 4, 8, 8),
                     seriesColor(seriesOf(run.run), style().theme));
    painter.setPen(themeColors().text);
    drawLineWithTip(painter, line.adjusted(14, 0, -line.width() * 0.35, 0),
                    Qt::AlignLeft | Qt::AlignVCenter, run.name);
    painter.setPen(themeColors().muted);
    drawLineWithTip(painter, line.adjusted(line.width() * 0.66, 0, 0, 0),
                    Qt::AlignRight | Qt::AlignVCenter, run.state);
  }

  double xOf(const QRectF& box, double step) const {
    return box.left() + box.width() * step / static_cast<double>(std::max<std::int64_t>(1, last_));
  }

  void drawRun(QPainter& painter, const QRectF& box, std::size_t index) {
    const WaterfallPicture::Run& run = picture_.runs[index];
    painter.fillRect(box, themeColors().raised);
    std::size_t size = 1;
    for (const HeadSpectrum& column : run.columns) size = std::max(size, column.values.size());
    const auto rows = static_cast<double>(size);
    const auto yOf = [&](double rank) { return box.bottom() - box.height() * rank / rows; };
    std::vector<QPointF> ranks;
    for (std::size_t i = 0; i < run.columns.size(); ++i) {
      // Each column reaches half way to its neighbours; one without any is seen, too.
      const auto step = static_cast<double>(run.steps[i]);
      const double alone = static_cast<double>(std::max<std::int64_t>(1, last_)) / 40;
      const double before = i > 0 ? (step - static_cast<double>(run.steps[i - 1])) / 2
                            : run.steps.size() > 1 ? 0
                                                   : std::min(step, alone);
      const double after = i + 1 < run.steps.size()
                               ? (static_cast<double>(run.steps[i + 1]) - step) / 2
                           : i > 0 ? before
                                   : alone;
      const double left = std::min(xOf(box, step - before), box.right() - 2);
      // The next column covers a pixel of this one: no seam is left between two that are rounded.
      const double right = std::min(box.right(), std::max(xOf(box, step + after), left) + 1);
      const HeadSpectrum& column = run.columns[i];
      const auto values = static_cast<int>(column.values.size());
      drawCells(painter, QRectF(QPointF(left, yOf(values)), QPointF(right, box.bottom())), values,
                1, [&](int row, int) {
                  return mapColor(unit(scales_[index] *
                                       column.values[static_cast<std::size_t>(values - 1 - row)]));
                });
      const double rank = rankAt(column.shares, picture_.threshold);
      ranks.emplace_back(xOf(box, step), std::isnan(rank) ? std::nan("") : yOf(rank));
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(Qt::black, 3));
    drawPolyline(painter, box, ranks);
    painter.setPen(QPen(Qt::white, 1.6));
    drawPolyline(painter, box, ranks);
    if (picture_.shown >= 0) {
      const double x = xOf(box, static_cast<double>(picture_.shown));
      painter.setPen(QPen(themeColors().accent, 2));
      painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
    }
    painter.setPen(themeColors().muted);
    // The first and the last index, and what has room between them.
    constexpr double kLine = 14;
    std::vector<double> labels{1};
    const auto hasRoom = [&](double tick) {
      return std::none_of(labels.begin(), labels.end(),
                          [&](double other) { return std::abs(yOf(tick) - yOf(other)) < kLine; });
    };
    if (hasRoom(rows)) labels.push_back(rows);
    for (const double tick : niceTicks(1, rows, box.height() > 60 ? 3 : 2).values)
      if (tick >= 1 && isWhole(tick) && hasRoom(tick)) labels.push_back(tick);
    for (const double label : labels)
      painter.drawText(QRectF(box.left() - 30, yOf(label) - kLine / 2, 26, kLine),
                       Qt::AlignRight | Qt::AlignVCenter, number(label, 0));
    addRegion(box, [this, index, box, size](const QPointF& point) {
      return describe(index, box, size, point);
    });
    addTarget(box, [box, index](const QPointF& point) {
      return FigureTarget{.image = static_cast<int>(index),
                          .queryAt = {{(box.bottom() - point.y()) / box.height(),
                                       (point.x() - box.left()) / box.width()}}};
    });
  }

  QString describe(std::size_t index, const QRectF& box, std::size_t size,
                   const QPointF& point) const {
    const WaterfallPicture::Run& run = picture_.runs[index];
    const double step = (point.x() - box.left()) / box.width() *
                        static_cast<double>(std::max<std::int64_t>(1, last_));
    if (run.steps.empty()) return {};
    const auto away = [&](std::size_t i) {
      return std::abs(static_cast<double>(run.steps[i]) - step);
    };
    std::size_t at = 0;
    for (std::size_t i = 1; i < run.steps.size(); ++i) {
      if (away(i) < away(at)) at = i;
    }
    const HeadSpectrum& column = run.columns[at];
    const auto k = static_cast<std::size_t>(
        std::clamp((box.bottom() - point.y()) / box.height() * static_cast<double>(size), 0.0,
                   static_cast<double>(size - 1)));
    QString text =
        QObject::tr("%1, step %2: rank %3").arg(run.name, count(run.steps[at]), rankText(column));
    if (k < column.values.size())
      text += QObject::tr("\n\u03c3 %1 of k = %2").arg(shortNumber(column.values[k])).arg(k + 1);
    return text;
  }

  void drawSteps(QPainter& painter, const QRectF& line) const {
    painter.setPen(themeColors().muted);
    const double last = static_cast<double>(std::max<std::int64_t>(1, last_));
    const auto ticks = niceTicks(0, last, std::max(2, static_cast<int>(line.width() / 90))).values;
    for (const double tick : ticks) {
      if (!isWhole(tick)) continue;
      const double x = line.left() + line.width() * tick / last;
      painter.drawText(QRectF(x - 40, line.top(), 80, line.height()), Qt::AlignCenter,
                       number(tick, 0));
    }
  }

  void drawBar(QPainter& painter, const QRectF& bar) const {
    const int cells = std::clamp(static_cast<int>(bar.height() / 2), 8, 128);
    drawCells(painter, bar, cells, 1,
              [cells](int row, int) { return viridis(1 - (row + 0.5) / cells); });
    painter.setPen(themeColors().muted);
    const double top = std::floor(std::log10(high_)), bottom = std::ceil(std::log10(low_));
    for (double power = bottom; power <= top; ++power) {
      const double value = std::pow(10, power);
      const double y = bar.bottom() - bar.height() * unit(value);
      drawLine(painter, QRectF(bar.right() + 4, y - 7, 42, 14), Qt::AlignLeft | Qt::AlignVCenter,
               shortNumber(value));
    }
    drawLine(
        painter, QRectF(bar.left(), bar.top() - 18, 30, 14), Qt::AlignLeft,
        picture_.isSameScale ? QStringLiteral("\u03c3") : QStringLiteral("\u03c3/\u03c3\u2081"));
  }

  WaterfallPicture picture_;
  std::vector<double> scales_;  ///< of each run's values before they are coloured
  double low_ = 1e300, high_ = 0;
  std::int64_t last_ = 0;
};

class ControlsFigure final : public Figure {
 public:
  ControlsFigure(ControlsPicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {
    for (const ControlsPicture::Row& row : picture_.rows) {
      if (std::isfinite(row.rank.mean)) most_ = std::max(most_, row.rank.mean + row.rank.deviation);
    }
  }
  QSize sizeHint() const override { return {320, 340}; }
  double leastHeight(double width) const override {
    return 90 + 30 * static_cast<double>(picture_.rows.size()) + claimsHeight(width);
  }
  QString summary() const override {
    QStringList rows;
    for (const ControlsPicture::Row& row : picture_.rows)
      rows << QStringLiteral("%1: %2").arg(row.name, valueText(row));
    for (const ClaimRow& row : picture_.claims) {
      rows << QStringLiteral("%1, %2: %3")
                  .arg(QString::fromStdString(row.claim.name), verdictWords(row.judgement.verdict),
                       evidenceText(row));
    }
    return QStringLiteral("%1, %2; %3")
        .arg(picture_.title, picture_.about, rows.join(QStringLiteral("; ")));
  }
  QString csv() const override {
    QString text = QStringLiteral("run,differs,untrained,rank,deviation_over_heads,heads\n");
    for (const ControlsPicture::Row& row : picture_.rows) {
      text += QStringLiteral("%1,%2,%3,%4,%5,%6\n")
                  .arg(csvText(row.name), csvText(row.differs),
                       QString::number(row.isControl ? 1 : 0), csvNumber(row.rank.mean),
                       csvNumber(row.rank.deviation), QString::number(row.rank.heads));
    }
    if (!picture_.claims.empty()) text += QLatin1Char('\n') + claimsCsv(picture_.claims);
    return text;
  }

 private:
  static QString valueText(const ControlsPicture::Row& row) {
    if (!std::isfinite(row.rank.mean)) return QStringLiteral("\u2013");
    QString text = number(row.rank.mean, 1);
    if (row.rank.heads > 1) text += QStringLiteral(" \u00b1 ") + number(row.rank.deviation, 1);
    return row.isLive ? QObject::tr("so far %1").arg(text) : text;
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    painter.setFont(smallLetters());
    const QFontMetricsF metrics(painter.font());
    double widest = 0;
    for (const ControlsPicture::Row& row : picture_.rows)
      widest = std::max(widest, metrics.horizontalAdvance(valueText(row)));
    double words = claimsHeight(body.width());
    for (const QString& note : picture_.notes) words += heightOf(note, body.width());
    const double axis = 18;
    const double room = body.height() - words - axis;
    const double rows = std::max(1.0, static_cast<double>(picture_.rows.size()));
    // Rows come before notes, which say in words what the rows show.
    const double least = std::min(kLeastRow, (body.height() - axis) / rows);
    const double height = std::clamp(room / rows, least, 34.0);
    const double names = body.width() * 0.42;
    const QRectF plot(body.left() + names, body.top(), body.width() - names - widest - 10,
                      height * static_cast<double>(picture_.rows.size()));
    const auto xOf = [&](double rank) {
      return plot.left() + plot.width() * rank / (most_ * 1.05);
    };
    const Ticks ticks = niceTicks(0, most_, 3);
    for (const double tick : ticks.values) {
      painter.setPen(QPen(themeColors().grid, 1));
      painter.drawLine(QPointF(xOf(tick), plot.top()), QPointF(xOf(tick), plot.bottom()));
      painter.setPen(themeColors().muted);
      painter.drawText(QRectF(xOf(tick) - 20, plot.bottom() + 2, 40, 14), Qt::AlignCenter,
                       number(tick, ticks.decimals));
    }
    double y = body.top();
    for (const ControlsPicture::Row& row : picture_.rows) {
      drawRow(painter, QRectF(body.left(), y, body.width(), height), names, row, xOf);
      y += height;
    }
    y = plot.bottom() + axis + 4;
    const double end = body.bottom() + kApart;
    for (const ClaimRow& claim : picture_.claims) {
      const double tall = heightOf(claim, body.width());
      if (y + tall > end) break;
      drawClaim(painter, QRectF(body.left(), y, body.width(), tall - kApart), claim);
      y += tall;
    }
    painter.setPen(themeColors().muted);
    for (const QString& note : picture_.notes) {
      const double tall = heightOf(note, body.width());
      if (y + tall > end) break;
      const QRectF place(body.left(), y, body.width(), tall - kApart);
      painter.drawText(place, kWrapped, note);
      addRegion(place, [note](const QPointF&) { return note; });
      y += tall;
    }
  }

  static constexpr double kLeastRow = 20, kVerdict = 16, kApart = 4;
  static constexpr int kWrapped = static_cast<int>(Qt::AlignLeft) |
                                  static_cast<int>(Qt::AlignTop) |
                                  static_cast<int>(Qt::TextWordWrap);

  /// Of wrapped words and the gap below them.
  static double heightOf(const QString& words, double width) {
    const QRectF room(0, 0, width, 1000);
    return std::ceil(QFontMetricsF(smallLetters()).boundingRect(room, kWrapped, words).height()) +
           kApart;
  }
  static double heightOf(const ClaimRow& row, double width) {
    return evidencePlace(row, width).bottom() +
           heightOf(QString::fromStdString(row.claim.name), width);
  }
  /// Beside the verdict, or below it where that is too narrow.
  static QRectF evidencePlace(const ClaimRow& row, double width) {
    const double left =
        QFontMetricsF(smallLetters()).horizontalAdvance(verdictWords(row.judgement.verdict)) + 8;
    const double own = QFontMetricsF(axisLetters()).horizontalAdvance(evidenceText(row));
    return left + own <= width ? QRectF(left, 0, width - left, kVerdict)
                               : QRectF(0, kVerdict, width, kVerdict);
  }
  double claimsHeight(double width) const {
    double height = 0;
    for (const ClaimRow& row : picture_.claims) height += heightOf(row, width);
    return height;
  }

  /// The verdict, what was measured, and the whole claim below.
  void drawClaim(QPainter& painter, const QRectF& place, const ClaimRow& row) {
    painter.setPen(verdictColor(row.judgement.verdict));
    drawLine(painter, QRectF(place.topLeft(), QSizeF(place.width(), kVerdict)),
             Qt::AlignLeft | Qt::AlignVCenter, verdictWords(row.judgement.verdict));
    const QRectF evidence = evidencePlace(row, place.width());
    const QString name = QString::fromStdString(row.claim.name);
    painter.setPen(themeColors().muted);
    painter.setFont(axisLetters());
    drawLine(painter, evidence.translated(place.topLeft()), Qt::AlignLeft | Qt::AlignVCenter,
             evidenceText(row));
    painter.setFont(smallLetters());
    painter.setPen(themeColors().text);
    painter.drawText(place.adjusted(0, evidence.bottom(), 0, 0), kWrapped, name);
    QStringList about{name, QString::fromStdString(measureText(row.claim)),
                      QString::fromStdString(row.claim.source),
                      QString::fromStdString(row.judgement.reason),
                      QString::fromStdString(row.claim.note)};
    about.removeAll(QString());
    addRegion(place, [text = about.join(QLatin1Char('\n'))](const QPointF&) { return text; });
  }

  template <class Place>
  void drawRow(QPainter& painter, const QRectF& line, double names, const ControlsPicture::Row& row,
               const Place& xOf) {
    painter.setPen(row.isControl ? themeColors().muted : themeColors().text);
    const bool hasTwo = !row.differs.isEmpty() && line.height() >= 30;
    const QRectF name(line.left(), line.top(), names - 8,
                      hasTwo ? line.height() / 2 : line.height());
    drawLine(painter, name, Qt::AlignLeft | Qt::AlignVCenter, row.name);
    if (hasTwo) {
      painter.setPen(themeColors().muted);
      painter.setFont(axisLetters());
      drawLine(painter, name.translated(0, line.height() / 2 - 1), Qt::AlignLeft | Qt::AlignVCenter,
               row.differs);
      painter.setFont(smallLetters());
    }
    if (std::isfinite(row.rank.mean)) {
      const QColor color = seriesColor(seriesOf(row.run), style().theme);
      const QPointF middle(xOf(row.rank.mean), line.center().y());
      painter.setPen(QPen(color, 1.5));
      if (row.rank.heads > 1) {
        painter.drawLine(
            QPointF(xOf(std::max(0.0, row.rank.mean - row.rank.deviation)), middle.y()),
            QPointF(xOf(row.rank.mean + row.rank.deviation), middle.y()));
      }
      if (row.isControl) {
        // An empty diamond: measured before any training.
        painter.setBrush(themeColors().panel);
        painter.setPen(QPen(color, 1.2));
        painter.drawPolygon(QPolygonF{middle + QPointF(0, -5), middle + QPointF(5, 0),
                                      middle + QPointF(0, 5), middle + QPointF(-5, 0)});
        painter.setBrush(Qt::NoBrush);
      } else {
        drawSymbol(painter, seriesSymbol(seriesOf(row.run)), middle, color, themeColors().panel, 4);
      }
    }
    painter.setPen(themeColors().text);
    drawLine(painter, line, Qt::AlignRight | Qt::AlignVCenter, valueText(row));
    addRegion(line, [row](const QPointF&) {
      return row.differs.isEmpty() ? row.name : row.name + QLatin1Char('\n') + row.differs;
    });
  }

  ControlsPicture picture_;
  double most_ = 1;
};

}  // namespace

std::unique_ptr<Figure> makeWaterfallFigure(WaterfallPicture picture, FigureStyle style) {
  return std::make_unique<WaterfallFigure>(std::move(picture), std::move(style));
}

std::unique_ptr<Figure> makeControlsFigure(ControlsPicture picture, FigureStyle style) {
  return std::make_unique<ControlsFigure>(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
