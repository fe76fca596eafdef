#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/app/program.h"

namespace vitrine::test {
namespace {

TEST(Serve, AnswersAClientThatKnowsNothingButItsPage) {
  if (std::system("python3 -c 'import struct' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no Python to run the client";
  const Copy copy;
  const std::string experiment = copy.path("experiment.toml");
  writeText(experiment, readText(sharedSingle()));
  const std::string output = copy.path("client.txt");
  // The same homes as Program gives: what is started must not meet the user's own.
  const std::string command = "XDG_DATA_HOME='" + copy.path("data") + "' XDG_CACHE_HOME='" +
                              (sharedFolder() / "cache").string() + "' timeout 110 python3 '" +
                              VITRINE_SOURCE_DIR "/tests/app/serve_client.py' '" VITRINE_PROGRAM
                                                 "' '" +
                              copy.database() + "' '" + experiment + "' >'" + output + "' 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << readText(output);
  EXPECT_NE(readText(output).find("every line of the page held"), std::string::npos)
      << readText(output);
}

}  // namespace
}  // namespace vitrine::test
