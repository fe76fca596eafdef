// The plugin file of language models.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::language_model {
void registerAll(Registry& registry);  // in language_model.cpp
}

class LanguageModelPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "language_model.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::language_model::registerAll(registry);
  }
};

#include "plugin.moc"
