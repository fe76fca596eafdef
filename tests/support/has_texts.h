// A matcher for several pieces of one text: the output of a program, a file, a page.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace vitrine::test {

MATCHER_P(HasEveryText, texts,
          (negation ? "lacks one of " : "has ") + ::testing::PrintToString(texts)) {
  const std::string whole(arg);
  for (const std::string& text : texts) {
    if (whole.find(text) != std::string::npos) continue;
    *result_listener << "which lacks " << ::testing::PrintToString(text);
    return false;
  }
  return true;
}

/// Matches a text that has every one of `texts` in it.
template <class... Texts>
auto HasTexts(const Texts&... texts) {
  return HasEveryText(std::vector<std::string>{texts...});
}

/// Matches a text with a line that begins like this; that is this, where `start` ends with a line
/// break.
MATCHER_P(HasLine, start,
          (negation ? "has no line " : "has a line ") + ::testing::PrintToString(start)) {
  return ("\n" + std::string(arg) + "\n").find("\n" + std::string(start)) != std::string::npos;
}

}  // namespace vitrine::test
