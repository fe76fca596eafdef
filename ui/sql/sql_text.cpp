#include "ui/sql/sql_text.h"

#include <QSet>
#include <algorithm>

namespace vitrine::ui {
namespace {

bool isWordStart(QChar c) { return c.isLetter() || c == QLatin1Char('_'); }
bool isWordPart(QChar c) {
  return c.isLetterOrNumber() || c == QLatin1Char('_') || c == QLatin1Char('$');
}

const QSet<QString>& keywordSet() {
  static const QSet<QString> all(sqlKeywords().begin(), sqlKeywords().end());
  return all;
}

/// The place behind the sign that closes an open one, or -1. A doubled quote is one quote.
int endOfOpen(const QString& text, int from, SqlOpen open) {
  const int size = static_cast<int>(text.size());
  if (open == SqlOpen::Comment) {
    const auto at = text.indexOf(QLatin1String("*/"), from);
    return at < 0 ? -1 : static_cast<int>(at) + 2;
  }
  if (open == SqlOpen::Bracket) {
    const auto at = text.indexOf(QLatin1Char(']'), from);
    return at < 0 ? -1 : static_cast<int>(at) + 1;
  }
  const QChar quote = open == SqlOpen::SingleQuote   ? QLatin1Char('\'')
                      : open == SqlOpen::DoubleQuote ? QLatin1Char('"')
                                                     : QLatin1Char('`');
  for (int i = from; i < size; ++i) {
    if (text[i] != quote) continue;
    if (i + 1 < size && text[i + 1] == quote) {
      ++i;
      continue;
    }
    return i + 1;
  }
  return -1;
}

SqlToken::Kind kindOfOpen(SqlOpen open) {
  if (open == SqlOpen::Comment) return SqlToken::Kind::Comment;
  return open == SqlOpen::SingleQuote ? SqlToken::Kind::String : SqlToken::Kind::Word;
}

SqlOpen openedBy(const QString& text, int at) {
  switch (text[at].unicode()) {
    case '\'':
      return SqlOpen::SingleQuote;
    case '"':
      return SqlOpen::DoubleQuote;
    case '`':
      return SqlOpen::Backtick;
    case '[':
      return SqlOpen::Bracket;
    case '/':
      return at + 1 < text.size() && text[at + 1] == QLatin1Char('*') ? SqlOpen::Comment
                                                                      : SqlOpen::Nothing;
    default:
      return SqlOpen::Nothing;
  }
}

}  // namespace

const QStringList& sqlKeywords() {
  static const QStringList all =
      QStringLiteral(
          "ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CROSS CURRENT DESC DISTINCT ELSE END ESCAPE "
          "EXCEPT EXISTS EXPLAIN FILTER FIRST FOLLOWING FROM FULL GLOB GROUP HAVING IN INNER "
          "INTERSECT IS ISNULL JOIN LAST LEFT LIKE LIMIT MATERIALIZED NATURAL NOT NOTNULL NULL "
          "NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PLAN PRAGMA PRECEDING QUERY RANGE "
          "RECURSIVE REGEXP RIGHT ROW ROWS SELECT THEN UNBOUNDED UNION USING VALUES WHEN WHERE "
          "WINDOW WITH")
          .split(QLatin1Char(' '));
  return all;
}

const QStringList& sqlFunctions() {
  static const QStringList all =
      QStringLiteral(
          "abs avg ceil coalesce count dense_rank exp first_value floor format group_concat hex "
          "iif instr json_extract julianday lag last_value lead length ln log10 lower max min "
          "nullif pow quote rank replace round row_number sqrt strftime substr sum total trim "
          "typeof unixepoch upper")
          .split(QLatin1Char(' '));
  return all;
}

std::vector<SqlToken> sqlTokens(const QString& text, SqlOpen& open) {
  std::vector<SqlToken> tokens;
  const int size = static_cast<int>(text.size());
  int i = 0;
  if (open != SqlOpen::Nothing) {
    const int end = endOfOpen(text, 0, open);
    tokens.push_back({kindOfOpen(open), 0, end < 0 ? size : end});
    if (end < 0) return tokens;
    open = SqlOpen::Nothing;
    i = end;
  }
  while (i < size) {
    const QChar c = text[i];
    if (c.isSpace()) {
      ++i;
      continue;
    }
    int end = i + 1;
    SqlToken::Kind kind = SqlToken::Kind::Sign;
    if (const SqlOpen opened = openedBy(text, i); opened != SqlOpen::Nothing) {
      kind = kindOfOpen(opened);
      end = endOfOpen(text, i + (opened == SqlOpen::Comment ? 2 : 1), opened);
      if (end < 0) {
        open = opened;
        end = size;
      }
    } else if (c == QLatin1Char('-') && i + 1 < size && text[i + 1] == QLatin1Char('-')) {
      kind = SqlToken::Kind::Comment;
      const auto line = text.indexOf(QLatin1Char('\n'), i);
      end = line < 0 ? size : static_cast<int>(line);
    } else if (isWordStart(c)) {
      while (end < size && isWordPart(text[end])) ++end;
      kind = keywordSet().contains(text.mid(i, end - i).toUpper()) ? SqlToken::Kind::Keyword
                                                                   : SqlToken::Kind::Word;
    } else if (c.isDigit() || (c == QLatin1Char('.') && i + 1 < size && text[i + 1].isDigit())) {
      while (end < size && (isWordPart(text[end]) || text[end] == QLatin1Char('.') ||
                            ((text[end] == QLatin1Char('+') || text[end] == QLatin1Char('-')) &&
                             text[end - 1].toLower() == QLatin1Char('e'))))
        ++end;
      kind = SqlToken::Kind::Number;
    } else if ((c == QLatin1Char(':') || c == QLatin1Char('@') || c == QLatin1Char('$')) &&
               end < size && isWordStart(text[end])) {
      while (end < size && isWordPart(text[end])) ++end;
      kind = SqlToken::Kind::Parameter;
    }
    tokens.push_back({kind, i, end - i});
    i = end;
  }
  return tokens;
}

std::vector<SqlToken> sqlTokens(const QString& text) {
  SqlOpen open = SqlOpen::Nothing;
  return sqlTokens(text, open);
}

std::vector<SqlRange> sqlStatements(const QString& text) {
  std::vector<SqlRange> all;
  int start = -1, end = -1;
  bool hasWords = false;
  const auto close = [&] {
    if (hasWords) all.push_back({start, end - start});
    start = -1;
    hasWords = false;
  };
  for (const SqlToken& token : sqlTokens(text)) {
    const bool isSemicolon =
        token.kind == SqlToken::Kind::Sign && text[token.start] == QLatin1Char(';');
    if (isSemicolon) {
      close();
      continue;
    }
    if (start < 0) start = token.start;
    end = token.start + token.length;
    hasWords = hasWords || token.kind != SqlToken::Kind::Comment;
  }
  close();
  return all;
}

std::optional<SqlRange> sqlStatementAt(const QString& text, int position) {
  const std::vector<SqlRange> all = sqlStatements(text);
  if (all.empty()) return std::nullopt;
  const SqlRange* before = nullptr;
  for (const SqlRange& one : all) {
    if (position >= one.start && position <= one.start + one.length) return one;
    if (one.start + one.length < position) before = &one;
  }
  // Behind a semicolon the cursor still belongs to what stands on its line.
  if (before != nullptr) {
    const QString between =
        text.mid(before->start + before->length, position - before->start - before->length);
    if (!between.contains(QLatin1Char('\n')) || all.back() == *before) return *before;
  }
  for (const SqlRange& one : all) {
    if (one.start > position) return one;
  }
  return all.back();
}

std::optional<QString> withRuns(const QString& statement, std::int64_t current,
                                const std::vector<std::int64_t>& selected) {
  QString out;
  int from = 0;
  for (const SqlToken& token : sqlTokens(statement)) {
    if (token.kind != SqlToken::Kind::Parameter) continue;
    const QString name = statement.mid(token.start, token.length);
    QString value;
    if (name == QLatin1String(":run")) {
      if (current == 0) return std::nullopt;
      value = QString::number(current);
    } else if (name == QLatin1String(":runs")) {
      QStringList ids;
      for (const std::int64_t id : selected) ids << QString::number(id);
      if (ids.isEmpty() && current != 0) ids << QString::number(current);
      if (ids.isEmpty()) return std::nullopt;
      value = QLatin1Char('(') + ids.join(QStringLiteral(", ")) + QLatin1Char(')');
    } else {
      continue;
    }
    out += statement.mid(from, token.start - from) + value;
    from = token.start + token.length;
  }
  return out + statement.mid(from);
}

SqlRange sqlErrorPlace(const QString& statement, const QString& sent, int place) {
  const std::vector<SqlToken> tokens = sqlTokens(statement), others = sqlTokens(sent);
  std::size_t other = 0;
  for (std::size_t i = 0; i < tokens.size() && other < others.size(); ++i, ++other) {
    const SqlToken& token = tokens[i];
    const bool isList = token.kind == SqlToken::Kind::Parameter &&
                        statement.mid(token.start, token.length) == QLatin1String(":runs");
    while (isList && other + 1 < others.size() && sent[others[other].start] != QLatin1Char(')'))
      ++other;
    if (place >= others[other].start + others[other].length) continue;
    int end = token.start + token.length;
    for (std::size_t dot = i + 1; dot + 1 < tokens.size(); dot += 2) {
      const bool isNamed = token.kind == SqlToken::Kind::Word && tokens[dot].start == end &&
                           statement[end] == QLatin1Char('.') &&
                           tokens[dot + 1].kind == SqlToken::Kind::Word;
      if (!isNamed) break;
      end = tokens[dot + 1].start + tokens[dot + 1].length;
    }
    return {token.start, end - token.start};
  }
  const int size = static_cast<int>(statement.size());
  return {std::max(0, size - 1), std::min(1, size)};
}

bool sqlReads(const QString& statement, const QString& name) {
  const std::vector<SqlToken> tokens = sqlTokens(statement);
  return std::any_of(tokens.begin(), tokens.end(), [&](const SqlToken& token) {
    return token.kind == SqlToken::Kind::Word &&
           statement.mid(token.start, token.length).compare(name, Qt::CaseInsensitive) == 0;
  });
}

QString sqlName(const QString& name) {
  const bool isPlain = !name.isEmpty() && isWordStart(name[0]) &&
                       std::all_of(name.begin(), name.end(), isWordPart) &&
                       !keywordSet().contains(name.toUpper());
  if (isPlain) return name;
  QString quoted = name;
  quoted.replace(QLatin1Char('"'), QStringLiteral("\"\""));
  return QLatin1Char('"') + quoted + QLatin1Char('"');
}

}  // namespace vitrine::ui
