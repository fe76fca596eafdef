#include "ui/sql/sql_editor.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QScrollBar>
#include <QStringListModel>
#include <QTextBlock>
#include <algorithm>

#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kShortestPrefix = 2;  // letters before completion offers itself

bool isRunKey(const QKeyEvent& event) {
  return (event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter) &&
         event.modifiers().testFlag(Qt::ControlModifier) &&
         !event.modifiers().testFlag(Qt::ShiftModifier) &&
         !event.modifiers().testFlag(Qt::AltModifier);
}

/// Those that begin with what was typed, then those that contain it. The quote of a text is not
/// typed.
QStringList wordsThatFit(const QStringList& words, const QString& typed) {
  QStringList fitting, containing;
  for (const QString& word : words) {
    const int from = word.startsWith(QLatin1Char('\'')) ? 1 : 0;
    if (QStringView(word).mid(from).startsWith(typed, Qt::CaseInsensitive)) {
      fitting << word;
    } else if (typed.size() >= 3 && word.contains(typed, Qt::CaseInsensitive)) {
      containing << word;
    }
  }
  return fitting + containing;
}

bool isCompleteKey(const QKeyEvent& event) {
  return event.key() == Qt::Key_Space && event.modifiers() == Qt::ControlModifier;
}

}  // namespace

void SqlHighlighter::highlightBlock(const QString& text) {
  SqlOpen open =
      previousBlockState() > 0 ? static_cast<SqlOpen>(previousBlockState()) : SqlOpen::Nothing;
  const ThemeColors& theme = themeColors();
  for (const SqlToken& token : sqlTokens(text, open)) {
    QTextCharFormat format;
    switch (token.kind) {
      case SqlToken::Kind::Keyword:
        format.setForeground(theme.accent);
        format.setFontWeight(QFont::Medium);
        break;
      case SqlToken::Kind::String:
        format.setForeground(theme.ok);
        break;
      case SqlToken::Kind::Number:
      case SqlToken::Kind::Parameter:
        format.setForeground(theme.warn);
        break;
      case SqlToken::Kind::Comment:
        format.setForeground(theme.muted);
        format.setFontItalic(true);
        break;
      case SqlToken::Kind::Word:
      case SqlToken::Kind::Sign:
        continue;
    }
    setFormat(token.start, token.length, format);
  }
  setCurrentBlockState(static_cast<int>(open));
}

SqlEditor::SqlEditor(QWidget* parent)
    : QPlainTextEdit(parent),
      highlighter_(new SqlHighlighter(document())),
      completer_(new QCompleter(this)),
      words_(new QStringListModel(this)) {
  setFont(monoFont());
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setTabChangesFocus(true);
  setAccessibleName(tr("SQL statements"));
  setPlaceholderText(tr("SELECT \u2026 FROM runs"));
  completer_->setModel(words_);
  completer_->setWidget(this);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->setMaxVisibleItems(10);
  completer_->popup()->setAccessibleName(tr("Completions"));
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this,
          &SqlEditor::insertCompletion);
  connect(this, &QPlainTextEdit::cursorPositionChanged, this, &SqlEditor::mark);
  connect(document(), &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
    if (removed != added) mistake_.reset();
  });
}

void SqlEditor::setSchema(Schema schema) { schema_ = std::move(schema); }

std::optional<SqlRange> SqlEditor::wanted() const {
  const QTextCursor cursor = textCursor();
  if (cursor.hasSelection()) {
    const SqlRange range{cursor.selectionStart(), cursor.selectionEnd() - cursor.selectionStart()};
    if (!textOf(range).trimmed().isEmpty()) return range;
  }
  return sqlStatementAt(toPlainText(), cursor.position());
}

QString SqlEditor::textOf(const SqlRange& range) const {
  return toPlainText().mid(range.start, range.length);
}

void SqlEditor::showMistake(const SqlRange& place) {
  mistake_ = place;
  mark();
  QTextCursor cursor = textCursor();
  if (cursor.hasSelection()) return;
  cursor.setPosition(std::min(place.start, std::max(0, document()->characterCount() - 1)));
  setTextCursor(cursor);
  ensureCursorVisible();
}

void SqlEditor::clearMistake() {
  mistake_.reset();
  mark();
}

