// Experiments and overrides as a caller has them: a file, a KEY=VALUE.
#include <cerrno>
#include <fstream>
#include <system_error>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/experiment.h"
#include "core/config/toml_reader.h"

namespace vitrine {

Override parseOverride(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw ConfigError(std::string("'") + shorten(cleanUtf8(text), 80) +
                      "' is not a KEY=VALUE; write for example train.epochs=5");
  }
  const auto trimmed = [](std::string part) {
    const std::size_t first = part.find_first_not_of(" \t");
    if (first == std::string::npos) return std::string();
    return part.substr(first, part.find_last_not_of(" \t") - first + 1);
  };
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

Plan planExperimentFile(const std::filesystem::path& file, const Catalog& catalog,
                        const std::vector<Override>& overrides) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) {
    throw FileError("cannot read '" + file.string() + "': it is a folder");
  }
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

}  // namespace vitrine
