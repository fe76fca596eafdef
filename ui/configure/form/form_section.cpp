// Cards of the form: which of their rows are shown.
#include <QLabel>
#include <QStyle>
#include <QToolButton>

#include "ui/configure/form/collapsible_section.h"
#include "ui/configure/form/form_row.h"
#include "ui/kit/fuzzy.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

FormSection::FormSection(const QString& name, const QString& title, QWidget* parent)
    : QFrame(parent),
      name_(name),
      heading_(makeFoldButton(title, this)),
      note_(new QLabel(this)),
      holder_(new QWidget(this)),
      body_(new QVBoxLayout(holder_)),
      more_(new QToolButton(this)) {
  listAsSection(*heading_, title);
  setProperty("role", QStringLiteral("card"));
  setAccessibleName(title);
  auto* outer = columnIn(this, {0, 0, 0, px(8)}, 0);
  auto* header = rowIn(nullptr, {px(10), px(6), px(16), px(4)}, px(12));
  header->addWidget(heading_);
  header->addStretch();
  note_->setProperty("role", QStringLiteral("small"));
  header->addWidget(note_);
  outer->addLayout(header);
  body_->setContentsMargins(0, 0, 0, 0);
  body_->setSpacing(0);
  outer->addWidget(holder_);
  more_->setProperty("quiet", true);
  more_->setAccessibleName(tr("More fields of %1").arg(title));
  more_->hide();
  auto* foot = rowIn(nullptr, {px(10), 0, px(16), 0});
  foot->addWidget(more_);
  foot->addStretch();
  outer->addLayout(foot);
  connect(more_, &QToolButton::clicked, this, [this] {
    setUnfolded(!isUnfolded_);
    Q_EMIT viewChanged();
  });
  connect(heading_, &QToolButton::clicked, this, [this](bool isOpen) {
    setOpen(isOpen);
    Q_EMIT viewChanged();
  });
}

void FormSection::setNote(const QString& note) { note_->setText(note); }

void FormSection::addRow(FormRow* row) {
  rows_.push_back(row);
  body_->addWidget(row);
}

void FormSection::addHeading(const QString& title, const QString& doc) {
  auto* heading = withRole(new QLabel(title, this), "muted");
  heading->setToolTip(doc);
  heading->setContentsMargins(px(16), px(8), px(16), px(2));
  headings_.push_back({heading, rows_.size()});
  body_->addWidget(heading);
}

void FormSection::addWidget(QWidget* widget, const QString& searchText) {
  extras_.push_back({widget, searchText});
  body_->addWidget(widget);
  widget->show();
}

void FormSection::clear() {
  rows_.clear();
  headings_.clear();
  extras_.clear();
  while (QLayoutItem* item = body_->takeAt(0)) {
    if (QWidget* widget = item->widget()) {
      widget->hide();
      widget->deleteLater();
    }
    delete item;
  }
}

void FormSection::setUnfolded(bool isUnfolded) {
  isUnfolded_ = isUnfolded;
  arrange();
}

void FormSection::setOpen(bool isOpen) {
  isOpen_ = isOpen;
  arrange();
}

void FormSection::setSearch(const QStringList& words) {
  words_ = words;
  arrange();
}

void FormSection::arrange() {
  const bool isSearching = !words_.isEmpty();
  int folded = 0;
  found_ = 0;
  for (FormRow* row : rows_) {
    row->setSearch(words_);
    const bool isMatch = isSearching && row->matches(words_);
    if (isMatch) ++found_;
    const bool isNeeded = row->isCommon() || row->isChanged() || !row->message().isEmpty();
    if (!isNeeded) ++folded;
    row->setVisible(isSearching ? isMatch : isNeeded || isUnfolded_);
  }
  for (const Extra& extra : extras_) {
    const bool isMatch = holdsWords(extra.text, words_);
    if (isSearching && isMatch) ++found_;
    extra.widget->setVisible(isMatch);
  }
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    const std::size_t end = i + 1 < headings_.size() ? headings_[i + 1].firstRow : rows_.size();
    bool isShown = false;
    for (std::size_t row = headings_[i].firstRow; row < end; ++row)
      isShown = isShown || !rows_[row]->isHidden();
    headings_[i].widget->setVisible(isShown);
  }
  const bool isOpen = isSearching || isOpen_;
  setVisible(!isSearching || found_ > 0);
  heading_->setChecked(isOpen);
  holder_->setVisible(isOpen);
  more_->setVisible(isOpen && !isSearching && (folded > 0 || isUnfolded_));
  more_->setText(isUnfolded_   ? tr("Fewer fields")
                 : folded == 1 ? tr("1 more field")
                               : tr("%1 more fields").arg(folded));
}

}  // namespace vitrine::ui
