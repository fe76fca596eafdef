// The plugin file of the transforms.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/transforms/transforms.h"

class TransformsPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "transforms.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::transforms::registerAll(registry);
  }
};

#include "plugin.moc"