void SqlEditor::mark() {
  QList<QTextEdit::ExtraSelection> marks;
  const QString text = toPlainText();
  // Where there are several statements, the one that Ctrl+Return runs stands out.
  if (const auto range = wanted();
      range && !textCursor().hasSelection() && sqlStatements(text).size() > 1) {
    QTextBlock block = document()->findBlock(range->start);
    const QTextBlock last = document()->findBlock(range->start + range->length);
    for (; block.isValid() && block.blockNumber() <= last.blockNumber(); block = block.next()) {
      QTextEdit::ExtraSelection line;
      line.format.setBackground(themeColors().selection);
      line.format.setProperty(QTextFormat::FullWidthSelection, true);
      line.cursor = QTextCursor(block);
      marks << line;
    }
  }
  if (mistake_) {
    QTextEdit::ExtraSelection wrong;
    wrong.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    wrong.format.setUnderlineColor(themeColors().bad);
    QColor tint = themeColors().bad;
    tint.setAlphaF(0.24F);
    wrong.format.setBackground(tint);
    const int end = document()->characterCount() - 1;
    wrong.cursor = QTextCursor(document());
    wrong.cursor.setPosition(std::min(mistake_->start, end));
    wrong.cursor.setPosition(std::min(mistake_->start + mistake_->length, end),
                             QTextCursor::KeepAnchor);
    marks << wrong;
  }
  setExtraSelections(marks);
}

void SqlEditor::insertName(const QString& name) {
  QTextCursor cursor = textCursor();
  const QString text = toPlainText();
  const int from = cursor.selectionStart(), to = cursor.selectionEnd();
  const auto isWord = [&text](int at) {
    return at >= 0 && at < text.size() &&
           (text[at].isLetterOrNumber() || text[at] == QLatin1Char('_') ||
            text[at] == QLatin1Char(','));
  };
  QString inserted = name;
  if (isWord(from - 1)) inserted.prepend(QLatin1Char(' '));
  if (isWord(to) && text[to] != QLatin1Char(',')) inserted.append(QLatin1Char(' '));
  cursor.insertText(inserted);
  setTextCursor(cursor);
}

void SqlEditor::replaceAll(const QString& text) {
  QTextCursor cursor(document());
  cursor.select(QTextCursor::Document);
  cursor.insertText(text);
  cursor.setPosition(0);
  setTextCursor(cursor);
  clearMistake();
}

void SqlEditor::restyle() {
  setFont(monoFont());
  highlighter_->rehighlight();
  mark();
}

int SqlEditor::textStart() const {
  const QString text = toPlainText();
  const int cursor = textCursor().position();
  for (const SqlToken& token : sqlTokens(text)) {
    if (token.start >= cursor) break;
    if (token.kind != SqlToken::Kind::String || text[token.start] != QLatin1Char('\'')) continue;
    const int end = token.start + token.length;
    const bool isClosed = token.length > 1 && text[end - 1] == QLatin1Char('\'');
    if (cursor < end || (cursor == end && !isClosed)) return token.start + 1;
  }
  return -1;
}

QString SqlEditor::prefix() const {
  const QString text = toPlainText();
  const int end = textCursor().position();
  if (const int begun = textStart(); begun >= 0) return text.mid(begun, end - begun);
  int start = end;
  while (start > 0 && (text[start - 1].isLetterOrNumber() || text[start - 1] == QLatin1Char('_')))
    --start;
  return text.mid(start, end - start);
}

