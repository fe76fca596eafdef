#include "core/model/weights.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "core/base/error.h"
#include "core/base/text.h"
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

at::Tensor readTensor(const SafetensorsSet& file, const SafetensorsEntry& entry,
                      const std::filesystem::path& path) {
  const auto* found = std::find_if(kDtypes.begin(), kDtypes.end(),
                                   [&](const DtypeName& d) { return entry.dtype == d.name; });
  if (found == kDtypes.end()) {
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

/// Which public family writes names like these; "" when none we know.
std::string familyOf(const std::set<std::string>& names) {
  const auto has = [&](const std::string& part) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    });
  };
  if (has("mlp.fc3.")) return "an iLLaMA (SwiGLU, authors' names)";
  if (has("vit.embeddings.")) return "a ViT with Hugging Face's names";
  if (has("Transformer/encoderblock")) return "a ViT with the names of the authors' JAX code";
  if (has("distill_token") || has("dist_token")) return "a distilled DeiT";
  if (has("attn.qkv.")) return "a ViT with timm's names";
  if (has("layer4.")) return "a ResNet";
  return "";
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

using Sources = std::map<std::string, std::vector<WeightRename>>;  ///< by our name, parts in order

Sources sourcesOf(const std::vector<WeightRename>& table) {
  Sources sources;
  for (const WeightRename& entry : table) sources[entry.ours].push_back(entry);
  for (auto& [ours, parts] : sources) {
    std::sort(parts.begin(), parts.end(),
              [](const WeightRename& a, const WeightRename& b) { return a.part < b.part; });
  }
  return sources;
}

/// The naming, ours or one of the model's others, of which the file holds most.
std::vector<WeightRename> bestTable(const Model& model, const std::vector<std::string>& own,
                                    const std::set<std::string>& inFile) {
  std::vector<WeightRename> best;
  for (const std::string& name : own) best.push_back({name, name, 0, 1});
  const auto hits = [&](const std::vector<WeightRename>& table) {
    return std::count_if(table.begin(), table.end(),
                         [&](const WeightRename& entry) { return inFile.contains(entry.theirs); });
  };
  auto most = hits(best);
  for (std::vector<WeightRename>& table : model.otherNames()) {
    if (const auto count = hits(table); count > most) {
      most = count;
      best = std::move(table);
    }
  }
  return best;
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

std::vector<std::pair<std::string, at::Tensor>> namedTensors(Model& model) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto& item : model.module().named_parameters())
    tensors.emplace_back(item.key(), item.value());
  for (const auto& item : model.module().named_buffers())
    tensors.emplace_back(item.key(), item.value());
  return tensors;
}

std::int64_t parameterCount(Model& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.module().parameters()) count += parameter.numel();
  return count;
}

LoadReport loadWeights(Model& model, const std::filesystem::path& file,
                       const LoadOptions& options) {
  const SafetensorsSet opened(file);
  std::map<std::string, const SafetensorsEntry*> entries;  // by name after renaming
  std::set<std::string> inFile;
  for (const SafetensorsEntry& entry : opened.entries()) {
    const std::string name = renamed(entry.name, options.rename);
    if (!entries.emplace(name, &entry).second) {
      throw ConfigError(file.string() + ": renaming gives two tensors the name '" + name + "'");
    }
    inFile.insert(name);
  }

  std::vector<std::string> own;
  const auto tensors = namedTensors(model);
  for (const auto& [name, tensor] : tensors) own.push_back(name);
  const Sources sources = sourcesOf(bestTable(model, own, inFile));

  LoadReport report;
  std::set<std::string> used;
  std::vector<std::string> misfits;
  std::vector<std::pair<at::Tensor, at::Tensor>>
      copies;  // nothing is written before everything fits
  for (const auto& [name, tensor] : tensors) {
    const bool isSkipped =
        std::any_of(options.skip.begin(), options.skip.end(),
                    [&name = name](const std::string& glob) { return matchesGlob(glob, name); });
    const auto source = sources.find(name);
    const bool isFound =
        source != sources.end() &&
        std::all_of(source->second.begin(), source->second.end(),
                    [&](const WeightRename& part) { return entries.contains(part.theirs); });
    if (isFound) {
      for (const WeightRename& part : source->second) used.insert(part.theirs);
    }
    if (isSkipped || !isFound) {
      (isSkipped ? report.skipped : report.missing).push_back(name);
      continue;
    }
    std::vector<at::Tensor> parts;
    for (const WeightRename& part : source->second)
      parts.push_back(readTensor(opened, *entries.at(part.theirs), file));
    const bool areRows = std::all_of(parts.begin(), parts.end(), [&](const at::Tensor& part) {
      return part.dim() > 0 && part.sizes().slice(1) == parts.front().sizes().slice(1);
    });
    at::Tensor value = parts.size() > 1 && areRows ? at::cat(parts, 0) : parts.front();
    if (value.sizes() != tensor.sizes() && options.resizePositions != "none") {
      const at::Tensor adapted = model.adapt(name, value, options.resizePositions);
      if (adapted.defined()) {
        value = adapted;
        report.resized.push_back(name);
      }
    }
    if (value.sizes() != tensor.sizes()) {
      misfits.push_back("'" + name + "' is " + shapeText(value.sizes()) + " in the file and " +
                        shapeText(tensor.sizes()) + " in the model");
      continue;
    }
    copies.emplace_back(tensor, value);
    report.loaded.push_back(name);
  }
  for (const std::string& name : inFile) {
    if (!used.contains(name)) report.unused.push_back(name);
  }

  const std::string family = familyOf(inFile);
  const std::string looks = family.empty() ? "" : "; the file looks made for " + family;
  if (!misfits.empty()) {
    std::string text = misfits.front();
    if (misfits.size() > 1)
      text += " (and " + std::to_string(misfits.size() - 1) + " more do not fit)";
    throw ConfigError(file.string() + ": " + text +
                      "; change the model, or leave it out with skip" + looks);
  }
  if (report.loaded.empty() && report.skipped.size() < tensors.size()) {
    throw ConfigError(file.string() + ": none of its " + std::to_string(inFile.size()) +
                      " tensors belongs to this model" + looks);
  }
  if (options.strict && !report.missing.empty()) {
    throw ConfigError(file.string() + ": no tensor for " + some(report.missing) +
                      "; name them in skip, map them with rename, or set strict = false" + looks);
  }
  c10::NoGradGuard noGrad;
  for (const auto& [tensor, value] : copies) tensor.copy_(value);
  return report;
}

}  // namespace vitrine
