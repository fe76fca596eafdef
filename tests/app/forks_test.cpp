// A verb that is a fork of a process with LibTorch answers as the program does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.h"

namespace vitrine::test {
namespace {

TEST(Forks, AnswerAsAProgramThatIsStarted) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"describe", "vit", "--json"},
           {"plugins", "--json"},
           {"describe", "vitt"},
           {"check", "/nowhere/at/all.toml"},
           {"train", "--nothing"}}) {
    const Ended forked = vitrine(words), alone = vitrine(words, "", Start::Alone);
    EXPECT_EQ(forked.code, alone.code) << words[0];
    EXPECT_EQ(forked.out, alone.out) << words[0];
    EXPECT_EQ(forked.err, alone.err) << words[0];
  }
}

}  // namespace
}  // namespace vitrine::test
