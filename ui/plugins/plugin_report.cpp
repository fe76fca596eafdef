#include "ui/plugins/plugin_report.h"

#include <QFileInfo>
#include <utility>

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

}  // namespace vitrine::ui
