// The plugin file of Vision-LSTM: the architecture, and analyses of its memories.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::vision_lstm {
void registerAll(Registry& registry);  // in vision_lstm.cpp
}

class VisionLstmPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "vision_lstm.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::vision_lstm::registerAll(registry);
  }
};

#include "plugin.moc"
