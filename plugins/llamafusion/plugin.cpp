// The plugin file of Llama and LlamaFusion.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::llamafusion {
void registerAll(Registry& registry);  // in llama.cpp
}

class LlamaFusionPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "llamafusion.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::llamafusion::registerAll(registry);
  }
};

#include "plugin.moc"
