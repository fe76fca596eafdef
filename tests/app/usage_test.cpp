// What goes in and what comes back: arguments, problems, exit codes, the two streams.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "core/base/program.h"
#include "tests/app/program.h"
#include "tests/support/child.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(CommandLine, AnUnknownVerbListsTheKnownOnesAndSuggestsTheNearest) {
  const Ended ended = vitrine({"trian"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasTexts("did you mean 'train'?", "compare", "doctor"));
}

TEST(CommandLine, AVerbThatComputesLetsThreadsThatWaitSleepSoon) {
  // OpenMP says at its load what it has read.
  const Variable shown("OMP_DISPLAY_ENV", "verbose");
  const std::string read = [] {
    const Variable none("GOMP_SPINCOUNT", std::nullopt);
    return vitrine({"plugins", "--json"}).err;
  }();
  const Variable own("GOMP_SPINCOUNT", "77");
  const std::string chosen = vitrine({"plugins", "--json"}).err;
  ASSERT_NE(read.rfind("GOMP_SPINCOUNT"), std::string::npos) << read;
  EXPECT_THAT(read.substr(read.rfind("GOMP_SPINCOUNT")), Names("'10000'"));
  EXPECT_THAT(chosen.substr(std::min(chosen.size(), chosen.rfind("GOMP_SPINCOUNT"))),
              Names("'77'"));
}

TEST(CommandLine, NoVerbExplainsItselfOnStderr) {
  const Ended ended = vitrine({});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasLine("Verbs:\n"));
}

TEST(CommandLine, EveryVerbHasTwoExamplesInItsHelp) {
  const std::string usage = vitrine({"--help"}).out;
  std::istringstream lines(usage.substr(usage.find("Verbs:\n") + 7));
  std::vector<std::string> verbs;
  for (std::string line; std::getline(lines, line) && line.starts_with("  ");)
    verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  ASSERT_GE(verbs.size(), 36u) << usage;
  for (const std::string& verb : verbs) {
    const Ended ended = vitrine({verb, "--help"});
    EXPECT_EQ(ended.code, 0) << verb;
    EXPECT_EQ(ended.err, "") << verb;
    const std::size_t list = ended.out.find("Examples:\n");
    ASSERT_NE(list, std::string::npos) << verb;
    const std::size_t first = ended.out.find("vitrine " + verb, list);
    ASSERT_NE(first, std::string::npos) << verb;
    EXPECT_NE(ended.out.find("vitrine " + verb, first + 1), std::string::npos)
        << verb << " has one example";
  }
}

TEST(CommandLine, ArgumentsThatDoNotFitEndWithTwo) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"show"}, {"show", "three"}, {"runs", "--colour"}, {"db", "vacuum"}, {"run"}}) {
    const Ended ended = vitrine(words);
    EXPECT_EQ(ended.code, 2) << words[0];
    EXPECT_EQ(ended.out, "") << words[0];
    EXPECT_THAT(ended.err, HasSubstr("--")) << words[0];
  }
}

TEST(CommandLine, ARunIsNamedByItsNumberAsItIsListed) {
  const Copy copy;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"delete", "01"},
                                             {"delete", "3", "0x2"},
                                             {"show", "99999999999999999999"},
                                             {"archive", "0"},
                                             {"note", "02", "x"},
                                             {"resume", "0", "--queue"},
                                             {"move", "1", "--before", "0"},
                                             {"report", copy.path("r.html"), "--run", "1,02"}}) {
    const Ended ended = copy.run(words);
    EXPECT_EQ(ended.code, 2) << words[0] << ended.err;
    EXPECT_THAT(ended.err, Names("vitrine " + words[0], "vitrine runs")) << words[0];
  }
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), 4u);
  EXPECT_EQ(copy.run({"move", "1", "--after", "1"}).code, 2);
}

