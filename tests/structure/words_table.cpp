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
      {"app/studio/", "settle", kGoes},
      {"app/vitrine/serve/compute_link", "giveUp", kGoes},
      {"app/vitrine/serve/compute_link", "settle", kGoes},
      {"core/store/annotations.cpp", "is no", kGoes},
      {"tests/core/store/tables/run_marks_test.cpp", "is no", kGoes},
      {"plugins/llamafusion/fusion_model.cpp", "go on", kGoes},
      {"plugins/tasks/autoencoder/autoencoder_task.h", "is no", kGoes},
      {"plugins/visionllama/plain.cpp", "is no", kGoes},
      {"tests/ui/attention/attention_page_test.cpp", "storeAsked", kGoes},
      {"tests/ui/configure/plan/run_planner_test.cpp", "storeAsked", kGoes},
      {"tests/ui/playground/", "settle", kGoes},
      {"tests/ui/support/fake_workbench.h", "storeAsked", kGoes},
      {"ui/attention/", "is no", kGoes},
      {"ui/attention/", "tokenAsked", kGoes},
      {"ui/configure/", "startWanted", kGoes},
      {"ui/gallery/", "stepAsked", kGoes},
      {"ui/live/attention_cells.h", "is no", kGoes},
      {"ui/playground/board_layout.h", "is no", kGoes},
      {"ui/playground/", "go on", kGoes},
      {"ui/playground/", "patchAsked", kGoes},
      {"ui/queue/", "putBack", kGoes},
      {"ui/runs/", "is no", kGoes},
      {"ui/workbench/queue_service.cpp", "go on", kGoes},
      {"ui/workbench/run_facts.cpp", "is no", kGoes},
  };
  return allowed;
}

}  // namespace vitrine::structure
