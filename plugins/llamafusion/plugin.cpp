// The plugin file of Llama and LlamaFusion.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/llamafusion/architectures.h"

class LlamaFusionPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "llamafusion.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::llamafusion::LlamaArchitecture>());
    registry.add(std::make_unique<vitrine::llamafusion::LlamaFusionArchitecture>());
  }
};

#include "plugin.moc"
