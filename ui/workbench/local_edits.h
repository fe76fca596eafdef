// Names, notes and tags typed in the window, on their way into the database of this machine.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "core/store/run_store.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {

/// Stores at once what can be stored at once, so that the window never waits for other processes.
/// The rest is kept, in a file too, and tried again every second: by this window, or by the next
/// one that opens the database.
class LocalEdits : public QObject {
  Q_OBJECT
 public:
  explicit LocalEdits(store::RunStore& store, QObject* parent = nullptr);

  /// As Workbench::edit.
  void edit(std::int64_t run, store::RunField field, const std::string& text, std::int64_t basedOn,
            QObject* context, const RemoteLink::OnEdit& onOutcome);
  /// A text that is not stored yet; nullptr where none waits.
  [[nodiscard]] const std::string* waiting(std::int64_t run, store::RunField field) const;
  /// Texts that are not stored and why, for people; "" when all are stored.
  [[nodiscard]] QString sentence() const;
  /// Whether it has been tried more than once.
  [[nodiscard]] bool isLate() const { return tries_ > 1; }
  /// Whether a window that is closed now loses nothing that was typed.
  [[nodiscard]] bool isKept() const { return waiting_.empty() || isWritten_; }

  /// Takes over the edits that earlier windows could not store.
  void takeOver();
  void tryNow();

 Q_SIGNALS:
  void changed();
  void messageSent(const QString& sentence);
  /// A text was not stored.
  void failed(const QString& sentence);

 private:
  using Key = std::pair<std::int64_t, store::RunField>;
  struct Edit {
    std::string text;
    std::int64_t basedOn = 0;
    QPointer<QObject> asker;  ///< called with its result
    RemoteLink::OnEdit onOutcome;
  };
  [[nodiscard]] EditOutcome store(const Key& key, const Edit& edit);
  void tell(const Key& key, const Edit& edit, const EditOutcome& outcome);
  void keep();

  store::RunStore& store_;
  std::map<Key, Edit> waiting_;
  QString reason_;
  std::filesystem::path file_;  ///< of what waits
  bool isWritten_ = false;
  int tries_ = 0;
  QTimer retry_;
};

}  // namespace vitrine::ui
