// A change of the queue or of runs, as a value: executed here, or sent to the machine
// that has the database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/jobs/queue.h"
#include "core/store/run_store.h"

namespace vitrine::jobs {

struct Command {
  enum class What {
    Enqueue,  ///< `runs` into the queue, at its `end`; what has a checkpoint continues from it
    Start,    ///< the same, but those that wait keep their place unless `end` is the front
    Remove,   ///< waiting `runs` out of the queue: they are `stopped`
    Requeue,  ///< `places` into the queue, as they were before Remove
    Move,     ///< waiting `runs` before the run `before`, 0: behind all others
    Limit,    ///< `seconds` of running time, 0: none
    Device,   ///< `device`, "": as configured
    Pause,    ///< `runs` in progress at a checkpoint, and out of the queue
    Stop,     ///< `runs`, at a checkpoint or out of the queue; the queue pauses when other runs of
              ///< the experiment of one in progress wait in it
    Delete,   ///< `runs`, their results and files: into the trash
    Restore,  ///< `runs` out of the trash
    EmptyTrash,  ///< removes the runs in the trash permanently
    Mode,        ///< the queue continues, or pauses after the runs in progress
    PauseAll,    ///< the queue pauses, and runs in progress pause at a checkpoint
  };
  What what = What::Enqueue;
  std::vector<std::int64_t> runs;
  std::int64_t before = 0;
  double seconds = 0;
  std::string device;
  store::QueueMode mode = store::QueueMode::Running;
  QueueEnd end = QueueEnd::Back;
  enum class Queue {
    AsIs,
    Holds,    ///< with Pause: a queue that runs pauses, so that nothing starts in their place
    Resumes,  ///< with Start: the queue runs again, after they are in it
  };
  Queue queue = Queue::AsIs;
  /// The place of a run that waits.
  struct Place {
    std::int64_t run = 0;
    std::int64_t before = 0;  ///< the run that waits behind it, 0: none
    store::QueueOptions options;
  };
  std::vector<Place> places;
};

struct CommandResult {
  std::vector<std::int64_t> runs;  ///< that it was done to
  store::QueueMode mode = store::QueueMode::Running;
  std::int64_t entries = 0;  ///< in the queue, after it
  /// Of Stop: runs of the same experiments that wait in the queue, which pauses for their sake; in
  /// the order of their start.
  std::vector<std::int64_t> waiting;
  bool isHeld = false;       ///< of Pause: the queue ran before, and pauses now
  std::string error;         ///< why it was not done to another one; "" when it was done to all
};

/// Does as much as can be done: the result names it.
/// \throws Error  nothing of it could be done, with the reason
VITRINE_STORE_EXPORT CommandResult execute(const Command& command, store::RunStore& store,
                                           JobQueue& queue);

[[nodiscard]] VITRINE_STORE_EXPORT Json toJson(const Command& command);
/// \throws ConfigError  a field is missing or of another type; names it
[[nodiscard]] VITRINE_STORE_EXPORT Command commandFromJson(const Json& json);
[[nodiscard]] VITRINE_STORE_EXPORT Json toJson(const CommandResult& result);
/// \throws ConfigError
[[nodiscard]] VITRINE_STORE_EXPORT CommandResult resultFromJson(const Json& json);

}  // namespace vitrine::jobs
