// Line by line; the state of a line says which long string or how deep a bracket continues.
#include "ui/configure/form/toml_highlighter.h"

#include <QTextCharFormat>

#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

enum TomlLineState { kTomlPlain = 0, kTomlBasic = 1, kTomlLiteral = 2, kTomlDeep = 3 };

/// Colours of the theme that keep 4.5:1 on a raised ground; weight and slant say the same without
/// colour.
struct TomlFormats {
  QTextCharFormat header, key, text, value, comment;
  TomlFormats() {
    header.setFontWeight(QFont::DemiBold);
    header.setForeground(themeColors().text);
    key.setForeground(themeColors().accent);
    text.setForeground(themeColors().ok);
    value.setForeground(themeColors().warn);
    comment.setForeground(themeColors().muted);
    comment.setFontItalic(true);
  }
};

}  // namespace

void TomlHighlighter::highlightBlock(const QString& line) {
  const TomlFormats formats;
  const auto size = static_cast<int>(line.size());
  int at = 0;
  const int before = previousBlockState();
  int depth = before >= kTomlDeep ? before - kTomlDeep + 1 : 0;
  setCurrentBlockState(kTomlPlain);
  // A string up to its end; true when the line ends inside it.
  const auto readString = [&](int from, QChar quote, bool isLong) {
    const QString fence(isLong ? 3 : 1, quote);
    while (at < size) {
      if (quote == QLatin1Char('"') && line[at] == QLatin1Char('\\')) {
        at += 2;
      } else if (QStringView(line).mid(at, fence.size()) == fence) {
        at += static_cast<int>(fence.size());
        setFormat(from, at - from, formats.text);
        return false;
      } else {
        ++at;
      }
    }
    at = size;
    setFormat(from, size - from, formats.text);
    return isLong;
  };
  if (before == kTomlBasic || before == kTomlLiteral) {
    if (readString(0, QLatin1Char(before == kTomlBasic ? '"' : '\''), true)) {
      setCurrentBlockState(before);
      return;
    }
  }
  bool isKey = depth == 0 && at == 0;
  const QString trimmed = line.trimmed();
  if (isKey && trimmed.startsWith(QLatin1Char('['))) {
    const int end = static_cast<int>(line.lastIndexOf(QLatin1Char(']'))) + 1;
    const int first = static_cast<int>(line.indexOf(QLatin1Char('[')));
    setFormat(first, std::max(end - first, 1), formats.header);
    at = std::max(end, first + 1);
    isKey = false;
  }
  int keyBegin = at;
  while (at < size) {
    const QChar c = line[at];
    if (c == QLatin1Char('#')) {
      setFormat(at, size - at, formats.comment);
      break;
    }
    if (c == QLatin1Char('"') || c == QLatin1Char('\'')) {
      const int from = at;
      const bool isLong = QStringView(line).mid(at, 3) == QString(3, c);
      at += isLong ? 3 : 1;
      if (readString(from, c, isLong)) {
        setCurrentBlockState(c == QLatin1Char('"') ? kTomlBasic : kTomlLiteral);
        return;
      }
      continue;
    }
    if (c == QLatin1Char('=')) {
      setFormat(keyBegin, at - keyBegin, formats.key);
      isKey = false;
    } else if (c == QLatin1Char('{') || c == QLatin1Char(',')) {
      if (c == QLatin1Char('{')) ++depth;
      keyBegin = at + 1;
    } else if (c == QLatin1Char('[')) {
      ++depth;
      keyBegin = at + 1;
    } else if (c == QLatin1Char(']') || c == QLatin1Char('}')) {
      depth = std::max(depth - 1, 0);
    } else if (!isKey && (c.isLetterOrNumber() || c == QLatin1Char('+') || c == QLatin1Char('-'))) {
      const int from = at;
      while (at < size &&
             (line[at].isLetterOrNumber() || QStringLiteral("+-._:").contains(line[at])))
        ++at;
      setFormat(from, at - from, formats.value);
      continue;
    }
    ++at;
  }
  if (depth > 0) setCurrentBlockState(kTomlDeep + depth - 1);
}

}  // namespace vitrine::ui
