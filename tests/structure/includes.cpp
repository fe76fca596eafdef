#include "tests/structure/includes.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace vitrine::structure {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBlanks = " \t";

bool isSource(const fs::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".h" || ending == ".cpp" || ending == ".cu" || ending == ".cuh";
}

/// Between the quotes of an include line; "" for any other line.
std::string_view quotedIn(std::string_view line) {
  const auto skip = [&line](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.substr(0, word.size()) != word) return false;
    line.remove_prefix(word.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("\"")) return {};
  return line.substr(0, line.find('"'));
}

}  // namespace

std::string contentOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw std::runtime_error("cannot read '" + file.string() + "'");
  return text;
}

std::vector<std::string> quotedIncludes(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view path = quotedIn(text.substr(0, end));
    if (!path.empty()) found.emplace_back(path);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::vector<Include> readIncludes(const fs::path& root, const std::vector<std::string>& folders) {
  std::vector<Include> includes;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !isSource(entry.path())) continue;
      const fs::path file = entry.path().lexically_relative(root);
      for (const std::string& path : quotedIncludes(contentOf(entry.path()))) {
        const fs::path beside = (file.parent_path() / path).lexically_normal();
        const fs::path to = fs::exists(root / beside) ? beside : fs::path(path);
        if (fs::exists(root / to)) includes.push_back({file.string(), to.string()});
      }
    }
  }
  std::sort(includes.begin(), includes.end(), [](const Include& a, const Include& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  return includes;
}

}  // namespace vitrine::structure
