// The keys of all actions: what the program gives them, and what the user made of it.
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QPointer>
#include <QString>
#include <vector>

namespace vitrine::ui {

class KeyMap : public QObject {
  Q_OBJECT
 public:
  struct Entry {
    QString id;     ///< "window/new-experiment": stands in the settings
    QString scope;  ///< "Window", or the title of a page
    QString title;  ///< "New experiment"
    QList<QKeySequence> defaults, keys;
    QPointer<QAction> action;
  };

  using QObject::QObject;

  /// From now on the keys of `action` are what the user chose, else those it has now. An action
  /// without a text is left alone. \param scope  actions of two pages may have the same key, those
  /// of the window and of a page may not
  void adopt(QAction* action, const QString& scopeId, const QString& scope);
  /// All that live, in the order in which they came.
  [[nodiscard]] std::vector<Entry> entries() const;
  [[nodiscard]] QList<QKeySequence> keys(const QAction* action) const;

  /// Gives an action other keys and stores them. Empty: none.
  void setKeys(const QString& id, const QList<QKeySequence>& keys);
  void reset(const QString& id);
  void resetAll();
  /// The action that answers to one of `keys` where the action `id` would; nullptr when none
  /// does.
  [[nodiscard]] const Entry* rivalOf(const QString& id, const QList<QKeySequence>& keys) const;

 Q_SIGNALS:
  void changed();

 private:
  Entry* find(const QString& id);
  void put(Entry& entry);
  std::vector<Entry> entries_;
};

}  // namespace vitrine::ui
