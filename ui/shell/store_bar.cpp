#include "ui/shell/store_bar.h"

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/local_edits.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

StoreBar::StoreBar(LocalEdits& edits, store::RunReader& store, QWidget* parent)
    : QFrame(parent), edits_(edits), store_(store) {
  paintAs(this, "panel");
  setAccessibleName(tr("Text that is not stored"));
  text_ = withRole(new WrapLabel, "warn");
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  try_ = new QPushButton(tr("&Try now"));
  open_ = new QPushButton(tr("&Open again"));
  open_->setToolTip(tr("Opens the database in a new window and closes this one"));
  tryAction_ = new QAction(tr("&Try to store now"), this);
  openAction_ = new QAction(tr("&Open the database again"), this);
  openAction_->setProperty(kWhyNot, tr("the window shows the newest data"));
  addActions({tryAction_, openAction_});
  auto* layout = rowIn(this, {px(12), px(4), px(8), px(4)}, px(8));
  layout->addWidget(text_, 1);
  layout->addWidget(try_);
  layout->addWidget(open_);
  connect(try_, &QPushButton::clicked, tryAction_, &QAction::trigger);
  connect(open_, &QPushButton::clicked, openAction_, &QAction::trigger);
  connect(tryAction_, &QAction::triggered, &edits_, &LocalEdits::tryNow);
  connect(openAction_, &QAction::triggered, this, &StoreBar::openAgainRequested);
  connect(&edits_, &LocalEdits::changed, this, &StoreBar::look);
  look();
}

void StoreBar::look() {
  const bool isLogGone = store_.isLogGone();
  QString text = edits_.sentence();
  if (text.isEmpty() && isLogGone) {
    text =
        tr("Another program deleted the log of this database: the window shows old data, and "
           "nothing is stored. Open the database again.");
  }
  // A process that writes for a moment is not a reason to move the pages.
  const bool isShown = isLogGone || (!text.isEmpty() && edits_.isLate());
  if (text_->text() != text) text_->setText(text);
  try_->setVisible(!isLogGone);
  open_->setVisible(isLogGone);
  tryAction_->setEnabled(isShown && !isLogGone);
  tryAction_->setProperty(
      kWhyNot, isLogGone ? tr("the log of the database was deleted") : tr("all text is stored"));
  openAction_->setEnabled(isLogGone);
  setVisible(isShown);
}

QString StoreBar::sentence() const { return isHidden() ? QString() : text_->text(); }

}  // namespace vitrine::ui
