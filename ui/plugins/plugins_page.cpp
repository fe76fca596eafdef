#include "ui/plugins/plugins_page.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "core/artifact/artifact.h"
#include "core/base/cell_text.h"
#include "ui/figures/figure.h"
#include "ui/kit/background.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/questions.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/plugins/diff_view.h"
#include "ui/plugins/item_text.h"
#include "ui/plugins/plugin_list.h"

namespace vitrine::ui {
namespace {

constexpr int kMostPluginsWaitMs = 20'000;

QString readingWords() { return PluginsPage::tr("Reading the plugins: a second or two."); }

}  // namespace

void PluginsPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!isAsked_) {
    isAsked_ = true;
    process_.ask({QStringLiteral("plugins")});
    (void)workbench_.catalog();
  }
  fillList();
  if (isDiffShown()) diff_->fillSources();
}

void PluginsPage::probe() {
  isAsked_ = true;
  error_.clear();
  probe_->setEnabled(false);
  process_.ask({QStringLiteral("plugins")});
  workbench_.askCatalogAgain();
  fillList();
}

void PluginsPage::setEnabledPlugin(const QString& id, bool isEnabled) {
  probe_->setEnabled(false);
  process_.ask({QStringLiteral("plugins"),
                isEnabled ? QStringLiteral("--enable") : QStringLiteral("--disable"), id});
  // The schemas follow once the setting is written.
  auto* once = new QObject(this);
  connect(&process_, &HeadlessQuestion::finished, once, [this, once, id, isEnabled] {
    once->deleteLater();
    workbench_.askCatalogAgain();
    workbench_.showMessage(
        isEnabled ? tr("The plugin %1 is loaded from now on.").arg(id)
                  : tr("The plugin %1 is not loaded from now on; runs in progress keep "
                       "it.")
                        .arg(id));
  });
  connect(&process_, &HeadlessQuestion::failed, once, [once] { once->deleteLater(); });
  fillList();
}

void PluginsPage::trust(const QString& file) {
  probe_->setEnabled(false);
  process_.ask({QStringLiteral("plugins"), QStringLiteral("--trust"), file});
  auto* once = new QObject(this);
  connect(&process_, &HeadlessQuestion::finished, once, [this, once, file] {
    once->deleteLater();
    workbench_.askCatalogAgain();
    workbench_.showMessage(tr("%1 is trusted as long as its content does not change.").arg(file));
  });
  connect(&process_, &HeadlessQuestion::failed, once, [once] { once->deleteLater(); });
  fillList();
}

void PluginsPage::onChange() {
  const PluginEntry* plugin = currentPlugin();
  if (plugin == nullptr) return;
  if (plugin->state != PluginEntry::State::Refused) {
    setEnabledPlugin(plugin->id, plugin->state == PluginEntry::State::Disabled);
    return;
  }
  const QString file = plugin->file;  // the list may be filled again meanwhile
  if (isConfirmed(this, tr("Trust a plugin"), tr("Trust %1 as it is now?").arg(file), tr("Trust"),
                  tr("A plugin is a program that runs with your rights: trust it only if you know "
                     "where it comes from.\n\nSHA-256 %1")
                      .arg(plugin->sha256)))
    trust(file);
}

const PluginEntry* PluginsPage::currentPlugin() const {
  const QTreeWidgetItem* item = list_->currentItem();
  const QString entry = item == nullptr ? QString() : item->data(0, kEntryRole).toString();
  if (!entry.startsWith(QLatin1String("plugin:"))) return nullptr;
  const auto found = std::find_if(
      plugins_.begin(), plugins_.end(),
      [this, &entry](const PluginEntry& one) { return entry == entryOf(one, plugins_); });
  return found == plugins_.end() ? nullptr : &*found;
}

