#include "core/store/sqlite/check_mark.h"

#include <fstream>

#include "core/base/text.h"
#include "core/store/sqlite/file_system.h"

namespace vitrine::store {

namespace {

std::filesystem::path markOf(const std::filesystem::path& database) {
  return realFile(database).string() + ".needs-check";
}

}  // namespace

void markForCheck(const std::filesystem::path& database, const std::string& why) noexcept {
  try {
    std::ofstream(markOf(database), std::ios::app) << utcNow() << " " << why << "\n";
  } catch (const std::exception&) {  // see the header
  }
}

std::string whyCheckIsNeeded(const std::filesystem::path& database) {
  std::ifstream mark(markOf(database));
  if (!mark) return {};
  std::string line;
  std::getline(mark, line);
  return line.empty() ? "no more is known" : line;
}

bool removeCheckMark(const std::filesystem::path& database) noexcept {
  std::error_code error;
  return std::filesystem::remove(markOf(database), error);
}

}  // namespace vitrine::store
