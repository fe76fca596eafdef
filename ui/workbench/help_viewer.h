// The documents of Vitrine, inside the program: no network, no browser.
#pragma once

#include <QDialog>
#include <QString>
#include <map>

class QLineEdit;
class QListWidget;
class QTextBrowser;
class QTextDocument;

namespace vitrine::ui {

/// A text that was built into the program; "" where there is none. \param name  "docs/studio.md"
[[nodiscard]] QString builtInText(const QString& name);

class HelpViewer : public QDialog {
  Q_OBJECT
 public:
  explicit HelpViewer(QWidget* parent);
  /// Shows a document, "studio.md", at its beginning.
  void showDocument(const QString& name);
  [[nodiscard]] QListWidget& list() { return *list_; }
  [[nodiscard]] QTextBrowser& text() { return *text_; }
  [[nodiscard]] QLineEdit& search() { return *search_; }

 private:
  void read(const QString& name);
  void searchOn(const QString& words);

  std::map<QString, QTextDocument*> documents_;  ///< that were looked at
  QListWidget* list_;
  QTextBrowser* text_;
  QLineEdit* search_;
};

}  // namespace vitrine::ui
