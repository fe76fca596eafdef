// Places where a forbidden word stays, each with the reason.
#include "tests/structure/words.h"

namespace vitrine::structure {

namespace {

constexpr const char* kReleased = "a released migration does not change";
constexpr const char* kGolden = "drawn in golden pictures";
constexpr const char* kEnglish = "a word of a sentence, not a class";
constexpr const char* kOfTest = "a class of the test, not what the name once meant";
constexpr const char* kGoes = "to be replaced";

}  // namespace

const std::vector<AllowedWord>& allowedWords() {
  static const std::vector<AllowedWord> allowed{
      {"resources/migrations/", "anew", kReleased},
      {"resources/migrations/", "go on", kReleased},
      {"tests/ui/support/catalog.h", "nobody", kGolden},
      {"tests/ui/plugins/plugins_page_test.cpp", "nobody", kGolden},
      {"ui/figures/painting.cpp", "Readers", kEnglish},
      {"tests/ui/kit/reader_pool_test.cpp", "Gate", kOfTest},
      {"tests/app/serve_items.cpp", "Gate", kOfTest},
      {"tests/fuzz/replay_test.cpp", "Readers", kOfTest},

      // These go: each line is removed with the word.
      {"plugins/llamafusion/fusion_model.cpp", "go on", kGoes},
      {"ui/attention/", "is no", kGoes},
      {"ui/runs/", "is no", kGoes},
  };
  return allowed;
}

}  // namespace vitrine::structure
