// The plugin file of training and looking at autoencoders.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/tasks/autoencoder/autoencoder_task.h"
#include "plugins/tasks/autoencoder/reconstruction.h"

class AutoencoderTaskPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "autoencoder_task.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::autoencoder_task::AutoencoderTask>());
    registry.add(std::make_unique<vitrine::autoencoder_task::Reconstruction>());
  }
};

#include "plugin.moc"
