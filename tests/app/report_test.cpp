// vitrine report: one HTML file that needs nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/vitrine/report/html.h"
#include "core/base/program.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// What `vitrine report WORDS... FILE --no-charts` writes; "" where it fails.
std::string reported(const std::string& database, std::vector<std::string> words) {
  Scratch scratch;
  const std::string file = scratch.path("out.html");
  words.insert(words.begin(), "report");
  words.insert(words.end(), {file, "--no-charts", "--db", database});
  const Ended ended = vitrine(words);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, file + "\n");
  return ended.code == 0 ? readText(file) : "";
}

std::size_t countOf(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// Everything that makes a browser fetch something names data that are in the page, or a place in
/// it.
void expectSelfContained(const std::string& page) {
  for (const char* name : {"src=\"", "href=\"", "srcset=\"", "data=\"", "action=\"", "poster=\""}) {
    for (auto at = page.find(name); at != std::string::npos; at = page.find(name, at + 1)) {
      const std::string value = page.substr(at + std::string(name).size(), 80);
      EXPECT_TRUE(value.starts_with("data:image/") || value.starts_with("#")) << name << value;
    }
  }
  for (const char* word : {"http:", "https:", "file:", "<script", "<link", "<iframe", "@import",
                           "url(", "javascript:"}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
}

TEST(Html, EscapesTextsAndValuesOfAttributes) {
  using app::Html;
  EXPECT_EQ(Html("a < b & \"c\" > 'd'").markup(), "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  EXPECT_EQ(Html::element("p", {{"title", "\" onclick=\"x"}}, Html("<b>")).markup(),
            "<p title=\"&quot; onclick=&quot;x\">&lt;b&gt;</p>");
  EXPECT_EQ(Html(std::string("a\x01") + "b\xff").markup(),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_EQ(Html("line\n\ttab").markup(), "line\n\ttab");
}

TEST(Report, HasEverySectionAndNeedsNothingElse) {
  const std::string page = reported(sharedDatabase(), {"Tiny"});
  for (const char* heading :
       {"<h1>Tiny</h1>", "<h2>Tiny</h2>", "<h3>Results</h3>", "<h3>Configuration</h3>",
        "<h3>Claims</h3>", "<h3>How to reproduce this report</h3>", "<h2>Environment</h2>"}) {
    EXPECT_EQ(countOf(page, heading), 1u) << heading;
  }
  expectSelfContained(page);
  EXPECT_THAT(page, HasTexts("prefers-color-scheme: dark", "@media print", "<html lang=\"en\">"));
  // What differs, what came out, under what circumstances, and by which commands.
  EXPECT_THAT(page, HasTexts("<code>model.width</code></th><td>16</td><td>32</td>",
                             "Accuracy, test", "n = 2", "\u00b1", "cpu_path", "versions.libtorch",
                             "vitrine train tiny.toml --db again.sqlite"));
  const Json run = vitrine({"show", "1", "--json", "--db", sharedDatabase()}).json();
  const fs::path weights = fs::path(sharedFolder()) / "runs.files" /
                           run.at("checkpoints").back().at("folder").get<std::string>() /
                           "manifest.json";
  EXPECT_THAT(
      page,
      HasTexts(run.at("uuid").get<std::string>(),
               run.at("environment").at("plugins").at(0).at("sha256").get<std::string>(),
               Json::parse(readText(weights)).at("files").at(0).at("sha256").get<std::string>()));
}

TEST(Report, GivesTheTimeOfTheRunsThatAreDone) {
  const Copy copy;
  {
    store::RunStore store(copy.database());
    store::NewRun run;
    run.name = run.variant = "timed";
    run.config = store.config(1);
    for (const store::RunState state : {store::RunState::Done, store::RunState::Failed}) {
      const std::int64_t id = store.addRuns(store.experiment("Timed", ""), {run}).front();
      store::RunStore::Batch batch;
      const double seconds = state == store::RunState::Done ? 100 : 10;
      batch.metrics.push_back({24, 1, seconds, {{"train/loss", 0.5}}});
      store.append(id, store.openSegment(id, 0, store::thisWorker(), Json::object()), batch);
      store.setState(id, state, "because");
    }
  }
  EXPECT_THAT(reported(copy.database(), {"Timed"}), HasTexts("1 done, 1 failed", "00:01:40"));
}

