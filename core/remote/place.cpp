#include "core/remote/place.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/store/sqlite/file_system.h"

namespace vitrine::remote {

namespace {

constexpr std::string_view kScheme = "ssh://";

[[noreturn]] void noPlace(const std::string& text, const std::string& why) {
  throw ConfigError("'" + text + "' names no database on another machine: " + why +
                    "; write ssh://host/data/lab.sqlite, or ssh://me@host:22/~/lab.sqlite");
}

/// As one word of the shell over there; a ~/ at its beginning is left to that shell.
std::string wordThere(const std::string& text) {
  return text.starts_with("~/") ? "~/" + shellWord(text.substr(2)) : shellWord(text);
}

bool isHostLetter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("._-@%").find(c) != std::string_view::npos;
}

}  // namespace

bool isRemotePlace(std::string_view text) noexcept { return text.starts_with(kScheme); }

RemotePlace remotePlace(const std::string& text) {
  if (!isRemotePlace(text)) noPlace(text, "it does not begin with ssh://");
  std::string rest = text.substr(kScheme.size());
  RemotePlace place;
  constexpr std::string_view kProgram = "?program=";
  if (const auto at = rest.rfind(kProgram); at != std::string::npos) {
    place.program = rest.substr(at + kProgram.size());
    rest.erase(at);
    if (place.program.empty()) noPlace(text, "the name of the program is empty");
  }
  const auto slash = rest.find('/');
  if (slash == std::string::npos || slash + 1 == rest.size()) noPlace(text, "it names no file");
  place.host = rest.substr(0, slash);
  place.file = rest.substr(slash);
  if (place.file.starts_with("/~/")) place.file.erase(0, 1);
  if (const auto colon = place.host.rfind(':'); colon != std::string::npos) {
    const std::string port = place.host.substr(colon + 1);
    place.port = parseNumber<int>(port).value_or(0);
    if (place.port < 1 || place.port > 65535) noPlace(text, "'" + port + "' is not a port");
    place.host.erase(colon);
  }
  // What begins with a dash would be an option of ssh.
  if (place.host.empty() || place.host.front() == '-' ||
      !std::all_of(place.host.begin(), place.host.end(), isHostLetter)) {
    noPlace(text, "'" + place.host + "' is not a host");
  }
  for (const std::string& part : {place.file, place.program}) {
    const bool isClean = std::none_of(part.begin(), part.end(), [](char c) {
      return static_cast<unsigned char>(c) < 32 || c == 127;
    });
    if (!isClean || part.front() == '-') noPlace(text, "'" + shorten(part, 60) + "' is not a path");
  }
  return place;
}

std::string RemotePlace::url() const {
  std::string text = std::string(kScheme) + host;
  if (port != 0) text += ":" + std::to_string(port);
  if (!file.starts_with('/')) text += '/';
  text += file;
  if (program != "vitrine") text += "?program=" + program;
  return text;
}

std::vector<std::string> RemotePlace::command() const {
  std::vector<std::string> words;
  const char* own = std::getenv("VITRINE_SSH");
  for (const std::string& word : split(own != nullptr && *own != '\0' ? own : "ssh", ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  // A dropped link is noticed within 15 s; questions for a password would wait for ever.
  for (const char* option : {"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
                             "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"})
    words.emplace_back(option);
  if (port != 0) {
    words.emplace_back("-p");
    words.push_back(std::to_string(port));
  }
  words.emplace_back("--");
  words.push_back(host);
  words.push_back("exec " + wordThere(program) + " serve --db " + wordThere(file));
  return words;
}

std::string RemotePlace::login() const {
  return "ssh " + (port != 0 ? "-p " + std::to_string(port) + " " : "") + host;
}

std::filesystem::path RemotePlace::copy() const {
  std::string name = host;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '@' || c == '%'; }, '_');
  return store::cacheFolder() / "remote" /
         (name + "-" + sha256OfText(url()).substr(0, 16) + ".sqlite");
}

}  // namespace vitrine::remote
