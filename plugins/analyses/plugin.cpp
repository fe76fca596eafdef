// The plugin file of the analyses that look into any model with the capability they need.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/analyses/analyses.h"

class AnalysesPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "analyses.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(vitrine::analyses::makeAttentionRank());
    registry.add(vitrine::analyses::makeCalibration());
    registry.add(vitrine::analyses::makeAttentionMap());
    registry.add(vitrine::analyses::makeFirstLayer());
    registry.add(vitrine::analyses::makeReceptiveField());
    registry.add(vitrine::analyses::makeResolutionSweep());
    registry.add(vitrine::analyses::makeShapeBias());
    registry.add(vitrine::analyses::makeTextLogits());
    registry.add(vitrine::analyses::makeTokenPositions());
    registry.add(vitrine::analyses::makeTokenProbe());
    registry.add(vitrine::analyses::makeWeightHistograms());
  }
};

#include "plugin.moc"
