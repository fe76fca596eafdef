#include "core/model/weights.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/files/decoder_bin.h"
#include "core/files/safetensors_set.h"

namespace vitrine {

namespace {

struct DtypeName {
  const char* name;
  at::ScalarType type;
};
constexpr std::array<DtypeName, 10> kDtypes{{{"F64", at::kDouble},
                                             {"F32", at::kFloat},
                                             {"F16", at::kHalf},
                                             {"BF16", at::kBFloat16},
                                             {"I64", at::kLong},
                                             {"I32", at::kInt},
                                             {"I16", at::kShort},
                                             {"I8", at::kChar},
                                             {"U8", at::kByte},
                                             {"BOOL", at::kBool}}};

const DtypeName* dtypeOf(const SafetensorsEntry& entry) {
  const auto* found = std::find_if(kDtypes.begin(), kDtypes.end(),
                                   [&](const DtypeName& d) { return entry.dtype == d.name; });
  return found == kDtypes.end() ? nullptr : found;
}

/// Of a tensor of that entry; what cannot be read counts as real until it is read.
at::ScalarType typeOf(const SafetensorsEntry& entry) {
  const DtypeName* known = dtypeOf(entry);
  return known == nullptr ? at::kFloat : known->type;
}

at::Tensor readTensor(const SafetensorsSet& file, const SafetensorsEntry& entry,
                      const std::filesystem::path& path) {
  const DtypeName* found = dtypeOf(entry);
  if (found == nullptr) {
    throw FileError(path.string() + ": tensor '" + entry.name + "' has dtype " + entry.dtype +
                    ", which a tensor here cannot have");
  }
  at::Tensor tensor = at::empty(entry.shape, at::TensorOptions(found->type));
  file.read(entry, std::span<std::byte>(static_cast<std::byte*>(tensor.data_ptr()),
                                        entry.end - entry.begin));
  return tensor;
}

std::string shapeText(at::IntArrayRef shape) { return c10::str(shape); }

/// A few of many names, for a sentence.
std::string some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 5; ++i)
    text += (i ? ", '" : "'") + names[i] + "'";
  return names.size() > 5 ? text + " and " + std::to_string(names.size() - 5) + " more" : text;
}

std::string renamed(const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& renames) {
  for (const auto& [from, to] : renames) {
    if (name == from) return to;
  }
  for (const auto& [from, to] : renames) {
    if (!from.empty() && name.size() > from.size() && name.compare(0, from.size(), from) == 0)
      return to + name.substr(from.size());
  }
  return name;
}

}  // namespace

std::map<std::string, at::Tensor> readTensors(const std::filesystem::path& file) {
  const SafetensorsSet opened(file);
  std::map<std::string, at::Tensor> tensors;
  for (const SafetensorsEntry& entry : opened.entries())
    tensors.emplace(entry.name, readTensor(opened, entry, file));
  return tensors;
}

void writeTensors(const std::filesystem::path& file,
                  const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                  const std::map<std::string, std::string>& metadata) {
  std::vector<at::Tensor> kept;
  std::vector<SafetensorsTensor> out;
  for (const auto& [name, tensor] : tensors) {
    const auto* found = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeName& d) {
      return d.type == tensor.scalar_type();
    });
    if (found == kDtypes.end()) {
      throw FileError(file.string() + ": tensor '" + name + "' has dtype " +
                      c10::toString(tensor.scalar_type()) + ", which safetensors cannot hold");
    }
    kept.push_back(tensor.detach().to(at::kCPU).contiguous());
    const at::Tensor& copy = kept.back();
    out.push_back({name, found->name, copy.sizes().vec(),
                   std::span<const std::byte>(static_cast<const std::byte*>(copy.const_data_ptr()),
                                              copy.nbytes())});
  }
  writeSafetensors(file, out, metadata);
}

std::vector<std::pair<std::string, at::Tensor>> moduleTensors(const torch::nn::Module& module,
                                                              const std::string& prefix) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto& item : module.named_parameters())
    tensors.emplace_back(prefix + item.key(), item.value());
  for (const auto& item : module.named_buffers())
    tensors.emplace_back(prefix + item.key(), item.value());
  return tensors;
}

std::vector<std::pair<std::string, at::Tensor>> namedTensors(Model& model) {
  return moduleTensors(model.module());
}

std::int64_t parameterCount(Model& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.module().parameters()) count += parameter.numel();
  return count;
}

