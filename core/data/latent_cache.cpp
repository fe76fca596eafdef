#include "core/data/latent_cache.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/sha256.h"
#include "core/files/safetensors.h"
#include "core/model/weights.h"

namespace vitrine {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSource = "vitrine.latents";
constexpr const char* kHash = "sha256";
constexpr const char* kRemedy = "; delete the file, the next run makes it again";

/// A refusal that says the remedy.
class LatentsRefused final : public FileError {
 public:
  using FileError::FileError;
};
constexpr std::size_t kDigits = 16;

Json jsonOf(const LatentSource& source) {
  return {{"version", 2},          {"codec", source.codec},
          {"model", source.model}, {"dataset", source.dataset},
          {"split", source.split}, {"images", source.images}};
}

void hash(Sha256& sum, const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  sum.update({static_cast<const std::byte*>(flat.const_data_ptr()), flat.nbytes()});
}

std::string hashOf(const LatentTable& table) {
  Sha256 sum;
  hash(sum, table.ids);
  hash(sum, table.mean);
  if (table.logVariance.defined()) hash(sum, table.logVariance);
  return sum.finish();
}

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw LatentsRefused(file.string() + " " + why + kRemedy);
}

/// The sentence of what differs first.
std::string differenceTo(const Json& theirs, const LatentSource& source) {
  const std::string codec = theirs.value("codec", "");
  if (codec != source.codec) {
    return "holds latents of another codec (SHA-256 " + codec.substr(0, 12) +
           "...); that of the run is " + source.codec.substr(0, 12) + "...";
  }
  if (theirs.value("model", Json()) != source.model)
    return "holds latents of the same codec with other settings of its model";
  return "holds latents of other images than the run's " + source.dataset + ", " + source.split;
}

void check(const fs::path& file, const std::map<std::string, std::string>& metadata,
           const LatentSource& source) {
  const auto found = metadata.find(kSource);
  if (found == metadata.end()) refuse(file, "does not say which latents it holds");
  const Json theirs = readJson(found->second);
  if (!theirs.is_object()) refuse(file, "does not say which latents it holds");
  if (theirs != jsonOf(source)) refuse(file, differenceTo(theirs, source));
}

void check(const fs::path& file, const LatentTable& table) {
  const bool fits =
      table.ids.dim() == 1 && table.ids.scalar_type() == at::kLong && table.mean.dim() == 5 &&
      table.mean.scalar_type() == at::kFloat && table.mean.size(0) == table.ids.size(0) &&
      (table.mean.size(1) == 1 || table.mean.size(1) == 2) &&
      (!table.logVariance.defined() || (table.logVariance.sizes() == table.mean.sizes() &&
                                        table.logVariance.scalar_type() == at::kFloat));
  if (!fits) refuse(file, "holds tensors of other shapes or types than latents have");
  const std::span<const std::int64_t> ids(table.ids.const_data_ptr<std::int64_t>(),
                                          static_cast<std::size_t>(table.ids.size(0)));
  const bool isAscending =
      std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
  if (!isAscending || (!ids.empty() && ids.front() < 0))
    refuse(file, "holds sample numbers out of order");
}

}  // namespace

fs::path latentFile(const fs::path& folder, const LatentSource& source) {
  std::string name = source.dataset;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-'; }, '_');
  return folder / (source.codec.substr(0, kDigits) + "-" + name + "-" + source.split + "-" +
                   sha256OfText(jsonOf(source).dump()).substr(0, kDigits) + ".safetensors");
}

std::optional<LatentTable> readLatents(const fs::path& file, const LatentSource& source) {
  if (!fs::exists(file)) return {};
  LatentTable table;
  std::string stated;
  try {
    const SafetensorsFile header(file);
    check(file, header.metadata(), source);
    if (const auto found = header.metadata().find(kHash); found != header.metadata().end())
      stated = found->second;
    std::map<std::string, at::Tensor> tensors = readTensors(file);
    table = {tensors["ids"], tensors["mean"], tensors["log_variance"]};
    const std::size_t expected = table.logVariance.defined() ? 3 : 2;
    const auto known = std::count_if(tensors.begin(), tensors.end(),
                                     [](const auto& each) { return each.second.defined(); });
    if (!table.ids.defined() || !table.mean.defined() ||
        static_cast<std::size_t>(known) != expected)
      refuse(file, "lacks ids or means, or holds other tensors");
  } catch (const LatentsRefused&) {
    throw;
  } catch (const FileError& error) {
    throw FileError(std::string(error.what()) + kRemedy);
  }
  check(file, table);
  if (hashOf(table) != stated) refuse(file, "is damaged: its latents have another SHA-256");
  return table;
}

