#include "ui/shell/error_bar.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>

#include "ui/kit/fit_area.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

ErrorBar::ErrorBar(QWidget* parent) : QFrame(parent) {
  paintAs(this, "panel");
  setAccessibleName(tr("Error"));
  text_ = withRole(new WrapLabel, "bad");
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  count_ = withRole(new QLabel, "muted");
  auto* copy = withName(new QPushButton(tr("Copy")), tr("Copy the error"));
  auto* close = withName(new QPushButton(tr("Dismiss")), tr("Dismiss the error"));
  auto* layout = rowIn(this, {px(12), px(4), px(8), px(4)}, px(8));
  layout->addWidget(text_, 1);
  layout->addWidget(count_);
  layout->addWidget(copy);
  layout->addWidget(close);
  auto* copyAction = new QAction(copy->accessibleName(), this);
  auto* closeAction = new QAction(close->accessibleName(), this);
  addActions({copyAction, closeAction});
  for (QAction* one : actions()) {
    one->setProperty(kWhyNot, tr("there is no error"));
    one->setEnabled(false);
  }
  connect(copy, &QPushButton::clicked, copyAction, &QAction::trigger);
  connect(close, &QPushButton::clicked, closeAction, &QAction::trigger);
  connect(copyAction, &QAction::triggered, this,
          [this] { QGuiApplication::clipboard()->setText(sentence_); });
  connect(closeAction, &QAction::triggered, this, &ErrorBar::dismiss);
  hide();
}

void ErrorBar::showError(const QString& sentence) {
  if (sentence.isEmpty()) return;
  times_ = sentence == sentence_ && !isHidden() ? times_ + 1 : 1;
  sentence_ = sentence;
  text_->setText(sentence);
  count_->setText(times_ > 1 ? tr("%1 times").arg(times_) : QString());
  for (QAction* one : actions()) one->setEnabled(true);
  show();
}

QString ErrorBar::sentence() const { return isHidden() ? QString() : sentence_; }

void ErrorBar::dismiss() {
  hide();
  for (QAction* one : actions()) one->setEnabled(false);
  sentence_.clear();
}

}  // namespace vitrine::ui
