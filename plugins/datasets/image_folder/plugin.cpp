// The items of folders of images.
#include "plugins/datasets/image_folder/image_folder.h"
#include "plugins/datasets/image_folder/scene_sets.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::image_folder::ImageFolderSource>());
  registry.add(std::make_unique<vitrine::image_folder::ImageCaptionsSource>());
  registry.add(std::make_unique<vitrine::image_folder::CocoSource>());
  registry.add(std::make_unique<vitrine::image_folder::Ade20kSource>());
}