namespace {

constexpr const char* kReferences = "vitrine.references";

/// Rows of several tensors of another file, as one.
void addReferred(WeightSource& source, const std::string& name,
                 const std::shared_ptr<const SafetensorsSet>& opened, const WeightOrigin& origin) {
  std::vector<const SafetensorsEntry*> parts;
  WeightSource::Shape shape;
  at::ScalarType type = at::kFloat;
  for (const std::string& theirs : origin.names) {
    const SafetensorsEntry* entry = opened->find(theirs);
    if (entry == nullptr) throw FileError(origin.file.string() + " has no tensor '" + theirs + "'");
    type = parts.empty() ? typeOf(*entry) : c10::promoteTypes(type, typeOf(*entry));
    if (parts.empty()) {
      shape = entry->shape;
    } else if (shape.empty() || shape.size() != entry->shape.size() ||
               !std::equal(shape.begin() + 1, shape.end(), entry->shape.begin() + 1)) {
      throw FileError(origin.file.string() + ": tensor '" + theirs + "' does not fit behind '" +
                      origin.names.front() + "' in '" + name + "'");
    } else {
      shape.front() += entry->shape.front();
    }
    parts.push_back(entry);
  }
  if (parts.empty())
    throw FileError("no tensor of " + origin.file.string() + " is named for '" + name + "'");
  const auto read = [opened, parts, file = origin.file] {
    std::vector<at::Tensor> values;
    for (const SafetensorsEntry* part : parts) values.push_back(readTensor(*opened, *part, file));
    return values.size() == 1 ? values.front() : at::cat(values, 0);
  };
  source.add(name, std::move(shape), read, origin.names, origin, type);
}

using NameOf = std::function<std::string(const std::string& theirs)>;

/// \throws NotFoundError, RefusedError, FileError  see openWeightSource()
void addReferences(WeightSource& source, const std::filesystem::path& file, const std::string& text,
                   const NameOf& nameOf) {
  const Json references = readJson(text);
  if (!references.is_array())
    throw FileError(file.string() + " refers to other weights in a form that is not JSON");
  try {
    for (const Json& each : references) {
      WeightOrigin origin;
      origin.file = (file.parent_path() / each.at("file").get<std::string>()).lexically_normal();
      origin.sha256 = each.at("sha256").get<std::string>();
      if (!std::filesystem::is_regular_file(origin.file)) {
        throw NotFoundError("the frozen tensors of " + file.string() + " are those of " +
                            origin.file.string() + ", which is not there; restore that file");
      }
      if (const std::string now = sha256OfFile(origin.file); now != origin.sha256) {
        throw RefusedError("the frozen tensors of " + file.string() + " are those of " +
                           origin.file.string() + " (SHA-256 " + origin.sha256.substr(0, 12) +
                           "...), which holds others by now (" + now.substr(0, 12) +
                           "...); restore that file");
      }
      const auto opened = std::make_shared<const SafetensorsSet>(origin.file);
      for (const auto& [name, names] : each.at("tensors").items()) {
        origin.names = names.get<std::vector<std::string>>();
        addReferred(source, nameOf(name), opened, origin);
      }
    }
  } catch (const Json::exception& error) {
    throw FileError(file.string() +
                    " refers to other weights in a form that is not known: " + error.what());
  }
}

/// The tensors of a flat decoder file.
void addFlat(WeightSource& source, const std::filesystem::path& file, const NameOf& nameOf) {
  const auto opened = std::make_shared<const DecoderBinFile>(file);
  for (const DecoderBinEntry& entry : opened->entries()) {
    const std::string name = nameOf(entry.name);
    source.add(name, entry.shape,
               [opened, &entry] {
                 at::Tensor tensor = at::empty(entry.shape, at::kFloat);
                 opened->read(entry,
                              std::span<std::byte>(static_cast<std::byte*>(tensor.data_ptr()),
                                                   static_cast<std::size_t>(entry.bytes)));
                 return tensor;
               },
               {entry.name});
  }
}

/// One file, whose hash says all there is to know of its tensors.
bool isOneFile(const std::filesystem::path& file) {
  return std::filesystem::is_regular_file(file) && file.extension() != ".json";
}

}  // namespace

std::map<std::string, std::string> referenceMetadata(
    const std::vector<WeightReference>& references) {
  if (references.empty()) return {};
  Json list = Json::array();
  for (const WeightReference& each : references) {
    list.push_back(
        {{"file", each.file.string()}, {"sha256", each.sha256}, {"tensors", each.tensors}});
  }
  return {{kReferences, list.dump()}};
}

