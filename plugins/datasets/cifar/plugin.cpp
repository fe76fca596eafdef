// The plugin file of CIFAR-10 and CIFAR-100.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::cifar {
void registerAll(Registry& registry);  // in cifar_dataset.cpp
}

class CifarPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "cifar.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::cifar::registerAll(registry);
  }
};

#include "plugin.moc"
