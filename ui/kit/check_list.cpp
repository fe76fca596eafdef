#include "ui/kit/check_list.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QListWidget>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

std::optional<std::vector<std::string>> askCheckList(QWidget* parent, const CheckList& asked) {
  QDialog dialog(parent);
  dialog.setWindowTitle(asked.title);
  auto* search = withName(new QLineEdit(&dialog), asked.search);
  search->setPlaceholderText(asked.search);
  auto* list = withName(new QListWidget(&dialog), asked.name);
  if (asked.order == CheckList::Order::ByUser)
    list->setDragDropMode(QAbstractItemView::InternalMove);
  for (const CheckList::Entry& entry : asked.entries) {
    auto* item = new QListWidgetItem(entry.name, list);
    item->setData(Qt::UserRole, QString::fromStdString(entry.id));
    item->setFlags(item->flags() | Qt::ItemIsUserCheckable);
    item->setCheckState(entry.isChecked ? Qt::Checked : Qt::Unchecked);
    item->setToolTip(entry.tip);
  }
  QObject::connect(search, &QLineEdit::textChanged, list, [list](const QString& text) {
    for (int i = 0; i < list->count(); ++i) {
      QListWidgetItem* item = list->item(i);
      const QString id = item->data(Qt::UserRole).toString();
      item->setHidden(!item->text().contains(text, Qt::CaseInsensitive) &&
                      !id.contains(text, Qt::CaseInsensitive));
    }
  });
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, &dialog);
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(&dialog);
  column->addWidget(search);
  column->addWidget(list, 1);
  column->addWidget(buttons);
  dialog.resize(px(420), px(480));
  if (dialog.exec() != QDialog::Accepted) return std::nullopt;
  std::vector<std::string> checked;
  for (int i = 0; i < list->count(); ++i) {
    if (list->item(i)->checkState() == Qt::Checked)
      checked.push_back(list->item(i)->data(Qt::UserRole).toString().toStdString());
  }
  return checked;
}

}  // namespace vitrine::ui
