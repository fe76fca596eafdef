// The items of the text data sets.
#include "plugins/datasets/text/continuations.h"
#include "plugins/datasets/text/sequences.h"
#include "plugins/datasets/text/text_datasets.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::text::DocumentsSource>());
  registry.add(std::make_unique<vitrine::text::ChoiceSource>());
  registry.add(std::make_unique<vitrine::text::ContinuationsSource>());
  registry.add(std::make_unique<vitrine::text::SequencesSource>());
}
