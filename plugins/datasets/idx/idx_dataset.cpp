#include "plugins/datasets/idx/idx_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/item_card.h"

namespace vitrine::idx {

namespace {

constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist";

std::filesystem::path findFile(const std::filesystem::path& folder, const std::string& name,
                               const std::string& remedy) {
  for (const char* ending : {".gz", ""}) {
    const std::filesystem::path file = folder / (name + ending);
    std::error_code ignored;  // what cannot be read is not there
    if (std::filesystem::exists(file, ignored)) return file;
  }
  throw FileError("neither " + name + " nor " + name + ".gz is in " + folder.string() + remedy);
}

std::string sides(const IdxArray& array) {
  std::string out;
  for (const std::int64_t side : array.shape) {
    if (!out.empty()) out += " x ";
    out += std::to_string(side);
  }
  return out;
}

}  // namespace

IdxDataset::IdxDataset(const std::filesystem::path& folder, DatasetInfo info,
                       const std::string& remedy)
    : info_(std::move(info)) {
  const auto readPart = [&](const std::string& prefix) {
    const std::filesystem::path imageFile = findFile(folder, prefix + "-images-idx3-ubyte", remedy);
    const std::filesystem::path labelFile = findFile(folder, prefix + "-labels-idx1-ubyte", remedy);
    Part part{labelFile.string(), readIdx(imageFile), readIdx(labelFile)};
    if (part.images.shape.size() != 3 || part.images.shape[1] < 1 || part.images.shape[2] < 1) {
      throw FileError(imageFile.string() + " holds an array of " + sides(part.images) +
                      "; images are count x height x width");
    }
    if (part.labels.shape.size() != 1 || part.labels.shape[0] != part.images.shape[0]) {
      throw FileError(labelFile.string() + " holds " + sides(part.labels) + " labels for " +
                      std::to_string(part.images.shape[0]) + " images");
    }
    return part;
  };
  // The two parts are unpacked side by side; a failure comes out of get().
  std::future<Part> test = std::async(std::launch::async, readPart, std::string("t10k"));
  train_ = readPart("train");
  test_ = test.get();
  if (!std::equal(train_.images.shape.begin() + 1, train_.images.shape.end(),
                  test_.images.shape.begin() + 1)) {
    throw FileError(folder.string() + " has training images of " + sides(train_.images) +
                    " and test images of " + sides(test_.images) + "; they must have one size");
  }
  info_.channels = 1;
  info_.height = train_.images.shape[1];
  info_.width = train_.images.shape[2];
  info_.fields = labelledImageFields(info_.channels, info_.height, info_.width);

  if (info_.classes.empty()) {
    std::uint8_t largest = 0;
    for (const std::uint8_t label : train_.labels.data) largest = std::max(largest, label);
    for (int c = 0; c <= largest; ++c) info_.classes.push_back(std::to_string(c));
  }
  for (const Part* part : {&train_, &test_}) {
    const auto& labels = part->labels.data;
    const auto wrong = std::find_if(labels.begin(), labels.end(), [this](std::uint8_t label) {
      return label >= info_.classes.size();
    });
    if (wrong != labels.end()) {
      throw FileError(part->labelFile + " has label " + std::to_string(*wrong) + " at " +
                      std::to_string(wrong - labels.begin()) + "; there are " +
                      std::to_string(info_.classes.size()) + " classes");
    }
  }
  if (info_.mean.empty()) measurePixels();
}

void IdxDataset::measurePixels() {
  std::array<std::uint64_t, 256> histogram{};
  for (const std::uint8_t pixel : train_.images.data) ++histogram[pixel];
  double count = 0, sum = 0, squares = 0;
  for (std::size_t value = 0; value < histogram.size(); ++value) {
    const double pixel = static_cast<double>(value) / 255,
                 times = static_cast<double>(histogram[value]);
    count += times;
    sum += times * pixel;
    squares += times * pixel * pixel;
  }
  const double mean = count > 0 ? sum / count : 0;
  const double variance = count > 0 ? squares / count - mean * mean : 0;
  info_.mean = {mean};
  info_.deviation = {variance > 1e-12 ? std::sqrt(variance) : 1.0};
}

const IdxDataset::Part& IdxDataset::part(Split split) const {
  return split == Split::Train ? train_ : test_;
}

std::int64_t IdxDataset::size(Split split) const {
  return split == Split::Validation ? 0 : part(split).images.shape[0];
}

std::int64_t IdxDataset::readImage(Split split, std::int64_t id,
                                   std::span<std::uint8_t> image) const {
  const std::size_t bytes = static_cast<std::size_t>(info_.height * info_.width);
  requireImage(split, id, image);
  const Part& from = part(split);
  std::memcpy(image.data(), from.images.data.data() + static_cast<std::size_t>(id) * bytes, bytes);
  return from.labels.data[static_cast<std::size_t>(id)];
}

ItemCard FashionMnistSource::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "fashion_mnist", "Fashion-MNIST");
  card.paper = "Xiao et al. 2017, arXiv:1708.07747";
  card.doc = "70,000 grey images of clothes, 28 x 28 pixels, 10 classes";
  card.offers = {"image", "label"};
  card.schema.fields =
      runOnly({textField("folder", kFashionFolder, "folder of the four IDX files, plain or gzip")
                   .titled("Folder")});
  return card;
}

std::shared_ptr<const Dataset> FashionMnistSource::open(const Config& config) const {
  DatasetInfo info;
  info.classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                  "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  info.mean = {0.2860};
  info.deviation = {0.3530};
  return std::make_shared<IdxDataset>(config.text("folder"), std::move(info),
                                      "; install Debian's package dataset-fashion-mnist, or say in "
                                      "data.folder where the files are");
}

ItemCard IdxFolderSource::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "idx", "IDX folder",
                           "Grey images and labels in MNIST's file format");
  card.offers = {"image", "label"};
  card.schema.fields = {
      folderField("folder with train-images-idx3-ubyte[.gz] and its three companions"),
      listField("classes", FieldType::Text, Json::array(),
                "names of the classes in order; empty: their numbers")
          .titled("Class names")
          .runOnly()};
  return card;
}

std::shared_ptr<const Dataset> IdxFolderSource::open(const Config& config) const {
  DatasetInfo info;
  info.classes = config.texts("classes");
  return std::make_shared<IdxDataset>(config.text("folder"), std::move(info),
                                      "; set data.folder to the folder that has it");
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<FashionMnistSource>());
  registry.add(std::make_unique<IdxFolderSource>());
}

}  // namespace vitrine::idx
