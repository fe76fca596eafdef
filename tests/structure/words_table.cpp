// Places where a forbidden word stays, each with the reason.
#include "tests/structure/words.h"

namespace vitrine::structure {

namespace {

constexpr const char* kReleased = "a released migration does not change";
constexpr const char* kGolden = "drawn in golden pictures";

}  // namespace

const std::vector<AllowedWord>& allowedWords() {
  static const std::vector<AllowedWord> allowed{
      {"resources/migrations/", "anew", kReleased},
      {"resources/migrations/", "go on", kReleased},
      {"tests/ui/support/catalog.h", "nobody", kGolden},
      {"tests/ui/plugins/plugins_page_test.cpp", "nobody", kGolden},
  };
  return allowed;
}

}  // namespace vitrine::structure
