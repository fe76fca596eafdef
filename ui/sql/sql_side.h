// Left of the console: views and tables with their columns, saved queries, and what was asked
// before; one search over whichever is shown.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/sql/sql_book.h"

class QButtonGroup;
class QLineEdit;
class QMenu;
class QStackedWidget;
class QTreeWidget;
class QTreeWidgetItem;

namespace vitrine::ui {

/// A view or table as it is in the open database.
struct SqlObject {
  QString name;
  bool isView = false;
  struct Column {
    QString name, type;
  };
  std::vector<Column> columns;
};

class SqlSide : public QWidget {
  Q_OBJECT
 public:
  enum class Shelf { Schema, Saved, History };

  explicit SqlSide(QWidget* parent = nullptr);

  void setObjects(const std::vector<SqlObject>& objects);
  void showBook(const SqlBook& book);
  void showShelf(Shelf shelf);
  [[nodiscard]] Shelf shelf() const;
  [[nodiscard]] QTreeWidget& tree(Shelf shelf) const;
  [[nodiscard]] QLineEdit& search() const { return *search_; }

 Q_SIGNALS:
  void nameChosen(const QString& name);
  void statementChosen(const QString& sql);
  void renameRequested(const QString& from, const QString& to);
  void removeRequested(const QString& name);
  void forgetRequested();

 private:
  QTreeWidget* makeTree(const QString& accessibleName);
  void filter();
  void showMenu(QTreeWidget* tree, const QPoint& place);
  void fillMenu(QMenu& menu, QTreeWidget* tree, QTreeWidgetItem* item);

  QButtonGroup* choice_;
  QLineEdit* search_;
  QStackedWidget* stack_;
  QTreeWidget *schema_, *saved_, *history_;
  bool isFilling_ = false;
};

}  // namespace vitrine::ui
