#include "ui/workbench/key_map.h"

#include <QRegularExpression>
#include <algorithm>

#include "ui/kit/settings.h"

namespace vitrine::ui {
namespace {

/// The keys of pages act everywhere, as those of the window do.
bool isEverywhere(const QString& scope) {
  return scope == QLatin1String("window") || scope == QLatin1String("page");
}

QString plainTitle(const QAction& action) {
  QString title = action.text();
  title.remove(QLatin1Char('&')).remove(QChar(0x2026));
  return title.trimmed();
}

QString keySetting(const QString& id) { return QStringLiteral("keys/") + id; }

QString keysText(const QList<QKeySequence>& keys) {
  return QKeySequence::listToString(keys, QKeySequence::PortableText);
}

QString scopeIdOf(const QString& id) { return id.section(QLatin1Char('/'), 0, 0); }

}  // namespace

void KeyMap::adopt(QAction* action, const QString& scopeId, const QString& scope) {
  const QString title = plainTitle(*action);
  if (title.isEmpty()) return;
  static const QRegularExpression kNoLetters(QStringLiteral("[^a-z0-9]+"));
  QString name = action->objectName().isEmpty() ? title.toLower() : action->objectName();
  name.replace(kNoLetters, QStringLiteral("-"));
  const QString id = scopeId + QLatin1Char('/') + name;
  if (Entry* known = find(id); known != nullptr) {
    if (known->action == action) return;
    if (known->action != nullptr) return;  // two of one name: the first is in the list
    known->action = action;                // its page was made again
    put(*known);
    return;
  }
  Entry entry{id, scope, title, action->shortcuts(), action->shortcuts(), action};
  if (const QVariant stored = setting(keySetting(id)); stored.isValid()) {
    entry.keys = QKeySequence::listFromString(stored.toString(), QKeySequence::PortableText);
    entry.keys.removeAll(QKeySequence());  // a broken setting takes nothing but the key
  }
  if (entry.keys != entry.defaults) put(entry);
  entries_.push_back(entry);
}

std::vector<KeyMap::Entry> KeyMap::entries() const {
  std::vector<Entry> all;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(all),
               [](const Entry& entry) { return entry.action != nullptr; });
  return all;
}

QList<QKeySequence> KeyMap::keys(const QAction* action) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [action](const Entry& entry) { return entry.action == action; });
  return found == entries_.end() ? action->shortcuts() : found->keys;
}

KeyMap::Entry* KeyMap::find(const QString& id) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&id](const Entry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

void KeyMap::put(Entry& entry) {
  if (entry.action != nullptr) entry.action->setShortcuts(entry.keys);
}

void KeyMap::setKeys(const QString& id, const QList<QKeySequence>& keys) {
  Entry* entry = find(id);
  if (entry == nullptr || entry->keys == keys) return;
  entry->keys = keys;
  put(*entry);
  if (keys == entry->defaults) {
    forgetSetting(keySetting(id));
  } else {
    storeSetting(keySetting(id), keysText(keys));
  }
  Q_EMIT changed();
}

void KeyMap::reset(const QString& id) {
  if (const Entry* entry = find(id)) setKeys(id, entry->defaults);
}

void KeyMap::resetAll() {
  for (Entry& entry : entries_) {
    entry.keys = entry.defaults;
    put(entry);
    forgetSetting(keySetting(entry.id));
  }
  Q_EMIT changed();
}

const KeyMap::Entry* KeyMap::rivalOf(const QString& id, const QList<QKeySequence>& keys) const {
  const QString scope = scopeIdOf(id);
  for (const Entry& entry : entries_) {
    if (entry.id == id || entry.action == nullptr) continue;
    const QString other = scopeIdOf(entry.id);
    if (other != scope && !isEverywhere(other) && !isEverywhere(scope)) continue;
    for (const QKeySequence& key : keys) {
      if (!key.isEmpty() && entry.keys.contains(key)) return &entry;
    }
  }
  return nullptr;
}

}  // namespace vitrine::ui
