// The plugin file of DiT-LLaMA and SiT-LLaMA.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::visionllama_diffusion {
void registerAll(Registry& registry);  // in rotary_diffusion.cpp
}

class VisionLlamaDiffusionPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "visionllama_diffusion.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::visionllama_diffusion::registerAll(registry);
  }
};

#include "plugin.moc"
