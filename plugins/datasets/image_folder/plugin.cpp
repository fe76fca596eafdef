// The plugin file of folders of images.
#include "core/plugin/plugin.h"

#include <QObject>

#include "plugins/datasets/image_folder/image_folder.h"
#include "plugins/datasets/image_folder/scene_sets.h"

class ImageFolderPlugin final : public QObject, public vitrine::Plugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID VITRINE_PLUGIN_IID FILE "image_folder.json")
  Q_INTERFACES(vitrine::Plugin)
 public:
  void registerInto(vitrine::Registry& registry) override {
    registry.add(std::make_unique<vitrine::image_folder::ImageFolderSource>());
    registry.add(std::make_unique<vitrine::image_folder::ImageCaptionsSource>());
    registry.add(std::make_unique<vitrine::image_folder::CocoSource>());
    registry.add(std::make_unique<vitrine::image_folder::Ade20kSource>());
  }
};

#include "plugin.moc"
