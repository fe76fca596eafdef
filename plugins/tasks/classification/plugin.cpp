// The plugin file of image classification.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/tasks/classification/classification.h"

class ClassificationPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "classification.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::classification::ClassificationTask>());
  }
};

#include "plugin.moc"
