// The plugin file of the transforms.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::transforms {
void registerAll(Registry& registry);  // in resize.cpp
}

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
