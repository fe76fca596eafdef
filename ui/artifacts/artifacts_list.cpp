// The list of analyses and their artifacts, and the one that is shown first.
#include <QCollator>
#include <QTreeWidget>
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/artifact/artifact.h"
#include "core/artifact/map_image.h"
#include "ui/artifacts/artifacts_page.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

/// Which kinds say most about a run, first the best.
int rankOf(const std::string& kind) {
  static const std::array<std::string, 5> kOrder{"spectrum", "reliability", "attention", "matrix",
                                                 "heatmap"};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
}

/// The image below an attention map, which the map shows: no artifact to choose.
/// \param maps  analysis and name of the attention maps of its run
bool isPictureOfAnother(const store::ArtifactRow& row,
                        const std::set<std::pair<std::string, std::string>>& maps) {
  if (!row.name.ends_with(kMapImageEnd)) return false;
  // The names that begin with the image's come right after it.
  const auto map =
      maps.lower_bound({row.analysis, row.name.substr(0, row.name.size() - kMapImageEnd.size())});
  return map != maps.end() && map->first == row.analysis && isImageOf(row.name, map->second);
}

}  // namespace

void ArtifactsPage::chooseDefault() {
  const auto has = [&](const Chosen& wanted) {
    return std::any_of(rows_.begin(), rows_.end(), [&](const auto& entry) {
      return std::any_of(entry.second.begin(), entry.second.end(),
                         [&](const store::ArtifactRow& row) {
                           return row.analysis == wanted.analysis &&
                                  (wanted.name.empty() || row.name == wanted.name);
                         });
    });
  };
  if (!chosen_.analysis.empty() && !chosen_.name.empty() && has(chosen_)) return;
  const bool isWithin = isAsked_ && has({chosen_.analysis, {}});
  const store::ArtifactRow* best = nullptr;
  for (const auto& [run, rows] : rows_) {
    for (const store::ArtifactRow& row : rows) {
      if (isWithin && row.analysis != chosen_.analysis) continue;
      const auto order = [](const store::ArtifactRow& one) {
        return std::tuple(rankOf(one.kind), -one.step, one.name);
      };
      if (best == nullptr || order(row) < order(*best)) best = &row;
    }
  }
  if (best != nullptr) chosen_ = {best->analysis, best->name};
}

void ArtifactsPage::fillTree() {
  std::map<std::string, std::map<std::string, std::string>> wanted;  // analysis, name, kind
  for (const auto& [run, rows] : rows_) {
    std::set<std::pair<std::string, std::string>> maps;
    for (const store::ArtifactRow& row : rows)
      if (row.kind == artifact_kind::kAttention) maps.emplace(row.analysis, row.name);
    for (const store::ArtifactRow& row : rows)
      if (!isPictureOfAnother(row, maps)) wanted[row.analysis][row.name] = row.kind;
  }
  const QSignalBlocker quiet(tree_);
  std::map<std::string, std::set<std::string>> present;
  for (int i = 0; i < tree_->topLevelItemCount(); ++i) {
    QTreeWidgetItem* group = tree_->topLevelItem(i);
    for (int j = 0; j < group->childCount(); ++j) {
      present[group->data(0, Qt::UserRole).toString().toStdString()].insert(
          group->child(j)->data(0, Qt::UserRole + 1).toString().toStdString());
    }
  }
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [analysis, entries] : wanted) {
    for (const auto& entry : entries) names[analysis].insert(entry.first);
  }
  if (names != present) {
    std::set<std::string> closed;
    for (int i = 0; i < tree_->topLevelItemCount(); ++i) {
      QTreeWidgetItem* group = tree_->topLevelItem(i);
      if (!group->isExpanded())
        closed.insert(group->data(0, Qt::UserRole).toString().toStdString());
    }
    tree_->clear();
    for (const auto& [analysis, entries] : wanted) {
      auto* group = new QTreeWidgetItem(tree_, {asWords(analysis)});
      group->setData(0, Qt::UserRole, QString::fromStdString(analysis));
      group->setFlags(Qt::ItemIsEnabled);
      QFont font = tree_->font();
      font.setWeight(QFont::DemiBold);
      group->setFont(0, font);
      std::vector<std::pair<QString, std::string>> sorted;
      for (const auto& [name, kind] : entries)
        sorted.emplace_back(QString::fromStdString(name), kind);
      QCollator byNumber(QLocale::c());  // "image 10" after "image 9"
      byNumber.setNumericMode(true);
      std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
        return byNumber.compare(a.first, b.first) < 0;
      });
      for (const auto& [name, kind] : sorted) {
        auto* item = new QTreeWidgetItem(group, {name});
        item->setData(0, Qt::UserRole, QString::fromStdString(analysis));
        item->setData(0, Qt::UserRole + 1, name);
        item->setToolTip(0, asWords(kind));
      }
      group->setExpanded(closed.count(analysis) == 0);
    }
  }
  for (int i = 0; i < tree_->topLevelItemCount(); ++i) {
    QTreeWidgetItem* group = tree_->topLevelItem(i);
    for (int j = 0; j < group->childCount(); ++j) {
      QTreeWidgetItem* item = group->child(j);
      if (item->data(0, Qt::UserRole).toString().toStdString() == chosen_.analysis &&
          item->data(0, Qt::UserRole + 1).toString().toStdString() == chosen_.name) {
        tree_->setCurrentItem(item);
      }
    }
  }
}

}  // namespace vitrine::ui
