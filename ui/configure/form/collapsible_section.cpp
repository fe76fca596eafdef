#include "ui/configure/form/collapsible_section.h"

#include <QToolButton>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

QToolButton* makeFoldButton(const QString& title, QWidget* parent) {
  auto* button = withName(new QToolButton(parent), title);
  button->setText(title);
  button->setProperty(kListed, QStringLiteral("CollapsibleSection: ") + title);
  button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  button->setArrowType(Qt::DownArrow);
  button->setIconSize({px(12), px(12)});
  button->setCheckable(true);
  button->setChecked(true);
  button->setProperty("quiet", true);
  // A checked button is tinted elsewhere; a heading is a heading.
  button->setStyleSheet(
      QStringLiteral("QToolButton { font-weight: 600; padding-left: 0px; } "
                     "QToolButton:checked { color: palette(text); }"));
  QObject::connect(button, &QToolButton::toggled, button, [button](bool isOpen) {
    button->setArrowType(isOpen ? Qt::DownArrow : Qt::RightArrow);
    button->setToolTip(isOpen ? QObject::tr("Close this group") : QObject::tr("Open this group"));
  });
  button->setToolTip(QObject::tr("Close this group"));
  return button;
}

CollapsibleSection::CollapsibleSection(const QString& name, const QString& title, QWidget* parent)
    : QWidget(parent),
      name_(name),
      heading_(makeFoldButton(title, this)),
      corner_(new QHBoxLayout),
      holder_(new QWidget(this)),
      body_(new QVBoxLayout(holder_)) {
  auto* column = columnIn(this, {}, px(6));
  auto* line = rowIn(nullptr, {}, px(4));
  line->addWidget(heading_);
  line->addStretch();
  line->addLayout(corner_);
  column->addLayout(line);
  body_->setContentsMargins(0, 0, 0, 0);
  body_->setSpacing(px(6));
  column->addWidget(holder_, 1);
  connect(heading_, &QToolButton::toggled, holder_, &QWidget::setVisible);
  connect(heading_, &QToolButton::clicked, this, &CollapsibleSection::toggled);
}

bool CollapsibleSection::isOpen() const { return heading_->isChecked(); }

void CollapsibleSection::setOpen(bool isOpen) { heading_->setChecked(isOpen); }

void CollapsibleSection::setTitle(const QString& title) {
  heading_->setText(title);
  heading_->setAccessibleName(title);
  heading_->setProperty(kListed, QStringLiteral("CollapsibleSection: ") + title);
}

}  // namespace vitrine::ui
