// The plugin file of language models.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/tasks/language_model/language_model.h"

class LanguageModelPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "language_model.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::language_model::LanguageModelTask>());
    registry.add(std::make_unique<vitrine::language_model::TextSampler>());
  }
};

#include "plugin.moc"
