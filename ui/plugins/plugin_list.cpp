// The list of plugins and their items: filled, searched, and shown on request.
#include "ui/plugins/plugin_list.h"

#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>
#include <algorithm>

#include "ui/kit/theme.h"
#include "ui/plugins/item_text.h"
#include "ui/plugins/plugins_page.h"

namespace vitrine::ui {
namespace {

/// The source of items that need no plugin.
constexpr const char* kCorePlugin = "core";

QString stateWord(PluginEntry::State state) {
  switch (state) {
    case PluginEntry::State::Loaded:
      return QObject::tr("loaded");
    case PluginEntry::State::Disabled:
      return QObject::tr("disabled");
    case PluginEntry::State::Refused:
      return QObject::tr("refused");
  }
  return {};
}

}  // namespace

QString entryOf(const ItemCard& card) {
  return QStringLiteral("item:") + QString::fromStdString(toString(card.kind)) + QLatin1Char('/') +
         QString::fromStdString(card.id);
}

QString entryOf(const PluginEntry& plugin, const std::vector<PluginEntry>& all) {
  const auto first = std::find_if(all.begin(), all.end(), [&plugin](const PluginEntry& one) {
    return one.name() == plugin.name();
  });
  const QString entry = QStringLiteral("plugin:") + plugin.name();
  const bool isOther = first != all.end() && first->file != plugin.file;
  return isOther ? entry + QLatin1Char(' ') + plugin.file : entry;
}

void PluginsPage::fillList() {
  isFilling_ = true;
  const QTreeWidgetItem* was = list_->currentItem();
  QString current = was == nullptr ? wanted_ : was->data(0, kEntryRole).toString();
  if (!wanted_.isEmpty()) current = wanted_;
  list_->clear();
  const Catalog& catalog = workbench_.catalog();
  int loaded = 0, disabled = 0, refused = 0;
  const auto addItems = [&](QTreeWidgetItem* parent, const std::string& plugin) {
    QStringList words;
    for (const ItemKind kind :
         {ItemKind::Architecture, ItemKind::Task, ItemKind::Dataset, ItemKind::Transform,
          ItemKind::Analysis, ItemKind::Sampler, ItemKind::Optimizer, ItemKind::Schedule}) {
      for (const ItemCard& card : catalog.items) {
        if (card.kind != kind || card.plugin != plugin) continue;
        auto* item = new QTreeWidgetItem(
            parent, {QString::fromStdString(card.id), QString::fromStdString(toString(kind))});
        item->setData(0, kEntryRole, entryOf(card));
        item->setData(0, kWordsRole, itemWords(card));
        item->setForeground(1, themeColors().muted);
        item->setToolTip(0, QString::fromStdString(card.title));
        words << itemWords(card);
      }
    }
    return words.join(QLatin1Char(' '));
  };
  for (const PluginEntry& plugin : plugins_) {
    auto* item = new QTreeWidgetItem(list_, {plugin.name(), stateWord(plugin.state)});
    item->setData(0, kEntryRole, entryOf(plugin, plugins_));
    const bool isLoaded = plugin.state == PluginEntry::State::Loaded;
    (isLoaded ? loaded : plugin.state == PluginEntry::State::Disabled ? disabled : refused) += 1;
    item->setForeground(
        1, plugin.state == PluginEntry::State::Refused ? themeColors().bad : themeColors().muted);
    if (!isLoaded) item->setForeground(0, themeColors().muted);
    if (isLoaded) item->setText(1, plugin.version);
    QFont strong = item->font(0);
    strong.setWeight(QFont::Medium);
    item->setFont(0, strong);
    item->setToolTip(0, plugin.sentence.isEmpty() ? plugin.file : plugin.sentence);
    item->setToolTip(1, item->toolTip(0));
    QString words =
        plugin.name() + QLatin1Char(' ') + plugin.file + QLatin1Char(' ') + plugin.sentence;
    if (isLoaded) words += QLatin1Char(' ') + addItems(item, plugin.id.toStdString());
    item->setData(0, kWordsRole, words);
    item->setExpanded(isLoaded);
  }
  if (plugins_.empty() && !catalog.items.empty()) {
    // The schemas are cached, the plugins are still read: show the cached ones.
    QStringList known;
    for (const ItemCard& card : catalog.items) {
      const QString id = QString::fromStdString(card.plugin);
      if (card.plugin == kCorePlugin || known.contains(id)) continue;
      known << id;
      auto* item = new QTreeWidgetItem(list_, {id, QString()});
      item->setData(0, kEntryRole, QStringLiteral("plugin:") + id);
      item->setData(0, kWordsRole, addItems(item, card.plugin));
      item->setExpanded(true);
    }
  }
  if (list_->topLevelItemCount() > 0) {
    auto* core = new QTreeWidgetItem(list_, {tr("Every experiment"), QString()});
    core->setFlags(Qt::ItemIsEnabled);
    core->setForeground(0, themeColors().muted);
    QString words;
    for (const char* name : {"train", "data", "observe"}) {
      const QString text = QString::fromLatin1(name);
      auto* item =
          new QTreeWidgetItem(core, {QLatin1Char('[') + text + QLatin1Char(']'), tr("table")});
      item->setData(0, kEntryRole, QStringLiteral("core:") + text);
      ItemCard card;
      card.id = name;
      card.schema = text == QLatin1String("train")  ? trainSchema()
                    : text == QLatin1String("data") ? dataSchema()
                                                    : observeSchema();
      item->setData(0, kWordsRole, itemWords(card));
      item->setForeground(1, themeColors().muted);
      words += itemWords(card);
    }
    words += QLatin1Char(' ') + addItems(core, kCorePlugin);
    core->setData(0, kWordsRole, words);
    core->setExpanded(true);
  }
  QStringList parts;
  if (loaded > 0) parts << tr("%1 loaded").arg(loaded);
  if (disabled > 0) parts << tr("%1 disabled").arg(disabled);
  if (refused > 0) parts << tr("%1 refused").arg(refused);
  if (process_.isRunning()) parts << tr("reading\u2026");
  state_->setText(parts.join(QStringLiteral(" \u00b7 ")));
  isFilling_ = false;
  filterList();
  showEntry(current);
  if (list_->currentItem() == nullptr && list_->topLevelItemCount() > 0) {
    const QSignalBlocker quiet(list_);
    list_->setCurrentItem(list_->topLevelItem(0));
  }
  showCurrent();
}

void PluginsPage::filterList() {
  const QStringList wanted =
      search_->text().simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  const auto fits = [&wanted](const QTreeWidgetItem* item) {
    const QString words = item->data(0, kWordsRole).toString() + QLatin1Char(' ') + item->text(0);
    return std::all_of(wanted.begin(), wanted.end(), [&words](const QString& one) {
      return words.contains(one, Qt::CaseInsensitive);
    });
  };
  for (int i = 0; i < list_->topLevelItemCount(); ++i) {
    QTreeWidgetItem* plugin = list_->topLevelItem(i);
    bool isAny = fits(plugin);
    for (int j = 0; j < plugin->childCount(); ++j) {
      const bool isIt = fits(plugin->child(j));
      plugin->child(j)->setHidden(!isIt);
      isAny = isAny || isIt;
    }
    plugin->setHidden(!isAny);
  }
}

void PluginsPage::showEntry(const QString& entry) {
  if (entry.isEmpty()) return;
  wanted_ = entry;
  for (int i = 0; i < list_->topLevelItemCount(); ++i) {
    QTreeWidgetItem* plugin = list_->topLevelItem(i);
    for (int j = -1; j < plugin->childCount(); ++j) {
      QTreeWidgetItem* item = j < 0 ? plugin : plugin->child(j);
      if (item->data(0, kEntryRole).toString() != entry) continue;
      wanted_.clear();
      list_->setCurrentItem(item);
      return;
    }
  }
}

}  // namespace vitrine::ui
