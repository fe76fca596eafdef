#include "ui/compare/latex_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <algorithm>

#include "ui/compare/latex_table.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

LatexDialog::LatexDialog(AblationTable table, TableOrigin origin, const LatexChoice& choice,
                         QWidget* parent)
    : QDialog(parent), table_(std::move(table)), origin_(std::move(origin)) {
  setWindowTitle(tr("Table as LaTeX"));
  auto* column = new QVBoxLayout(this);
  column->setSpacing(px(8));
  auto* top = rowIn(nullptr, {}, px(12));
  auto* left = new QVBoxLayout;
  auto* metricsLabel = new QLabel(tr("Metrics"), this);
  metrics_ = withName(new QListWidget(this), tr("Metrics that are columns"));
  metricsLabel->setBuddy(metrics_);
  for (const AblationMetric& metric : table_.metrics) {
    auto* item = new QListWidgetItem(metric.title(), metrics_);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    const bool isLeftOut = std::find(choice.withoutMetrics.begin(), choice.withoutMetrics.end(),
                                     metric.name) != choice.withoutMetrics.end();
    item->setCheckState(isLeftOut ? Qt::Unchecked : Qt::Checked);
  }
  left->addWidget(metricsLabel);
  left->addWidget(metrics_, 1);
  top->addLayout(left, 1);
  auto* right = new QVBoxLayout;
  auto* differsLabel = new QLabel(tr("What differs"), this);
  differs_ = withName(new QComboBox(this), tr("What differs"));
  differs_->addItems({tr("In full"), tr("Short"), tr("Left out")});
  differs_->setCurrentIndex(static_cast<int>(choice.differs));
  differsLabel->setBuddy(differs_);
  right->addWidget(differsLabel);
  right->addWidget(differs_);
  const auto box = [&](const QString& text, bool isOn) {
    auto* made = new QCheckBox(text, this);
    made->setChecked(isOn);
    connect(made, &QCheckBox::toggled, this, &LatexDialog::refresh);
    right->addWidget(made);
    return made;
  };
  difference_ = box(tr("Paired differences"), choice.hasDifference);
  count_ = box(tr("Number of seeds"), choice.hasCount);
  bold_ = box(tr("Best in bold"), choice.isBestBold);
  right->addStretch();
  top->addLayout(right);
  column->addLayout(top, 1);
  text_ = withName(new QPlainTextEdit(this), tr("LaTeX"));
  useMonoFont(*text_);
  text_->setReadOnly(true);
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  column->addWidget(text_, 2);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  auto* copy = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
  auto* save = buttons->addButton(tr("Save\u2026"), QDialogButtonBox::ActionRole);
  copy->setDefault(true);
  column->addWidget(buttons);
  connect(differs_, &QComboBox::currentIndexChanged, this, &LatexDialog::refresh);
  connect(metrics_, &QListWidget::itemChanged, this, &LatexDialog::refresh);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(copy, &QPushButton::clicked, this, [this] {
    accept();
    Q_EMIT copyRequested(this->choice());
  });
  connect(save, &QPushButton::clicked, this, [this] {
    accept();
    Q_EMIT saveRequested(this->choice());
  });
  resize(px(640), px(480));
  refresh();
}

LatexChoice LatexDialog::choice() const {
  LatexChoice choice;
  choice.differs = static_cast<LatexChoice::Differs>(differs_->currentIndex());
  choice.hasDifference = difference_->isChecked();
  choice.hasCount = count_->isChecked();
  choice.isBestBold = bold_->isChecked();
  for (std::size_t i = 0; i < table_.metrics.size(); ++i) {
    if (metrics_->item(static_cast<int>(i))->checkState() == Qt::Unchecked)
      choice.withoutMetrics.push_back(table_.metrics[i].name);
  }
  return choice;
}

void LatexDialog::refresh() { text_->setPlainText(toLatex(table_, origin_, choice())); }

}  // namespace vitrine::ui
