// Tokenizers, captions' scores and norms of text models against reference cases.
#pragma once

#include <filesystem>
#include <vector>

#include "tests/support/golden/compare.h"

namespace vitrine::testing {

/// What a case without io.safetensors expects, as tensors: of pairs.json "output/ids/<n>" and
/// "output/decoded/<n>" (UTF-8 bytes), of cider.json "output/scores/<n>" and "output/mean/<n>".
[[nodiscard]] Tensors textExpectations(const std::filesystem::path& folder);

[[nodiscard]] bool isTextCase(const GoldenCase& golden);
/// \pre isTextCase()
[[nodiscard]] std::vector<Tensors> runTextCase(const GoldenCase& golden);

}  // namespace vitrine::testing
