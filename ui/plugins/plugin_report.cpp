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
      all.push_back({.state = state,
                     .id = stateWords(one, "id"),
                     .version = stateWords(one, "version"),
                     .file = stateWords(one, "file"),
                     .sha256 = stateWords(one, "sha256"),
                     .interface = stateWords(one, "interface"),
                     .torch = stateWords(one, "torch"),
                     .compiler = stateWords(one, "compiler"),
                     .trust = stateWords(one, "trust"),
                     .sentence = stateWords(one, "sentence"),
                     .canBeTrusted = stateFlag(one, "can_be_trusted")});
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
