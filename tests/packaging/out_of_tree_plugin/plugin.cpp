#include "core/plugin/plugin.h"

#include <QObject>

#include "plain_mlp.h"

class PlainMlpPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "plain_mlp.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<plain_mlp::PlainMlpArchitecture>());
  }
};

#include "plugin.moc"
