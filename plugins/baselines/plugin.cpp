// The plugin file of the models that papers compare with.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::baselines {
void registerAll(Registry& registry);  // in diffusion_transformers.cpp
}

class BaselinesPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "baselines.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::baselines::registerAll(registry);
  }
};

#include "plugin.moc"