TEST(Report, HasWhatIsNamedTwiceOnce) {
  const std::string twice = reported(sharedDatabase(), {"Tiny", "1"});
  EXPECT_EQ(countOf(twice, "<h2>Tiny</h2>"), 1u);
  EXPECT_THAT(twice, HasTexts("4 runs: 4 done"));
  EXPECT_THAT(reported(sharedDatabase(), {"--run", "1,1"}), HasTexts("1 run: 1 done"));
}

TEST(Report, HasACommandForEachSetOfValuesThatTheCommandLineGave) {
  const Copy copy;
  for (const char* seed : {"train.seed=5", "train.seed=6"})
    ASSERT_EQ(copy.run({"enqueue", sharedExperiment(), seed, "--no-dry-step"}).code, 0);
  EXPECT_THAT(reported(copy.database(), {"Tiny"}),
              HasTexts("vitrine train tiny.toml --db again.sqlite\n",
                       "vitrine train tiny.toml train.seed=5 --db again.sqlite\n",
                       "vitrine train tiny.toml train.seed=6 --db again.sqlite\n"));
}

TEST(Report, TellsRunsOfOneNameApartByWhatTheCommandLineSets) {
  const Copy copy;
  for (const char* rate : {"0.001", "0.002"}) {
    const std::string key = "train.optimizer.learning_rate=" + std::string(rate);
    ASSERT_EQ(copy.run({"enqueue", sharedSingle(), "title=Rates", key, "--no-dry-step"}).code, 0);
  }
  const std::string page = reported(copy.database(), {"Rates"});
  EXPECT_THAT(page, HasTexts("<code>train.optimizer.learning_rate</code></th>",
                             "<td>0.001</td><td>0.002</td>",
                             "Rates, train.optimizer.learning_rate = 0.002</th>"));
  EXPECT_EQ(page.find(", train.optimizer.learning_rate = 0.001"), std::string::npos);
}

