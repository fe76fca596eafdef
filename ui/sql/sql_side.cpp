#include "ui/sql/sql_side.h"

#include <QButtonGroup>
#include <QDateTime>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QShortcut>
#include <QStackedWidget>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/sql/sql_docs.h"
#include "ui/sql/sql_text.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {
namespace {

constexpr int kSqlRole = Qt::UserRole;         // name to insert, or statement to open
constexpr int kSearchRole = Qt::UserRole + 1;  // texts that the search reads
constexpr int kOwnRole = Qt::UserRole + 2;     // the name of a query of the user's own

QString firstLineOf(const QString& sql) {
  for (const QString& line : sql.split(QLatin1Char('\n'))) {
    const QString text = line.simplified();
    if (!text.isEmpty() && !text.startsWith(QLatin1String("--"))) return text;
  }
  return sql.simplified();
}

QString whenText(const QString& at) {
  const QDateTime moment = QDateTime::fromString(at, Qt::ISODate).toLocalTime();
  if (!moment.isValid()) return {};
  return moment.date() == QDate::currentDate() ? moment.toString(QStringLiteral("HH:mm"))
                                               : moment.toString(QStringLiteral("d MMM"));
}

QTreeWidgetItem* headingOf(QTreeWidget* tree, const QString& text) {
  auto* item = new QTreeWidgetItem(tree, {text});
  item->setFlags(Qt::ItemIsEnabled);
  item->setForeground(0, themeColors().muted);
  item->setFirstColumnSpanned(true);
  return item;
}

}  // namespace

SqlSide::SqlSide(QWidget* parent)
    : QWidget(parent),
      choice_(new QButtonGroup(this)),
      search_(new QLineEdit(this)),
      stack_(new QStackedWidget(this)) {
  paintAs(this, "panel");
  auto* column = columnIn(this, {}, 0);
  auto* top = new QWidget(this);
  auto* inTop = columnIn(top, {px(12), px(8), px(12), px(8)}, px(8));
  auto* buttons = rowIn(nullptr, {}, px(4));
  const std::pair<QString, QString> shelves[] = {
      {tr("Schema"), tr("Views and tables; a double click puts the name into the statement")},
      {tr("Saved"), tr("Statements saved by name; Return opens one")},
      {tr("History"), tr("Earlier statements; Return opens one")}};
  for (int i = 0; i < 3; ++i) {
    auto* button =
        withName(makeToolButton(shelves[i].first, shelves[i].second, top), shelves[i].first);
    button->setCheckable(true);
    button->setProperty("quiet", true);
    choice_->addButton(button, i);
    buttons->addWidget(button);
  }
  buttons->addStretch();
  inTop->addLayout(buttons);
  search_->setClearButtonEnabled(true);
  inTop->addWidget(search_);
  column->addWidget(top);
  schema_ = makeTree(tr("Views and tables"));
  saved_ = makeTree(tr("Saved queries"));
  history_ = makeTree(tr("History"));
  saved_->setRootIsDecorated(false);
  saved_->setIndentation(px(8));
  history_->setRootIsDecorated(false);
  history_->setIndentation(px(8));
  saved_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  for (QTreeWidget* tree : {schema_, saved_, history_}) stack_->addWidget(tree);
  stack_->setContentsMargins(px(8), 0, 0, 0);
  column->addWidget(stack_, 1);

  connect(choice_, &QButtonGroup::idClicked, this,
          [this](int id) { showShelf(static_cast<Shelf>(id)); });
  connect(search_, &QLineEdit::textChanged, this, &SqlSide::filter);
  connect(schema_, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
    const QString name = item->data(0, kSqlRole).toString();
    if (!name.isEmpty()) Q_EMIT nameChosen(name);
  });
  schema_->setExpandsOnDoubleClick(false);
  for (QTreeWidget* tree : {saved_, history_}) {
    connect(tree, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
      const QString sql = item->data(0, kSqlRole).toString();
      if (!sql.isEmpty()) Q_EMIT statementChosen(sql);
    });
  }
  connect(saved_, &QTreeWidget::itemChanged, this, [this](const QTreeWidgetItem* item, int) {
    if (isFilling_) return;
    const QString from = item->data(0, kOwnRole).toString();
    if (!from.isEmpty() && item->text(0) != from) Q_EMIT renameRequested(from, item->text(0));
  });
  auto* remove = new QShortcut(QKeySequence::Delete, saved_);
  remove->setContext(Qt::WidgetShortcut);
  connect(remove, &QShortcut::activated, this, [this] {
    const QTreeWidgetItem* item = saved_->currentItem();
    const QString name = item == nullptr ? QString() : item->data(0, kOwnRole).toString();
    if (!name.isEmpty()) Q_EMIT removeRequested(name);
  });
  showShelf(Shelf::Schema);
}

