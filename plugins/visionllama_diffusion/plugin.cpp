// The plugin file of DiT-LLaMA and SiT-LLaMA.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/visionllama_diffusion/rotary_diffusion.h"

class VisionLlamaDiffusionPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "visionllama_diffusion.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::visionllama_diffusion::DitLlamaArchitecture>());
    registry.add(std::make_unique<vitrine::visionllama_diffusion::SitLlamaArchitecture>());
  }
};

#include "plugin.moc"
