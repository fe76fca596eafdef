#include "plugins/datasets/idx/idx_dataset.h"

#include <algorithm>
#include <cmath>
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

struct Files {
  std::string labelFile;
  IdxArray images, labels;
};

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
    : ImagesInMemory(std::move(info)) {
  const auto readFiles = [&](const std::string& prefix) {
    const std::filesystem::path imageFile = findFile(folder, prefix + "-images-idx3-ubyte", remedy);
    const std::filesystem::path labelFile = findFile(folder, prefix + "-labels-idx1-ubyte", remedy);
    Files found{labelFile.string(), readIdx(imageFile), readIdx(labelFile)};
    if (found.images.shape.size() != 3 || found.images.shape[1] < 1 || found.images.shape[2] < 1) {
      throw FileError(imageFile.string() + " holds an array of " + sides(found.images) +
                      "; images are count x height x width");
    }
    if (found.labels.shape.size() != 1 || found.labels.shape[0] != found.images.shape[0]) {
      throw FileError(labelFile.string() + " holds " + sides(found.labels) + " labels for " +
                      std::to_string(found.images.shape[0]) + " images");
    }
    return found;
  };
  // The two parts are unpacked side by side; a failure comes out of get().
  std::future<Files> ofTest = std::async(std::launch::async, readFiles, std::string("t10k"));
  Files train = readFiles("train"), test = ofTest.get();
  if (!std::equal(train.images.shape.begin() + 1, train.images.shape.end(),
                  test.images.shape.begin() + 1)) {
    throw FileError(folder.string() + " has training images of " + sides(train.images) +
                    " and test images of " + sides(test.images) + "; they must have one size");
  }
  info_.channels = 1;
  info_.height = train.images.shape[1];
  info_.width = train.images.shape[2];
  info_.fields = labelledImageFields(info_.channels, info_.height, info_.width);

  if (info_.classes.empty()) {
    std::uint8_t largest = 0;
    for (const std::uint8_t label : train.labels.data) largest = std::max(largest, label);
    for (int c = 0; c <= largest; ++c) info_.classes.push_back(std::to_string(c));
  }
  for (const Files* files : {&train, &test}) {
    const auto& labels = files->labels.data;
    const auto wrong = std::find_if(labels.begin(), labels.end(), [this](std::uint8_t label) {
      return label >= info_.classes.size();
    });
    if (wrong != labels.end()) {
      throw FileError(files->labelFile + " has label " + std::to_string(*wrong) + " at " +
                      std::to_string(wrong - labels.begin()) + "; there are " +
                      std::to_string(info_.classes.size()) + " classes");
    }
  }
  train_ = {std::move(train.labels.data), std::move(train.images.data)};
  test_ = {std::move(test.labels.data), std::move(test.images.data)};
  if (info_.mean.empty()) measurePixels();
}

void IdxDataset::measurePixels() {
  std::array<std::uint64_t, 256> histogram{};
  for (const std::uint8_t pixel : train_.pixels) ++histogram[pixel];
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
  DatasetInfo info{.classes = config.texts("classes")};
  return std::make_shared<IdxDataset>(config.text("folder"), std::move(info),
                                      "; set data.folder to the folder that has it");
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<FashionMnistSource>());
  registry.add(std::make_unique<IdxFolderSource>());
}

}  // namespace vitrine::idx
