// The plugin file of image generation: the task and its samplers.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::generation {
void registerAll(Registry& registry);  // in generation.cpp
}

class GenerationPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "generation.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::generation::registerAll(registry);
  }
};

#include "plugin.moc"
