#include "core/run/event_sink.h"

namespace vitrine {

EventSink::~EventSink() = default;

}  // namespace vitrine
