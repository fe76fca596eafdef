#include "ui/workbench/fact_table.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>

#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kRow = 22;

}  // namespace

FactTable::FactTable(const QString& accessibleName, QWidget* parent) : QTreeWidget(parent) {
  setAccessibleName(accessibleName);
  setColumnCount(2);
  setHeaderHidden(true);
  header()->setStretchLastSection(true);
  header()->setMinimumSectionSize(1);
  setRootIsDecorated(false);
  setIndentation(0);
  setUniformRowHeights(true);
  setFrameShape(QFrame::NoFrame);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTextElideMode(Qt::ElideMiddle);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setTabKeyNavigation(false);
}

void FactTable::setFacts(const std::vector<Fact>& facts) {
  const int rows = static_cast<int>(facts.size());
  const bool isTaller = rows != topLevelItemCount();
  while (topLevelItemCount() > rows) delete takeTopLevelItem(topLevelItemCount() - 1);
  while (topLevelItemCount() < rows) addTopLevelItem(new QTreeWidgetItem);
  for (int row = 0; row < rows; ++row) {
    const Fact& fact = facts[static_cast<std::size_t>(row)];
    QTreeWidgetItem* item = topLevelItem(row);
    item->setSizeHint(0, QSize(0, px(kRow)));
    if (item->text(0) != fact.label) item->setText(0, fact.label);
    if (item->text(1) != fact.value) item->setText(1, fact.value);
    item->setForeground(0, themeColors().muted);
    item->setForeground(1, themeColors().text);
    item->setToolTip(0, fact.definition.isEmpty()
                            ? fact.label
                            : fact.label + QLatin1Char('\n') + fact.definition);
    item->setToolTip(1, fact.definition.isEmpty()
                            ? fact.value
                            : fact.value + QLatin1Char('\n') + fact.definition);
  }
  if (isTaller) updateGeometry();
  fitColumns();
}

QSize FactTable::sizeHint() const { return {px(200), topLevelItemCount() * px(kRow) + 2}; }

QSize FactTable::minimumSizeHint() const { return {px(120), sizeHint().height()}; }

void FactTable::resizeEvent(QResizeEvent* event) {
  QTreeWidget::resizeEvent(event);
  fitColumns();
}

void FactTable::fitColumns() {
  const int width = viewport()->width();
  if (labelWidth_ <= 0) return setColumnWidth(0, width * 55 / 100);
  const auto widest = [this](int column) {
    int text = 0;
    for (int row = 0; row < topLevelItemCount(); ++row)
      text = std::max(text, fontMetrics().horizontalAdvance(topLevelItem(row)->text(column)));
    return text + px(8);  // the margins that a cell has around its text
  };
  // One long value costs no label its letters as long as both have half of the width.
  const int most = std::min(px(labelWidth_), width * 6 / 10);
  const int least = std::min({most, widest(0), width / 2});
  setColumnWidth(0, std::clamp(width - widest(1), least, most));
}

void FactTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QStringList lines;
    for (const QTreeWidgetItem* item : selectedItems())
      lines << item->text(0) + QStringLiteral(" = ") + item->text(1);
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
    return;
  }
  QTreeWidget::keyPressEvent(event);
}

}  // namespace vitrine::ui
