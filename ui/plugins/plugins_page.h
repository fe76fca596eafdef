// The Plugins page: loaded and refused plugins with reasons, a readable page about every item, and
// two architectures block by block.
#pragma once

#include <vector>

#include "ui/plugins/plugin_report.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/page.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTextBrowser;
class QToolButton;
class QTreeWidget;

namespace vitrine::ui {

class DiffView;

class PluginsPage final : public Page {
  Q_OBJECT
 public:
  explicit PluginsPage(Workbench& workbench, QWidget* parent = nullptr);

  void waitUntilIdle() override;
  [[nodiscard]] QList<QAction*> tools() override { return {probe_}; }
  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  [[nodiscard]] QTreeWidget& list() const { return *list_; }
  [[nodiscard]] QLineEdit& search() const { return *search_; }
  [[nodiscard]] QTextBrowser& text() const { return *text_; }
  [[nodiscard]] QPushButton& change() const { return *change_; }
  [[nodiscard]] QString error() const;
  [[nodiscard]] bool isDiffShown() const;

 public Q_SLOTS:
  /// Asks the program for its plugins and schemas once more.
  void probe();
  void showDiff(bool isDiff);
  /// "plugin:ID", "item:architecture/ID", "core:train".
  void showEntry(const QString& entry);
  void setEnabledPlugin(const QString& id, bool isEnabled);
  void trust(const QString& file);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* makeList();
  QWidget* makeText();
  void fillList();
  void filterList();
  void showCurrent();
  void onChange();
  [[nodiscard]] const PluginEntry* currentPlugin() const;

  Workbench& workbench_;
  HeadlessQuestion process_;
  std::vector<PluginEntry> plugins_;
  QStringList folders_;  ///< where plugins are looked for
  QString error_, wanted_;
  bool isAsked_ = false;
  bool isFilling_ = false;

  QAction* probe_ = nullptr;
  QToolButton *listButton_ = nullptr, *diffButton_ = nullptr;
  QStackedWidget *modes_ = nullptr, *stack_ = nullptr;
  QLineEdit* search_ = nullptr;
  QTreeWidget* list_ = nullptr;
  QTextBrowser* text_ = nullptr;
  QLabel *state_ = nullptr, *message_ = nullptr;
  QPushButton *change_ = nullptr, *retry_ = nullptr;
  DiffView* diff_ = nullptr;
};

}  // namespace vitrine::ui
