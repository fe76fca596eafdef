// The answer of `vitrine plugins --json`: loaded, refused and disabled plugins, with reasons.
#pragma once

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

/// Loaded ones first, then disabled, then refused. Damaged entries are omitted.
[[nodiscard]] std::vector<PluginEntry> pluginsFromJson(const Json& report);
/// Where the program looked for them.
[[nodiscard]] QStringList foldersFromJson(const Json& report);

}  // namespace vitrine::ui
