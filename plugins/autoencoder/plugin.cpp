// The plugin file of the autoencoders.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/autoencoder/architectures.h"

class AutoencoderPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "autoencoder.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::autoencoder::KlArchitecture>());
    registry.add(std::make_unique<vitrine::autoencoder::TaesdArchitecture>());
  }
};

#include "plugin.moc"
