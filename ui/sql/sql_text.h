// SQL as text: its words, the statement under the cursor, the parameters that stand for selected
// runs. Also the word that an error of SQLite is about.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>
#include <vector>

namespace vitrine::ui {

struct SqlToken {
  enum class Kind { Word, Keyword, Number, String, Comment, Parameter, Sign };
  Kind kind = Kind::Sign;
  int start = 0;  ///< in UTF-16 units
  int length = 0;
};

/// What a line begins inside of, when the one before did not close it.
enum class SqlOpen { Nothing = 0, Comment, SingleQuote, DoubleQuote, Backtick, Bracket };

/// The words of `text`; spaces are left out. \param open  in: what it begins inside of; out: what
/// it leaves open
[[nodiscard]] std::vector<SqlToken> sqlTokens(const QString& text, SqlOpen& open);
[[nodiscard]] std::vector<SqlToken> sqlTokens(const QString& text);

/// SQLite's words that are worth completing and colouring, in capitals.
[[nodiscard]] const QStringList& sqlKeywords();
[[nodiscard]] const QStringList& sqlFunctions();

struct SqlRange {
  int start = 0;
  int length = 0;
  bool operator==(const SqlRange&) const = default;
};

/// Statements without their semicolons and without spaces around them; comments alone are none.
[[nodiscard]] std::vector<SqlRange> sqlStatements(const QString& text);
/// The one that holds `position`, or that ends last before it on the same line; else the next one.
[[nodiscard]] std::optional<SqlRange> sqlStatementAt(const QString& text, int position);

/// `:run` becomes the current run's id, `:runs` the list of selected ones in parentheses.
/// \returns  nothing where the statement asks for a run and none is selected
[[nodiscard]] std::optional<QString> withRuns(const QString& statement, std::int64_t current,
                                              const std::vector<std::int64_t>& selected);

/// The word of `statement`, with the table in front of a column, that an error is about.
/// \param sent   the statement as SQLite read it: withRuns() of it
/// \param place  position in `sent`; behind its last word: the last sign of the statement
[[nodiscard]] SqlRange sqlErrorPlace(const QString& statement, const QString& sent, int place);

/// Whether the statement reads the view or table `name`.
[[nodiscard]] bool sqlReads(const QString& statement, const QString& name);

/// `name` as it stands in a statement: quoted where it must be.
[[nodiscard]] QString sqlName(const QString& name);

}  // namespace vitrine::ui
