// Colours of a TOML text: headers, keys, strings, numbers, comments.
#pragma once

#include <QSyntaxHighlighter>

namespace vitrine::ui {

class TomlHighlighter : public QSyntaxHighlighter {
  Q_OBJECT
 public:
  using QSyntaxHighlighter::QSyntaxHighlighter;

 protected:
  void highlightBlock(const QString& line) override;
};

}  // namespace vitrine::ui
