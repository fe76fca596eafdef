#include "ui/plugins/plugin_report.h"

#include <QFileInfo>
#include <utility>

#include "ui/kit/value_text.h"

namespace vitrine::ui {

QString PluginEntry::name() const { return id.isEmpty() ? QFileInfo(file).fileName() : id; }

std::vector<PluginEntry> pluginsFromJson(const Json& report) {
  std::vector<PluginEntry> all;
  const std::pair<const char*, PluginEntry::State> lists[] = {
      {"loaded", PluginEntry::State::Loaded},
      {"disabled", PluginEntry::State::Disabled},
      {"refused", PluginEntry::State::Refused}};
  for (const auto& [key, state] : lists) {
    for (const Json& one : stateList(report, key)) {
      if (!one.is_object()) continue;
      PluginEntry entry;
      entry.state = state;
      entry.id = stateWords(one, "id");
      entry.version = stateWords(one, "version");
      entry.file = stateWords(one, "file");
      entry.sha256 = stateWords(one, "sha256");
      entry.interface = stateWords(one, "interface");
      entry.torch = stateWords(one, "torch");
      entry.compiler = stateWords(one, "compiler");
      entry.trust = stateWords(one, "trust");
      entry.sentence = stateWords(one, "sentence");
      entry.canBeTrusted = stateFlag(one, "can_be_trusted");
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
