#include "ui/plugins/plugin_report.h"

#include <QFileInfo>
#include <utility>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/jobs/launcher.h"
#include "ui/workbench/headless.h"

namespace vitrine::ui {
namespace {

QString reportText(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string()
             ? QString::fromStdString(found->get<std::string>())
             : QString();
}

}  // namespace

QString PluginEntry::name() const { return id.isEmpty() ? QFileInfo(file).fileName() : id; }

std::vector<PluginEntry> pluginsFromJson(const Json& report) {
  std::vector<PluginEntry> all;
  const std::pair<const char*, PluginEntry::State> lists[] = {
      {"loaded", PluginEntry::State::Loaded},
      {"disabled", PluginEntry::State::Disabled},
      {"refused", PluginEntry::State::Refused}};
  for (const auto& [key, state] : lists) {
    if (!report.is_object() || !report.contains(key) || !report[key].is_array()) continue;
    for (const Json& one : report[key]) {
      if (!one.is_object()) continue;
      PluginEntry entry;
      entry.state = state;
      entry.id = reportText(one, "id");
      entry.version = reportText(one, "version");
      entry.file = reportText(one, "file");
      entry.sha256 = reportText(one, "sha256");
      entry.interface = reportText(one, "interface");
      entry.torch = reportText(one, "torch");
      entry.compiler = reportText(one, "compiler");
      entry.trust = reportText(one, "trust");
      entry.sentence = reportText(one, "sentence");
      entry.canBeTrusted = one.contains("can_be_trusted") && one["can_be_trusted"] == true;
      all.push_back(std::move(entry));
    }
  }
  return all;
}

QStringList foldersFromJson(const Json& report) {
  QStringList folders;
  for (const Json& one : report.value("folders", Json::array())) {
    if (one.is_string()) folders << QString::fromStdString(one.get<std::string>());
  }
  return folders;
}

PluginsProcess::~PluginsProcess() { cancel(); }

void PluginsProcess::cancel() { abandon(std::exchange(process_, nullptr), this); }

void PluginsProcess::ask(const QStringList& change) {
  cancel();
  QString program;
  try {
    program = QString::fromStdString(jobs::headlessProgram().string());
  } catch (const Error& error) {
    Q_EMIT failed(QString::fromUtf8(error.what()));
    return;
  }
  auto* process = new QProcess(this);
  process_ = process;
  connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    const QString reason = process->errorString();
    cancel();
    Q_EMIT failed(
        tr("The plugins are unknown: %1 did not start (%2).").arg(process->program(), reason));
  });
  connect(process, &QProcess::finished, this, [this, process](int code, QProcess::ExitStatus) {
    const QByteArray out = process->readAllStandardOutput();
    const QString said = QString::fromUtf8(process->readAllStandardError()).trimmed();
    process_ = nullptr;
    process->deleteLater();
    const Json report = readJson(out.toStdString());
    if (code == 0 && report.is_object()) {
      Q_EMIT finished(report);
      return;
    }
    QString reason = said.section(QLatin1Char('\n'), -1);
    if (reason.startsWith(QLatin1String("error: "))) reason.remove(0, 7);
    Q_EMIT failed(reason.isEmpty() ? tr("`vitrine plugins` gave no answer.") : reason);
  });
  process->start(program, QStringList{QStringLiteral("plugins")} + change +
                              QStringList{QStringLiteral("--json")});
  process->closeWriteChannel();
}

}  // namespace vitrine::ui
