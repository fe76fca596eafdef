// Undo and redo of the experiment: every state is a text, whichever of form and text made it.
#pragma once

#include <QString>
#include <cstddef>
#include <string>
#include <vector>

namespace vitrine::ui {

class EditHistory {
 public:
  enum class Kind { Edit, Opening };

  struct State {
    std::string text;
    QString origin;          ///< the file it came from, or ""
    QString label;           ///< of the edit that made it: "Width", "typing"
    Kind kind = Kind::Edit;  ///< of another experiment: Opening
  };

  /// Forgets everything but this.
  void reset(State state);
  /// Adds a state; what was undone is forgotten. A state that equals the present one adds nothing.
  /// \param mergeKey  the same as the last one's, and not "": both are one step
  void push(State state, const std::string& mergeKey);
  /// The present experiment is saved as `file`: all its states are of that file from now on.
  void setOrigin(const QString& file);
  /// The next push() is a step of its own.
  void seal() { mergeKey_.clear(); }

  [[nodiscard]] bool canUndo() const { return at_ > 0; }
  [[nodiscard]] bool canRedo() const { return at_ + 1 < states_.size(); }
  [[nodiscard]] QString undoLabel() const { return canUndo() ? states_[at_].label : QString(); }
  [[nodiscard]] QString redoLabel() const { return canRedo() ? states_[at_ + 1].label : QString(); }
  /// The state to show now. \pre canUndo()
  const State& undo();
  /// \pre canRedo()
  const State& redo();
  [[nodiscard]] std::size_t steps() const { return at_; }

 private:
  void dropOldest();

  std::vector<State> states_;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
  std::string mergeKey_;
};

}  // namespace vitrine::ui
