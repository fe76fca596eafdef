#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/app/program.h"

namespace vitrine::test {
namespace {


bool hasPython() { return std::system("python3 -c 'import struct' >/dev/null 2>&1") == 0; }

/// Runs a client of `vitrine serve` with the homes of this copy: what is started must not meet the
/// user's own.
void expectHeld(const Copy& copy, const std::string& client, const std::string& words,
                const std::string& environment = "") {
  const std::string output = copy.path("client.txt");
  const std::string command =
      environment + " VITRINE_DEVICE_LOCKS='" + deviceLocks() + "' XDG_DATA_HOME='" +
      copy.path("data") + "' XDG_CONFIG_HOME='" +
      copy.path("config") + "' XDG_CACHE_HOME='" + (sharedFolder() / "cache").string() +
      "' timeout 240 python3 '" VITRINE_SOURCE_DIR "/tests/app/" + client +
      "' '" VITRINE_PROGRAM "' '" + copy.database() + "' " + words + " >'" + output + "' 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << readText(output);
  EXPECT_NE(readText(output).find("every line of the page held"), std::string::npos)
      << readText(output);
}

TEST(Serve, AnswersAClientThatKnowsNothingButItsPage) {
  if (!hasPython()) GTEST_SKIP() << "there is no Python to run the client";
  const Copy copy;
  const std::string experiment = copy.path("experiment.toml");
  writeText(experiment, readText(sharedSingle()));
  expectHeld(copy, "serve_client.py", "'" + experiment + "'");
}

/// One part of serve_compute_client.py.
void expectComputes(const std::string& part) {
  if (!hasPython()) GTEST_SKIP() << "there is no Python to run the client";
  const Copy copy;
  expectHeld(copy, "serve_compute_client.py",
             part + " '" + copy.path("scratch") + "' '" VITRINE_SERVE_ITEMS "/serve_items.so'",
             "OMP_NUM_THREADS=1 VITRINE_PLUGIN_PATH='" VITRINE_SERVE_ITEMS "'");
}

TEST(Serve, InfersWhatInferWritesToItsFile) { expectComputes("infer"); }
TEST(Serve, AnalysesAsTheVerbDoesAndStoresWhenAsked) { expectComputes("analyse"); }
TEST(Serve, GivesImagesOfSamplesAndAnswersThatSayTheScoreAgain) { expectComputes("samples"); }
TEST(Serve, CancelsAndReplacesWhatComputes) { expectComputes("queue"); }
TEST(Serve, LosesTheRequestAloneWhenTheComputingProcessIsKilled) { expectComputes("kill"); }
TEST(Serve, LoadsAndUnloadsModelsWithinTheirMemory) { expectComputes("memory"); }
TEST(Serve, SamplesStepByStepAndOutlivesASamplerThatCrashes) { expectComputes("sample"); }
TEST(Serve, SaysWhatIsWrongWithARequestThatComputes) { expectComputes("wrong"); }

TEST(Serve, StartsAVerbThatHelpDoesNotList) {
  EXPECT_EQ(vitrine({"--help"}).out.find("compute "), std::string::npos);
  EXPECT_EQ(vitrine({"compue"}).err.find("did you mean 'compute'"), std::string::npos);
  EXPECT_EQ(vitrine({"compute", "--help"}).code, 0);
}

}  // namespace
}  // namespace vitrine::test
