#include "core/model/weight_source.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace vitrine {

namespace {

void refuseTaken(const WeightSource& source, const std::string& name) {
  if (source.has(name)) throw ConfigError("renaming gives two tensors the name '" + name + "'");
}

}  // namespace

WeightSource::WeightSource(std::string resizePositions)
    : resizePositions_(std::move(resizePositions)) {}

void WeightSource::add(const std::string& name, Shape shape, Read read,
                       std::vector<std::string> origins, std::optional<WeightOrigin> origin,
                       at::ScalarType type) {
  put(name, {std::move(shape), std::move(read), std::move(origins), std::move(origin), type});
}

std::vector<std::string> WeightSource::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

bool WeightSource::has(const std::string& name) const { return entries_.contains(name); }

const WeightSource::Entry& WeightSource::entryOf(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) throw ConfigError("the weights have no tensor '" + name + "'");
  return found->second;
}

const WeightSource::Shape& WeightSource::shape(const std::string& name) const {
  return entryOf(name).shape;
}

at::ScalarType WeightSource::type(const std::string& name) const { return entryOf(name).type; }

at::Tensor WeightSource::tensor(const std::string& name) const {
  const Entry& entry = entryOf(name);
  at::Tensor value = entry.read();
  if (value.sizes() != entry.shape) {
    throw ConfigError("'" + name + "' became " + c10::str(value.sizes()) + " and not " +
                      c10::str(at::IntArrayRef(entry.shape)) + " as the model said");
  }
  return value;
}

const std::vector<std::string>& WeightSource::origins(const std::string& name) const {
  return entryOf(name).origins;
}
bool WeightSource::isResized(const std::string& name) const { return entryOf(name).isResized; }
const std::optional<WeightOrigin>& WeightSource::origin(const std::string& name) const {
  return entryOf(name).origin;
}

WeightSource::Entry WeightSource::take(const std::string& name) {
  Entry entry = entryOf(name);
  entries_.erase(name);
  return entry;
}

void WeightSource::put(const std::string& name, Entry entry) {
  refuseTaken(*this, name);
  entries_.emplace(name, std::move(entry));
}

void WeightSource::rename(const std::string& from, const std::string& to) {
  if (from == to) return;
  refuseTaken(*this, to);
  put(to, take(from));
}

void WeightSource::copy(const std::string& from, const std::string& to) { put(to, entryOf(from)); }

void WeightSource::merge(const std::vector<std::string>& from, const std::string& to) {
  Entry whole;
  std::vector<Read> parts;
  for (const std::string& name : from) {
    const Entry& part = entryOf(name);
    Shape expected = parts.empty() ? part.shape : whole.shape;
    if (part.shape.empty() || part.shape.size() != expected.size())
      throw ConfigError("'" + name + "' and '" + from.front() + "' cannot be parts of '" + to +
                        "'");
    const std::int64_t before = parts.empty() ? 0 : whole.shape.front();
    expected.front() = part.shape.front();
    if (expected != part.shape) {
      throw ConfigError("'" + name + "' is " + c10::str(at::IntArrayRef(part.shape)) +
                        " in the file, which does not fit '" + from.front() + "' next to it in '" +
                        to + "'");
    }
    whole.shape = part.shape;
    whole.shape.front() = before + part.shape.front();
    whole.type = parts.empty() ? part.type : c10::promoteTypes(whole.type, part.type);
    if (parts.empty()) {
      whole.origin = part.origin;
    } else if (whole.origin && part.origin && part.origin->file == whole.origin->file) {
      whole.origin->names.insert(whole.origin->names.end(), part.origin->names.begin(),
                                 part.origin->names.end());
    } else {
      whole.origin.reset();
    }
    parts.push_back(part.read);
    whole.origins.insert(whole.origins.end(), part.origins.begin(), part.origins.end());
  }
  whole.read = [parts] {
    std::vector<at::Tensor> values;
    for (const Read& part : parts) values.push_back(part());
    return at::cat(values);
  };
  for (const std::string& name : from) entries_.erase(name);
  put(to, std::move(whole));
}

void WeightSource::change(const std::string& name, Shape shape,
                          std::function<at::Tensor(const at::Tensor&)> by) {
  Entry entry = take(name);
  entry.shape = std::move(shape);
  entry.origin.reset();
  entry.read = [read = std::move(entry.read), by = std::move(by)] { return by(read()); };
  put(name, std::move(entry));
}

void WeightSource::resize(const std::string& name, Shape shape,
                          std::function<at::Tensor(const at::Tensor&)> by) {
  change(name, std::move(shape), std::move(by));
  entries_.at(name).isResized = true;
}

void WeightSource::drop(const std::string& name) { (void)take(name); }

void renameByBestTable(WeightSource& source, const std::vector<std::string>& own,
                       const std::vector<std::vector<WeightRename>>& tables) {
  auto most = std::count_if(own.begin(), own.end(),
                            [&](const std::string& name) { return source.has(name); });
  const std::vector<WeightRename>* best = nullptr;
  for (const std::vector<WeightRename>& table : tables) {
    const auto count = std::count_if(table.begin(), table.end(), [&](const WeightRename& entry) {
      return source.has(entry.theirs);
    });
    if (count <= most) continue;
    most = count;
    best = &table;
  }
  if (best == nullptr) return;
  std::map<std::string, std::vector<std::string>> parts;  // of each of ours, in order
  for (const WeightRename& entry : *best) {
    std::vector<std::string>& all = parts[entry.ours];
    all.resize(static_cast<std::size_t>(entry.parts));
    all[static_cast<std::size_t>(entry.part)] = entry.theirs;
  }
  for (const auto& [ours, theirs] : parts) {
    const bool isThere = std::all_of(theirs.begin(), theirs.end(),
                                     [&](const std::string& name) { return source.has(name); });
    if (!isThere) continue;
    if (theirs.size() == 1)
      source.rename(theirs.front(), ours);
    else
      source.merge(theirs, ours);
  }
}

}  // namespace vitrine
