#include "ui/gallery/gallery_model.h"

#include <QObject>
#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr std::array kOrders{
    std::pair{ImageOrder::Newest, "newest"}, std::pair{ImageOrder::Oldest, "oldest"},
    std::pair{ImageOrder::Run, "run"}, std::pair{ImageOrder::Step, "step"}};

/// Of the run, its weights and the machine: they tell where an image comes from, not what it shows.
bool isOrigin(const std::string& key) {
  for (const char* one : {"run", "step", "weights_sha256", "precision", "networks", "device",
                          "threads", "batch", "evaluations"})
    if (key == one) return true;
  return false;
}

/// What the user asked for, besides the seed: an image with another one shows another thing.
bool isCondition(const std::string& key) {
  return key == "class" || key == "prompt" || key == "settings.class" || key == "settings.prompt";
}

/// Key and value of every leaf.
using Leaves = std::map<std::string, std::string>;

void addLeaves(const Json& value, const QString& key, Leaves& leaves) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [name, inner] : value.items()) {
      const QString inside = QString::fromStdString(name);
      addLeaves(inner, key.isEmpty() ? inside : key + QLatin1Char('.') + inside, leaves);
    }
    return;
  }
  leaves[key.toStdString()] = jsonText(value).toStdString();
}

Leaves leavesOf(const Json& settings) {
  Leaves leaves;
  addLeaves(settings, QString(), leaves);
  return leaves;
}

}  // namespace

QString toString(ImageOrder order) {
  for (const auto& [one, name] : kOrders)
    if (one == order) return QString::fromLatin1(name);
  return {};
}

std::optional<ImageOrder> imageOrderFromString(const QString& text) {
  for (const auto& [one, name] : kOrders)
    if (text == QLatin1String(name)) return one;
  return std::nullopt;
}

void GalleryModel::setImages(std::vector<store::ImageEntry> images) {
  images_ = std::move(images);
  arrange();
}

void GalleryModel::addImages(const std::vector<store::ImageEntry>& newer) {
  if (newer.empty()) return;
  images_.insert(images_.end(), newer.begin(), newer.end());
  arrange();
}

void GalleryModel::setOrder(ImageOrder order) {
  if (order == order_) return;
  order_ = order;
  arrange();
}

void GalleryModel::arrange() {
  std::sort(images_.begin(), images_.end(),
            [this](const store::ImageEntry& a, const store::ImageEntry& b) {
              switch (order_) {
                case ImageOrder::Newest:
                  return a.id > b.id;
                case ImageOrder::Oldest:
                  return a.id < b.id;
                case ImageOrder::Run:
                  return std::tie(a.run, a.step, a.seed, a.id) <
                         std::tie(b.run, b.step, b.seed, b.id);
                case ImageOrder::Step:
                  break;
              }
              return std::tie(a.step, a.run, a.seed, a.id) < std::tie(b.step, b.run, b.seed, b.id);
            });
  groups_.clear();
  places_.clear();
  places_.reserve(images_.size());
  for (std::size_t i = 0; i < images_.size(); ++i) {
    places_.emplace_back(images_[i].id, static_cast<int>(i));
    const bool isNew =
        groups_.empty() || (order_ == ImageOrder::Step && groups_.back().step != images_[i].step);
    if (isNew) groups_.push_back({images_[i].step, 0});
    ++groups_.back().count;
  }
  std::sort(places_.begin(), places_.end());
}

int GalleryModel::indexOf(std::int64_t id) const {
  const auto found = std::lower_bound(places_.begin(), places_.end(), std::pair(id, 0));
  return found == places_.end() || found->first != id ? -1 : found->second;
}

void GalleryModel::setTags(const std::vector<std::pair<std::int64_t, std::string>>& tags) {
  marks_.clear();
  for (const auto& [id, tag] : tags) {
    Marks& marks = marks_[id];
    if (tag == store::ImageTagRow::kStar) {
      marks.isStarred = true;
    } else {
      marks.tags << QString::fromStdString(tag);
    }
  }
}

bool GalleryModel::isStarred(std::int64_t id) const {
  const auto found = marks_.find(id);
  return found != marks_.end() && found->second.isStarred;
}

QStringList GalleryModel::tags(std::int64_t id) const {
  const auto found = marks_.find(id);
  return found == marks_.end() ? QStringList() : found->second.tags;
}

QStringList GalleryModel::allTags() const {
  std::set<QString> all;
  for (const auto& [id, marks] : marks_) all.insert(marks.tags.begin(), marks.tags.end());
  return {all.begin(), all.end()};
}

Json settingsOf(const Json& recipe) {
  Json settings = Json::object();
  if (!recipe.is_object()) return settings;
  for (const auto& [key, value] : recipe.items())
    if (!isOrigin(key)) settings[key] = value;
  return settings;
}

std::vector<SamePicture> samePictures(const store::GeneratedImageRow& image,
                                      const std::vector<store::GeneratedImageRow>& others) {
  const auto wanted = leavesOf(settingsOf(image.recipe));
  std::map<std::pair<std::int64_t, std::int64_t>, SamePicture> best;  // by run and step
  for (const store::GeneratedImageRow& other : others) {
    if (other.seed != image.seed) continue;
    const auto found = leavesOf(settingsOf(other.recipe));
    SamePicture same{other.id, other.runId, other.step, {}};
    bool isSame = true;
    const auto differs = [&](const std::string& key, const std::string& is,
                             const std::string& was) {
      isSame = isSame && !isCondition(key);
      QString name = QString::fromStdString(key);
      if (name.startsWith(QLatin1String("settings."))) name.remove(0, 9);
      same.differences << QObject::tr("%1 %2 instead of %3")
                              .arg(name,
                                   is.empty() ? QStringLiteral("\u2013")
                                              : QString::fromStdString(is),
                                   was.empty() ? QStringLiteral("\u2013")
                                               : QString::fromStdString(was));
    };
    for (const auto& [key, value] : wanted) {
      const auto here = found.find(key);
      if (here == found.end() || here->second != value)
        differs(key, here == found.end() ? std::string() : here->second, value);
    }
    for (const auto& [key, value] : found)
      if (wanted.count(key) == 0) differs(key, value, {});
    if (!isSame) continue;
    SamePicture& standing = best[{other.runId, other.step}];
    const bool isBetter = standing.id == 0 ||
                          same.differences.size() < standing.differences.size() ||
                          (same.differences.size() == standing.differences.size() &&
                           same.id > standing.id && standing.id != image.id) ||
                          same.id == image.id;
    if (isBetter) standing = std::move(same);
  }
  std::vector<SamePicture> same;
  for (auto& [place, one] : best) same.push_back(std::move(one));
  return same;
}

}  // namespace vitrine::ui