void PluginsPage::showCurrent() {
  if (list_->topLevelItemCount() == 0) {
    const bool isBusy = process_.isRunning() && error_.isEmpty();
    restyle(*message_, "role", error_.isEmpty() ? "muted" : "error");
    message_->setText(!error_.isEmpty() ? tr("The plugins cannot be read: %1").arg(error_)
                      : isBusy            ? readingWords()
                      : folders_.isEmpty()
                          ? tr("No plugin was found: without one there is no model to train.")
                          : tr("No plugin was found, and without one there is no model to train. "
                               "Searched folders:\n%1")
                                .arg(folders_.join(QLatin1Char('\n'))));
    search_->setEnabled(false);
    retry_->setVisible(!isBusy);
    stack_->setCurrentIndex(1);
    return;
  }
  search_->setEnabled(true);
  stack_->setCurrentIndex(0);
  const QTreeWidgetItem* item = list_->currentItem();
  const QString entry = item == nullptr ? QString() : item->data(0, kEntryRole).toString();
  const Catalog& catalog = workbench_.catalog();
  QString html;
  if (entry.startsWith(QLatin1String("core:"))) {
    html = coreHtml(entry.mid(5));
  } else if (entry.startsWith(QLatin1String("item:"))) {
    for (const ItemCard& card : catalog.items) {
      if (entryOf(card) == entry) html = itemHtml(card, catalog);
    }
  }
  const PluginEntry* plugin = currentPlugin();
  if (plugin != nullptr) html = pluginHtml(*plugin, catalog);
  if (html.isEmpty() && process_.isRunning()) html = readingWords();
  // The whole page in the colours of the theme, tables too.
  text_->document()->setDefaultFont(bodyFont());
  text_->document()->setDefaultStyleSheet(
      QStringLiteral("body, td, li, p { color: %1; }").arg(themeColors().text.name()));
  text_->setHtml(QStringLiteral("<body>%1</body>").arg(html));
  const bool canTrust = plugin != nullptr && plugin->canBeTrusted;
  const bool canSwitch =
      plugin != nullptr && plugin->state != PluginEntry::State::Refused && !plugin->id.isEmpty();
  change_->setVisible(canTrust || canSwitch);
  change_->setEnabled(!process_.isRunning());
  if (canTrust) {
    change_->setText(tr("Trust\u2026"));
    change_->setToolTip(tr("Load this file from now on, as long as its content does not change"));
  } else if (canSwitch) {
    const bool isOff = plugin->state == PluginEntry::State::Disabled;
    change_->setText(isOff ? tr("Enable") : tr("Disable"));
    change_->setToolTip(isOff ? tr("Load it again")
                              : tr("Do not load it from now on; runs that need it say so"));
  }
  change_->setAccessibleName(change_->text());
}

QString PluginsPage::error() const { return error_; }
bool PluginsPage::isDiffShown() const { return modes_->currentIndex() == 1; }

void PluginsPage::showDiff(bool isDiff) {
  modes_->setCurrentIndex(isDiff ? 1 : 0);
  (isDiff ? diffButton_ : listButton_)->setChecked(true);
  setFocusProxy(isDiff ? static_cast<QWidget*>(diff_) : list_);  // of a key of the page
  if (isDiff) diff_->fillSources();
}

void PluginsPage::waitUntilIdle() {
  if (!isAsked_) {
    isAsked_ = true;
    process_.ask({QStringLiteral("plugins")});
    (void)workbench_.catalog();
  }
  // Schemas come from a thread, the rest from processes: all of them answer in the event loop.
  const auto isWaiting = [this] {
    return process_.isRunning() || diff_->isBusy() ||
           (workbench_.catalog().items.empty() && workbench_.catalogProblem().isEmpty() &&
            error_.isEmpty());
  };
  waitWhile(isWaiting, kMostPluginsWaitMs);
  fillList();
  layOutNow();
}

Json PluginsPage::viewState() const {
  Json state = Json::object();
  state["show"] = isDiffShown() ? "diff" : "items";
  const QTreeWidgetItem* item = list_->currentItem();
  state["entry"] = item == nullptr ? "" : item->data(0, kEntryRole).toString().toStdString();
  state["a"] = diff_->sourceA().toStdString();
  state["b"] = diff_->sourceB().toStdString();
  return state;
}

void PluginsPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  const auto text = [&state](const char* key) { return stateWords(state, key); };
  showDiff(text("show") == QLatin1String("diff"));
  showEntry(text("entry"));
  if (!text("a").isEmpty() && !text("b").isEmpty() &&
      (text("a") != diff_->sourceA() || text("b") != diff_->sourceB()))
    diff_->choose(text("a"), text("b"));
}

std::unique_ptr<Figure> PluginsPage::figure() {
  const Json table = isDiffShown() ? diff_->tableJson() : Json();
  if (!table.is_object()) return nullptr;
  const std::string bytes = dumpJson(table);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return makeFigure(QString::fromLatin1(artifact_kind::kTable),
                    {{"title", tr("Architecture, block by block").toStdString()}},
                    {begin, begin + bytes.size()});
}

QString PluginsPage::howToRead() const {
  return tr(
      "A plugin adds items: architectures, tasks, data sets, analyses and others. Each has a "
      "page made from its schema, which the form, the command line and the check use too. A "
      "refused plugin shows the reason. A disabled plugin is not loaded, and a run that needs "
      "it says so.\n\n"
      "Architecture diff compares the blocks of two configurations: \u2260 marks a change, "
      "and the numbers are of one sample and its forward pass. Ablate this difference opens "
      "Configure with one variant for each difference.");
}

}  // namespace vitrine::ui