TEST(CommandLine, AnEmptyNameOfADatabaseIsNotTheUsersOwnOne) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"runs", "--db", ""},
                                             {"delete", "1", "--db", ""},
                                             {"train", sharedSingle(), "--db", ""}}) {
    const Ended ended = vitrine(words);
    EXPECT_EQ(ended.code, 2) << words[0];
    EXPECT_EQ(ended.out, "") << words[0];
    EXPECT_THAT(ended.err, Names("vitrine " + words[0], "--db")) << words[0];
  }
}

TEST(CommandLine, WithoutAHomeNoDatabaseIsMadeInTheWorkingFolder) {
  const ProgramEnd ended = runProgram(
      {"env", "-u", "HOME", "-u", "XDG_DATA_HOME", "-u", "VITRINE_DB", VITRINE_PROGRAM, "runs"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, Names("HOME", "--db"));
  EXPECT_FALSE(fs::exists(".local/share/vitrine"));
}

TEST(CommandLine, ALimitOnTheSizeOfFilesIsAnErrorAndNotTheEndBySignal) {
  const Scratch scratch;
  const std::string database = scratch.path("small.sqlite");
  const ProgramEnd ended = runProgram(
      {"sh", "-c", "ulimit -f 8; exec \"$0\" runs --db \"$1\"", VITRINE_PROGRAM, database});
  EXPECT_EQ(ended.how, ProgramEnd::How::Exited);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, Names(database));
}

TEST(CommandLine, ANumberOrWordThatAVerbCannotTakeIsNamedWithThoseItCan) {
  const auto expect = [](const std::vector<std::string>& words, const auto& names) {
    const Ended ended = onShared(words);
    EXPECT_EQ(ended.code, 2) << words[0] << ended.err;
    EXPECT_EQ(ended.out, "") << words[0];
    EXPECT_THAT(ended.err, names) << words[0];
  };
  expect({"runs", "--state", "asleep"}, Names("--state", "asleep", "queued", "interrupted"));
  expect({"search", "narrow", "--limit", "0"}, Names("--limit", 0, 1));
  expect({"search", "narrow", "--limit", "-5"}, Names("--limit", -5, 1));
  expect({"search", "", " "}, Names("vitrine search", "word"));
  expect({"report", "Tiny", "r.html", "--images", "-1"}, Names("--images", -1));
  expect({"db", "thin", "--older-than", "1e300"}, Names("--older-than", "1e300", 36500));
  expect({"sample", "1", "--verify", "first"}, Names("--verify", "first", "is not a number"));
  expect({"show", std::string(10'000, 'x')}, ::testing::SizeIs(::testing::Lt(300)));
  expect({"serve", "--model-memory", "plenty"}, Names("plenty", "8GB"));
  expect({"serve", "--model-memory", "0GB"}, Names("--model-memory", "0GB"));
}

TEST(CommandLine, WithJsonAnErrorIsAnObjectOnStdout) {
  Scratch scratch;
  writeText(scratch.path("text.sqlite"), std::string(4096, 'x'));
  const auto codeOf = [](const std::vector<std::string>& words) {
    const Ended ended = vitrine(words);
    EXPECT_NE(ended.code, 0);
    const Json error = ended.json().at("error");
    EXPECT_EQ(ended.err, "error: " + error.at("message").get<std::string>() + "\n");
    return error.at("code").get<std::string>();
  };
  EXPECT_EQ(codeOf({"runs", "--json", "--csv"}), "config");
  EXPECT_EQ(codeOf({"runz", "--json"}), "config");
  EXPECT_EQ(codeOf({"show", "999", "--json", "--db", sharedDatabase()}), "not_found");
  EXPECT_EQ(codeOf({"describe", "vitt", "--json"}), "not_found");
  EXPECT_EQ(codeOf({"runs", "--json", "--db", "/proc/1/none/runs.sqlite"}), "failed");
  EXPECT_EQ(codeOf({"runs", "--json", "--db", scratch.path("text.sqlite")}), "failed");
  EXPECT_EQ(vitrine({"show", "999", "--db", sharedDatabase()}).out, "");
}

TEST(CommandLine, WhatDoesNotExistEndsWithThree) {
  Scratch scratch;
  EXPECT_EQ(vitrine({"show", "999", "--db", sharedDatabase()}).code, 3);
  EXPECT_EQ(vitrine({"check", scratch.path("none.toml")}).code, 3);
  EXPECT_EQ(vitrine({"describe", "vitt"}).code, 3);
  EXPECT_EQ(vitrine({"compare", "Tinny", "--db", sharedDatabase()}).code, 3);
  EXPECT_THAT(vitrine({"describe", "vitt"}).err, Names("vit"));
}

TEST(CommandLine, APathThatTheSystemRefusesIsNamedWithItsReason) {
  Scratch scratch;
  const std::string loop = scratch.path("loop");
  fs::create_symlink("loop", loop);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"check", loop}, {"db", "probe", loop}, {"runs", "--db", loop}}) {
    const Ended ended = vitrine(words);
    EXPECT_EQ(ended.code, 1) << words[0];
    EXPECT_THAT(ended.err, HasTexts("'" + loop + "'", "Too many levels of symbolic links"));
    EXPECT_EQ(ended.err.find("filesystem error"), std::string::npos) << ended.err;
  }
  EXPECT_EQ(vitrine({"check", ""}).err,
            "error: there is no experiment file ''; name one, or - for standard input\n");
}

