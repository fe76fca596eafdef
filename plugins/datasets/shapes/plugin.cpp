// The plugin file of the generated sets.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::shapes {
void registerAll(Registry& registry);  // in generated_set.cpp
}

class ShapesPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "shapes.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::shapes::registerAll(registry);
  }
};

#include "plugin.moc"
