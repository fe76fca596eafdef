// The plugin file of training and looking at autoencoders.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::autoencoder_task {
void registerAll(Registry& registry);  // in autoencoder_task.cpp
}

class AutoencoderTaskPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "autoencoder_task.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::autoencoder_task::registerAll(registry);
  }
};

#include "plugin.moc"