TEST(CommandLine, ADatabaseThatIsNotThereIsMadeByRunsAndDbInfoAlone) {
  Scratch scratch;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"show", "1"},
                                             {"query", "SELECT 1"},
                                             {"db", "check"},
                                             {"note", "1", "x"},
                                             {"compare", "x"},
                                             {"delete", "1"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--db", scratch.path("none.sqlite")});
    EXPECT_EQ(vitrine(all).code, 3) << words[0];
    EXPECT_FALSE(fs::exists(scratch.path("none.sqlite"))) << words[0];
  }
  EXPECT_EQ(vitrine({"runs", "--db", scratch.path("one.sqlite")}).code, 0);
  EXPECT_TRUE(fs::exists(scratch.path("one.sqlite")));
  EXPECT_EQ(vitrine({"db", "info", "--db", scratch.path("two.sqlite")}).code, 0);
  EXPECT_TRUE(fs::exists(scratch.path("two.sqlite")));
}

TEST(CommandLine, AFileThatIsNoDatabaseEndsWithOneInOneSentence) {
  Scratch scratch;
  writeText(scratch.path("text.sqlite"), std::string(4096, 'x'));
  const Ended ended = vitrine({"runs", "--db", scratch.path("text.sqlite")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST(CommandLine, AResultThatCannotBeWrittenEndsWithOne) {
  // Written at the end of the program, at once, and by the engine.
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"query", "SELECT 1", "--db", sharedDatabase()},
           {"query", "SELECT hex(zeroblob(100000))", "--db", sharedDatabase()},
           {"plugins"},
           {"runs", "--help"},
           {"--help"},
           {"--version"}}) {
    std::vector<std::string> all{VITRINE_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    const StartedProgram started = startProgram({.arguments = all, .out = full});
    ::close(full);
    ASSERT_EQ(started.error, 0);
    EXPECT_EQ(exitCodeOf(started.pid), 1) << words.front();
  }
}

TEST(Check, ListsEveryProblemAtOnceWithPlaceAndNearestKey) {
  Scratch scratch;
  writeText(scratch.path("wrong.toml"), R"(title = "Wrong"
[model]
architecture = "vit"
image_size = 28
patch_size = 5
widht = 64
[task]
name = "classification"
[data]
dataset = "fashion_mnist"
[train]
batch_size = "many"
optimizer = { learning_rate = -1.0 }
)");
  const Ended ended = vitrine({"check", scratch.path("wrong.toml")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, Names("wrong.toml:6:1", "model.widht"));

  const Ended json = vitrine({"check", scratch.path("wrong.toml"), "--json"});
  EXPECT_EQ(json.code, 2);
  std::vector<std::string> told;
  const Json problems = json.json().at("problems");
  for (const Json& problem : problems)
    told.push_back(problem.at("line").dump() + " " + problem.at("key").get<std::string>() + " " +
                   problem.at("code").get<std::string>());
  EXPECT_EQ(told,
            (std::vector<std::string>{"5 model.patch_size broken_rule", "6 model.widht unknown_key",
                                      "12 train.batch_size wrong_type",
                                      "13 train.optimizer.learning_rate out_of_range"}));
  EXPECT_TRUE(json.json().at("totals").is_null());
}

TEST(Check, NamesAFewDifferencesOfARunAndCountsTheOthers) {
  const Ended ended =
      vitrine({"check", VITRINE_SOURCE_DIR "/experiments/visionllama/convergence.toml"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::smatch line;
  ASSERT_TRUE(std::regex_search(ended.out, line, std::regex("VisionLLaMA, seed 1 .*\n")));
  EXPECT_THAT(line.str(), HasSubstr(" train.seed = 1, model.architecture = visionllama_plain, "));
  EXPECT_TRUE(std::regex_search(line.str(), std::regex(", and [0-9]+ more\n"))) << line.str();
  EXPECT_LT(line.length(), 400);
}

TEST(Check, PrintsEachValueWithItsOrigin) {
  const Ended ended = vitrine({"check", sharedExperiment(), "train.batch_size=16"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto hasLine = [&](const std::string& pattern) {
    return std::regex_search(ended.out, std::regex(pattern));
  };
  EXPECT_TRUE(hasLine("train\\.batch_size +16 +command line\n")) << ended.out;
  EXPECT_TRUE(hasLine("model\\.depth +2 +file, line 9\n"));
  EXPECT_TRUE(hasLine("train\\.optimizer\\.beta1 +0\\.9 +default\n"));
  EXPECT_TRUE(hasLine("train\\.seed +0 +sweep"));
  EXPECT_THAT(ended.out, HasTexts("4 runs", "model.width = 32", "a multiply-add counts as two"));
}

TEST(Check, WarnsOfAnAverageThatIsStillMostlyThatOfTheStart) {
  const auto warnings = [](const std::string& words) {
    return vitrine({"check", sharedSingle(), words, "--json"}).json().at("warnings");
  };
  const Json stale = warnings("train.ema={ decay = 0.9999 }");
  ASSERT_EQ(stale.size(), 1u) << stale;
  EXPECT_EQ(stale[0],
            "train.ema.decay = 0.9999 leaves 100 % of the first weights in the average after 24 "
            "steps; set train.ema.warmup = true, or a smaller decay");
  EXPECT_TRUE(warnings("train.ema={ decay = 0.9999, warmup = true }").empty());
  EXPECT_TRUE(warnings("train.ema={ decay = 0.8 }").empty());
}

TEST(Check, AddsUpTheBlocksInItsTotals) {
  const Json report = vitrine({"check", sharedExperiment(), "--json"}).json();
  EXPECT_TRUE(report.at("problems").empty());
  EXPECT_EQ(report.at("totals").at("runs"), 4);
  std::int64_t parameters = 0;
  double flops = 0, memory = 0;
  for (const Json& block : report.at("blocks")) {
    parameters += block.at("parameters").get<std::int64_t>();
    flops += block.at("flops").get<double>();
  }
  for (const Json& part : report.at("memory")) memory += part.at("bytes").get<double>();
  EXPECT_GT(report.at("blocks").size(), 4u);
  EXPECT_EQ(report.at("totals").at("parameters"), parameters);
  EXPECT_DOUBLE_EQ(report.at("totals").at("flops").get<double>(), flops);
  EXPECT_DOUBLE_EQ(report.at("totals").at("memory_bytes").get<double>(), memory);
}

TEST(Check, RefusesImagesThatPatchesOrCellsDoNotDivide) {
  const Ended patches = vitrine({"check", sharedSingle(), "model.image_size=9"});
  EXPECT_EQ(patches.code, 2);
  EXPECT_THAT(patches.err, Names("patch_size", 4, "image_size", 9));
  const Ended cells = vitrine({"check", "-"}, undividedCells());
  EXPECT_EQ(cells.code, 2);
  EXPECT_THAT(cells.err, Names("gsa_reduction", "14 x 14", 4));
}

TEST(Check, AndEnqueueAndAnalyseRefuseAScoreThatTheTaskDoesNotHave) {
  Scratch scratch;
  const auto observed = [&](const std::string& verb, const std::string& score) {
    return vitrine({verb, sharedSingle(), "observe.resolution_sweep.every_steps=8",
                    "observe.resolution_sweep.score=" + score, "--db", scratch.path("x.sqlite")});
  };
  const auto valid = Names("score", "fid", "top1", "top5", "loss", "ece");
  for (const char* verb : {"check", "enqueue"}) {
    const Ended ended = observed(verb, "fid");
    EXPECT_EQ(ended.code, 2) << verb;
    EXPECT_THAT(ended.err, ::testing::AllOf(Names("observe.resolution_sweep"), valid)) << verb;
  }
  EXPECT_FALSE(fs::exists(scratch.path("x.sqlite")));
  for (const char* score : {"loss", "class_accuracy/0"})
    EXPECT_EQ(observed("check", score).code, 0) << score;
  const Ended looked = onShared({"analyse", "1", "resolution_sweep", "score=fid"});
  EXPECT_EQ(looked.code, 2);
  EXPECT_THAT(looked.err, valid);
}

TEST(Check, SaysWhichRunsAnExcludeLeavesOut) {
  const std::string text =
      readText(sharedExperiment()) + "[[exclude]]\nvariant = \"wide\"\n\"train.seed\" = 1\n";
  const Ended ended = vitrine({"check", "-"}, text);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasLine("Tiny: 3 runs, 1 excluded by [[exclude]]\n"));
  const std::string list = ended.out.substr(ended.out.rfind("excluded by [[exclude]]"));
  EXPECT_THAT(list, HasTexts("wide, seed 1", "train.seed = 1"));
  EXPECT_EQ(list.find("seed 0"), std::string::npos) << list;
  const Json report = vitrine({"check", "-", "--json"}, text).json();
  EXPECT_EQ(report.at("runs").size(), 3u);
  EXPECT_EQ(report.at("left_out"), Json::parse(R"([{"name": "wide, seed 1", "variant": "wide",
      "values": {"train.seed": 1}, "runs_before": 3}])"));
  const Ended all = vitrine({"check", sharedExperiment()});
  EXPECT_EQ(all.out.find("excluded"), std::string::npos) << all.out;
  EXPECT_TRUE(vitrine({"check", sharedExperiment(), "--json"}).json().at("left_out").empty());
}

TEST(Check, ReadsStandardInput) {
  const Ended ended = vitrine({"check", "-", "--json"}, readText(sharedExperiment()));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.json().at("title"), "Tiny");
}

TEST(Describe, HandsOutSchemasThatStudioAndEditorsRead) {
  const Json all = vitrine({"describe", "--json"}).json();
  for (const char* part : {"catalog", "train", "data", "observe", "refused"})
    EXPECT_TRUE(all.contains(part)) << part;
  EXPECT_TRUE(all.at("refused").empty()) << all.at("refused").dump();
  EXPECT_EQ(vitrine({"describe", "vit", "--json"}).json().at("id"), "vit");
  EXPECT_EQ(vitrine({"describe", "train", "--schema"}).json().at("type"), "object");
  EXPECT_THAT(vitrine({"describe", "vit"}).out, HasTexts("patch_size", "vit/b16"));
}

TEST(Describe, KnowsOptimizersAndSchedulesWithTheirKeys) {
  EXPECT_THAT(vitrine({"describe", "lamb"}).out,
              HasTexts("optimizer lamb, plugin core", "trust_clip"));
  const Json train = vitrine({"describe", "train", "--schema"}).json().at("properties");
  for (const char* key : {"learning_rate", "beta1", "momentum", "trust_coefficient"})
    EXPECT_TRUE(train.at("optimizer").at("properties").contains(key)) << key;
  EXPECT_TRUE(train.at("schedule").at("properties").contains("milestones"));
  EXPECT_EQ(train.at("optimizer").at("properties").at("name").at("enum"),
            (Json{"adamw", "sgd", "lamb", "lars"}));
}

void expectTitles(const Json& fields, const std::string& where) {
  for (const Json& field : fields) {
    const std::string key = where + "." + field.at("name").get<std::string>();
    EXPECT_FALSE(field.value("title", std::string()).empty()) << key << " has no title";
    EXPECT_EQ(field.value("title", std::string()).find('_'), std::string::npos) << key;
    if (field.contains("fields")) expectTitles(field.at("fields"), key);
  }
}

TEST(Describe, GivesEveryFieldOfEveryItemATitle) {
  const Json all = vitrine({"describe", "--json"}).json();
  for (const char* part : {"train", "data", "observe"}) {
    ASSERT_TRUE(all.contains(part)) << part;
    expectTitles(all.at(part).at("fields"), part);
  }
  int items = 0;
  for (const Json& item : all.at("catalog").at("items")) {
    expectTitles(item.at("schema").at("fields"), item.at("id").get<std::string>());
    ++items;
  }
  EXPECT_GT(items, 8);
  EXPECT_THAT(vitrine({"describe", "vit"}).out, HasSubstr("MLP width"));
  const Json schema = vitrine({"describe", "vit", "--schema"}).json();
  EXPECT_EQ(schema.at("properties").at("num_classes").at("title"), "Classes");
}

TEST(Plugins, ListsWhatIsLoadedWithItsHash) {
  const Json report = vitrine({"plugins", "--json"}).json();
  EXPECT_TRUE(report.at("refused").empty()) << report.at("refused").dump();
  bool hasVit = false;
  for (const Json& plugin : report.at("loaded")) {
    EXPECT_EQ(plugin.at("sha256").get<std::string>().size(), 64u);
    hasVit = hasVit || plugin.at("id") == "vit";
  }
  EXPECT_TRUE(hasVit);
}

TEST(Program, RefusesAPathOfTheProcessorThatItDoesNotKnow) {
  const Variable wrong("VITRINE_CPU", "avx9");
  for (const char* verb : {"runs", "train"}) {
    const Ended ended = vitrine({verb});
    EXPECT_EQ(ended.code, 2) << verb;
    EXPECT_THAT(ended.err, HasTexts("VITRINE_CPU=avx9", "reference, baseline"));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
  const Json report = vitrine({"doctor", "--json"}).json();
  EXPECT_EQ(report.at("cpu_path").at("ok"), false);
  EXPECT_THAT(report.at("cpu_path").at("text").get<std::string>(), Names("avx9"));
}

TEST(Doctor, NamesThePathOfTheProcessorThatIsForced) {
  const Variable forced("VITRINE_CPU", "baseline");
  const Json report = vitrine({"doctor", "--json"}).json();
  EXPECT_EQ(report.at("cpu_path").at("ok"), true);
  EXPECT_EQ(report.at("cpu_path").at("text").get<std::string>().rfind("baseline", 0), 0u);
}

TEST(Doctor, WorksWithoutADatabaseAndMakesNone) {
  Scratch scratch;
  const Ended ended = vitrine({"doctor", "--json", "--db", scratch.path("none.sqlite")});
  EXPECT_EQ(ended.code, 0);
  EXPECT_FALSE(fs::exists(scratch.path("none.sqlite")));
  const Json report = ended.json();
  for (const char* part : {"compiler", "qt", "libtorch", "cuda_toolkit", "gpu", "sqlite", "opengl",
                           "display", "disk"}) {
    EXPECT_FALSE(report.at(part).at("text").get<std::string>().empty()) << part;
  }
  EXPECT_TRUE(report.at("sqlite").at("wal_reset_bug").is_boolean());
  EXPECT_THAT(vitrine({"doctor"}).out, Names("libtorch"));
}

}  // namespace
}  // namespace vitrine::test
