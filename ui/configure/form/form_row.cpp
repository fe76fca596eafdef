// Rows of the form: what stands where in a line.
#include "ui/configure/form/form_row.h"

#include <QContextMenuEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <algorithm>

#include "ui/kit/fuzzy.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

namespace {

constexpr int kTitleWidth = 150;
constexpr int kRowSide = 16;

/// `text` as rich text with the words marked; plain where there are none.
QString withMarks(const QString& text, const QStringList& words) {
  std::vector<bool> isMarked(static_cast<std::size_t>(text.size()), false);
  bool isAny = false;
  for (const QString& word : words) {
    for (qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0 && !word.isEmpty();
         at = text.indexOf(word, at + 1, Qt::CaseInsensitive)) {
      std::fill_n(isMarked.begin() + at, word.size(), true);
      isAny = true;
    }
  }
  if (!isAny) return text;
  const ThemeColors& colours = themeColors();
  const QString open =
      QStringLiteral("<span style='background-color:%1; color:%2; font-weight:600'>")
          .arg(colours.selection.name(), colours.text.name());
  QString marked;
  bool isInside = false;
  for (qsizetype i = 0; i < text.size(); ++i) {
    const bool isHere = isMarked[static_cast<std::size_t>(i)];
    if (isHere != isInside) marked += isHere ? open : QStringLiteral("</span>");
    isInside = isHere;
    marked += QString(text[i]).toHtmlEscaped();
  }
  // A title that is all spans must not be taken for plain text.
  return QStringLiteral("<span>") + marked + (isInside ? QStringLiteral("</span>") : QString()) +
         QStringLiteral("</span>");
}

}  // namespace

FormRow::FormRow(std::string key, const QString& title, const Field& field, int indent,
                 QWidget* parent)
    : QWidget(parent),
      key_(std::move(key)),
      titleText_(title),
      editor_(nullptr),
      title_(new QLabel(title, this)),
      help_(withRole(new QLabel(this), "small")),
      reset_(new QToolButton(this)),
      more_(new QToolButton(this)),
      tools_(new QHBoxLayout) {
  const QString name = QString::fromStdString(key_)
                           .replace(QLatin1Char('.'), QLatin1Char(' '))
                           .replace(QLatin1Char('_'), QLatin1Char(' '));
  editor_ = new FieldEditor(field, name, this);
  title_->setFixedWidth(px(kTitleWidth) - indent);
  title_->setBuddy(editor_->input());
  title_->setToolTip(QString::fromStdString(key_));
  title_->setTextFormat(Qt::AutoText);
  title_->setWordWrap(true);
  help_->setWordWrap(true);
  help_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  help_->setMinimumWidth(px(60));
  for (QToolButton* button : {reset_, more_}) {
    button->setProperty("quiet", true);
    button->setFixedSize(px(22), px(24));
    button->setProperty("tight", true);
    tools_->addWidget(button);
  }
  QSizePolicy kept = reset_->sizePolicy();
  kept.setRetainSizeWhenHidden(true);  // the columns stay where they are
  reset_->setSizePolicy(kept);
  reset_->setText(QStringLiteral("\u21ba"));
  reset_->setAccessibleName(tr("Back to the default: ") + name);
  reset_->hide();
  more_->setText(QStringLiteral("\u22ef"));
  more_->setAccessibleName(tr("Sweep, variants: ") + name);
  more_->setProperty(kListed, false);  // the palette lists the menu of the field that was last in
  more_->setToolTip(tr("Sweep this field, make a variant of it (Menu key or Shift+F10)"));
  more_->setFocusPolicy(Qt::ClickFocus);  // the menu key of the editor does the same
  connect(reset_, &QToolButton::clicked, this, &FormRow::resetRequested);
  connect(more_, &QToolButton::clicked, this,
          [this] { Q_EMIT menuRequested(more_->mapToGlobal(QPoint(0, more_->height()))); });
  connect(editor_, &FieldEditor::menuRequested, this, [this](const QPoint& place) {
    if (hasMenu_) Q_EMIT menuRequested(place);
  });
  tools_->setContentsMargins(0, 0, 0, 0);
  tools_->setSpacing(0);
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(px(kRowSide) + indent, px(3), px(kRowSide), px(3));
  grid->setHorizontalSpacing(px(8));
  grid->setVerticalSpacing(px(2));
  grid->addWidget(title_, 0, 0);
  grid->addWidget(editor_, 0, 1);
  grid->addLayout(tools_, 0, 2);
  grid->addWidget(help_, 0, 3);
  grid->setColumnStretch(3, 1);
  setMinimumHeight(px(34));
  showHelp();
}

QString FormRow::meaning() const {
  const Field& field = editor_->field();
  QStringList parts;
  // Names of keys are marked for documents; here they read as words.
  if (!field.doc.empty()) parts << QString::fromStdString(field.doc).remove(QLatin1Char('`'));
  if (const QString range = rangeText(field); !range.isEmpty()) parts << range;
  return parts.join(QStringLiteral(" \u00b7 "));
}

void FormRow::showHelp() {
  const QString text = !message_.isEmpty() ? message_ : !note_.isEmpty() ? note_ : meaning();
  help_->setText(withMarks(text, message_.isEmpty() ? words_ : QStringList()));
}

void FormRow::setChanged(bool isChanged, const QString& standard) {
  if (isChanged) {
    reset_->setToolTip(
        tr("Back to the default: %1").arg(standard.isEmpty() ? tr("empty") : standard));
  }
  if (isChanged == isChanged_) return;
  isChanged_ = isChanged;
  reset_->setVisible(isChanged);
  title_->setAccessibleDescription(isChanged ? tr("differs from the default") : QString());
  update();
}

void FormRow::setMessage(const QString& message) {
  if (message == message_) return;
  message_ = message;
  restyle(*help_, "role", message.isEmpty() ? "small" : "error");
  editor_->setInvalid(message);
  showHelp();
}

void FormRow::setNote(const QString& note) {
  if (note == note_) return;
  note_ = note;
  showHelp();
}

void FormRow::setSearch(const QStringList& words) {
  if (words == words_) return;
  words_ = words;
  title_->setText(withMarks(titleText_, words));
  showHelp();
}

bool FormRow::matches(const QStringList& words) const {
  return holdsWords(titleText_ + QLatin1Char(' ') + QString::fromStdString(key_) +
                        QLatin1Char(' ') + group_ + QLatin1Char(' ') + meaning(),
                    words);
}

void FormRow::leaveMenuOut() {
  hasMenu_ = false;
  QSizePolicy kept = more_->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  more_->setSizePolicy(kept);
  more_->hide();
}

QToolButton* FormRow::addButton(const QString& text, const QString& name) {
  auto* button = withName(makeToolButton(text, name, this), name);
  tools_->insertWidget(0, button);
  return button;
}

void FormRow::setHelpBelow(bool isBelow) {
  if (isBelow == isBelow_) return;
  isBelow_ = isBelow;
  auto* grid = static_cast<QGridLayout*>(layout());
  grid->removeWidget(help_);
  if (isBelow) {
    grid->addWidget(help_, 1, 1, 1, 3);
  } else {
    grid->addWidget(help_, 0, 3);
  }
}

void FormRow::paintEvent(QPaintEvent*) {
  if (!isChanged_) return;
  QPainter painter(this);
  painter.fillRect(QRect(1, 0, px(3), height()), themeColors().accent);
}

void FormRow::contextMenuEvent(QContextMenuEvent* event) {
  event->accept();
  if (hasMenu_) Q_EMIT menuRequested(event->globalPos());
}

}  // namespace vitrine::ui
