#include "ui/monitor/alert_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

AlertDialog::AlertDialog(const QString& title, const std::string& metric,
                         const std::vector<AlertRule>& rules, QWidget* parent)
    : QDialog(parent), metric_(metric) {
  setWindowTitle(tr("Alerts on %1").arg(title));
  const std::array<QString, 4> kTexts{tr("Above"), tr("Below"), tr("No new value for"),
                                      tr("NaN or infinite, or more than \u2026 times its minimum")};
  const std::array<double, 4> kUsual{1, 0, 10, 10};
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(px(12));
  grid->setVerticalSpacing(px(8));
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    checks_[i] = new QCheckBox(kTexts[i]);
    checks_[i]->setAccessibleName(kTexts[i]);
    values_[i] = new QDoubleSpinBox;
    values_[i]->setAccessibleName(tr("%1, value").arg(kTexts[i]));
    values_[i]->setDecimals(i < 2 ? 6 : 1);
    values_[i]->setRange(i < 2 ? -1e12 : i == 2 ? 0.1 : 1.1, 1e12);
    if (i == 2) values_[i]->setSuffix(tr("\u2009min"));
    if (i == 3) values_[i]->setSuffix(tr("\u2009\u00d7"));
    values_[i]->setValue(kUsual[i]);
    for (const AlertRule& rule : rules) {
      if (static_cast<std::size_t>(rule.kind) != i) continue;
      checks_[i]->setChecked(true);
      values_[i]->setValue(rule.value);
    }
    values_[i]->setEnabled(checks_[i]->isChecked());
    connect(checks_[i], &QCheckBox::toggled, values_[i], &QWidget::setEnabled);
    grid->addWidget(checks_[i], static_cast<int>(i), 0);
    grid->addWidget(values_[i], static_cast<int>(i), 1);
  }
  auto* about = withRole(
      new QLabel(tr(
          "Runs in progress are watched while this window is open. An alert appears in the window "
          "and, if the desktop shows notifications, on the desktop.")),
      "small");
  about->setWordWrap(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  for (QAbstractButton* button : buttons->buttons()) {
    button->setIcon({});
    button->setAccessibleName(button->text().remove(QLatin1Char('&')));
  }
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = columnIn(this, {px(16), px(16), px(16), px(16)}, px(12));
  layout->addLayout(grid);
  layout->addWidget(about);
  layout->addWidget(buttons);
}

std::vector<AlertRule> AlertDialog::rules() const {
  std::vector<AlertRule> rules;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (checks_[i]->isChecked())
      rules.push_back({metric_, static_cast<AlertRule::Kind>(i), values_[i]->value()});
  }
  return rules;
}

}  // namespace vitrine::ui