TEST(Report, DrawsItsChartsWithTheWindowsCode) {
  if (!fs::exists(fs::path(VITRINE_PROGRAM).parent_path() / "vitrine-studio"))
    GTEST_SKIP() << "vitrine-studio is not built";
  Scratch scratch;
  const std::string file = scratch.path("out.html");
  const Ended ended = vitrine({"report", "--run", "1,3", file, "--json", "--db", sharedDatabase()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.json().at("not_drawn").empty()) << ended.json().at("not_drawn").dump();
  const std::string page = readText(file);
  EXPECT_THAT(page,
              HasTexts("<h3>Curves</h3>", "<h3>Spectra and artifacts</h3>", "alt=\"Loss, train\""));
  EXPECT_GE(countOf(page, "src=\"data:image/svg+xml;base64,"), 2u);
  // What came out stands before what was set, which is long.
  std::size_t last = 0;
  for (const char* heading : {"Results", "Curves", "Spectra and artifacts", "Claims",
                              "Configuration", "How to reproduce this report"}) {
    const std::size_t at = page.find("<h3>" + std::string(heading));
    ASSERT_NE(at, std::string::npos) << heading;
    EXPECT_GT(at, last) << heading;
    last = at;
  }
  EXPECT_THAT(page, HasSubstr("2 runs: 2 done; 2 variants; seed 0."));
  expectSelfContained(page);
}

TEST(Report, LeavesOutAFigureThatIsTooLargeAndSaysSo) {
  Scratch scratch;
  // The program looks for the one that draws next to itself.
  const std::string program = scratch.path("vitrine"), drawing = scratch.path("vitrine-studio");
  fs::copy_file(VITRINE_PROGRAM, program);
  writeText(drawing,
            "#!/bin/sh\nwhile [ \"$1\" != --out ]; do shift; done\n"
            "head -c 34000000 /dev/zero > \"$2\"\n");
  fs::permissions(drawing, fs::perms::owner_all);
  const std::string file = scratch.path("out.html");
  const ProgramEnd ended =
      runProgram({program, "report", "--run", "1", file, "--json", "--db", sharedDatabase()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json left = Json::parse(ended.out).at("not_drawn");
  ASSERT_FALSE(left.empty());
  EXPECT_THAT(left.at(0).get<std::string>(), HasTexts("Not drawn: ", "34.0 MB, more than the"));
  EXPECT_THAT(readText(file), HasTexts("34.0 MB, more than the", "<h3>Results</h3>"));
}

TEST(Report, LeavesOutAFigureThatTakesTooLongAndSaysSo) {
  Scratch scratch;
  const std::string program = scratch.path("vitrine"), drawing = scratch.path("vitrine-studio");
  fs::copy_file(VITRINE_PROGRAM, program);
  writeText(drawing, "#!/bin/sh\nexec sleep 60\n");
  fs::permissions(drawing, fs::perms::owner_all);
  const std::string file = scratch.path("out.html");
  const ProgramEnd ended =
      runProgram({program, "report", "--run", "1", file, "--chart-time", "0.1s", "--json", "--db",
                  sharedDatabase()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json left = Json::parse(ended.out).at("not_drawn");
  ASSERT_FALSE(left.empty());
  EXPECT_THAT(left.at(0).get<std::string>(),
              HasTexts("Not drawn: ", "longer than", "--chart-time"));
  EXPECT_THAT(readText(file), HasTexts("longer than", "<h3>Results</h3>"));
}

// Its folder has published numbers, and none of them names one of its variants.
TEST(Report, SaysNothingOfPublishedNumbersThatNoVariantHas) {
  if (!fs::exists(fs::path(VITRINE_PROGRAM).parent_path() / "vitrine-studio"))
    GTEST_SKIP() << "vitrine-studio is not built";
  const Copy copy;
  const std::string title = "SiT-LLaMA on Fashion-MNIST, quick look";
  ASSERT_EQ(countOf(readText(VITRINE_SOURCE_DIR "/experiments/visionllama/generation_quick.toml"),
                    title),
            1u);
  {
    store::RunStore store(copy.database());
    store::NewRun run{.config = {{"model", {{"width", 16}}}}};
    run.name = run.variant = "one";
    store::NewRun other = run;
    other.name = other.variant = "two";
    other.config["model"]["width"] = 32;
    for (const std::int64_t id : store.addRuns(store.experiment(title, ""), {run, other})) {
      store.append(id, store.openSegment(id, 0, store::thisWorker(), Json::object()),
                   {.metrics = {{1, 1, 1, {{"test/loss", 0.5}}}}});
      store.setState(id, store::RunState::Done, "");
    }
  }
  Scratch scratch;
  const Ended ended =
      vitrine({"report", title, scratch.path("out.html"), "--json", "--db", copy.database()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.json().at("not_drawn").empty()) << ended.json().at("not_drawn").dump();
}

TEST(Report, EscapesWhatADatabaseHolds) {
  const Copy copy;
  const std::string hostile = "</title><script>alert(1)</script>\"'&<img src=x onerror=y>";
  {
    store::RunStore store(copy.database());
    store::NewRun run;
    run.name = hostile;
    run.variant = hostile;
    run.config = {{"task", {{"name", hostile}}}, {"<b>", {{"<i>", hostile}}}};
    run.origins = {{"<b>.<i>", {{"layer", "variant " + hostile}}}};
    store::NewRun other = run;
    other.variant = "plain";
    other.config["<b>"]["<i>"] = 1;
    const std::vector<std::int64_t> ids =
        store.addRuns(store.experiment(hostile, "# " + hostile + "\n"), {run, other});
    const std::int64_t id = ids.front();
    store.append(id, store.openSegment(id, 0, store::thisWorker(), {{"<s>", hostile}}),
                 {.metrics = {{1, 1, 1, {{"test/" + std::string("<u>"), 0.5}}}}});
    GeneratedImage image = generatedImage(std::vector<std::uint8_t>{0, 255, 128, 7}, 2, 2, 1);
    image.recipe = {{"sampler", hostile}, {"settings", {{"prompt", hostile}}}, {"seed", "<q>"}};
    (void)store.addImage(id, image);
    GeneratedText text;
    text.prompt = text.text = hostile;
    text.recipe = Json::array({1});  // not what a recipe is
    (void)store.addText(id, text);
    store.setState(id, store::RunState::Done, hostile);
  }
  const std::string page = reported(copy.database(), {hostile});
  EXPECT_GT(countOf(page, "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), 0u);
  EXPECT_EQ(countOf(page, "<title>"), 1u);
  EXPECT_EQ(countOf(page, "</title>"), 1u);
  for (const char* tag : {"<script", "<img src=x", "<b>", "<i>", "<u>", "<s>", "<q>"})
    EXPECT_EQ(countOf(page, tag), 0u) << tag;
  EXPECT_EQ(countOf(page, "<h3>Generated samples</h3>"), 1u);
  expectSelfContained(page);
}

TEST(Report, HoldsTheImagesThatARunGenerated) {
  const Copy copy;
  {
    store::RunStore store(copy.database());
    for (const std::uint8_t i : std::vector<std::uint8_t>{0, 1, 2, 10}) {
      GeneratedImage image = generatedImage(std::vector<std::uint8_t>(64, i), 8, 8, 1);
      image.step = 24;
      image.seed = i;
      image.recipe = {{"sampler", "ode"},
                      {"weights", "ema"},
                      {"precision", "bf16"},
                      {"settings", {{"steps", 5}, {"prompt", "7"}}},
                      {"seed", i},
                      {"class", i}};
      (void)store.addImage(2, image);
      (void)store.addImage(2, image);  // made twice: shown once
    }
  }
  const std::string page = reported(copy.database(), {"Tiny"});
  EXPECT_EQ(countOf(page, "src=\"data:image/png;base64,"), 4u);
  const std::string command =
      "vitrine sample 2 --checkpoint 24 --with ode --use ema --precision bf16 steps=5 "
      "&#39;prompt=&quot;7&quot;&#39; seed=";
  EXPECT_THAT(page, HasTexts("alt=\"class 2, seed 2\"", "averaged weights", command + "0 count=3",
                             command + "10 count=1"));
  const std::string fewer = reported(copy.database(), {"Tiny", "--images", "2"});
  EXPECT_EQ(countOf(fewer, "src=\"data:image/png;base64,"), 2u);
  EXPECT_THAT(fewer, HasSubstr("2 of 3 images"));
}

TEST(Report, JudgesTheClaimsOfAFile) {
  Scratch scratch;
  writeText(scratch.path("tiny.toml"), readText(sharedExperiment()));
  writeText(scratch.path("claims.toml"),
            "[[claim]]\nname = \"the <rate> is equal\"\nsource = \"here\"\nexperiment = "
            "\"tiny.toml\"\nmetric = \"optimizer/learning_rate\"\nbetter = \"wide\"\nworse = "
            "\"narrow\"\nmargin = -0.1\nseeds = 2\n");
  const std::string page =
      reported(sharedDatabase(), {"Tiny", "--claims", scratch.path("claims.toml")});
  EXPECT_THAT(page, HasTexts("the &lt;rate&gt; is equal",
                             "<strong class=\"reproduced\">reproduced</strong>"));
}

TEST(Report, OfAnUnknownExperimentIsOneSentence) {
  Scratch scratch;
  const std::string file = scratch.path("out.html");
  const Ended ended = vitrine({"report", "Tinny", file, "--db", sharedDatabase()});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, Names("Tinny", "Tiny"));
  EXPECT_EQ(countOf(ended.err, "\n"), 1u) << ended.err;
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(vitrine({"report", "--run", "99", file, "--db", sharedDatabase()}).code, 3);
}

TEST(Report, IsPrintedAsOnePdfFile) {
  Scratch scratch;
  const std::string file = scratch.path("out.pdf");
  const Ended ended = vitrine({"report", "Tiny", file, "--no-charts", "--db", sharedDatabase()});
  if (!fs::exists(fs::path(VITRINE_PROGRAM).parent_path() / "vitrine-studio")) {
    EXPECT_EQ(ended.code, 4);
    EXPECT_EQ(ended.err,
              "error: a PDF report is printed by vitrine-studio, which is not installed here; "
              "write an .html file and print it from a browser\n");
    return;
  }
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, file + "\n");
  const std::string pdf = readText(file);
  EXPECT_EQ(pdf.substr(0, 5), "%PDF-");
  EXPECT_EQ(countOf(pdf.substr(pdf.size() - 16), "%%EOF"), 1u);
  EXPECT_GT(countOf(pdf, "/Type /Page\n"), 1u) << "more than one page";
  EXPECT_EQ(countOf(pdf, "/URI"), 0u) << "nothing outside of it";
  const Ended refused = vitrine(
      {"report", "Tiny", scratch.path("no/folder.pdf"), "--no-charts", "--db", sharedDatabase()});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, Names("folder.pdf"));
}

TEST(Report, SaysWhichFilesItWrites) {
  const auto asked = [](std::vector<std::string> words) {
    words.insert(words.begin(), "report");
    words.insert(words.end(), {"--db", sharedDatabase()});
    return vitrine(words);
  };
  EXPECT_EQ(asked({"Tiny"}).code, 2);
  EXPECT_EQ(asked({}).code, 2);
  EXPECT_EQ(asked({"Tiny", "out.txt"}).code, 2);
  EXPECT_EQ(asked({"Tiny", "--run", "1", "out.html"}).code, 2);
  EXPECT_EQ(asked({"out.html"}).code, 2);
}

}  // namespace
}  // namespace vitrine::test
