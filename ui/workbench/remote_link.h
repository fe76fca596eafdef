// The link to a database on another machine, as the window sees it. It knows how the link stands,
// what is asked there, and which edits wait until it is back.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/remote/mirror.h"
#include "core/store/types.h"

namespace vitrine::ui {

/// What became of a name, a note, tags or notes on curves that the user typed.
struct EditOutcome {
  std::int64_t version = 0;  ///< that stands now
  bool isConflict = false;   ///< another text stands: `theirs`, as EditRow::text
  bool isWaiting = false;    ///< there is no link: it is sent when it is back, and kept until then
  std::string theirs;
  QString error;  ///< why it could not be stored at all
};

class RemoteLink : public QObject {
  Q_OBJECT
 public:
  /// Opens the copy of what was read there before; the link is made in the background.
  /// \throws Error  the copy cannot be opened
  explicit RemoteLink(const remote::RemotePlace& place, QObject* parent = nullptr);
  ~RemoteLink() override;

  /// Where the copy is.
  [[nodiscard]] const std::filesystem::path& file() const { return mirror_->file(); }
  [[nodiscard]] QString url() const;
  [[nodiscard]] QString host() const;
  [[nodiscard]] const remote::RemoteState& state() const { return state_; }
  [[nodiscard]] bool isLinked() const;
  /// The state in one sentence.
  [[nodiscard]] QString sentence() const;

  void tryNow() { mirror_->tryNow(); }
  void follow(const std::vector<std::int64_t>& runs) { mirror_->follow(runs); }
  /// Sends a request of resources/docs/serve.md. `onResponse` is called with its last answer in
  /// this thread, unless `context` is gone by then. Without a link the answer is that error.
  void send(Json request, QObject* context, std::function<void(const Json& answer)> onResponse);
  /// The same with every answer. \returns  the id that a `cancel` names, 0 without a link
  std::int64_t sendForAll(Json request, QObject* context,
                          std::function<void(const Json& answer)> onResponse);

  using OnEdit = std::function<void(const EditOutcome& outcome)>;
  /// \param text  as EditRow::text
  void edit(std::int64_t run, store::RunField field, const std::string& text, std::int64_t basedOn,
            QObject* context, OnEdit onOutcome);
  /// A text that waits for the link; nullptr where none does.
  [[nodiscard]] const std::string* waiting(std::int64_t run, store::RunField field) const;
  /// How many edits wait.
  [[nodiscard]] int waitingEdits() const { return static_cast<int>(waiting_.size()); }

 Q_SIGNALS:
  void stateChanged();
  /// A text was not stored as it was typed.
  void failed(const QString& sentence);

 private:
  using Key = std::pair<std::int64_t, std::string>;  ///< run, name of the field
  struct Edit {
    std::string text;
    std::int64_t basedOn = 0;
    QPointer<QObject> asker;  ///< called with its result
    OnEdit onOutcome;
  };
  void take(const remote::RemoteState& state);
  void sendEdit(const Key& key);
  void editAnswered(const Key& key, const Edit& edit, const Json& answer);
  void sendWaiting();
  void storeWaiting();
  [[nodiscard]] std::filesystem::path waitingFile() const;

  remote::RemoteState state_;
  std::map<Key, Edit> waiting_;
  std::set<Key> underWay_;                        ///< of those: sent, and not answered yet
  std::unique_ptr<remote::RemoteMirror> mirror_;  ///< last: its thread calls this object
};

}  // namespace vitrine::ui
