#include "ui/workbench/model_service.h"

#include <gtest/gtest.h>

#include <QObject>
#include <optional>
#include <vector>

#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

/// What a request came to.
struct Heard {
  std::vector<Json> parts;
  std::optional<Json> last;
  std::optional<ModelError> error;

  [[nodiscard]] bool isOver() const { return last || error; }
  [[nodiscard]] ModelService::Listener listener() {
    return {[this](const Json& part) { parts.push_back(part); },
            [this](const Json& answer) { last = answer; },
            [this](const ModelError& problem) { error = problem; }};
  }
};

constexpr const char* kLoad = R"(
def load(request):
    log("load %d %s" % (request["run"], request["checkpoint"]))
    return {"model": "model of run %d" % request["run"]}
)";

class Models : public ::testing::Test {
 protected:
  void answerWith(const char* answers) {
    serve.emplace(QByteArray(kLoad) + answers);
    service.emplace("unused.sqlite");
  }
  Heard ask(const ModelChoice& model, const Json& request) {
    Heard heard;
    service->compute(model, request, &context, heard.listener());
    EXPECT_TRUE(soon([&] { return heard.isOver(); }));
    return heard;
  }
  static Json infer() { return {{"op", "infer"}, {"sample_ids", {1}}}; }

  std::optional<FakeServe> serve;
  std::optional<ModelService> service;
  QObject context;
};

TEST_F(Models, AreLoadedOnceForManyRequests) {
  answerWith("def infer(request): return {'model': request['model'], 'images': 1}");
  EXPECT_EQ(ask({.run = 3}, infer()).last->at("model"), "model of run 3");
  EXPECT_EQ(ask({.run = 3}, infer()).last->at("model"), "model of run 3");
  EXPECT_EQ(ask({.run = 3, .checkpoint = "best"}, infer()).last->at("images"), 1);
  EXPECT_EQ(serve->read(QStringLiteral("log")), "load 3 latest\nload 3 best\n");
  EXPECT_EQ(service->pending(), 0);
}

TEST_F(Models, TellPartsInOrderWithTheirBytesJoined) {
  answerWith(R"(
def analyse(request):
    yield {"done": 1, "total": 2}
    yield {"artifact": {"name": "a", "size": 5, "offset": 0, "bytes": b"abc"}}
    yield {"artifact": {"name": "a", "size": 5, "offset": 3, "bytes": b"de"}}
    yield {"artifact": {"name": "empty", "size": 0, "offset": 0, "bytes": b""}}
    return {"artifacts": 2}
)");
  const Heard heard = ask({.run = 1}, {{"op", "analyse"}, {"item", "attention_map"}});
  ASSERT_EQ(heard.parts.size(), 3u);
  EXPECT_EQ(heard.parts[0].at("total"), 2);
  EXPECT_EQ(heard.parts[1].at("artifact").at("bytes").get_binary(),
            Json::binary_t({'a', 'b', 'c', 'd', 'e'}));
  EXPECT_EQ(heard.parts[2].at("artifact").at("name"), "empty");
  EXPECT_EQ(heard.last->at("artifacts"), 2);
}

TEST_F(Models, AnswerPartsThatDoNotFitTogetherAreAnError) {
  answerWith(R"(
def analyse(request):
    yield {"artifact": {"name": "a", "size": 5, "offset": 2, "bytes": b"abc"}}
    return {}
def infer(request):
    yield {"output": "logits"}
    return {}
)");
  EXPECT_EQ(ask({.run = 1}, {{"op", "analyse"}}).error->kind, "protocol");
  EXPECT_EQ(ask({.run = 1}, infer()).error->kind, "protocol");
}

TEST_F(Models, AreLoadedAgainWhenTheProcessThatHadThemHasEnded) {
  answerWith(R"(
lost = [True]
def infer(request):
    if lost and lost.pop():
        return {"error": {"kind": "not_found", "message": "no such model"}}
    return {"images": 1}
)");
  EXPECT_EQ(ask({.run = 1}, infer()).last->at("images"), 1);
  EXPECT_EQ(serve->read(QStringLiteral("log")), "load 1 latest\nload 1 latest\n");
}

TEST_F(Models, AProgramThatDiesIsStartedAgainAndItsRequestSentOnceMore) {
  answerWith(R"(
def infer(request):
    import os
    if not os.path.exists(here("died")):
        open(here("died"), "w").close()
        os._exit(9)
    return {"images": 1}
)");
  EXPECT_EQ(ask({.run = 1}, infer()).last->at("images"), 1);
  EXPECT_EQ(serve->read(QStringLiteral("log")), "load 1 latest\nload 1 latest\n");
}

TEST_F(Models, AProgramThatDiesEveryTimeIsAnErrorAfterTheSecond) {
  answerWith(R"(
def infer(request):
    import os
    os._exit(9)
)");
  EXPECT_EQ(ask({.run = 1}, infer()).error->kind, "link");
  EXPECT_EQ(serve->read(QStringLiteral("log")), "load 1 latest\nload 1 latest\n");
}

TEST_F(Models, WhatIsRefusedIsToldAsItWasSaid) {
  answerWith(R"(
def load(request): return {"error": {"kind": "not_found", "message": "there is no run 7"}}
)");
  const Heard heard = ask({.run = 7}, infer());
  EXPECT_EQ(heard.error->kind, "not_found");
  EXPECT_EQ(heard.error->sentence, QStringLiteral("there is no run 7"));
}

TEST_F(Models, CancelEndsTheRequestHereAndThere) {
  answerWith(R"(
import time
def sample(request):
    step = 0
    try:
        while step < 6000:
            time.sleep(0.01)
            step += 1
            yield {"done": step, "total": 6000}
    finally:
        log("cancelled" if request["is_cancelled"]() else "not cancelled")
    return {}
)");
  Heard heard;
  const auto ticket = service->compute({.run = 1}, {{"op", "sample"}}, &context, heard.listener());
  ASSERT_TRUE(soon([&] { return !heard.parts.empty(); }));
  service->cancel(ticket);
  EXPECT_EQ(heard.error->kind, "cancelled");
  const std::size_t before = heard.parts.size();
  EXPECT_TRUE(soon([&] { return serve->read(QStringLiteral("log")).contains("cancelled\n"); }));
  EXPECT_FALSE(serve->read(QStringLiteral("log")).contains("not"));
  EXPECT_EQ(heard.parts.size(), before);
}

TEST_F(Models, NothingIsToldToAPageThatIsGone) {
  answerWith("def infer(request): return {'images': 1}");
  Heard heard;
  {
    QObject page;
    service->compute({.run = 1}, infer(), &page, heard.listener());
  }
  EXPECT_TRUE(soon([&] { return service->pending() == 0; }));
  EXPECT_FALSE(heard.isOver());
}

TEST_F(Models, AProgramThatIsNotThereIsAnErrorThatNamesIt) {
  answerWith("");
  qputenv("VITRINE_PROGRAM", "/nowhere/vitrine");
  const Heard heard = ask({.run = 1}, infer());
  EXPECT_EQ(heard.error->kind, "link");
  EXPECT_TRUE(heard.error->sentence.contains(QStringLiteral("/nowhere/vitrine")));
}

}  // namespace
}  // namespace vitrine::ui
