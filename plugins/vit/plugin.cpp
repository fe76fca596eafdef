// The plugin file of the Vision Transformer.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/vit/vit.h"

class VitPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "vit.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::vit::VitArchitecture>());
  }
};

#include "plugin.moc"
