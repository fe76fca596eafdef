// What `vitrine plugins --json` says, and the process that asks it: which plugins are loaded,
// refused and disabled, and why.
#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <vector>

#include "core/base/json.h"

namespace vitrine::ui {

struct PluginEntry {
  enum class State { Loaded, Disabled, Refused };
  State state = State::Loaded;
  QString id;  ///< "" where the file does not say
  QString version, file, sha256, interface, torch, compiler, trust;
  QString sentence;  ///< why it is not loaded
  bool canBeTrusted = false;
  [[nodiscard]] QString name() const;  ///< the id, else the name of the file
};

/// Loaded ones first, then disabled, then refused. What is damaged is left out.
[[nodiscard]] std::vector<PluginEntry> pluginsFromJson(const Json& report);
/// Where the program looked for them.
[[nodiscard]] QStringList foldersFromJson(const Json& report);

/// `vitrine plugins [...] --json`; one at a time, a newer question ends the older one.
class PluginsProcess : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~PluginsProcess() override;
  /// \param change  {}, or {"--disable", ID}, {"--enable", ID}, {"--trust", FILE}
  void ask(const QStringList& change = {});
  [[nodiscard]] bool isRunning() const { return process_ != nullptr; }

 Q_SIGNALS:
  void finished(const vitrine::Json& report);
  void failed(const QString& sentence);

 private:
  void cancel();
  QPointer<QProcess> process_;
};

}  // namespace vitrine::ui
