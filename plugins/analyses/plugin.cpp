// The plugin file of the analyses that look into any model with the capability they need.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/analyses/attention_map.h"
#include "plugins/analyses/attention_rank.h"
#include "plugins/analyses/calibration.h"
#include "plugins/analyses/first_layer.h"
#include "plugins/analyses/receptive_field.h"
#include "plugins/analyses/resolution_sweep.h"
#include "plugins/analyses/shape_bias.h"
#include "plugins/analyses/text_logits.h"
#include "plugins/analyses/token_positions.h"
#include "plugins/analyses/token_probe.h"
#include "plugins/analyses/weight_histograms.h"

class AnalysesPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "analyses.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::analyses::AttentionRank>());
    registry.add(std::make_unique<vitrine::analyses::Calibration>());
    registry.add(std::make_unique<vitrine::analyses::AttentionMap>());
    registry.add(std::make_unique<vitrine::analyses::FirstLayerAnalysis>());
    registry.add(std::make_unique<vitrine::analyses::ReceptiveFieldAnalysis>());
    registry.add(std::make_unique<vitrine::analyses::ResolutionSweep>());
    registry.add(std::make_unique<vitrine::analyses::ShapeBias>());
    registry.add(std::make_unique<vitrine::analyses::TextLogits>());
    registry.add(std::make_unique<vitrine::analyses::TokenPositions>());
    registry.add(std::make_unique<vitrine::analyses::TokenProbe>());
    registry.add(std::make_unique<vitrine::analyses::WeightHistograms>());
  }
};

#include "plugin.moc"
