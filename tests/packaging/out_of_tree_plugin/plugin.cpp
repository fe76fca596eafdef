#include "core/plugin/plugin.h"

#include <QObject>

#include "../../support/paired/paired.h"
#include "signed_steps.h"

class OutsidePlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "outside.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    paired::addPairedItems(registry);
    registry.add(std::make_unique<outside::SignedSteps>());
  }
};

#include "plugin.moc"
