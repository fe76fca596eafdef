// The plugin file of the autoencoders.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::autoencoder {
void registerAll(Registry& registry);  // in autoencoder_kl.cpp
}

class AutoencoderPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "autoencoder.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::autoencoder::registerAll(registry);
  }
};

#include "plugin.moc"
