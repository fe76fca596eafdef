#include "ui/monitor/run_strip.h"

#include <cmath>

#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

RunStrip::RunStrip(QWidget* parent) : QWidget(parent) {
  progress_ = new QWidget;
  name_ = new ElidedLabel;
  name_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
  bar_ = new QProgressBar;
  bar_->setTextVisible(false);
  bar_->setRange(0, 1000);
  bar_->setFixedHeight(px(6));
  bar_->setAccessibleName(tr("Progress of the current run"));
  facts_ = withRole(new QLabel, "small");
  facts_->setToolTip(
      tr("Of the current run. The time left is estimated from the speed of its last steps."));
  auto* line = rowIn(progress_, {px(12), px(6), px(12), 0}, px(12));
  line->addWidget(name_, 1);
  line->addWidget(bar_, 2);
  line->addWidget(facts_);

  alert_ = new QWidget;
  sentence_ = withRole(new ElidedLabel, "warn");
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  sentence_->setAccessibleName(tr("Alert"));
  auto* close = new QToolButton;
  close->setIcon(icon(Icon::Close));
  close->setProperty("quiet", true);
  close->setToolTip(tr("Dismiss the alert"));
  close->setAccessibleName(close->toolTip());
  connect(close, &QToolButton::clicked, this, [this] { showAlert({}); });
  auto* alertLine = rowIn(alert_, {px(12), px(6), px(12), 0});
  alertLine->addWidget(sentence_, 1);
  alertLine->addWidget(close);

  auto* layout = columnIn(this, {}, 0);
  layout->addWidget(alert_);
  layout->addWidget(progress_);
  progress_->hide();
  alert_->hide();
  updateVisibility();
}

QString RunStrip::facts(const store::RunRow& row, const std::string& unit) {
  QStringList parts;
  parts << (row.totalSteps > 0 ? tr("step %1 of %2").arg(count(row.step), count(row.totalSteps))
                               : tr("step %1").arg(count(row.step)));
  if (row.totalEpochs > 0) {
    const bool isWhole = std::abs(row.totalEpochs - std::round(row.totalEpochs)) < 0.05;
    parts
        << tr("epoch %1 of %2").arg(number(row.epoch, 1), number(row.totalEpochs, isWhole ? 0 : 1));
  }
  if (row.imagesPerSecond > 0)
    parts << tr("%1 %2/s").arg(count(std::llround(row.imagesPerSecond)),
                               QString::fromStdString(unit));
  if (std::isfinite(row.remainingSeconds) && row.remainingSeconds > 0)
    parts << tr("%1 left").arg(duration(row.remainingSeconds));
  return parts.join(QStringLiteral(" \u00b7 "));
}

void RunStrip::showRun(const store::RunRow* row, const std::string& unit) {
  const bool isShown = row != nullptr && isAlive(row->state);
  progress_->setHidden(!isShown);
  if (isShown) {
    name_->setText(QString::fromStdString(row->name));
    facts_->setText(facts(*row, unit));
    const double share = row->totalSteps > 0
                             ? static_cast<double>(row->step) / static_cast<double>(row->totalSteps)
                             : 0;
    bar_->setValue(qRound(1000 * share));
  }
  updateVisibility();
}

void RunStrip::showAlert(const QString& sentence) {
  sentence_->setText(sentence);
  alert_->setHidden(sentence.isEmpty());
  updateVisibility();
}

void RunStrip::updateVisibility() { setHidden(progress_->isHidden() && alert_->isHidden()); }

}  // namespace vitrine::ui
