// Tabs of which some share a place: they are one tab with the name of their group until one of them
// is in front.
#pragma once

#include <QString>
#include <QTabWidget>
#include <map>
#include <vector>

namespace vitrine::ui {

class GroupedTabs final : public QTabWidget {
  Q_OBJECT
 public:
  explicit GroupedTabs(QWidget* parent = nullptr);
  /// \param group  "": a tab of its own; tabs of a group stand side by side. \returns  its index
  int addPage(QWidget* page, const QString& title, const QString& group);
  /// The keys that open a page stand in the tool tip of its tab. \param keys  "": none
  void setKeys(int index, const QString& keys);

 private:
  void arrange();

  struct Tab {
    QString title, group, keys;
  };
  std::vector<Tab> added_;
  std::map<QString, int> last_;  ///< of each group: the tab that was in front last
};

}  // namespace vitrine::ui
