// The plugin file of image generation: the task and its samplers.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/tasks/generation/generation.h"
#include "plugins/tasks/generation/samplers.h"

class GenerationPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "generation.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::generation::GenerationTask>());
    vitrine::generation::addSamplers(registry);
  }
};

#include "plugin.moc"
