// The plugin file of the models that papers compare with.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/baselines/diffusion_transformers.h"

class BaselinesPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "baselines.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::baselines::DitArchitecture>());
    registry.add(std::make_unique<vitrine::baselines::SitArchitecture>());
  }
};

#include "plugin.moc"
