// The plugin file of CIFAR-10 and CIFAR-100.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/datasets/cifar/cifar_dataset.h"

class CifarPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "cifar.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::cifar::Cifar10Source>());
    registry.add(std::make_unique<vitrine::cifar::Cifar100Source>());
  }
};

#include "plugin.moc"