void writeLatents(const fs::path& file, const LatentSource& source, const LatentTable& table) {
  std::error_code code;
  fs::create_directories(file.parent_path(), code);
  if (code) {
    throw FileError("cannot make the folder " + file.parent_path().string() + ": " +
                    code.message() + "; set XDG_CACHE_HOME to one that can be written");
  }
  std::vector<std::pair<std::string, at::Tensor>> tensors{{"ids", table.ids}, {"mean", table.mean}};
  if (table.logVariance.defined()) tensors.emplace_back("log_variance", table.logVariance);
  fs::path beside = file;
  beside += "." + std::to_string(::getpid()) + ".part";
  try {
    writeTensors(beside, tensors, {{kSource, jsonOf(source).dump()}, {kHash, hashOf(table)}});
    fs::rename(beside, file);
  } catch (const fs::filesystem_error& error) {
    fs::remove(beside, code);
    throw FileError(std::string("cannot keep latents: ") + error.what());
  } catch (...) {
    fs::remove(beside, code);
    throw;
  }
}

namespace {

struct View {
  const char* mean;
  const char* logVariance;
};
constexpr std::array<View, 2> kViews{
    {{"latent", "latent_log_variance"}, {"latent_mirrored", "latent_mirrored_log_variance"}}};

void fill(Sample& sample, const char* name, const at::Tensor& values, std::int64_t row,
          std::int64_t view) {
  const at::Tensor one = values[row][view];  // [channels, height, width]
  const std::span<float> out = sample[name].resize<float>(
      std::span<const std::int64_t>(one.sizes().data(), static_cast<std::size_t>(one.dim())));
  std::memcpy(out.data(), one.const_data_ptr<float>(), out.size_bytes());
}

}  // namespace

LatentDataset::LatentDataset(std::shared_ptr<const Dataset> images,
                             std::array<std::shared_ptr<const LatentTable>, 3> tables)
    : images_(std::move(images)), tables_(std::move(tables)), info_(images_->info()) {
  const LatentTable* first = nullptr;
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    const auto at = static_cast<std::size_t>(split);
    const LatentTable* table = tables_[at].get();
    rows_[at].assign(static_cast<std::size_t>(images_->size(split)), -1);
    if (table == nullptr) continue;
    if (first == nullptr) first = table;
    if (table->mean.sizes().slice(1) != first->mean.sizes().slice(1) ||
        table->logVariance.defined() != first->logVariance.defined())
      throw ShapeError("the latents of two splits differ in shape: they are of two codecs");
    const auto* ids = table->ids.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < table->ids.size(0); ++i) {
      if (ids[i] >= images_->size(split))
        throw ShapeError("latents of " + toString(split) + " sample " + std::to_string(ids[i]) +
                         ", but the data set has " + std::to_string(images_->size(split)));
      rows_[at][static_cast<std::size_t>(ids[i])] = i;
    }
  }
  if (first == nullptr) throw ConfigError("latents of at least one split are needed");
  info_.channels = first->mean.size(2);
  info_.height = first->mean.size(3);
  info_.width = first->mean.size(4);
  info_.mean.clear();
  info_.deviation.clear();
  info_.fields = fieldsOf(images_->info());
  std::erase_if(info_.fields,
                [](const SampleField& field) { return field.kind == FieldKind::Image; });
  readsMore_ = std::any_of(info_.fields.begin(), info_.fields.end(),
                           [](const SampleField& field) { return field.name != "label"; });
  const std::vector<std::int64_t> shape{info_.channels, info_.height, info_.width};
  for (std::int64_t view = 0; view < first->mean.size(1); ++view) {
    const View& names = kViews[static_cast<std::size_t>(view)];
    const std::string what = view == 0 ? "of the image" : "of the mirrored image";
    info_.fields.push_back(
        {names.mean, FieldKind::Latent, at::kFloat, shape, "mean of the latent " + what});
    if (first->logVariance.defined())
      info_.fields.push_back({names.logVariance, FieldKind::Latent, at::kFloat, shape,
                              "logarithm of its variance, " + what});
  }
}

void LatentDataset::read(Split split, std::int64_t id, Sample& sample) const {
  requireSample(split, id);
  const auto at = static_cast<std::size_t>(split);
  const std::int64_t row = rows_[at][static_cast<std::size_t>(id)];
  if (row < 0) {
    throw ConfigError("the latent of " + toString(split) + " sample " + std::to_string(id) +
                      " was not made; name its split when the cache is made");
  }
  const LatentTable& table = *tables_[at];
  for (std::int64_t view = 0; view < table.mean.size(1); ++view) {
    const View& names = kViews[static_cast<std::size_t>(view)];
    fill(sample, names.mean, table.mean, row, view);
    if (table.logVariance.defined()) fill(sample, names.logVariance, table.logVariance, row, view);
  }
  if (readsMore_) {
    images_->read(split, id, sample);
  } else if (findField(info_.fields, "label") != nullptr) {
    sample["label"].resize<std::int64_t>({})[0] = images_->label(split, id);
  }
}

double LatentDataset::memoryBytes() const {
  double bytes = 0;
  for (const auto& table : tables_) {
    if (table == nullptr) continue;
    bytes += static_cast<double>(table->mean.nbytes());
    if (table->logVariance.defined()) bytes += static_cast<double>(table->logVariance.nbytes());
  }
  return bytes + (readsMore_ ? images_->memoryBytes() : 0);
}

}  // namespace vitrine
