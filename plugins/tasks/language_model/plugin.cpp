// The items of language models.
#include "plugins/tasks/language_model/language_model.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::language_model::LanguageModelTask>());
  registry.add(std::make_unique<vitrine::language_model::TextSampler>());
}
