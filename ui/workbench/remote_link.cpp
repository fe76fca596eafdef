#include "ui/workbench/remote_link.h"

#include <QFile>
#include <QSaveFile>
#include <optional>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

/// Of what another machine, or a file, says: a value of another type counts as missing.
std::optional<std::string> textIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

RemoteLink::RemoteLink(const remote::RemotePlace& place, QObject* parent) : QObject(parent) {
  mirror_ = std::make_unique<remote::RemoteMirror>(place, [this](const remote::RemoteState& state) {
    QMetaObject::invokeMethod(
        this, [this, state] { take(state); }, Qt::QueuedConnection);
  });
  QFile file(QString::fromStdString(waitingFile().string()));
  if (!file.open(QIODevice::ReadOnly)) return;
  const Json list = readJson(file.readAll().toStdString());
  for (const Json& one : list.is_array() ? list : Json::array()) {
    const auto run = stateInteger(one, "run"), basedOn = stateInteger(one, "based_on");
    const auto field = textIn(one, "field"), text = textIn(one, "text");
    if (run && field && text) waiting_[{*run, *field}] = {*text, basedOn.value_or(0), nullptr, {}};
  }
}

RemoteLink::~RemoteLink() = default;

QString RemoteLink::url() const { return QString::fromStdString(mirror_->place().url()); }

QString RemoteLink::host() const { return QString::fromStdString(mirror_->place().host); }

bool RemoteLink::isLinked() const {
  return state_.link == remote::RemoteState::Link::Linked ||
         state_.link == remote::RemoteState::Link::Copying;
}

QString RemoteLink::sentence() const {
  switch (state_.link) {
    case remote::RemoteState::Link::Connecting:
      return tr("Connecting to %1 \u2026").arg(host());
    case remote::RemoteState::Link::Copying:
      return tr("Copying from %1: %2 of %3")
          .arg(host(), count(state_.done), counted(state_.total, tr("run"), tr("runs")));
    case remote::RemoteState::Link::Linked:
      return tr("Linked to %1").arg(host());
    case remote::RemoteState::Link::Lost:
      break;
  }
  return tr("No link to %1: %2").arg(host(), QString::fromStdString(state_.error));
}

void RemoteLink::take(const remote::RemoteState& state) {
  const bool wasLinked = isLinked();
  state_ = state;
  if (isLinked() && !wasLinked) sendWaiting();
  Q_EMIT stateChanged();
}

void RemoteLink::send(Json request, QObject* context,
                      std::function<void(const Json& answer)> onResponse) {
  sendForAll(std::move(request), context, [onResponse = std::move(onResponse)](const Json& answer) {
    if (remote::isLastResponse(answer)) onResponse(answer);
  });
}

std::int64_t RemoteLink::sendForAll(Json request, QObject* context,
                                    std::function<void(const Json& answer)> onResponse) {
  // Answers come on other threads, and the caller may be gone by then.
  const QPointer<QObject> asker(context);
  return mirror_->send(std::move(request),
                       [this, asker, onResponse = std::move(onResponse)](const Json& answer) {
                         QMetaObject::invokeMethod(
                             this,
                             [asker, onResponse, answer] {
                               if (asker != nullptr) onResponse(answer);
                             },
                             Qt::QueuedConnection);
                       });
}

void RemoteLink::edit(std::int64_t run, store::RunField field, const std::string& text,
                      std::int64_t basedOn, QObject* context, OnEdit onOutcome) {
  const Key key{run, toString(field)};
  Edit edit{text, basedOn, context, std::move(onOutcome)};
  // One that waits already is based on what stood then.
  if (const auto found = waiting_.find(key); found != waiting_.end())
    edit.basedOn = found->second.basedOn;
  // Kept until it has arrived, whatever happens to the link or to this window.
  waiting_[key] = std::move(edit);
  storeWaiting();
  if (underWay_.count(key) == 0) sendEdit(key);
}

void RemoteLink::sendEdit(const Key& key) {
  const Edit edit = waiting_.at(key);
  underWay_.insert(key);
  send({{"op", "edit"},
        {"run", key.first},
        {"field", key.second},
        {"text", edit.text},
        {"based_on", edit.basedOn}},
       this, [this, key, edit](const Json& answer) { editAnswered(key, edit, answer); });
}

void RemoteLink::editAnswered(const Key& key, const Edit& edit, const Json& answer) {
  underWay_.erase(key);
  EditOutcome outcome;
  try {
    remote::throwAnswered(answer);
  } catch (const remote::LinkError&) {
    outcome.isWaiting = true;
  } catch (const Error& error) {
    outcome.error = QString::fromUtf8(error.what());
  }
  if (!outcome.isWaiting) {
    const auto theirs = textIn(answer, "theirs");
    outcome.version = stateInteger(answer, "version", 0);
    outcome.isConflict = theirs.has_value();
    outcome.theirs = theirs.value_or(std::string());
    const auto now = waiting_.find(key);
    if (now != waiting_.end() && now->second.text == edit.text) {
      waiting_.erase(now);
      storeWaiting();
    } else if (now != waiting_.end()) {
      // The user typed on while this was under way. The new text is based on what this has made.
      // Lists that were merged with those of others are an exception: the text does not know them.
      const bool isList = key.second == toString(store::RunField::CurveNotes) ||
                          key.second == toString(store::RunField::ImageTags);
      const bool isMerged = isList && outcome.version != edit.basedOn + 1;
      if (outcome.error.isEmpty() && !outcome.isConflict && !isMerged)
        now->second.basedOn = outcome.version;
      storeWaiting();
      sendEdit(key);
    }
  }
  if (edit.asker != nullptr) {
    if (edit.onOutcome) edit.onOutcome(outcome);
  } else if (outcome.isConflict) {
    const auto field = store::runFieldFromString(key.second);
    Q_EMIT failed(
        tr("The %1 of run %2 was changed by another user meanwhile: your text is kept next to it.")
            .arg(QString::fromStdString(field ? wordsOf(*field) : key.second))
            .arg(key.first));
  } else if (!outcome.error.isEmpty()) {
    Q_EMIT failed(outcome.error);
  }
}

void RemoteLink::sendWaiting() {
  std::vector<Key> keys;
  for (const auto& [key, edit] : waiting_) keys.push_back(key);
  for (const Key& key : keys) {
    if (underWay_.count(key) == 0) sendEdit(key);
  }
}

const std::string* RemoteLink::waiting(std::int64_t run, store::RunField field) const {
  const auto found = waiting_.find({run, toString(field)});
  return found == waiting_.end() ? nullptr : &found->second.text;
}

std::filesystem::path RemoteLink::waitingFile() const { return file().string() + ".waiting.json"; }

void RemoteLink::storeWaiting() {
  const QString name = QString::fromStdString(waitingFile().string());
  if (waiting_.empty()) {
    QFile::remove(name);
    return;
  }
  Json list = Json::array();
  for (const auto& [key, edit] : waiting_) {
    list.push_back({{"run", key.first},
                    {"field", key.second},
                    {"text", edit.text},
                    {"based_on", edit.basedOn}});
  }
  QSaveFile file(name);
  const QByteArray text = QByteArray::fromStdString(dumpJson(list, 1));
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
    Q_EMIT failed(
        tr("Your text cannot be stored until it arrives: %1.").arg(file.errorString()));
}

}  // namespace vitrine::ui
