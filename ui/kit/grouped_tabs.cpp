#include "ui/kit/grouped_tabs.h"

#include <QStringList>

namespace vitrine::ui {

GroupedTabs::GroupedTabs(QWidget* parent) : QTabWidget(parent) {
  connect(this, &QTabWidget::currentChanged, this, &GroupedTabs::arrange);
}

int GroupedTabs::addPage(QWidget* page, const QString& title, const QString& group) {
  // The first tab is in front as soon as it is added.
  added_.push_back({title, group, {}});
  const int index = addTab(page, title);
  if (!group.isEmpty()) last_.try_emplace(group, index);
  arrange();
  return index;
}

void GroupedTabs::setKeys(int index, const QString& keys) {
  added_[static_cast<std::size_t>(index)].keys = keys;
  arrange();
}

void GroupedTabs::arrange() {
  if (currentIndex() < 0) return;
  const QString front = added_[static_cast<std::size_t>(currentIndex())].group;
  if (!front.isEmpty()) last_[front] = currentIndex();
  // Shown before hidden: a bar without a visible tab would choose another page.
  for (const bool shows : {true, false}) {
    for (int i = 0; i < count(); ++i) {
      const auto& [title, group, keys] = added_[static_cast<std::size_t>(i)];
      const bool isOpen = group.isEmpty() || group == front;
      if ((isOpen || last_.at(group) == i) != shows) continue;
      setTabText(i, isOpen ? title : group);
      setTabVisible(i, shows);
    }
  }
  const auto withKeys = [](const Tab& tab) {
    return tab.keys.isEmpty() ? tab.title : tr("%1 (%2)").arg(tab.title, tab.keys);
  };
  for (int i = 0; i < count(); ++i) {
    const Tab& tab = added_[static_cast<std::size_t>(i)];
    setTabToolTip(i, tab.keys.isEmpty() ? QString() : withKeys(tab));
  }
  for (const auto& [group, index] : last_) {
    if (group == front) continue;
    QStringList titles;
    for (const Tab& tab : added_) {
      if (tab.group == group) titles << withKeys(tab);
    }
    setTabToolTip(index, titles.join(QStringLiteral(", ")));
  }
}

}  // namespace vitrine::ui