WeightSource openWeightSource(const std::filesystem::path& path, const LoadOptions& options) {
  // In a folder it is that file, which may refer to others as a checkpoint's does.
  const std::filesystem::path inFolder = path / "model.safetensors";
  std::error_code none;
  const std::filesystem::path file =
      std::filesystem::is_regular_file(inFolder, none) ? inFolder : path;
  WeightSource source(options.resizePositions);
  const NameOf nameOf = [&](const std::string& theirs) {
    std::string name = renamed(theirs, options.rename);
    if (source.has(name))
      throw ConfigError(file.string() + ": renaming gives two tensors the name '" + name + "'");
    return name;
  };
  if (DecoderBinFile::isOne(file)) {
    addFlat(source, file, nameOf);
    return source;
  }
  const auto opened = std::make_shared<const SafetensorsSet>(file);
  const bool isOne = isOneFile(file);
  for (const SafetensorsEntry& entry : opened->entries()) {
    std::optional<WeightOrigin> origin;
    if (isOne) origin = WeightOrigin{std::filesystem::absolute(file), "", {entry.name}};
    const std::string name = nameOf(entry.name);
    source.add(
        name, entry.shape, [opened, &entry, file] { return readTensor(*opened, entry, file); },
        {entry.name}, std::move(origin), typeOf(entry));
  }
  if (isOne) {
    const auto references = opened->metadata().find(kReferences);
    if (references != opened->metadata().end())
      addReferences(source, file, references->second, nameOf);
  }
  return source;
}

namespace {

/// What goes where, of which nothing is read yet. \param misfits  sentences
LoadReport matchTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                        const WeightSource& source, const LoadOptions& options,
                        std::vector<std::string>& misfits) {
  LoadReport report;
  std::set<std::string> own;
  for (const auto& [name, tensor] : tensors) {
    own.insert(name);
    const bool isSkipped =
        std::any_of(options.skip.begin(), options.skip.end(),
                    [&name = name](const std::string& glob) { return matchesGlob(glob, name); });
    if (isSkipped || !source.has(name)) {
      (isSkipped ? report.skipped : report.missing).push_back(name);
      continue;
    }
    if (tensor.sizes() != source.shape(name)) {
      misfits.push_back("'" + name + "' is " + shapeText(source.shape(name)) + " in the file and " +
                        shapeText(tensor.sizes()) + " in the model");
      continue;
    }
    if (tensor.is_floating_point() && !at::isFloatingType(source.type(name))) {
      // Quantised weights: what they are to be multiplied with is somewhere else in the file.
      misfits.push_back("'" + name + "' is of type " + c10::toString(source.type(name)) +
                        " in the file and " + c10::toString(tensor.scalar_type()) +
                        " in the model");
      continue;
    }
    report.loaded.push_back(name);
    if (source.isResized(name)) report.resized.push_back(name);
    if (source.origin(name)) report.origins[name] = *source.origin(name);
  }
  std::set<std::string> unused;
  for (const std::string& name : source.names()) {
    if (own.contains(name)) continue;
    unused.insert(source.origins(name).begin(), source.origins(name).end());
  }
  report.unused.assign(unused.begin(), unused.end());
  return report;
}

}  // namespace

LoadReport loadWeights(Model& model, const std::filesystem::path& file,
                       const LoadOptions& options) {
  WeightSource source = openWeightSource(file, options);
  const std::vector<std::string> inFile = source.names();
  const auto tensors = namedTensors(model);
  const std::string family = options.family ? options.family(inFile) : "";
  const std::string looks = family.empty() ? "" : "; the file looks made for " + family;
  const auto refusal = [&](const std::string& text) {
    return ConfigError(file.string() + ": " + text + looks);
  };
  std::vector<std::string> misfits;
  LoadReport report;
  try {
    model.transform(source);
    report = matchTensors(tensors, source, options, misfits);
  } catch (const ConfigError& error) {
    throw refusal(error.what());
  }
  if (!misfits.empty()) {
    std::string text = misfits.front();
    if (misfits.size() > 1)
      text += " (and " + std::to_string(misfits.size() - 1) + " more do not fit)";
    throw refusal(text + "; change the model, or leave it out with skip");
  }
  if (report.loaded.empty() && report.skipped.size() < tensors.size()) {
    throw refusal("none of its " + std::to_string(inFile.size()) +
                  " tensors belongs to this model");
  }
  if (options.strict && !report.missing.empty()) {
    throw refusal("no tensor for " + some(report.missing) +
                  "; name them in skip, map them with rename, or set strict = false");
  }
  c10::NoGradGuard noGrad;
  auto name = report.loaded.begin();
  try {
    // One value at a time is held next to the model. `loaded` is in the order of `tensors`.
    for (const auto& [own, tensor] : tensors) {
      if (name == report.loaded.end() || *name != own) continue;
      if (!tensor.is_meta()) tensor.copy_(source.tensor(*name));
      ++name;
    }
  } catch (const ConfigError& error) {
    throw refusal(error.what());
  }
  return report;
}

}  // namespace vitrine
