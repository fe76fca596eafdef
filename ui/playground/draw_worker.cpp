#include "ui/playground/draw_worker.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/playground/stored_replay.h"

namespace vitrine::ui {

namespace {

constexpr double kMilli = 1e-3;

/// One image as its recipe has it, alone.
SampleSettings aloneOf(const DrawnCell& cell, const DrawnImage& image) {
  SampleSettings settings = cell.settings;
  settings.values["seed"] = image.seed;
  settings.values["count"] = 1;
  return settings;
}

HashedImage hashed(const DrawnImage& image) { return {image.image, image.sha256}; }

std::string patchKey(const SampleSettings& settings) {
  return settings.model.request().dump() + settings.sampler;
}

std::size_t bytesOf(const Replay& replay) {
  std::size_t bytes = 0;
  for (const FilmFrame& frame : replay.film)
    bytes += static_cast<std::size_t>(frame.image.sizeInBytes());
  for (const AttentionFrame& frame : replay.attention)
    bytes += (frame.weights.size() + frame.wordWeights.size()) * sizeof(float);
  return bytes;
}

}  // namespace

DrawWorker::DrawWorker(ModelService* service, const std::filesystem::path& database,
                       QObject* parent)
    : QObject(parent), service_(service), stored_(database) {
  connect(&stored_, &Background::failed, this, [this](const QString& sentence) {
    if (work_ == Work::Replay && ticket_ == 0) end(sentence);
  });
}

DrawWorker::~DrawWorker() {
  if (service_ == nullptr) return;
  if (ticket_ != 0) service_->cancel(std::exchange(ticket_, 0));
  if (warming_ != 0) service_->cancel(std::exchange(warming_, 0));
}

ModelService::Listener DrawWorker::listener(std::function<void(const Json&)> onPart,
                                            std::function<void(const Json&)> onDone) {
  // What an answer holds may be anything: a wrong one ends the work with a sentence.
  const auto guarded = [this](std::function<void(const Json&)> take) {
    return [this, take = std::move(take)](const Json& answer) {
      try {
        take(answer);
      } catch (const Error& error) {
        if (ticket_ != 0) service_->cancel(std::exchange(ticket_, 0));
        fail({"failed", QString::fromUtf8(error.what())});
      } catch (const Json::exception&) {
        if (ticket_ != 0) service_->cancel(std::exchange(ticket_, 0));
        fail({"failed", tr("The sampler gave an answer that cannot be read.")});
      }
    };
  };
  const auto part = [this, onPart = std::move(onPart)](const Json& answer) {
    if (answer.contains("total") && answer.contains("done")) {
      const auto total = answer.at("total").get<double>();
      share_ = total > 0 ? answer.at("done").get<double>() / total : 0;
    } else {
      onPart(answer);
    }
    Q_EMIT changed();
  };
  return {guarded(part), guarded([this, onDone = std::move(onDone)](const Json& last) {
            ticket_ = 0;
            onDone(last);
          }),
          [this](const ModelError& error) {
            // A cancelled one has emitted its end already.
            if (ticket_ == 0) return;
            ticket_ = 0;
            fail(error);
          }};
}

void DrawWorker::begin(Work work, std::shared_ptr<Drawing> drawing) {
  stopWarming();
  cancel();
  work_ = work;
  drawing_ = std::move(drawing);
  share_ = 0;
  clock_.start();
}

void DrawWorker::draw(std::shared_ptr<Drawing> drawing) {
  begin(Work::Draw, std::move(drawing));
  cell_ = 0;
  drawing_->state = Drawing::State::Drawing;
  drawNext();
}

void DrawWorker::drawNext() {
  if (service_ == nullptr) return end(tr("Nothing can be computed here."));
  if (cell_ >= drawing_->cells.size()) {
    drawing_->state = Drawing::State::Done;
    return end({});
  }
  DrawnCell& cell = drawing_->cells[cell_];
  share_ = 0;
  cellClock_.start();
  ticket_ = service_->compute(cell.settings.model, [&] {
    Json request = cell.settings.request();
    request["previews"] = true;
    return request;
  }(), this, listener(
                 [this, drawing = drawing_, number = cell_](const Json& part) {
                   takePart(drawing->cells[number], part);
                   const bool isFirst = drawing->firstSeconds < 0 && !drawing->thumbnail().isNull();
                   if (isFirst)
                     drawing->firstSeconds = static_cast<double>(clock_.elapsed()) * kMilli;
                   drawing->seconds = static_cast<double>(clock_.elapsed()) * kMilli;
                 },
                 [this](const Json& last) {
                   DrawnCell& done = drawing_->cells[cell_];
                   done.settings.sampler = last.value("sampler", done.settings.sampler);
                   done.seconds =
                       std::max(kMilli, static_cast<double>(cellClock_.elapsed()) * kMilli);
                   drawing_->seconds = static_cast<double>(clock_.elapsed()) * kMilli;
                   ++cell_;
                   drawNext();
                 }));
  Q_EMIT changed();
}

void DrawWorker::replay(std::shared_ptr<Drawing> drawing, ImagePlace place,
                        std::array<double, 2> at, int frames) {
  begin(Work::Replay, std::move(drawing));
  place_ = place;
  at_ = at;
  frames_ = std::max(frames, 1);
  const DrawnCell& cell = drawing_->cells.at(static_cast<std::size_t>(place.cell));
  const SampleSettings image = aloneOf(cell, cell.images.at(static_cast<std::size_t>(place.image)));
  Q_EMIT changed();
  const auto grid = patches_.find(patchKey(image));
  const Replay* seen = grid == patches_.end() ? nullptr : keptReplay(patchUnder(at_, grid->second));
  if (seen == nullptr) return findStored(image);
  replayed().replay = *seen;
  end({});
}

DrawnImage& DrawWorker::replayed() {
  return drawing_->cells.at(static_cast<std::size_t>(place_.cell))
      .images.at(static_cast<std::size_t>(place_.image));
}

// What an earlier start drew again is read: it need not be drawn once more.
void DrawWorker::findStored(const SampleSettings& image) {
  const WantedReplay wanted{image.model.run, replayed().sha256, at_, frames_};
  stored_.run([this, image, wanted](store::RunReader& store,
                                    const std::atomic<bool>&) -> Background::Finish {
    StoredReplay found = readReplay(store, wanted);
    return [this, image, found = std::move(found)] {
      if (work_ != Work::Replay) return;
      room_ = std::max<std::int64_t>(kMostStoredBytes - found.bytes, 0);
      if (!found.replay) {
        patches_.contains(patchKey(image)) ? askAttention(image) : askGrid(image);
        return;
      }
      patches_[patchKey(image)] = found.grid;
      replayed().replay = found.replay;
      keepReplay(*found.replay);
      end({});
    };
  });
}

// The first one, which every model has, shows the number of patches.
void DrawWorker::askGrid(const SampleSettings& image) {
  SampleSettings first = image;
  constexpr int kFewSteps = 2;
  if (first.values.contains("steps")) first.values["steps"] = kFewSteps;
  first.values["previews"] = 1;
  first.values["attention"] = {0, 0};
  Json request = first.request();
  request["previews"] = true;
  ticket_ = service_->compute(first.model, std::move(request), this,
                              listener(
                                  [this, key = patchKey(image)](const Json& part) {
                                    const auto preview = part.find("preview");
                                    if (preview == part.end() || !isAttention(*preview)) return;
                                    const AttentionFrame frame = attentionFrame(*preview).second;
                                    patches_[key] = {frame.rows, frame.columns};
                                  },
                                  [this, image](const Json&) {
                                    if (patches_.contains(patchKey(image)))
                                      return askAttention(image);
                                    end(tr("This model does not report where its patches read."));
                                  }));
}

void DrawWorker::askAttention(const SampleSettings& image) {
  Replay replay{.patch = patchUnder(at_, patches_.at(patchKey(image)))};
  SampleSettings again = image;
  again.values["previews"] = frames_;
  again.values["attention"] = {replay.patch[0], replay.patch[1]};
  Json request = again.request();
  request["previews"] = true;
  if (room_ > 0) request["store_steps"] = room_;
  auto cell = std::make_shared<DrawnCell>();
  auto made = std::make_shared<Replay>(std::move(replay));
  const std::uint64_t seed = image.seed();
  ticket_ = service_->compute(
      again.model, std::move(request), this,
      listener(
          [cell, made, seed](const Json& part) {
            const auto preview = part.find("preview");
            if (preview == part.end() || !isAttention(*preview)) return takePart(*cell, part);
            auto [of, frame] = attentionFrame(*preview);
            if (of == seed) made->attention.push_back(std::move(frame));
          },
          [this, cell, made, seed](const Json&) {
            made->film = std::move(cell->films[seed]);
            DrawnImage& shown = replayed();
            const Verdict verdict =
                verdictOf(hashed(shown), cell->images.empty()
                                             ? std::nullopt
                                             : std::optional(hashed(cell->images.front())));
            made->note = verdict.isExact
                             ? tr("Drawn again with the same pixels")
                             : tr("Drawn again alone: %1").arg(verdict.sentence.toLower());
            shown.replay = std::move(*made);
            keepReplay(*shown.replay);
            end({});
          }));
}

const Replay* DrawWorker::keptReplay(const std::array<int, 2>& patch) {
  const auto found = std::find_if(replays_.begin(), replays_.end(), [&](const KeptReplay& each) {
    return each.drawing.lock() == drawing_ && each.place == place_ && each.frames == frames_ &&
           each.replay.patch == patch;
  });
  if (found == replays_.end()) return nullptr;
  std::rotate(found, std::next(found), replays_.end());
  return &replays_.back().replay;
}

void DrawWorker::keepReplay(const Replay& replay) {
  std::erase_if(replays_, [](const KeptReplay& each) { return each.drawing.expired(); });
  replays_.push_back({drawing_, place_, frames_, replay});
  std::size_t bytes = 0;
  auto first = replays_.end();  // of those that stay
  while (first != replays_.begin() && bytes <= kMostReplayBytes) {
    --first;
    bytes += bytesOf(first->replay);
  }
  if (bytes > kMostReplayBytes && std::next(first) != replays_.end()) ++first;
  replays_.erase(replays_.begin(), first);
}

void DrawWorker::verify(std::shared_ptr<Drawing> drawing, ImagePlace place) {
  begin(Work::Verify, std::move(drawing));
  place_ = place;
  const DrawnCell& cell = drawing_->cells.at(static_cast<std::size_t>(place.cell));
  SampleSettings again;
  try {
    again = settingsAgain(cell.images.at(static_cast<std::size_t>(place.image)).recipe,
                          cell.settings.model.run);
  } catch (const Error& error) {
    return end(QString::fromUtf8(error.what()));
  }
  auto made = std::make_shared<DrawnCell>();
  ticket_ = service_->compute(
      again.model, again.request(), this,
      listener([made](const Json& part) { takePart(*made, part); },
               [this, made](const Json&) {
                 DrawnImage& shown = drawing_->cells.at(static_cast<std::size_t>(place_.cell))
                                         .images.at(static_cast<std::size_t>(place_.image));
                 const auto found =
                     std::find_if(made->images.begin(), made->images.end(),
                                  [&](const DrawnImage& each) { return each.seed == shown.seed; });
                 const Verdict verdict =
                     verdictOf(
                     hashed(shown), found == made->images.end() ? std::nullopt
                                                                : std::optional(hashed(*found)));
                 shown.isExact = verdict.isExact;
                 shown.verdict = verdict.sentence +
                                 tr(", made again in %1\u202fs")
                                     .arg(QString::number(
                                         static_cast<double>(clock_.elapsed()) * kMilli, 'f', 2));
                 end({});
               }));
  Q_EMIT changed();
}

void DrawWorker::keep(std::shared_ptr<Drawing> drawing, int number) {
  begin(Work::Keep, std::move(drawing));
  place_ = {number, 0};
  const DrawnCell& cell = drawing_->cells.at(static_cast<std::size_t>(number));
  SampleSettings settings = cell.settings;
  // The image is stored, not its steps.
  if (settings.values.contains("previews")) settings.values["previews"] = 0;
  Json request = settings.request();
  request["store"] = true;
  auto made = std::make_shared<DrawnCell>();
  ticket_ = service_->compute(
      settings.model, std::move(request), this,
      listener([made](const Json& part) { takePart(*made, part); },
               [this, made](const Json&) {
                 DrawnCell& shown = drawing_->cells.at(static_cast<std::size_t>(place_.cell));
                 std::int64_t other = 0;
                 for (DrawnImage& image : shown.images) {
                   for (const DrawnImage& kept : made->images) {
                     if (kept.seed != image.seed) continue;
                     image.stored = kept.stored;
                     other += kept.sha256 == image.sha256 ? 0 : 1;
                   }
                 }
                 for (DrawnText& text : shown.texts) {
                   for (const DrawnText& kept : made->texts) {
                     if (kept.seed == text.seed) text.stored = kept.stored;
                   }
                 }
                 end(other == 0 ? QString()
                                : tr("Stored, but %1 other pixels; Verify counts them.")
                                      .arg(counted(other, tr("image has"), tr("images have"))));
               }));
  Q_EMIT changed();
}

void DrawWorker::cancel() {
  if (work_ == Work::None) return;
  if (ticket_ != 0) service_->cancel(std::exchange(ticket_, 0));
  stored_.cancel();
  if (work_ == Work::Draw) drawing_->state = Drawing::State::Cancelled;
  end({});
}

void DrawWorker::fail(const ModelError& error) {
  const bool isCancelled = error.kind == "cancelled" || error.kind == "replaced";
  if (work_ == Work::Draw) {
    drawing_->state = isCancelled ? Drawing::State::Cancelled : Drawing::State::Failed;
    if (!isCancelled) drawing_->error = error.sentence;
  }
  end(isCancelled ? QString() : error.sentence);
}

void DrawWorker::end(const QString& error) {
  work_ = Work::None;
  Q_EMIT changed();
  Q_EMIT ended(error);
}

void DrawWorker::stopWarming() {
  if (warming_ != 0) service_->cancel(std::exchange(warming_, 0));
}

void DrawWorker::warm(const ModelChoice& model, const Json& probe) {
  if (service_ == nullptr) return;
  stopWarming();
  const auto failed = [this](const ModelError& error) {
    if (std::exchange(warming_, 0) == 0) return;
    if (error.kind != "cancelled" && error.kind != "replaced") Q_EMIT warmFailed(error.sentence);
  };
  const auto loaded = [this, model, probe](const Json& answer) {
    warming_ = 0;
    if (probe.is_null() || isBusy()) {
      Q_EMIT warmed(answer, {});
      return;
    }
    warming_ = service_->compute(
        model, {{"op", "sample"}, {"settings", probe}}, this,
        {[](const Json&) {},
         [this, answer](const Json& last) {
           warming_ = 0;
           Q_EMIT warmed(answer, stateWords(last, "sampler"));
         },
         // Several samplers fit, or the little that was asked for is nothing it can do: the model
         // is in memory all the same.
         [this, answer](const ModelError& error) {
           if (std::exchange(warming_, 0) == 0) return;
           if (error.kind == "failed" || error.kind == "link") {
             Q_EMIT warmFailed(error.sentence);
           } else {
             Q_EMIT warmed(answer, {});
           }
         }});
  };
  warming_ = service_->load(model, this, {[](const Json&) {}, loaded, failed});
}

}  // namespace vitrine::ui
