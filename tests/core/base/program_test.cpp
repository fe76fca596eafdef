// Programs that are started and waited for.
#include "core/base/program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace vitrine {
namespace {

using How = ProgramEnd::How;

TEST(RunProgram, GivesWhatTheProgramWroteAndHowItEnded) {
  const ProgramEnd end = runProgram({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(end.how, How::Exited);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.out, "out\n");
  EXPECT_EQ(end.err, "err\n");
  EXPECT_FALSE(end.isSuccess());
  EXPECT_TRUE(runProgram({"true"}).isSuccess());
}

TEST(RunProgram, HandsTextToItHoweverLong) {
  const std::string text(3 << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(runProgram({.arguments = {"cat"}}, text).out, text);
  EXPECT_EQ(runProgram({"cat"}).out, "");
}

TEST(RunProgram, NoShellReadsItsArguments) {
  EXPECT_EQ(runProgram({"echo", "$HOME; false"}).out, "$HOME; false\n");
}

TEST(RunProgram, SaysWhyAProgramCannotBeStarted) {
  const ProgramEnd end = runProgram({"/nowhere/at/all"});
  EXPECT_EQ(end.how, How::NotStarted);
  EXPECT_EQ(end.err, "No such file or directory");
}

TEST(RunProgram, TellsASignalFromAnExitStatus) {
  EXPECT_EQ(runProgram({"sh", "-c", "kill -SEGV $$"}).how, How::Signalled);
}

TEST(RunProgram, EndsOneThatTakesTooLongAndKeepsWhatItSaid) {
  const ProgramEnd end = runProgram({"sh", "-c", "echo begun; exec sleep 1000"},
                                    {.patience = std::chrono::milliseconds(300)});
  EXPECT_EQ(end.how, How::Overdue);
  EXPECT_EQ(end.code, -1);
}

TEST(RunProgram, EndsWhenTheCallerAsksForIt) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(runProgram({"sleep", "1000"}, {.stop = source.get_token()}).how, How::Overdue);
}

TEST(RunProgram, DoesNotWaitForWhatItsProgramLeavesBehind) {
  // The process left behind has the same stdout; a pipe would stay open as long as it lives.
  const ProgramEnd end = runProgram({"sh", "-c", "sleep 1000 & echo $!"});
  EXPECT_TRUE(end.isSuccess());
  const int left = std::stoi(end.out);
  ASSERT_GT(left, 1);
  EXPECT_EQ(runProgram({"kill", std::to_string(left)}).code, 0);
}

TEST(RunProgram, ReplacesVariablesOfTheEnvironment) {
  ASSERT_EQ(::setenv("VITRINE_TEST_VARIABLE", "old", 1), 0);
  EXPECT_EQ(runProgram({.arguments = {"sh", "-c", "env | grep VITRINE_TEST_VARIABLE"},
                        .environment = {"VITRINE_TEST_VARIABLE=new"}})
                .out,
            "VITRINE_TEST_VARIABLE=new\n");
  ::unsetenv("VITRINE_TEST_VARIABLE");
}

TEST(StartProgram, GivesItStreamsAndASessionOfItsOwn) {
  std::array<int, 2> in{}, out{};
  ASSERT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
  const StartedProgram started =
      startProgram({.arguments = {"cat"}, .in = in[0], .out = out[1], .isOwnSession = true});
  ::close(in[0]);
  ::close(out[1]);
  ASSERT_EQ(started.error, 0);
  ASSERT_EQ(::write(in[1], "ping", 4), 4);
  std::array<char, 4> answer{};
  EXPECT_EQ(::read(out[0], answer.data(), answer.size()), 4);
  EXPECT_EQ(::getsid(started.pid), started.pid);
  ::close(in[1]);
  int status = -1;
  EXPECT_EQ(::waitpid(started.pid, &status, 0), started.pid);
  EXPECT_EQ(status, 0);
  ::close(out[0]);
}

TEST(OutputOf, IsWhatAProgramSaysThatSucceeds) {
  EXPECT_EQ(outputOf({"printf", "two\nlines\n\n"}), "two\nlines");
  EXPECT_EQ(outputOf({"false"}), std::nullopt);
  EXPECT_EQ(outputOf({"/nowhere/at/all"}), std::nullopt);
}

}  // namespace
}  // namespace vitrine
