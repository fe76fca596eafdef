// Rows and cards of the form.
#include "ui/configure/form_row.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shell/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kTitleWidth = 150;
constexpr int kSide = 16;

void setRole(QWidget* widget, const char* role) {
  widget->setProperty("role", QString::fromLatin1(role));
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

}  // namespace

FormRow::FormRow(std::string key, const QString& title, const Field& field, int indent,
                 QWidget* parent)
    : QWidget(parent),
      key_(std::move(key)),
      editor_(nullptr),
      title_(new QLabel(title, this)),
      help_(new QLabel(this)) {
  editor_ = new FieldEditor(field,
                            QString::fromStdString(key_)
                                .replace(QLatin1Char('.'), QLatin1Char(' '))
                                .replace(QLatin1Char('_'), QLatin1Char(' ')),
                            this);
  title_->setFixedWidth(kTitleWidth - indent);
  title_->setBuddy(editor_->input());
  title_->setToolTip(QString::fromStdString(key_));
  help_->setWordWrap(true);
  help_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  help_->setMinimumWidth(60);
  setRole(help_, "small");
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(kSide + indent, 3, kSide, 3);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(2);
  grid->addWidget(title_, 0, 0);
  grid->addWidget(editor_, 0, 1);
  grid->addWidget(help_, 0, 2);
  grid->setColumnStretch(2, 1);
  setMinimumHeight(34);
  showHelp();
}

void FormRow::showHelp() {
  if (!message_.isEmpty()) {
    help_->setText(message_);
    return;
  }
  const Field& field = editor_->field();
  QStringList parts;
  if (!field.doc.empty()) parts << QString::fromStdString(field.doc);
  if (const QString range = rangeText(field); !range.isEmpty()) parts << range;
  help_->setText(parts.join(QStringLiteral(" \u00b7 ")));
}

void FormRow::setChanged(bool isChanged) {
  if (isChanged == isChanged_) return;
  isChanged_ = isChanged;
  title_->setAccessibleDescription(isChanged ? QStringLiteral("differs from the default")
                                             : QString());
  update();
}

void FormRow::setMessage(const QString& message) {
  if (message == message_) return;
  message_ = message;
  setRole(help_, message.isEmpty() ? "small" : "error");
  editor_->setInvalid(message);
  showHelp();
}

void FormRow::setHelpBelow(bool isBelow) {
  if (isBelow == isBelow_) return;
  isBelow_ = isBelow;
  auto* grid = static_cast<QGridLayout*>(layout());
  grid->removeWidget(help_);
  if (isBelow) {
    grid->addWidget(help_, 1, 1, 1, 2);
  } else {
    grid->addWidget(help_, 0, 2);
  }
}

void FormRow::paintEvent(QPaintEvent*) {
  if (!isChanged_) return;
  QPainter painter(this);
  painter.fillRect(QRect(1, 0, 3, height()), tokens().accent);
}

FormSection::FormSection(const QString& title, QWidget* parent)
    : QFrame(parent), note_(new QLabel(this)), body_(nullptr), more_(new QToolButton(this)) {
  setRole(this, "card");
  setAccessibleName(title);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 8);
  outer->setSpacing(0);
  auto* header = new QHBoxLayout;
  header->setContentsMargins(12, 8, 12, 6);
  header->setSpacing(12);
  auto* heading = new QLabel(title, this);
  setRole(heading, "title");
  header->addWidget(heading);
  header->addStretch();
  setRole(note_, "small");
  header->addWidget(note_);
  outer->addLayout(header);
  body_ = new QVBoxLayout;
  body_->setContentsMargins(0, 0, 0, 0);
  body_->setSpacing(0);
  outer->addLayout(body_);
  more_->setProperty("quiet", true);
  more_->setAccessibleName(QStringLiteral("More fields of %1").arg(title));
  more_->hide();
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(kSide - 6, 0, kSide, 0);
  foot->addWidget(more_);
  foot->addStretch();
  outer->addLayout(foot);
  connect(more_, &QToolButton::clicked, this, [this] { setUnfolded(!isUnfolded_); });
}

void FormSection::setNote(const QString& note) { note_->setText(note); }

void FormSection::addRow(FormRow* row) {
  rows_.push_back(row);
  body_->addWidget(row);
}

void FormSection::addHeading(const QString& title, const QString& doc) {
  auto* heading = new QLabel(title, this);
  setRole(heading, "muted");
  heading->setToolTip(doc);
  heading->setContentsMargins(kSide, 8, kSide, 2);
  headings_.push_back({heading, rows_.size()});
  body_->addWidget(heading);
}

void FormSection::addWidget(QWidget* widget) {
  body_->addWidget(widget);
  widget->show();
}

void FormSection::clear() {
  rows_.clear();
  headings_.clear();
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

void FormSection::arrange() {
  int folded = 0;
  for (FormRow* row : rows_) {
    const bool isNeeded = row->isCommon() || row->isChanged() || !row->message().isEmpty();
    if (!isNeeded) ++folded;
    row->setVisible(isNeeded || isUnfolded_);
  }
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    const std::size_t end = i + 1 < headings_.size() ? headings_[i + 1].firstRow : rows_.size();
    bool isShown = false;
    for (std::size_t row = headings_[i].firstRow; row < end; ++row)
      isShown = isShown || !rows_[row]->isHidden();
    headings_[i].widget->setVisible(isShown);
  }
  more_->setVisible(folded > 0 || isUnfolded_);
  more_->setText(isUnfolded_ ? QStringLiteral("Fewer fields")
                             : QStringLiteral("%1 more fields").arg(folded));
}

}  // namespace vitrine::ui