QStringList SqlEditor::offers() const {
  const QString text = toPlainText();
  const QString typed = prefix();
  if (textStart() >= 0) return wordsThatFit(schema_.metrics, typed);
  const int start = textCursor().position() - static_cast<int>(typed.size());
  SqlRange around{0, static_cast<int>(text.size())};
  if (const auto range = sqlStatementAt(text, textCursor().position())) around = *range;
  const QString statement = text.mid(around.start, around.length);

  // The words in order, without texts and comments; which views the statement reads, by alias.
  std::map<QString, QString> aliases;
  QString before;
  std::vector<QString> words;
  bool isInside = false;
  for (const SqlToken& token : sqlTokens(statement)) {
    const int at = around.start + token.start;
    if (token.kind == SqlToken::Kind::String || token.kind == SqlToken::Kind::Comment) {
      isInside = isInside || (start > at && start <= at + token.length - 1);
      continue;
    }
    const QString word = statement.mid(token.start, token.length);
    if (at + token.length <= start) before = word.toUpper();
    words.push_back(word);
  }
  if (isInside) return {};
  QStringList read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (schema_.columns.count(words[i]) == 0) continue;
    if (!read.contains(words[i])) read << words[i];
    aliases[words[i].toLower()] = words[i];
    std::size_t next = i + 1;
    if (next < words.size() && words[next].compare(QLatin1String("AS"), Qt::CaseInsensitive) == 0)
      ++next;
    if (next < words.size() && !words[next].isEmpty() && words[next][0].isLetter() &&
        !sqlKeywords().contains(words[next].toUpper()))
      aliases[words[next].toLower()] = words[i];
  }

  QStringList all;
  if (start > 0 && text[start - 1] == QLatin1Char('.')) {
    int from = start - 1;
    while (from > 0 && (text[from - 1].isLetterOrNumber() || text[from - 1] == QLatin1Char('_')))
      --from;
    const auto found = aliases.find(text.mid(from, start - 1 - from).toLower());
    if (found != aliases.end()) all = schema_.columns.at(found->second);
  } else if (before == QLatin1String("FROM") || before == QLatin1String("JOIN")) {
    all = schema_.views + schema_.tables;
  } else {
    for (const QString& view : read) all += schema_.columns.at(view);
    all += schema_.views;
    for (const QString& metric : schema_.metrics)
      all << QLatin1Char('\'') + metric + QLatin1Char('\'');
    all += sqlKeywords();
    for (const QString& function : sqlFunctions()) all << function + QStringLiteral("(");
    all += schema_.tables;
  }
  all.removeDuplicates();
  return wordsThatFit(all, typed);
}

void SqlEditor::complete() {
  const QStringList fitting = offers();
  const QString typed = prefix();
  const bool isDone =
      fitting.size() == 1 && fitting.front().compare(typed, Qt::CaseInsensitive) == 0;
  if (fitting.isEmpty() || isDone) {
    completer_->popup()->hide();
    return;
  }
  words_->setStringList(fitting.mid(0, 60));
  completer_->setCompletionPrefix(typed);
  QRect place = cursorRect();
  place.setWidth(completer_->popup()->sizeHintForColumn(0) +
                 completer_->popup()->verticalScrollBar()->sizeHint().width() + px(24));
  completer_->complete(place);
  completer_->popup()->setCurrentIndex(completer_->completionModel()->index(0, 0));
}

void SqlEditor::insertCompletion(const QString& word) {
  QTextCursor cursor = textCursor();
  const QString typed = prefix();
  cursor.movePosition(QTextCursor::Left, QTextCursor::KeepAnchor, static_cast<int>(typed.size()));
  // A keyword in the letters that were begun with.
  const bool isKeyword = sqlKeywords().contains(word);
  const bool isLower = !typed.isEmpty() && typed == typed.toLower();
  cursor.insertText(isKeyword && isLower ? word.toLower() : word);
  setTextCursor(cursor);
}

bool SqlEditor::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto& key = *static_cast<QKeyEvent*>(event);
    if (isRunKey(key) || isCompleteKey(key)) {
      event->accept();
      return true;
    }
  }
  return QPlainTextEdit::event(event);
}

void SqlEditor::keyPressEvent(QKeyEvent* event) {
  if (isRunKey(*event)) {
    completer_->popup()->hide();
    Q_EMIT runRequested();
    return;
  }
  if (isCompleteKey(*event)) {
    complete();
    return;
  }
  const bool isOpen = completer_->popup()->isVisible();
  if (isOpen) {
    switch (event->key()) {
      case Qt::Key_Return:
      case Qt::Key_Enter:
      case Qt::Key_Tab:
      case Qt::Key_Escape:
        event->ignore();  // the completer's
        return;
      default:
        break;
    }
  }
  QPlainTextEdit::keyPressEvent(event);
  const bool isText = !event->text().isEmpty() && event->text()[0].isPrint();
  const bool isWord =
      isText && (event->text()[0].isLetterOrNumber() || event->text()[0] == QLatin1Char('_'));
  const bool isDot = isText && event->text()[0] == QLatin1Char('.');
  const bool isTextBegun =
      isText && (event->text()[0] == QLatin1Char('\'') || event->text()[0] == QLatin1Char('/')) &&
      textStart() >= 0;
  const bool isErasing = isOpen && event->key() == Qt::Key_Backspace;
  if ((isWord && prefix().size() >= kShortestPrefix) || isDot || isTextBegun ||
      (isErasing && !prefix().isEmpty())) {
    complete();
  } else if (isOpen) {
    completer_->popup()->hide();
  }
}

}  // namespace vitrine::ui
