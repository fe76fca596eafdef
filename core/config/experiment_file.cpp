// An experiment and a resolved configuration as files.
#include <cerrno>
#include <fstream>
#include <system_error>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/config/toml/to_toml.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

Plan planExperimentFile(const std::filesystem::path& file, const Catalog& catalog,
                        const std::vector<Override>& overrides) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status))
    throw FileError("cannot read '" + file.string() + "': it is a folder");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text(kLargestText + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || !(in.eof() || in.good())) {
    throw FileError("cannot read '" + file.string() +
                    "': " + std::generic_category().message(errno ? errno : EIO));
  }
  if (static_cast<std::size_t>(in.gcount()) > kLargestText) {
    throw FileError("'" + file.string() +
                    "' is larger than 8 MiB, the limit of an experiment file");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return planExperiment(text, file.string(), catalog, overrides);
}

std::string toToml(const Json& config) {
  std::string text;
  for (const auto& [section, values] : config.items()) {
    if (!values.is_object()) text += tomlKey(section) + " = " + tomlValue(values) + "\n";
  }
  for (const auto& [section, values] : config.items()) {
    if (!values.is_object()) continue;
    text += (text.empty() ? "[" : "\n[") + tomlKey(section) + "]\n";
    for (const auto& [key, value] : values.items())
      text += tomlKey(key) + " = " + tomlValue(value) + "\n";
  }
  return text;
}

}  // namespace vitrine
