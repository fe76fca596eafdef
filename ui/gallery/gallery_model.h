// The images that were found, in the order in which they are shown, with their stars and tags.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/store/image_finder.h"

namespace vitrine::ui {

enum class ImageOrder {
  Newest,  ///< made last first
  Oldest,
  Run,   ///< by run, step and seed
  Step,  ///< by step, run and seed, in groups of a step
};
[[nodiscard]] QString toString(ImageOrder order);  ///< "newest" ...
[[nodiscard]] std::optional<ImageOrder> imageOrderFromString(const QString& text);

class GalleryModel {
 public:
  /// Images of one step.
  struct Group {
    std::int64_t step = 0;
    int count = 0;
  };

  void setImages(std::vector<store::ImageEntry> images);
  void addImages(const std::vector<store::ImageEntry>& newer);
  void setOrder(ImageOrder order);
  [[nodiscard]] ImageOrder order() const { return order_; }
  [[nodiscard]] int count() const { return static_cast<int>(images_.size()); }
  [[nodiscard]] const store::ImageEntry& at(int index) const {
    return images_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const std::vector<store::ImageEntry>& images() const { return images_; }
  /// -1 where it was not found.
  [[nodiscard]] int indexOf(std::int64_t id) const;
  /// Of ImageOrder::Step; one of all otherwise.
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

  /// By id and tag, as store::taggedImages() gives them.
  void setTags(const std::vector<std::pair<std::int64_t, std::string>>& tags);
  [[nodiscard]] bool isStarred(std::int64_t id) const;
  /// Without the star.
  [[nodiscard]] QStringList tags(std::int64_t id) const;
  /// Every tag that any image has.
  [[nodiscard]] QStringList allTags() const;

 private:
  void arrange();
  std::vector<store::ImageEntry> images_;
  std::vector<std::pair<std::int64_t, int>> places_;  ///< id and index, by id
  std::vector<Group> groups_;
  ImageOrder order_ = ImageOrder::Newest;
  struct Marks {
    bool isStarred = false;
    QStringList tags;
  };
  std::map<std::int64_t, Marks> marks_;
};

/// The same picture by another run or after another number of steps: which of `others` shows what
/// `image` shows. Seed and condition must agree; of several, the one whose other settings agree
/// most, then the newest.
struct SamePicture {
  std::int64_t id = 0, run = 0, step = 0;
  QStringList differences;  ///< "sampler heun instead of ddim"
};
[[nodiscard]] std::vector<SamePicture> samePictures(
    const store::GeneratedImageRow& image, const std::vector<store::GeneratedImageRow>& others);

/// What of a recipe is its own and not of the machine or the run: compared between images.
[[nodiscard]] Json settingsOf(const Json& recipe);

}  // namespace vitrine::ui