QTreeWidget* SqlSide::makeTree(const QString& accessibleName) {
  auto* tree = withName(new QTreeWidget(this), accessibleName);
  tree->setColumnCount(2);
  tree->setHeaderHidden(true);
  tree->setIndentation(px(14));
  tree->setUniformRowHeights(true);
  tree->setFrameShape(QFrame::NoFrame);
  tree->setTextElideMode(Qt::ElideRight);
  tree->header()->setStretchLastSection(false);
  tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  tree->header()->setMinimumSectionSize(1);
  tree->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(tree, &QWidget::customContextMenuRequested, this,
          [this, tree](const QPoint& place) { showMenu(tree, place); });
  offerMenu(
      tree,
      [tree] {
        const QTreeWidgetItem* item = tree->currentItem();
        return item == nullptr ? tree->accessibleName() : item->text(0).left(40);
      },
      [this, tree](QMenu& menu) { fillMenu(menu, tree, tree->currentItem()); });
  return tree;
}

SqlSide::Shelf SqlSide::shelf() const { return static_cast<Shelf>(stack_->currentIndex()); }

QTreeWidget& SqlSide::tree(Shelf shelf) const {
  return shelf == Shelf::Schema ? *schema_ : shelf == Shelf::Saved ? *saved_ : *history_;
}

void SqlSide::showShelf(Shelf shelf) {
  const int index = static_cast<int>(shelf);
  stack_->setCurrentIndex(index);
  choice_->button(index)->setChecked(true);
  const QString hints[] = {tr("Search views and columns"), tr("Search saved queries"),
                           tr("Search the history")};
  search_->setPlaceholderText(hints[index]);
  search_->setAccessibleName(hints[index]);
  filter();
}

void SqlSide::setObjects(const std::vector<SqlObject>& objects) {
  const bool wasFilled = schema_->topLevelItemCount() > 0;
  QStringList open;
  for (int i = 0; i < schema_->topLevelItemCount(); ++i) {
    if (schema_->topLevelItem(i)->isExpanded()) open << schema_->topLevelItem(i)->text(0);
  }
  schema_->clear();
  const auto add = [](auto* parent, const SqlObject& object, const QString& meaning,
                      const SqlViewDoc* doc) {
    auto* item = new QTreeWidgetItem(parent, {object.name});
    item->setData(0, kSqlRole, sqlName(object.name));
    item->setToolTip(0,
                     meaning.isEmpty() ? object.name : object.name + QLatin1Char('\n') + meaning);
    QStringList words{object.name, meaning};
    for (const SqlObject::Column& column : object.columns) {
      QString text;
      if (doc != nullptr) {
        const auto found =
            std::find_if(doc->columns.begin(), doc->columns.end(),
                         [&column](const SqlColumnDoc& one) { return one.name == column.name; });
        if (found != doc->columns.end()) text = found->meaning;
      }
      auto* child = new QTreeWidgetItem(item, {column.name, column.type.toLower()});
      child->setForeground(1, themeColors().muted);
      child->setData(0, kSqlRole, sqlName(column.name));
      const QString tip = text.isEmpty() ? column.name : column.name + QLatin1Char('\n') + text;
      child->setToolTip(0, tip);
      child->setToolTip(1, tip);
      child->setData(0, kSearchRole, column.name + QLatin1Char(' ') + text);
      words << column.name << text;
    }
    item->setData(0, kSearchRole, words.join(QLatin1Char(' ')));
    return item;
  };
  for (const SqlViewDoc& doc : sqlViewDocs()) {
    const auto found = std::find_if(objects.begin(), objects.end(), [&doc](const SqlObject& one) {
      return one.isView && one.name == doc.name;
    });
    if (found == objects.end()) continue;
    auto* item = add(schema_, *found, doc.meaning, &doc);
    item->setExpanded(open.contains(doc.name));
  }
  auto* tables = headingOf(schema_, tr("Tables"));
  tables->setToolTip(0, tr("They belong to the program and may change with a new version; views "
                           "are kept stable"));
  for (const SqlObject& object : objects) {
    if (object.isView && findSqlView(object.name) != nullptr) continue;
    add(tables, object, sqlTableMeaning(object.name), nullptr);
  }
  tables->setExpanded(open.contains(tables->text(0)));
  if (!wasFilled && schema_->topLevelItemCount() > 0)
    schema_->setCurrentItem(schema_->topLevelItem(0));
  filter();
}

