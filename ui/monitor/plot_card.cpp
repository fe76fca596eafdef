#include "ui/monitor/plot_card.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/shell/theme.h"

namespace vitrine::ui {

PlotCard::PlotCard(std::string metric, const MetricCard& card, QWidget* parent)
    : QFrame(parent), metric_(std::move(metric)), card_(card) {
  setProperty("role", "card");
  title_ = new QLabel(card.title);
  title_->setProperty("role", "title");
  subtitle_ = new QLabel;
  subtitle_->setProperty("role", "small");
  const QString tip = card.definition.isEmpty()
                          ? QString::fromStdString(metric_)
                          : QString::fromStdString(metric_) + QLatin1Char('\n') + card.definition;
  title_->setToolTip(tip);
  subtitle_->setToolTip(tip);
  legend_ = new QLabel;
  legend_->setProperty("role", "small");
  legend_->setTextFormat(Qt::RichText);
  legend_->setWordWrap(true);
  legend_->hide();
  plot_ = new CurvePlot(this);
  plot_->setAccessibleName(tr("Curves of %1").arg(card.title));
  plot_->setValueDecimals(card.decimals);
  hint_ = new QLabel(plot_);
  hint_->setProperty("role", "muted");
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setWordWrap(true);
  hint_->setAttribute(Qt::WA_TransparentForMouseEvents);
  hint_->hide();
  auto* over = new QVBoxLayout(plot_);
  over->addWidget(hint_);

  auto* header = new QHBoxLayout;
  header->setContentsMargins(px(12), px(8), px(12), 0);
  header->setSpacing(px(12));
  header->addWidget(title_);
  header->addStretch();
  header->addWidget(subtitle_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 1, 1, px(6));
  layout->setSpacing(px(2));
  layout->addLayout(header);
  auto* legendRow = new QHBoxLayout;
  legendRow->setContentsMargins(px(12), 0, px(12), 0);
  legendRow->addWidget(legend_);
  layout->addLayout(legendRow);
  layout->addWidget(plot_, 1);
  connect(plot_, &CurvePlot::exponentChanged, this, &PlotCard::fillSubtitle);
  fillSubtitle();
}

void PlotCard::fillSubtitle() {
  const int exponent = plot_->exponent();
  subtitle_->setText(exponent == 0 ? card_.subtitle
                                   : QStringLiteral("\u00d7\u20091e\u2212%1").arg(-exponent));
}

bool PlotCard::isOnScreen() const { return isVisible() && !visibleRegion().isEmpty(); }

void PlotCard::setHint(const QString& sentence) {
  hint_->setText(sentence);
  hint_->setVisible(!sentence.isEmpty());
  const bool hasCurves = sentence.isEmpty();
  plot_->xAxis->setVisible(hasCurves);
  plot_->yAxis->setVisible(hasCurves);
}

void PlotCard::setLegend(const std::vector<PlottedCurve>& curves, bool isShown) {
  QString text;
  for (const PlottedCurve& curve : curves) {
    text += QStringLiteral("<span style='color:%1'>\u25a0</span>&nbsp;%2 &nbsp; ")
                .arg(seriesColor(curve.run).name(), curve.name.toHtmlEscaped());
  }
  legend_->setText(text);
  legend_->setVisible(isShown && !text.isEmpty());
}

void PlotCard::setSettings(PlotSettings settings) {
  if (!card_.isNoisy) settings.smoothing = 0;
  plot_->setSettings(settings);
}

void PlotCard::applyTheme() {
  plot_->applyTheme();
  plot_->refresh();
}

}  // namespace vitrine::ui
