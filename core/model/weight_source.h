// The tensors of a weight file as a model turns them into its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/engine_export.h"

namespace vitrine {

/// File that holds the value of a tensor unchanged: rows of `names`, one after the other.
struct WeightOrigin {
  std::filesystem::path file;      ///< one safetensors file
  std::string sha256;              ///< of it; "" before the first request
  std::vector<std::string> names;  ///< there
};

/// Names and shapes at once, values when they are asked for. Model::transform() leaves in it
/// tensors under the model's own names. Loading then takes those, and reports the rest as unused,
/// under its name in the file.
///
/// A new shape or value is made when the tensor is taken, so a tensor that is skipped is never
/// read.
class VITRINE_ENGINE_EXPORT WeightSource {
 public:
  using Read = std::function<at::Tensor()>;
  using Shape = std::vector<std::int64_t>;

  /// \param resizePositions  how positions of another grid are resized: bicubic |
  ///                         bicubic_antialias | linear_corners | none
  explicit WeightSource(std::string resizePositions = "bicubic");
  /// \param origins  what it is called in the file
  /// \param origin   where it lies, if that can be told
  /// \throws ConfigError  there is one of that name
  void add(const std::string& name, Shape shape, Read read, std::vector<std::string> origins,
           std::optional<WeightOrigin> origin = {}, at::ScalarType type = at::kFloat);

  [[nodiscard]] const std::string& resizePositions() const noexcept { return resizePositions_; }
  [[nodiscard]] std::vector<std::string> names() const;  ///< sorted
  [[nodiscard]] bool has(const std::string& name) const;
  /// \throws ConfigError  there is none of that name
  [[nodiscard]] const Shape& shape(const std::string& name) const;
  /// Of its values as the file has them. \throws ConfigError  there is none of that name
  [[nodiscard]] at::ScalarType type(const std::string& name) const;
  /// Its value, read now. \throws ConfigError, FileError
  [[nodiscard]] at::Tensor tensor(const std::string& name) const;
  /// Names in the file that it is made of, in order.
  [[nodiscard]] const std::vector<std::string>& origins(const std::string& name) const;
  [[nodiscard]] bool isResized(const std::string& name) const;
  /// Nothing where its value was changed, or made of tensors of several files.
  [[nodiscard]] const std::optional<WeightOrigin>& origin(const std::string& name) const;

  /// \throws ConfigError  `from` is not there, or `to` is
  void rename(const std::string& from, const std::string& to);
  /// The same tensor under a second name. \throws ConfigError  `from` is not there, or `to` is
  void copy(const std::string& from, const std::string& to);
  /// Several become one, one behind the other along the first axis: separate q, k and v a fused
  /// qkv. \throws ConfigError  one is not there, or they do not fit together
  void merge(const std::vector<std::string>& from, const std::string& to);
  /// Another value of another shape in the place of `name`'s: a transposed matrix.
  void change(const std::string& name, Shape shape,
              std::function<at::Tensor(const at::Tensor&)> by);
  /// change(), and the load says that it was resized.
  void resize(const std::string& name, Shape shape,
              std::function<at::Tensor(const at::Tensor&)> by);
  /// The model knows it and has no place for it: it counts as used.
  void drop(const std::string& name);

 private:
  struct Entry {
    Shape shape;
    Read read;
    std::vector<std::string> origins;
    std::optional<WeightOrigin> origin{};
    at::ScalarType type = at::kFloat;
    bool isResized = false;
  };
  [[nodiscard]] const Entry& entryOf(const std::string& name) const;
  [[nodiscard]] Entry take(const std::string& name);
  void put(const std::string& name, Entry entry);

  std::map<std::string, Entry> entries_;
  std::string resizePositions_;
};

/// Rule from a public name to ours. It gives one tensor of a file, or a row block of ours (separate
/// q, k, v into a fused qkv).
struct WeightRename {
  std::string theirs;       ///< name in the file
  std::string ours;         ///< parameter name
  int part = 0, parts = 1;  ///< rows [part, part+1) / parts of ours
};

/// Renames by that table of which the file holds most names; by none where it holds as many of the
/// model's own. Of a merged tensor all parts must be there; otherwise they stay as they are.
/// \param own     the model's names
/// \param tables  public namings of the same weights, each complete
VITRINE_ENGINE_EXPORT void renameByBestTable(WeightSource& source,
                                             const std::vector<std::string>& own,
                                             const std::vector<std::vector<WeightRename>>& tables);

}  // namespace vitrine
