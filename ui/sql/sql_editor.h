// The editor of a statement: coloured words, completion of views, columns and keywords, a mark
// where SQLite found a mistake.
#pragma once

#include <QPlainTextEdit>
#include <QStringList>
#include <QSyntaxHighlighter>
#include <map>
#include <optional>

#include "ui/sql/sql_text.h"

class QCompleter;
class QStringListModel;

namespace vitrine::ui {

/// Colours keywords, texts, numbers, comments and parameters in the colours of the theme.
class SqlHighlighter : public QSyntaxHighlighter {
  Q_OBJECT
 public:
  using QSyntaxHighlighter::QSyntaxHighlighter;

 protected:
  void highlightBlock(const QString& text) override;
};

class SqlEditor : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit SqlEditor(QWidget* parent = nullptr);

  /// What completion knows of the database.
  struct Schema {
    std::map<QString, QStringList> columns;  ///< of views and tables
    QStringList views, tables;               ///< the keys of `columns`
    QStringList metrics;                     ///< names that runs recorded
  };
  void setSchema(Schema schema);
  /// What Ctrl+Return runs: the selection, else the statement under the cursor.
  [[nodiscard]] std::optional<SqlRange> wanted() const;
  [[nodiscard]] QString textOf(const SqlRange& range) const;
  /// Underlines a place and brings it into view. \param place  of the whole text
  void showMistake(const SqlRange& place);
  void clearMistake();
  /// Puts a name where the cursor is, with spaces where words would run together.
  void insertName(const QString& name);
  /// Another text in place of this one; can be taken back.
  void replaceAll(const QString& text);
  /// Colours after a change of theme.
  void restyle();
  /// What completion offers at the cursor, best first: columns of what the statement reads, views,
  /// metrics, words of SQL, tables. Within a text: metrics.
  [[nodiscard]] QStringList offers() const;
  void complete();

 Q_SIGNALS:
  void runRequested();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QString prefix() const;
  /// Where the text begins that the cursor is in, after its quote; -1 outside of texts.
  [[nodiscard]] int textStart() const;
  void insertCompletion(const QString& word);
  void mark();

  SqlHighlighter* highlighter_;
  QCompleter* completer_;
  QStringListModel* words_;
  Schema schema_;
  std::optional<SqlRange> mistake_;
};

}  // namespace vitrine::ui
