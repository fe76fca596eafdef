#include "ui/monitor/log_panel.h"

#include <QToolButton>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

LogPanel::LogPanel(QWidget* parent) : QWidget(parent) {
  paintAs(this, "panel");
  field_ = makeSearchField(tr("Search the log"), QString(), this);
  field_->setMaximumWidth(px(280));
  found_ = withRole(new QLabel, "small");
  auto* title = withRole(new QLabel(tr("Log of the current run")), "title");
  const auto button = [this](const QString& text, const QString& tip) {
    return withName(makeToolButton(text, tip, this), tip);
  };
  auto* up = button(QStringLiteral("\u2191"), tr("Previous match"));
  auto* down = button(QStringLiteral("\u2193"), tr("Next match"));
  auto* follow = button(tr("Follow"), tr("Keep the newest line visible"));
  follow->setCheckable(true);
  follow->setChecked(true);
  log_ = new LogTail;
  connect(field_, &QLineEdit::textChanged, this, &LogPanel::mark);
  connect(field_, &QLineEdit::returnPressed, this, [this] { findNext(); });
  connect(down, &QToolButton::clicked, this, [this] { findNext(); });
  connect(up, &QToolButton::clicked, this, [this] { findNext(QTextDocument::FindBackward); });
  connect(follow, &QToolButton::toggled, log_, &LogTail::setFollowing);
  auto* header = rowIn(nullptr, {px(12), px(6), px(12), 0}, px(8));
  header->addWidget(title);
  header->addStretch();
  header->addWidget(found_);
  header->addWidget(field_);
  header->addWidget(up);
  header->addWidget(down);
  header->addWidget(follow);
  auto* layout = columnIn(this, {0, 0, 0, px(6)}, px(6));
  layout->addLayout(header);
  auto* inner = rowIn(nullptr, {px(12), 0, px(12), 0});
  inner->addWidget(log_);
  layout->addLayout(inner, 1);
}

void LogPanel::setFile(const QString& path) {
  log_->setFile(path);
  mark();
}

// All matches at once, so that their number can be seen.
void LogPanel::mark() {
  const QString text = field_->text();
  QList<QTextEdit::ExtraSelection> marks;
  QTextCursor at(log_->document());
  while (!text.isEmpty() && marks.size() < 1000) {
    at = log_->document()->find(text, at);
    if (at.isNull()) break;
    QTextEdit::ExtraSelection mark;
    mark.cursor = at;
    mark.format.setBackground(themeColors().selection);
    mark.format.setForeground(themeColors().text);
    marks << mark;
  }
  log_->setExtraSelections(marks);
  found_->setText(text.isEmpty() ? QString() : counted(marks.size(), tr("match"), tr("matches")));
}

bool LogPanel::findNext(QTextDocument::FindFlags flags) {
  mark();
  if (field_->text().isEmpty()) return false;
  if (log_->find(field_->text(), flags)) return true;
  log_->moveCursor(flags.testFlag(QTextDocument::FindBackward) ? QTextCursor::End
                                                               : QTextCursor::Start);
  return log_->find(field_->text(), flags);
}

}  // namespace vitrine::ui
