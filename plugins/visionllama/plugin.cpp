// The plugin file of VisionLLaMA.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/visionllama/architectures.h"

class VisionLlamaPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "visionllama.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::visionllama::PlainArchitecture>());
    registry.add(std::make_unique<vitrine::visionllama::PyramidArchitecture>());
    registry.add(std::make_unique<vitrine::visionllama::DensePyramidArchitecture>());
    registry.add(std::make_unique<vitrine::visionllama::VitDetArchitecture>());
  }
};

#include "plugin.moc"
