// The plugin file of image classification.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::classification {
void registerAll(Registry& registry);  // in classification.cpp
}

class ClassificationPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "classification.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::classification::registerAll(registry);
  }
};

#include "plugin.moc"
