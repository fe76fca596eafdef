// A database on another machine, as people write it: ssh://lab/data/lab.sqlite.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/store_export.h"

namespace vitrine::remote {

struct RemotePlace {
  std::string host;  ///< as ssh takes it: lab, me@lab.example.org, or a name of ~/.ssh/config
  int port = 0;      ///< 0: as ssh is configured
  std::string file;  ///< absolute there, or from the home folder: ~/lab.sqlite
  std::string program = "vitrine";  ///< there: in its PATH, or absolute

  /// ssh://me@lab:2222/data/lab.sqlite, ssh://lab/~/lab.sqlite?program=/opt/vitrine/bin/vitrine
  [[nodiscard]] VITRINE_STORE_EXPORT std::string url() const;
  /// `vitrine serve` there, through the user's own ssh ($VITRINE_SSH, words split at blanks,
  /// instead of `ssh`): his keys, names and jump hosts. It never asks for anything.
  [[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::string> command() const;
  /// What a user types to log in there: ssh -p 2222 me@lab.
  [[nodiscard]] VITRINE_STORE_EXPORT std::string login() const;
  /// Path of its copy on this machine: $XDG_CACHE_HOME/vitrine/remote/<host>-<hash>.sqlite.
  [[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path copy() const;
};

[[nodiscard]] VITRINE_STORE_EXPORT bool isRemotePlace(std::string_view text) noexcept;
/// \throws ConfigError  it is not a place; names the error and the form of one
[[nodiscard]] VITRINE_STORE_EXPORT RemotePlace remotePlace(const std::string& text);

}  // namespace vitrine::remote
