// Data set that asks for the true continuation of a sentence, of a grammar or of a text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/files/sample_lists.h"
#include "core/plugin/registry.h"

namespace vitrine::text {

inline constexpr std::size_t kContinuations = 4;  ///< one real, three shuffled

/// The sentences of a text that make a question: 8 to 40 words between '.', '!' or '?', white space
/// made single.
[[nodiscard]] std::vector<std::string> sentencesOf(std::string_view text);

/// The second half of a sentence and three shuffles of its words, all different, in random order.
/// \param lane  of the first random number at (0, id)
/// \returns  nothing where the second half has too few different words for that
[[nodiscard]] std::optional<ChoiceQuestion> continuationQuestion(const std::string& sentence,
                                                                 const RandomStream& stream,
                                                                 std::int64_t id,
                                                                 std::uint32_t lane = 0);

class ContinuationsSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

}  // namespace vitrine::text
