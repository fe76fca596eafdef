// The two tables of the architecture diff, on the screen and as text.
#include <QHeaderView>
#include <QPushButton>
#include <QToolButton>
#include <QTreeWidget>
#include <string>

#include "core/config/config.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/plugins/block_text.h"
#include "ui/plugins/diff_view.h"

namespace vitrine::ui {

void DiffView::showBlocks() {
  blocks_->clear();
  QColor tint = themeColors().accent;
  tint.setAlphaF(0.16F);
  const auto fillRow = [&](QTreeWidgetItem* item, const BlockPair& pair) {
    const QString kind = pair.a ? pair.a->kind : pair.b->kind;
    item->setText(PartOfModel, partName(kind));
    item->setText(OperatorA, whatText(pair.a));
    item->setText(OperatorB, whatText(pair.b));
    const auto numberOf = [](const std::optional<ModelBlock>& block, bool isFlops) {
      if (!block) return QStringLiteral("\u2013");
      return isFlops ? megaText(block->flops) : count(block->parameters);
    };
    item->setText(ParametersA, numberOf(pair.a, false));
    item->setText(ParametersB, numberOf(pair.b, false));
    item->setText(ParametersDelta, signedCount(pair.parameterDelta()));
    item->setText(FlopsA, numberOf(pair.a, true));
    item->setText(FlopsB, numberOf(pair.b, true));
    item->setText(FlopsDelta, signedMega(pair.flopDelta()));
    item->setToolTip(PartOfModel, (pair.a ? pair.a->name : QStringLiteral("\u2013")) +
                                      QStringLiteral(" \u2192 ") +
                                      (pair.b ? pair.b->name : QStringLiteral("\u2013")));
    for (const int i : {OperatorA, OperatorB}) item->setToolTip(i, item->text(i));
    const bool isChanged = pair.isChanged();
    const bool isOther = !pair.a || !pair.b || pair.a->what != pair.b->what;
    for (int i = 0; i < BlockColumns; ++i) {
      if (i >= ParametersA) item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
      if (isChanged) item->setBackground(i, tint);
      if (!isChanged) item->setForeground(i, themeColors().muted);
    }
    if (isOther) {
      QFont strong = item->font(OperatorB);
      strong.setWeight(QFont::DemiBold);
      item->setFont(OperatorB, strong);
    }
    // Not by colour alone.
    item->setText(PartOfModel, (isChanged ? QStringLiteral("\u2260 ") : QStringLiteral("= ")) +
                                   item->text(PartOfModel));
  };
  for (const BlockGroup& group : groups_) {
    if (onlyChanges_->isChecked() && !group.isChanged()) continue;
    auto* item = new QTreeWidgetItem(blocks_);
    if (group.layers == 0) {
      fillRow(item, group.pairs.front());
      continue;
    }
    std::int64_t a = 0, b = 0;
    double flopsA = 0, flopsB = 0;
    for (const BlockPair& pair : group.pairs) {
      a += pair.a ? pair.a->parameters : 0;
      b += pair.b ? pair.b->parameters : 0;
      flopsA += pair.a ? pair.a->flops : 0;
      flopsB += pair.b ? pair.b->flops : 0;
      if (onlyChanges_->isChecked() && !pair.isChanged()) continue;
      fillRow(new QTreeWidgetItem(item), pair);
    }
    const int n = group.layers;
    item->setText(PartOfModel, group.name);
    item->setText(OperatorA, n > 1 ? tr("%1 alike; one is listed").arg(n) : QString());
    item->setForeground(OperatorA, themeColors().muted);
    item->setText(ParametersA, count(a * n));
    item->setText(ParametersB, count(b * n));
    item->setText(ParametersDelta, signedCount((b - a) * n));
    item->setText(FlopsA, megaText(flopsA * n));
    item->setText(FlopsB, megaText(flopsB * n));
    item->setText(FlopsDelta, signedMega((flopsB - flopsA) * n));
    item->setToolTip(PartOfModel,
                     n > 1 ? tr("The numbers of this row are of all %1 blocks, those below "
                                "of one of them")
                                 .arg(n)
                           : group.name);
    QFont strong = item->font(PartOfModel);
    strong.setWeight(QFont::DemiBold);
    item->setFont(PartOfModel, strong);
    for (int i = ParametersA; i < BlockColumns; ++i)
      item->setTextAlignment(i, Qt::AlignRight | Qt::AlignVCenter);
    item->setExpanded(group.isChanged());
  }
  for (int i = 0; i < BlockColumns; ++i) {
    if (i == OperatorA || i == OperatorB) continue;
    blocks_->resizeColumnToContents(i);
    blocks_->setColumnWidth(i, blocks_->columnWidth(i) + px(10));
  }
  blocks_->header()->setSectionResizeMode(OperatorA, QHeaderView::Stretch);
  blocks_->header()->setSectionResizeMode(OperatorB, QHeaderView::Stretch);
}

void DiffView::showKeys() {
  keys_->clear();
  const auto a = configOf(a_), b = configOf(b_);
  if (!a || !b) return;
  int other = 0;
  for (const char* table : {"model", "task", "data", "train"}) {
    const Json before = a->value(table, Json::object()), after = b->value(table, Json::object());
    for (const Difference& one : difference(before, after)) {
      auto* item = new QTreeWidgetItem(
          keys_, {QString::fromLatin1(table) + QLatin1Char('.') + QString::fromStdString(one.key),
                  keyText(one.before), keyText(one.after)});
      for (int i = 0; i < 3; ++i) item->setToolTip(i, item->text(i));
      if (std::string(table) != "model") {
        ++other;
        for (int i = 0; i < 3; ++i) item->setForeground(i, themeColors().muted);
      }
    }
  }
  if (keys_->topLevelItemCount() == 0)
    new QTreeWidgetItem(keys_, {tr("Nothing differs."), QString(), QString()});
  ablate_->setEnabled(keys_->topLevelItemCount() > other &&
                      !keys_->topLevelItem(0)->text(1).isEmpty());
}

Json DiffView::tableJson() const {
  if (groups_.empty()) return {};
  Json table = Json::object();
  table["columns"] = Json::array();
  for (const QString& column :
       {tr("block"), tr("part"), QStringLiteral("A"), QStringLiteral("B"), tr("parameters A"),
        tr("parameters B"), tr("change"), tr("MFLOP A"), tr("MFLOP B")})
    table["columns"].push_back(column.toStdString());
  table["rows"] = Json::array();
  for (const BlockGroup& group : groups_) {
    for (const BlockPair& pair : group.pairs) {
      const QString kind = pair.a ? pair.a->kind : pair.b->kind;
      const auto numbers = [](const std::optional<ModelBlock>& one, bool isFlops) -> Json {
        if (!one) return nullptr;
        return isFlops ? Json(one->flops / 1e6) : Json(one->parameters);
      };
      table["rows"].push_back(
          {(group.name + (group.layers > 1 ? tr(", each") : QString())).toStdString(),
           partName(kind).toStdString(), whatText(pair.a).toStdString(),
           whatText(pair.b).toStdString(), numbers(pair.a, false), numbers(pair.b, false),
           pair.parameterDelta(), numbers(pair.a, true), numbers(pair.b, true)});
    }
  }
  return table;
}

QString DiffView::csv() const {
  const Json table = tableJson();
  if (!table.is_object()) return {};
  QString text;
  const auto line = [&text](const Json& cells) {
    QStringList out;
    for (const Json& cell : cells) out << (cell.is_null() ? QString() : csvText(jsonText(cell)));
    text += out.join(QLatin1Char(',')) + QLatin1Char('\n');
  };
  line(table["columns"]);
  for (const Json& row : table["rows"]) line(row);
  return text;
}

}  // namespace vitrine::ui
