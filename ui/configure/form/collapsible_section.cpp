#include "ui/configure/form/collapsible_section.h"

#include <QToolButton>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

void listAsSection(QToolButton& heading, const QString& title) {
  heading.setProperty(kListed, QObject::tr("Section: %1").arg(title));
}

CollapsibleSection::CollapsibleSection(const QString& name, const QString& title, QWidget* parent)
    : QWidget(parent),
      name_(name),
      heading_(makeFoldButton(title, this)),
      corner_(new QHBoxLayout),
      holder_(new QWidget(this)),
      body_(new QVBoxLayout(holder_)) {
  listAsSection(*heading_, title);
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
  listAsSection(*heading_, title);
}

}  // namespace vitrine::ui
