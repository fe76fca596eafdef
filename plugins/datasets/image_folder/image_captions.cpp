#include <algorithm>

#include "plugins/datasets/image_folder/image_folder.h"

namespace vitrine::image_folder {

ImageCaptions::ImageCaptions(const std::filesystem::path& folder, const FolderOptions& options,
                             DatasetInfo info) {
  CaptionedListing listed = listCaptions(folder, options.listing.lists, options.listing.links);
  captions_ = std::move(listed.captions);
  images_ =
      std::make_unique<ImageFolder>(folder, options, std::move(info), std::move(listed.listing));
  info_ = images_->info();
  info_.fields = {{"image", FieldKind::Image, at::kByte, {info_.channels, -1, -1}, "pixels"},
                  {"captions", FieldKind::Text, at::kByte, {-1}, "1 to 64 of them"}};
}

void ImageCaptions::read(Split split, std::int64_t id, Sample& sample) const {
  images_->read(split, id, sample);
  const std::vector<std::string>& captions =
      captions_[static_cast<std::size_t>(images_->label(split, id))];
  const auto texts = sample["captions"].resizeTexts(captions.size());
  std::copy(captions.begin(), captions.end(), texts.begin());
}

double ImageCaptions::memoryBytes() const {
  double bytes = images_->memoryBytes();
  for (const auto& captions : captions_) {
    for (const std::string& caption : captions)
      bytes += static_cast<double>(sizeof(caption) + caption.size());
  }
  return bytes;
}

}  // namespace vitrine::image_folder
