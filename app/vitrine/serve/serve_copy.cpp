// The half of ServeSession that a window on another machine lives on. It has a copy of the rows,
// logs, commands of the queue, and what users write about runs.
#include <algorithm>
#include <fstream>

#include "app/vitrine/serve/serve_fields.h"
#include "app/vitrine/serve/serve_session.h"
#include "core/jobs/command.h"
#include "core/jobs/device_load.h"
#include "core/jobs/launcher.h"
#include "core/jobs/work.h"
#include "core/store/exchange/mirror.h"
#include "core/store/run_store.h"

namespace vitrine::app {

namespace {

constexpr std::int64_t kLogBytes = std::int64_t{256} << 10;

store::RunField fieldOf(const std::string& name) {
  if (const auto field = store::runFieldFromString(name)) return *field;
  throw BadRequest("'field' has to be name, note, tags, curve_notes, image_tags, "
                   "archived, baseline or colour, not '" +
                   name + "'");
}

}  // namespace

void ServeSession::copy(const Task& task) {
  if (!source_) source_ = std::make_unique<store::MirrorSource>(database_);
  const std::int64_t run = integerOf(task.request, "run", std::nullopt);
  const auto known = task.request.find("known");
  const bool isAll =
      source_->copy(run, known == task.request.end() ? Json::object() : *known, [&](Json part) {
        this->part(task, std::move(part));
        return !task.isCancelled->load();
      });
  if (task.isCancelled->load()) return fail(task, "cancelled", "it was cancelled");
  answer(task, {{"run", run}, {"all", isAll}});
}

void ServeSession::log(const Task& task) {
  const std::int64_t run = integerOf(task.request, "run", std::nullopt);
  std::int64_t from = integerOf(task.request, "from", -1);
  store::RunStore store(database_, store::OpenMode::ReadOnly);
  const auto file = store::placeBelow(store::filesFolder(database_), store.run(run).logFile);
  std::error_code error;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(file, error))  // opening a pipe would wait
    stream.open(file, std::ios::binary | std::ios::ate);
  const std::int64_t size = stream.is_open() ? static_cast<std::int64_t>(stream.tellg()) : 0;
  if (from < 0 || from > size || size - from > kLogBytes)
    from = std::max<std::int64_t>(0, size - kLogBytes);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size - from));
  if (!bytes.empty()) {
    stream.seekg(from);
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
  }
  answer(task, {{"run", run},
                {"from", from},
                {"size", from + static_cast<std::int64_t>(bytes.size())},
                {"data", Json::binary(std::move(bytes))}});
}

void ServeSession::command(const Task& task) {
  const auto given = task.request.find("command");
  if (given == task.request.end()) throw BadRequest("'command' has to be a map");
  const jobs::Command command = jobs::commandFromJson(*given);
  store::RunStore store(database_, store::OpenMode::ReadWrite);
  store.reapLostRuns();
  jobs::JobQueue queue(store);
  const jobs::CommandResult result = execute(command, store, queue);
  const bool mayStart = command.what == jobs::Command::What::Enqueue ||
                        command.what == jobs::Command::What::Requeue ||
                        command.what == jobs::Command::What::Start ||
                        command.what == jobs::Command::What::Mode;
  if (mayStart && result.mode == store::QueueMode::Running && result.entries > 0)
    jobs::startQueueWorker(database_, jobs::headlessProgram());
  answer(task, toJson(result));
}

void ServeSession::edit(const Task& task) {
  const std::int64_t run = integerOf(task.request, "run", std::nullopt);
  const store::RunField field = fieldOf(textOf(task.request, "field"));
  const std::string text = textOf(task.request, "text");
  const std::int64_t basedOn =
      integerOf(task.request, "based_on", store::RunStore::kWhateverStands);
  store::RunStore store(database_, store::OpenMode::ReadWrite);
  try {
    answer(task, {{"run", run}, {"version", store.setText(run, field, text, basedOn)}});
  } catch (const store::EditConflict& conflict) {
    answer(task, {{"run", run}, {"version", conflict.version}, {"theirs", conflict.theirs}});
  }
}

void ServeSession::devices(const Task& task) {
  if (!devices_) devices_ = std::make_unique<jobs::DeviceReader>();
  Json list = Json::array();
  for (const jobs::DeviceLoad& load : devices_->read()) list.push_back(toJson(load));
  answer(task, {{"devices", std::move(list)}});
}

}  // namespace vitrine::app
