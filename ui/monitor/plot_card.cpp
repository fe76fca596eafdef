#include "ui/monitor/plot_card.h"

#include <QContextMenuEvent>
#include <QPainter>
#include <QPainterPath>

#include "ui/kit/series/run_series.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

// A pin and a bell in a box of 16 x 16, filled when they are on.
QIcon cardIcon(bool isBell, bool isOn) {
  constexpr int kScale = 4;
  QPixmap pixmap(16 * kScale, 16 * kScale);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(kScale, kScale);
  const QColor color = isOn ? themeColors().accent : themeColors().muted;
  painter.setPen(QPen(color, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(isOn ? QBrush(color) : QBrush(Qt::NoBrush));
  QPainterPath path;
  if (isBell) {
    path.moveTo(3, 11.5);
    path.quadTo(4.5, 10, 4.5, 7);
    path.quadTo(4.5, 3, 8, 3);
    path.quadTo(11.5, 3, 11.5, 7);
    path.quadTo(11.5, 10, 13, 11.5);
    path.closeSubpath();
    painter.drawPath(path);
    painter.drawLine(QPointF(7, 13.5), QPointF(9, 13.5));
  } else {
    path.addRoundedRect(QRectF(5.5, 2.5, 5, 5.5), 1, 1);
    painter.drawPath(path);
    painter.drawLine(QPointF(4, 8.5), QPointF(12, 8.5));
    painter.drawLine(QPointF(8, 8.5), QPointF(8, 13.5));
  }
  return QIcon(pixmap);
}

}  // namespace

PlotCard::PlotCard(std::string metric, const MetricCard& card, QWidget* parent)
    : QFrame(parent), metric_(std::move(metric)), card_(card) {
  setProperty("role", "card");
  title_ = withRole(new QLabel, "title");
  subtitle_ = withRole(new ElidedLabel, "small");
  subtitle_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  legend_ = withRole(new QLabel, "small");
  legend_->setTextFormat(Qt::RichText);
  legend_->setWordWrap(true);
  legend_->hide();
  plot_ = new CurvePlot(this);
  hint_ = withRole(new QLabel(plot_), "muted");
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setWordWrap(true);
  hint_->setAttribute(Qt::WA_TransparentForMouseEvents);
  hint_->hide();
  auto* over = new QVBoxLayout(plot_);
  over->addWidget(hint_);

  auto* header = rowIn(nullptr, {px(12), px(8), px(12), 0}, px(12));
  header->addWidget(title_);
  header->addWidget(subtitle_, 1);
  const auto small = [&card](const QString& about) {
    auto* button = new QToolButton;
    button->setProperty("quiet", true);
    button->setFixedSize(px(28), px(24));
    button->setIconSize(QSize(px(14), px(14)));
    button->setToolTip(about);
    button->setAccessibleName(tr("%1: %2").arg(card.title, about));
    return button;
  };
  pin_ = small(tr("Pin this plot to the top"));
  bell_ = small(tr("Alerts on this metric"));
  connect(pin_, &QToolButton::clicked, this, &PlotCard::pinRequested);
  connect(bell_, &QToolButton::clicked, this, &PlotCard::bellRequested);
  auto* buttons = rowIn(nullptr, {}, 0);
  buttons->addWidget(bell_);
  buttons->addWidget(pin_);
  header->addLayout(buttons);
  header->setContentsMargins(px(12), px(6), px(6), 0);
  drawIcons();
  auto* layout = columnIn(this, {1, 1, 1, px(6)}, px(2));
  layout->addLayout(header);
  auto* legendRow = rowIn(nullptr, {px(12), 0, px(12), 0});
  legendRow->addWidget(legend_);
  layout->addLayout(legendRow);
  layout->addWidget(plot_, 1);
  connect(plot_, &CurvePlot::factorChanged, this, &PlotCard::fillSubtitle);
  setMeaning(card);
}

void PlotCard::setMeaning(const MetricCard& card) {
  card_ = card;
  title_->setText(card.title);
  QString tip = QString::fromStdString(metric_);
  if (!card.definition.isEmpty()) tip += QLatin1Char('\n') + card.definition;
  title_->setToolTip(tip);
  plot_->setAccessibleName(tr("Curves of %1").arg(card.title));
  plot_->setFormat(card.format);
  fillSubtitle();
}

void PlotCard::fillSubtitle() {
  QString text = plot_->factor().isEmpty() ? card_.subtitle : plot_->factor();
  if (plot_->hasGroups())  // last: the unit is seen where there is little room
    text += (text.isEmpty() ? QString() : QStringLiteral(" \u00b7 ")) +
            bandText(Centre::Mean, plot_->settings().band);
  if (plot_->settings().isClipped) text += tr(" \u00b7 1\u201399\u2009%");
  subtitle_->setText(text);
}

void PlotCard::contextMenuEvent(QContextMenuEvent* event) {
  // The plot itself answers the mouse.
  if (event->reason() != QContextMenuEvent::Keyboard) return event->ignore();
  Q_EMIT plot_->menuRequested(event->globalPos());
}

bool PlotCard::isOnScreen() const { return isVisible() && !visibleRegion().isEmpty(); }

void PlotCard::setHint(const QString& sentence) {
  sayIn(*hint_, sentence);
  plot_->setAxesShown(sentence.isEmpty());
}

void PlotCard::setLegend(const std::vector<PlottedCurve>& curves, bool isShown) {
  QString text;
  for (const PlottedCurve& curve : curves) {
    QString name = curve.name.toHtmlEscaped();
    // The number of seeds stays in one line.
    name.replace(QStringLiteral(" (n = "), QStringLiteral(" (n\u00a0=\u00a0"));
    text += QStringLiteral("<span style='color:%1'>\u25a0</span>&nbsp;%2 &nbsp; ")
                .arg(seriesColor(seriesOf(curve.run)).name(), name);
  }
  legend_->setText(text);
  legend_->setVisible(isShown && !text.isEmpty());
  fillSubtitle();
}

void PlotCard::setSettings(PlotSettings settings) {
  if (!card_.isNoisy) settings.smoothing = {};
  plot_->setSettings(settings);
  fillSubtitle();
}

void PlotCard::drawIcons() {
  pin_->setIcon(cardIcon(false, isPinned_));
  bell_->setIcon(cardIcon(true, isWatched_));
}

void PlotCard::setPinned(bool isPinned) {
  isPinned_ = isPinned;
  pin_->setToolTip(isPinned ? tr("Unpin this plot") : tr("Pin this plot to the top"));
  pin_->setAccessibleName(tr("%1: %2").arg(card_.title, pin_->toolTip()));
  drawIcons();
}

void PlotCard::setWatched(bool isWatched) {
  isWatched_ = isWatched;
  drawIcons();
}

void PlotCard::applyTheme() {
  drawIcons();
  plot_->refresh();
}

}  // namespace vitrine::ui
