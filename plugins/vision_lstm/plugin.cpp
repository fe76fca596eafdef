// The plugin file of Vision-LSTM: the architecture, and analyses of its memories.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/vision_lstm/analyses.h"
#include "plugins/vision_lstm/vision_lstm.h"

class VisionLstmPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "vision_lstm.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::vision_lstm::VisionLstmArchitecture>());
    registry.add(vitrine::vision_lstm::makeMemoryLength());
    registry.add(vitrine::vision_lstm::makeMemoryWeights());
    registry.add(vitrine::vision_lstm::makeMemoryRank());
    registry.add(vitrine::vision_lstm::makeTokenCost());
  }
};

#include "plugin.moc"
