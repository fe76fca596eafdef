// The plugin file of the text data sets.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/datasets/text/continuations.h"
#include "plugins/datasets/text/sequences.h"
#include "plugins/datasets/text/text_datasets.h"

class TextPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "text.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::text::DocumentsSource>());
    registry.add(std::make_unique<vitrine::text::ChoiceSource>());
    registry.add(std::make_unique<vitrine::text::ContinuationsSource>());
    registry.add(std::make_unique<vitrine::text::SequencesSource>());
  }
};

#include "plugin.moc"
