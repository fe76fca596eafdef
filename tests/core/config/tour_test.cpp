#include "core/config/papers/tour.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/refusal.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;
using test::Names;
using ::testing::ElementsAre;

constexpr const char* kTour = R"(
title = "Two"
about = "It does two things."
minutes = 2.5
measured_on = "a laptop"
experiments = ["a.toml", "b.toml"]
samples = [["b.toml", "--use", "ema", "prompt=a bag"], ["b.toml", "count=2"]]
)";

std::string problemsOf(const std::string& text) {
  std::vector<Problem> problems;
  (void)readTour(text, "tour.toml", problems);
  std::string all;
  for (const Problem& problem : problems) all += problem.sentence() + "\n";
  return all;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Tour, NamesItsExperimentsInOrderAndWhatIsSampledOfEach) {
  std::vector<Problem> problems;
  const Tour tour = readTour(kTour, "tour.toml", problems);
  ASSERT_TRUE(problems.empty()) << problems.front().sentence();
  EXPECT_EQ(tour.title, "Two");
  EXPECT_EQ(tour.minutes, 2.5);
  EXPECT_EQ(tour.measuredOn, "a laptop");
  ASSERT_EQ(tour.parts.size(), 2u);
  EXPECT_EQ(tour.parts[0].experiment, "a.toml");
  EXPECT_TRUE(tour.parts[0].samples.empty());
  ASSERT_EQ(tour.parts[1].samples.size(), 2u);
  EXPECT_THAT(tour.parts[1].samples[0], ElementsAre("--use", "ema", "prompt=a bag"));
}

TEST(Tour, WhatIsWrongInItIsSaidWithItsPlace) {
  EXPECT_THAT(problemsOf(replaced(kTour, "minutes = 2.5", "minutes = 0")), Names("tour.toml:4:11"));
  EXPECT_THAT(problemsOf(replaced(kTour, "minutes = 2.5", "")), Names("minutes"));
  EXPECT_THAT(problemsOf(replaced(kTour, "minutes =", "minuets =")), Names("minuets", "minutes"));
  EXPECT_THAT(problemsOf(replaced(kTour, "\"a.toml\", \"b.toml\"", "\"a.toml\"")), Names("b.toml"));
  EXPECT_THAT(problemsOf(replaced(kTour, "[\"a.toml\", \"b.toml\"]", "[]")),
              Names("experiments: must be a list of files"));
}

TEST(Tour, TheOneThatComesWithTheProgramNamesFilesThatAreThere) {
  const fs::path folder = fs::path(VITRINE_SOURCE_DIR) / "experiments/tour";
  std::ifstream in(folder / "tour.toml");
  std::stringstream text;
  text << in.rdbuf();
  std::vector<Problem> problems;
  const Tour tour = readTour(text.str(), "tour.toml", problems);
  ASSERT_TRUE(problems.empty()) << problems.front().sentence();
  ASSERT_GE(tour.parts.size(), 3u);
  bool samples = false;
  for (const Tour::Part& part : tour.parts) {
    EXPECT_TRUE(fs::exists(folder / part.experiment)) << part.experiment;
    samples = samples || !part.samples.empty();
  }
  EXPECT_TRUE(samples);
  EXPECT_LE(tour.minutes, 15);
}

}  // namespace
}  // namespace vitrine
