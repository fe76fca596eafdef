#include "ui/kit/empty_page.h"

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

EmptyPage::EmptyPage(const QString& sentence, const QString& action, QWidget* parent)
    : QWidget(parent),
      sentence_(new WrapLabel(this)),
      action_(new QPushButton(tr("Continue"), this)),
      cancel_(new QPushButton(tr("Cancel"), this)) {
  sentence_->setProperty("role", "muted");
  sentence_->setAlignment(Qt::AlignCenter);
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  cancel_->hide();
  auto* column = columnIn(this, {px(24), px(24), px(24), px(24)}, px(12));
  column->addStretch(1);
  column->addWidget(sentence_);
  for (QPushButton* button : {action_, cancel_}) column->addWidget(button, 0, Qt::AlignHCenter);
  column->addStretch(2);
  showMessage(sentence, action);
  connect(action_, &QPushButton::clicked, this, &EmptyPage::actionRequested);
  connect(cancel_, &QPushButton::clicked, this, &EmptyPage::cancelRequested);
}

void EmptyPage::showMessage(const QString& sentence, const QString& action) {
  sentence_->setText(sentence);
  if (!action.isEmpty()) action_->setText(action);  // a button has a name, shown or not
  // A button that is hidden with the focus gives it to another part of the window.
  if (action.isEmpty() && window()->focusWidget() == action_) setFocus();
  action_->setVisible(!action.isEmpty());
}

PageStack::PageStack(QWidget* page)
    : QStackedWidget(page),
      content_(new QWidget(this)),
      empty_(new EmptyPage(QString(), QString(), this)) {
  columnIn(page, {})->addWidget(this);
  addWidget(makeFitArea(content_, this));
  addWidget(makeFitArea(empty_, this));
  setCurrentIndex(1);
}

void PageStack::showEmpty(const QString& sentence, const QString& action) {
  empty_->showMessage(sentence, action);
  setCurrentIndex(1);
}

}  // namespace vitrine::ui
