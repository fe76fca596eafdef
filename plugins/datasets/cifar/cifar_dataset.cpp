#include "plugins/datasets/cifar/cifar_dataset.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/item_card.h"

namespace vitrine::cifar {

namespace {

namespace fs = std::filesystem;

bool isThere(const fs::path& file) {
  std::error_code ignored;  // what cannot be read is not there
  return fs::exists(file, ignored);
}

}  // namespace

Layout cifar10Layout() {
  return {"cifar-10-batches-bin",
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
           "data_batch_5.bin"},
          {"test_batch.bin"},
          10'000,
          10'000,
          1,
          0,
          "batches.meta.txt",
          10};
}

Layout cifar100Layout(Labels labels) {
  const bool isFine = labels == Labels::Fine;
  return {"cifar-100-binary",
          {"train.bin"},
          {"test.bin"},
          50'000,
          10'000,
          2,
          isFine ? 1 : 0,
          isFine ? "fine_label_names.txt" : "coarse_label_names.txt",
          isFine ? std::size_t{100} : std::size_t{20}};
}

CifarDataset::CifarDataset(const fs::path& folder, const Layout& layout, DatasetInfo info)
    : ImagesInMemory(std::move(info)) {
  fs::path place = folder;
  if (!isThere(place / layout.namesFile) && isThere(place / layout.folder)) place /= layout.folder;
  std::vector<std::string> all{layout.namesFile};
  all.insert(all.end(), layout.trainFiles.begin(), layout.trainFiles.end());
  all.insert(all.end(), layout.testFiles.begin(), layout.testFiles.end());
  for (const std::string& file : all) {
    if (isThere(place / file)) continue;
    throw FileError(place.string() + " has no " + file +
                    "; unpack the binary version of the set and set data.folder to its folder " +
                    layout.folder);
  }
  info_.channels = 3;
  info_.height = info_.width = kCifarSide;
  info_.fields = labelledImageFields(info_.channels, kCifarSide, kCifarSide);
  info_.classes = readCifarNames(place / layout.namesFile, layout.classes);

  const auto readPart = [&](const std::vector<std::string>& files, std::int64_t records) {
    Part part;
    for (const std::string& name : files) {
      const fs::path file = place / name;
      CifarBatch batch = readCifar(file, records, layout.labelBytes);
      if (files.size() == 1) {
        part.pixels = std::move(batch.pixels);
      } else {
        part.pixels.reserve(files.size() * batch.pixels.size());
        part.pixels.insert(part.pixels.end(), batch.pixels.begin(), batch.pixels.end());
      }
      for (std::int64_t i = 0; i < records; ++i) {
        const std::uint8_t label =
            batch.labels[static_cast<std::size_t>(i * layout.labelBytes + layout.labelAt)];
        if (label >= layout.classes) {
          throw FileError(file.string() + " has label " + std::to_string(label) + " in record " +
                          std::to_string(i) + "; there are " + std::to_string(layout.classes) +
                          " classes");
        }
        part.labels.push_back(label);
      }
    }
    return part;
  };
  train_ = readPart(layout.trainFiles, layout.trainRecords);
  test_ = readPart(layout.testFiles, layout.testRecords);
}

ItemCard Cifar10Source::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "cifar10", "CIFAR-10");
  card.paper = "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images";
  card.doc = "60,000 colour images, 32 x 32 pixels, 10 classes; binary version";
  card.offers = {"image", "label"};
  card.schema.fields = {
      folderField("folder that cifar-10-binary.tar.gz was unpacked into, or the one above it")};
  return card;
}

std::shared_ptr<const Dataset> Cifar10Source::open(const Config& config) const {
  DatasetInfo info{.mean = {0.4914, 0.4822, 0.4465}, .deviation = {0.2470, 0.2435, 0.2616}};
  return std::make_shared<CifarDataset>(config.text("folder"), cifar10Layout(), std::move(info));
}

ItemCard Cifar100Source::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "cifar100", "CIFAR-100");
  card.paper = "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images";
  card.doc =
      "60,000 colour images, 32 x 32 pixels, 100 classes in 20 super-classes; binary version";
  card.offers = {"image", "label"};
  Field labels =
      choiceField("labels", "fine", {"fine", "coarse"}, "labels that are learned").titled("Labels");
  labels.withChoiceDocs({"100 classes", "20 super-classes"});
  card.schema.fields = {
      folderField("folder that cifar-100-binary.tar.gz was unpacked into, or the one above it"),
      labels.runOnly()};
  return card;
}

std::shared_ptr<const Dataset> Cifar100Source::open(const Config& config) const {
  DatasetInfo info{.mean = {0.5071, 0.4865, 0.4409}, .deviation = {0.2673, 0.2564, 0.2762}};
  const Labels labels = config.text("labels") == "coarse" ? Labels::Coarse : Labels::Fine;
  return std::make_shared<CifarDataset>(config.text("folder"), cifar100Layout(labels),
                                        std::move(info));
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<Cifar10Source>());
  registry.add(std::make_unique<Cifar100Source>());
}

}  // namespace vitrine::cifar
