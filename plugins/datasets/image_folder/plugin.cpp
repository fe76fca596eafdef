// The plugin file of folders of images.
#include "core/plugin/plugin_file.h"

#include <QObject>

namespace vitrine::image_folder {
void registerAll(Registry& registry);  // in sources.cpp
}

class ImageFolderPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "image_folder.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    vitrine::image_folder::registerAll(registry);
  }
};

#include "plugin.moc"
