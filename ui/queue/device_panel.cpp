#include "ui/queue/device_panel.h"

#include <QGridLayout>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/kit/icons.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kTileWidth = 340;
constexpr int kTileHeight = 96;

QString gigabytes(std::int64_t bytes) {
  return number(static_cast<double>(bytes) / 1e9, bytes < 10'000'000'000 ? 1 : 0);
}

QString memoryText(const jobs::DeviceLoad& load) {
  if (load.totalBytes <= 0) return QStringLiteral("\u2013");
  return QStringLiteral("%1 / %2\u2009GB")
      .arg(gigabytes(load.usedBytes), gigabytes(load.totalBytes));
}

}  // namespace

QColor barGround() {
  const ThemeColors& t = themeColors();
  return contrast(t.line, t.muted) < 3 ? t.grid : t.line;
}

void DeviceTile::show(const jobs::DeviceLoad& load, const QStringList& runs) {
  load_ = load;
  runs_ = runs;
  title_ = QString::fromStdString(load.title);
  if (load.threads > 0) {
    title_ += (title_.isEmpty() ? QString() : QStringLiteral(", ")) +
              counted(load.threads, tr("thread"), tr("threads"));
  }
  QStringList parts{QString::fromStdString(load.name), title_,
                    tr("busy %1").arg(percent(load.utilisation, 0)),
                    tr("memory %1").arg(memoryText(load))};
  if (std::isfinite(load.temperature))
    parts << tr("%1\u2009\u00b0C").arg(number(load.temperature, 0));
  parts << (runs.isEmpty() ? tr("no run of this database") : runs.join(QStringLiteral(", ")));
  setAccessibleName(parts.join(QStringLiteral(", ")));
  setToolTip(parts.join(QLatin1Char('\n')));
  update();
}

QSize DeviceTile::sizeHint() const { return {px(kTileWidth), px(kTileHeight)}; }
QSize DeviceTile::minimumSizeHint() const { return {px(200), px(kTileHeight)}; }

void DeviceTile::paintEvent(QPaintEvent*) {
  const ThemeColors& t = themeColors();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(t.line, 1));
  painter.setBrush(t.panel);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(8), px(8));
  const int pad = px(12);
  QRect line(pad, px(10), width() - 2 * pad, px(18));
  const int nameWidth =
      writeLine(painter, titleFont(), t.text, line, Qt::AlignLeft,
                load_.name == "cpu" ? QStringLiteral("CPU") : QString::fromStdString(load_.name));
  QRect right = line.adjusted(nameWidth + px(8), 0, 0, 0);
  if (std::isfinite(load_.temperature)) {
    const QString heat = tr("%1\u2009\u00b0C").arg(number(load_.temperature, 0));
    right.setRight(right.right() -
                   writeLine(painter, smallFont(), t.muted, right, Qt::AlignRight, heat) - px(8));
  }
  writeLine(painter, smallFont(), t.muted, right, Qt::AlignLeft, title_);

  const int label = px(56), value = px(96);
  const auto bar = [&](int top, const QString& what, double share, const QString& text) {
    const QRect row(pad, top, width() - 2 * pad, px(18));
    writeLine(painter, smallFont(), t.muted, row, Qt::AlignLeft, what);
    writeLine(painter, smallFont(), t.text, row, Qt::AlignRight, text);
    const QRectF track(row.left() + label, row.center().y() - px(2) + 0.5,
                       std::max(0, row.width() - label - value), px(4));
    painter.setPen(Qt::NoPen);
    painter.setBrush(barGround());
    painter.drawRoundedRect(track, 2, 2);
    if (!(share > 0)) return;
    QRectF filled = track;
    filled.setWidth(track.width() * std::min(share, 1.0));
    // A device that is full is not a fault, but the next run will not fit.
    painter.setBrush(what == tr("Memory") && share > 0.9 ? t.warn : t.muted);
    painter.drawRoundedRect(filled, 2, 2);
  };
  bar(px(30), tr("Busy"), load_.utilisation, percent(load_.utilisation, 0));
  bar(px(48), tr("Memory"),
      load_.totalBytes > 0
          ? static_cast<double>(load_.usedBytes) / static_cast<double>(load_.totalBytes)
          : 0,
      memoryText(load_));
  const QRect last(pad, px(68), width() - 2 * pad, px(18));
  if (runs_.isEmpty()) {
    writeLine(painter, smallFont(), t.muted, last, Qt::AlignLeft, tr("no run"));
  } else {
    writeLine(painter, smallFont(), t.accent, last, Qt::AlignLeft,
              runs_.join(QStringLiteral(", ")));
  }
}

DevicePanel::DevicePanel(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  setAccessibleName(tr("Devices of this machine"));
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(px(12));
}

void DevicePanel::show(const std::vector<jobs::DeviceLoad>& loads,
                       const std::vector<QStringList>& runs) {
  while (tiles_.size() > loads.size()) {
    delete tiles_.back();
    tiles_.pop_back();
    columns_ = 0;
  }
  while (tiles_.size() < loads.size()) {
    tiles_.push_back(new DeviceTile(this));
    columns_ = 0;
  }
  for (std::size_t i = 0; i < loads.size(); ++i) tiles_[i]->show(loads[i], runs[i]);
  if (columns_ == 0) arrange();
}

void DevicePanel::arrange() {
  const int fitting = std::max(1, (width() + px(12)) / (px(kTileWidth) + px(12)));
  const int columns = std::clamp(fitting, 1, std::max(1, static_cast<int>(tiles_.size())));
  if (columns == columns_) return;
  for (int column = 0; column < grid_->columnCount(); ++column) grid_->setColumnStretch(column, 0);
  columns_ = columns;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const int place = static_cast<int>(i);
    grid_->addWidget(tiles_[i], place / columns, place % columns);
    tiles_[i]->setMaximumWidth(px(kTileWidth));
    tiles_[i]->setVisible(true);
  }
  // The rest of the width stays free behind the last one.
  grid_->setColumnStretch(columns, 1);
}

void DevicePanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

}  // namespace vitrine::ui
