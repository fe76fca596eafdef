// Reference cases laid out as those of tests/golden: reading a folder and comparing all it holds.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace vitrine::testing {

using Tensors = std::map<std::string, at::Tensor>;

struct GoldenCase {
  std::filesystem::path folder;
  Json json;          ///< case.json
  Tensors io;         ///< io.safetensors
  Tensors gradients;  ///< grads.safetensors; empty where there is none

  [[nodiscard]] std::string name() const;                         ///< "illama/illama_alpha_0"
  [[nodiscard]] double tolerance(const std::string& kind) const;  ///< "output" | "grad"
  [[nodiscard]] std::filesystem::path weights() const { return folder / "weights.safetensors"; }
  /// `parameters` or `model` of case.json.
  [[nodiscard]] const Json& settings() const;
};

/// \throws FileError  the folder has no readable case.json or io.safetensors
[[nodiscard]] GoldenCase readGoldenCase(const std::filesystem::path& folder);

/// A case, or an option of one, that this program has no counterpart for: the sentence says what.
struct Unmapped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// \throws Unmapped  the table has a key besides `known`: names it
void requireKnown(const Json& table, const std::string& what,
                  std::initializer_list<const char*> known);

/// The counterpart of a word of a case. \throws Unmapped  there is none: names it and the key
template <class Value>
[[nodiscard]] Value counterpartOf(const Json& table, const std::string& key,
                                  const std::map<std::string, Value>& words) {
  const std::string word = table.at(key).get<std::string>();
  const auto found = words.find(word);
  if (found == words.end()) throw Unmapped(key + " = '" + word + "' has no counterpart");
  return found->second;
}

/// One reference tensor beside ours.
struct Compared {
  std::string tensor;
  double error = 0, allowed = 0;  ///< at the element that is worst in relation to what it may be
  std::string problem;            ///< not comparable: other shape, not finite
  bool isMapped = true;
  [[nodiscard]] bool isMiss() const {
    return isMapped && (!problem.empty() || !(error <= allowed));
  }
};

/// What |ours - reference| may be. Cases state it in several dialects (tests/golden/README.md).
struct Allowance {
  double absolute = 0;  ///< of every element
  double relative = 0;  ///< times the reference's element
  double relativeToMost =
      0;  ///< times the reference's largest element, or `floor` if that is larger
  double floor = 0.01;
};
[[nodiscard]] Allowance allowanceOf(const GoldenCase& golden, const std::string& tensor);

[[nodiscard]] Compared compareTensors(const std::string& name, const at::Tensor& actual,
                                      const at::Tensor& expected, const Allowance& allowance);

/// Everything a case expects, against ours of several passes through our code: a tensor that two
/// passes made is compared twice, one that none made is not mapped.
/// \param passes  by the name under which the case stores the reference
[[nodiscard]] std::vector<Compared> compareCase(const GoldenCase& golden,
                                                const std::vector<Tensors>& passes);

}  // namespace vitrine::testing
