// Changes, sweep, variants and TOML, one below the other.
#include "ui/configure/side_panel.h"

#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextBlock>
#include <QVBoxLayout>
#include <algorithm>

#include "core/config/to_toml.h"
#include "ui/configure/document.h"
#include "ui/configure/sweep_editor.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostChanges = 60;

QLabel* titleLabel(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("role", QStringLiteral("title"));
  return label;
}

QFrame* rule(QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setProperty("role", QStringLiteral("rule"));
  return line;
}

/// A value short enough for a line: texts without quotes.
QString shortValue(const Json& value) {
  if (value.is_null()) return QStringLiteral("\u2013");
  if (value.is_array() && value.size() == 2 && value[0].is_number_integer() &&
      value[1].is_number_integer()) {
    const QString first = QString::fromStdString(value[0].dump());  // a size
    return value[0] == value[1]
               ? first
               : first + QStringLiteral(" x ") + QString::fromStdString(value[1].dump());
  }
  QString text =
      QString::fromStdString(value.is_string() ? value.get<std::string>() : tomlValue(value));
  if (text.size() > 28) text = text.left(27) + QChar(0x2026);
  return text.toHtmlEscaped();
}

}  // namespace

SidePanel::SidePanel(QWidget* parent)
    : QWidget(parent),
      against_(new QComboBox(this)),
      changes_(new QLabel(this)),
      sweep_(new SweepEditor(this)),
      text_(new QPlainTextEdit(this)),
      problems_(new QLabel(this)) {
  setProperty("role", QStringLiteral("panel"));
  setAttribute(Qt::WA_StyledBackground);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  outer->addWidget(scroll);
  auto* content = new QWidget(scroll);
  scroll->setWidget(content);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(12, 8, 12, 12);
  column->setSpacing(8);

  auto* head = new QHBoxLayout;
  head->addWidget(titleLabel(QStringLiteral("Changes"), content));
  head->addStretch();
  against_->addItem(QStringLiteral("against the defaults"));
  against_->setAccessibleName(QStringLiteral("What the changes are counted from"));
  against_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  head->addWidget(against_);
  column->addLayout(head);
  changes_->setTextFormat(Qt::RichText);
  changes_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  changes_->setWordWrap(true);
  changes_->setAccessibleName(QStringLiteral("Changes"));
  column->addWidget(changes_);
  column->addWidget(rule(content));
  column->addWidget(sweep_);
  column->addWidget(rule(content));
  column->addWidget(titleLabel(QStringLiteral("TOML"), content));
  text_->setAccessibleName(QStringLiteral("The experiment as TOML"));
  text_->setFont(monoFont());
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  text_->setTabChangesFocus(true);
  text_->setMinimumHeight(200);
  column->addWidget(text_, 1);
  problems_->setProperty("role", QStringLiteral("error"));
  problems_->setWordWrap(true);
  problems_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problems_->setAccessibleName(QStringLiteral("Problems of the text"));
  problems_->hide();
  column->addWidget(problems_);

  connect(text_, &QPlainTextEdit::textChanged, this, &SidePanel::textEdited);
  connect(against_, &QComboBox::currentIndexChanged, this, &SidePanel::againstChanged);
}

SidePanel::Against SidePanel::against() const {
  return against_->currentIndex() == 1 ? Against::Run : Against::Defaults;
}

void SidePanel::setRun(std::int64_t run) {
  if (run == 0) {
    against_->removeItem(1);
    return;
  }
  const QString label = QStringLiteral("against run #%1").arg(run);
  if (against_->count() < 2) {
    against_->addItem(label);
  } else {
    against_->setItemText(1, label);
  }
}

void SidePanel::showChanges(const std::vector<Difference>& changes) {
  if (changes.empty()) {
    changes_->setText(QStringLiteral("<span style='color:%1'>Nothing differs.</span>")
                          .arg(tokens().muted.name()));
    return;
  }
  QString html = QStringLiteral("<table width='100%' cellspacing='0' cellpadding='2'>");
  for (std::size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i) {
    const Difference& change = changes[i];
    // Long keys break after their dots.
    const QString key = QString::fromStdString(change.key)
                            .toHtmlEscaped()
                            .replace(QLatin1Char('.'), QStringLiteral(".&#8203;"));
    html +=
        QStringLiteral("<tr><td style='color:%1'>%2</td><td align='right'>%3 \u2192 %4</td></tr>")
            .arg(tokens().muted.name(), key, shortValue(change.before), shortValue(change.after));
  }
  html += QStringLiteral("</table>");
  if (changes.size() > kMostChanges)
    html += QStringLiteral("%1 more").arg(changes.size() - kMostChanges);
  changes_->setText(html);
}

void SidePanel::showProblems(const std::vector<Problem>& problems) {
  QList<QTextEdit::ExtraSelection> marks;
  QStringList sentences;
  QColor tint = tokens().bad;
  tint.setAlphaF(0.24F);
  for (const Problem& problem : problems) {
    QString sentence;
    if (problem.line > 0) {
      QTextEdit::ExtraSelection mark;
      mark.format.setBackground(tint);
      mark.format.setProperty(QTextFormat::FullWidthSelection, true);
      mark.cursor = QTextCursor(text_->document()->findBlockByNumber(problem.line - 1));
      marks << mark;
      sentence = QStringLiteral("line %1: ").arg(problem.line);
    }
    if (!problem.key.empty())
      sentence += QString::fromStdString(problem.key) + QStringLiteral(": ");
    sentence += QString::fromStdString(problem.message);
    if (!problem.nearest.empty()) {
      sentence +=
          QStringLiteral(" (did you mean %1?)").arg(QString::fromStdString(problem.nearest));
    }
    sentences << sentence;
  }
  text_->setExtraSelections(marks);
  problems_->setText(sentences.join(QLatin1Char('\n')));
  problems_->setVisible(!sentences.isEmpty());
}

void SidePanel::setText(const QString& text) {
  if (text_->toPlainText() == text) return;
  const QSignalBlocker quiet(text_);
  const int position = text_->textCursor().position();
  const int scrolled = text_->verticalScrollBar()->value();
  text_->setPlainText(text);
  QTextCursor cursor = text_->textCursor();
  cursor.setPosition(std::min(position, static_cast<int>(text.size())));
  text_->setTextCursor(cursor);
  text_->verticalScrollBar()->setValue(scrolled);
}

}  // namespace vitrine::ui