void SqlSide::showBook(const SqlBook& book) {
  isFilling_ = true;
  saved_->clear();
  bool hasOwn = false, hasShipped = false;
  for (const SqlBook::Saved& one : book.saved()) {
    if (one.isShipped && hasOwn && !hasShipped) headingOf(saved_, tr("Examples"));
    hasShipped = hasShipped || one.isShipped;
    hasOwn = hasOwn || !one.isShipped;
    auto* item = new QTreeWidgetItem(saved_, {one.name});
    item->setData(0, kSqlRole, one.sql);
    item->setData(0, kSearchRole, one.name + QLatin1Char(' ') + one.sql);
    item->setToolTip(0, one.name + QStringLiteral("\n\n") + one.sql);
    if (!one.isShipped) {
      item->setData(0, kOwnRole, one.name);
      item->setFlags(item->flags() | Qt::ItemIsEditable);
    }
  }
  history_->clear();
  for (const SqlBook::Past& one : book.past()) {
    const QString rows = one.rows < 0 ? tr("failed") : counted(one.rows, tr("row"), tr("rows"));
    auto* item = new QTreeWidgetItem(history_, {firstLineOf(one.sql), whenText(one.at)});
    item->setData(0, kSqlRole, one.sql);
    item->setData(0, kSearchRole, one.sql);
    item->setForeground(1, one.rows < 0 ? themeColors().bad : themeColors().muted);
    const QString tip = one.sql + QStringLiteral("\n\n") + rows + QStringLiteral(" \u00b7 ") +
                        number(one.seconds * 1000, 0) + QStringLiteral("\u202fms");
    item->setToolTip(0, tip);
    item->setToolTip(1, tip);
    if (one.rows < 0) item->setText(1, tr("failed"));
  }
  if (book.past().empty()) headingOf(history_, tr("No statement was run yet."));
  isFilling_ = false;
  filter();
}

void SqlSide::filter() {
  const QString wanted = search_->text().trimmed();
  QTreeWidget& shown = tree(shelf());
  for (int i = 0; i < shown.topLevelItemCount(); ++i) {
    QTreeWidgetItem* item = shown.topLevelItem(i);
    const QString words = item->data(0, kSearchRole).toString();
    bool isAny = wanted.isEmpty() || words.contains(wanted, Qt::CaseInsensitive);
    if (item->childCount() > 0 && words.isEmpty()) {  // the heading above the tables
      isAny = wanted.isEmpty();
      for (int j = 0; j < item->childCount(); ++j) {
        const bool fits =
            wanted.isEmpty() ||
            item->child(j)->data(0, kSearchRole).toString().contains(wanted, Qt::CaseInsensitive);
        item->child(j)->setHidden(!fits);
        isAny = isAny || fits;
      }
      if (!wanted.isEmpty()) item->setExpanded(isAny);
    } else if (item->childCount() > 0) {
      const bool isOwnName = item->text(0).contains(wanted, Qt::CaseInsensitive);
      for (int j = 0; j < item->childCount(); ++j) {
        const bool fits =
            wanted.isEmpty() || isOwnName ||
            item->child(j)->data(0, kSearchRole).toString().contains(wanted, Qt::CaseInsensitive);
        item->child(j)->setHidden(!fits);
      }
      if (!wanted.isEmpty() && isAny && !isOwnName) item->setExpanded(true);
    }
    item->setHidden(!isAny);
  }
}

void SqlSide::showMenu(QTreeWidget* tree, const QPoint& place) {
  QMenu menu(this);
  fillMenu(menu, tree, tree->itemAt(place));
  if (!menu.isEmpty()) menu.exec(tree->viewport()->mapToGlobal(place));
}

void SqlSide::fillMenu(QMenu& menu, QTreeWidget* tree, QTreeWidgetItem* item) {
  const QString sql = item == nullptr ? QString() : item->data(0, kSqlRole).toString();
  if (!sql.isEmpty()) {
    if (tree == schema_) {
      menu.addAction(tr("&Insert name"), this, [this, sql] { Q_EMIT nameChosen(sql); });
      if (item->parent() == nullptr || item->childCount() > 0)
        menu.addAction(tr("&Show its rows"), this, [this, sql] {
          Q_EMIT statementChosen(QStringLiteral("SELECT * FROM %1 LIMIT 1000").arg(sql));
        });
    } else {
      menu.addAction(tr("&Open"), this, [this, sql] { Q_EMIT statementChosen(sql); });
    }
    const QString own = item->data(0, kOwnRole).toString();
    if (!own.isEmpty()) {
      menu.addAction(tr("&Rename"), this, [tree, item] { tree->editItem(item, 0); });
      menu.addAction(tr("&Delete"), this, [this, own] { Q_EMIT removeRequested(own); });
    }
  }
  if (tree == history_) menu.addAction(tr("&Clear the history"), this, &SqlSide::forgetRequested);
}

}  // namespace vitrine::ui
