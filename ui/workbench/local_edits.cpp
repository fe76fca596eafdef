#include "ui/workbench/local_edits.h"

#include <QDir>
#include <QFile>
#include <QSaveFile>
#include <chrono>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"

namespace vitrine::ui {

namespace {

/// Less than people notice; a writer that is slower than that is waited for between tries.
constexpr std::chrono::milliseconds kEditPatience{20}, kStorePatience{5000};
constexpr int kEditRetryMs = 1000;
constexpr qint64 kLargestTyped = 64 << 20;  // bytes

}  // namespace

LocalEdits::LocalEdits(store::RunStore& store, QObject* parent) : QObject(parent), store_(store) {
  file_ = store::filesFolder(store_.file()) / ("typed-" + newUuid() + ".json");
  retry_.setInterval(kEditRetryMs);
  connect(&retry_, &QTimer::timeout, this, &LocalEdits::tryNow);
}

EditOutcome LocalEdits::store(const Key& key, const Edit& edit) {
  const auto& [run, field] = key;
  EditOutcome outcome;
  store_.setPatience(kEditPatience);
  try {
    outcome.version = store_.setText(run, field, edit.text, edit.basedOn);
  } catch (const store::EditConflict& conflict) {
    outcome.isConflict = true;
    outcome.version = conflict.version;
    outcome.theirs = conflict.theirs;
  } catch (const StoreError& error) {
    outcome.isWaiting = true;
    reason_ = QString::fromUtf8(error.what());
  } catch (const Error& error) {  // no such run, or a text that no run can have
    outcome.error = QString::fromUtf8(error.what());
  }
  store_.setPatience(kStorePatience);
  return outcome;
}

void LocalEdits::edit(std::int64_t run, store::RunField field, const std::string& text,
                      std::int64_t basedOn, QObject* context, const RemoteLink::OnEdit& onOutcome) {
  const Key key{run, field};
  Edit edit{text, basedOn, context, onOutcome};
  // One that waits already is based on what stood then.
  const auto found = waiting_.find(key);
  if (found != waiting_.end()) edit.basedOn = found->second.basedOn;
  const EditOutcome outcome = store(key, edit);
  if (outcome.isWaiting) {
    waiting_[key] = edit;
    tries_ = std::max(tries_, 1);
    keep();
    retry_.start();
    Q_EMIT changed();
  } else if (found != waiting_.end()) {
    waiting_.erase(found);
    keep();
    Q_EMIT changed();
  }
  tell(key, edit, outcome);
}

void LocalEdits::tell(const Key& key, const Edit& edit, const EditOutcome& outcome) {
  if (edit.asker != nullptr) {
    if (edit.onOutcome) edit.onOutcome(outcome);
    return;
  }
  const QString what = QString::fromStdString(wordsOf(key.second));
  if (outcome.isConflict) {
    Q_EMIT failed(
        tr("The %1 of run %2 was changed in another window meanwhile: your text is kept next to "
           "it.")
            .arg(what)
            .arg(key.first));
  } else if (!outcome.error.isEmpty()) {
    Q_EMIT failed(
        tr("The %1 of run %2 was not stored: %3.").arg(what).arg(key.first).arg(outcome.error));
  }
}

void LocalEdits::tryNow() {
  if (waiting_.empty()) {
    retry_.stop();
    return;
  }
  ++tries_;
  bool areStored = true;
  std::map<Key, Edit> tried = waiting_;
  for (const auto& [key, edit] : tried) {
    const EditOutcome outcome = store(key, edit);
    if (outcome.isWaiting) break;  // as the others would
    waiting_.erase(key);
    tell(key, edit, outcome);
    areStored = areStored && !outcome.isConflict && outcome.error.isEmpty();
  }
  if (waiting_.empty()) {
    retry_.stop();
    reason_.clear();
    tries_ = 0;
    if (areStored) Q_EMIT messageSent(tr("Your text is stored."));
  }
  if (waiting_.size() != tried.size()) keep();
  Q_EMIT changed();
}

const std::string* LocalEdits::waiting(std::int64_t run, store::RunField field) const {
  const auto found = waiting_.find({run, field});
  return found == waiting_.end() ? nullptr : &found->second.text;
}

QString LocalEdits::sentence() const {
  if (waiting_.empty()) return {};
  QStringList parts;
  for (const auto& [key, edit] : waiting_) {
    if (parts.size() == 3) {
      parts << tr("%1 more").arg(waiting_.size() - 3);
      break;
    }
    parts << tr("the %1 of run %2").arg(QString::fromStdString(wordsOf(key.second))).arg(key.first);
  }
  return tr("Not stored yet: %1. %2.").arg(parts.join(QStringLiteral(", ")), reason_);
}

void LocalEdits::keep() {
  const QString name = QString::fromStdString(file_.string());
  if (waiting_.empty()) {
    if (isWritten_) QFile::remove(name);
    isWritten_ = false;
    return;
  }
  Json list = Json::array();
  for (const auto& [key, edit] : waiting_) {
    std::string uuid;
    try {
      uuid = store_.run(key.first).uuid;
    } catch (const Error&) {  // it cannot be read either
    }
    list.push_back({{"run", key.first},
                    {"uuid", uuid},
                    {"field", toString(key.second)},
                    {"text", edit.text},
                    {"based_on", edit.basedOn}});
  }
  QDir().mkpath(QString::fromStdString(file_.parent_path().string()));
  QSaveFile file(name);
  const QByteArray text = QByteArray::fromStdString(dumpJson(list, 1));
  isWritten_ = file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit();
}

void LocalEdits::takeOver() {
  const QDir folder(QString::fromStdString(file_.parent_path().string()));
  for (const QString& name : folder.entryList({QStringLiteral("typed-*.json")}, QDir::Files)) {
    QFile file(folder.filePath(name));
    if (name.toStdString() == file_.filename() || file.size() > kLargestTyped ||
        !file.open(QIODevice::ReadOnly))
      continue;
    const Json list = readJson(file.readAll().toStdString());
    int taken = 0;
    for (const Json& one : list.is_array() ? list : Json::array()) {
      try {
        const auto field = store::runFieldFromString(one.at("field").get<std::string>());
        // Without its UUID, since the database could not be read then, its number tells the run.
        const auto uuid = one.at("uuid").get<std::string>();
        const std::optional<store::RunRow> run =
            uuid.empty() ? store_.run(one.at("run").get<std::int64_t>()) : store_.runByUuid(uuid);
        if (!field || !run) continue;
        edit(run->id, *field, one.at("text").get<std::string>(),
             one.at("based_on").get<std::int64_t>(), nullptr, {});
        ++taken;
      } catch (const std::exception&) {  // not as a window wrote it
      }
    }
    // A window that still has them writes the file again when they wait longer.
    if (isKept()) file.remove();
    if (taken > 0 && waiting_.empty())
      Q_EMIT messageSent(tr("Text that could not be stored earlier is stored now."));
  }
}

}  // namespace vitrine::ui
