// The parts of a Playground, and what it has drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ui/playground/playground_page.h"

namespace vitrine::ui {

/// Reads a page, which has it as its friend.
class PlaygroundProbe {
 public:
  explicit PlaygroundProbe(PlaygroundPage& page) : page_(page) {}

  [[nodiscard]] SamplerForm& form() const { return *page_.form_; }
  [[nodiscard]] ImageBoard& board() const { return *page_.board_; }
  [[nodiscard]] FilmStrip& film() const { return *page_.film_; }
  [[nodiscard]] DrawWorker& worker() const { return page_.worker_; }
  [[nodiscard]] const std::vector<std::shared_ptr<Drawing>>& history() const {
    return page_.history_;
  }
  [[nodiscard]] const std::shared_ptr<Drawing>& shown() const { return page_.shown_; }
  [[nodiscard]] std::int64_t run() const { return page_.run_; }

 private:
  PlaygroundPage& page_;
};

}  // namespace vitrine::ui
