// The plugin file of the Vision Transformer.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::vit {
void registerAll(Registry& registry);  // in vit.cpp
}

class VitPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "vit.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::vit::registerAll(registry);
  }
};

#include "plugin.moc"
