// A sink that drops all records: for steps that are only tried, and as a base of sinks that
// need one kind of record.
#pragma once

#include "core/run/event_sink.h"

namespace vitrine {

class NullSink : public EventSink {
 public:
  void metrics(const MetricRecord&) override {}
  void event(const EventRecord&) override {}
  void artifact(Artifact) override {}
  void image(GeneratedImage) override {}
  void text(GeneratedText) override {}
  void progress(const ProgressRecord&) override {}
  void checkpoint(const CheckpointRecord&) override {}
  void flush() override {}
};

}  // namespace vitrine
