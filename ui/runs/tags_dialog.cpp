#include "ui/runs/tags_dialog.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/runs/run_edits.h"

namespace vitrine::ui {

TagsDialog::TagsDialog(const std::map<std::string, std::size_t>& counts, std::size_t runs,
                       QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Tags"));
  list_ = withName(new QListWidget, tr("Tags of this database"));
  for (const auto& [tag, count] : counts) {
    auto* item = new QListWidgetItem(QString::fromStdString(tag), list_);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(count == 0      ? Qt::Unchecked
                        : count == runs ? Qt::Checked
                                        : Qt::PartiallyChecked);
    if (count > 0 && count < runs)
      item->setToolTip(tr("%1 of %2 runs have this tag").arg(count).arg(runs));
  }
  fresh_ = new QLineEdit;
  fresh_->setPlaceholderText(tr("New tags, between commas"));
  fresh_->setAccessibleName(tr("New tags"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  auto* store = buttons->addButton(tr("Store tags"), QDialogButtonBox::AcceptRole);
  store->setDefault(true);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(px(8));
  layout->addWidget(list_, 1);
  list_->setHidden(counts.empty());
  layout->addWidget(fresh_);
  layout->addWidget(buttons);
  fresh_->setFocus();
  resize(px(320), counts.empty() ? sizeHint().height() : px(360));
}

std::vector<std::string> TagsDialog::applied(std::vector<std::string> tags) const {
  const auto has = [&tags](const std::string& tag) {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  };
  for (int row = 0; row < list_->count(); ++row) {
    const std::string tag = list_->item(row)->text().toStdString();
    switch (list_->item(row)->checkState()) {
      case Qt::Checked:
        if (!has(tag)) tags.push_back(tag);
        break;
      case Qt::Unchecked:
        std::erase(tags, tag);
        break;
      case Qt::PartiallyChecked:
        break;
    }
  }
  for (const std::string& tag : RunEdits::tagsOf(fresh_->text())) {
    if (!has(tag)) tags.push_back(tag);
  }
  return tags;
}

}  // namespace vitrine::ui
