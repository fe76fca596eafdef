// The plugin file of VisionLLaMA.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::visionllama {
void registerAll(Registry& registry);  // in plain.cpp
}

class VisionLlamaPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "visionllama.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::visionllama::registerAll(registry);
  }
};

#include "plugin.moc"
