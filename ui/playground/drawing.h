// Images and texts that a sampler made, as they came: without widgets.
#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QImage>
#include <QString>
#include <QStringList>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "ui/playground/sample_settings.h"

namespace vitrine::ui {

/// What the network took an image for at one step.
struct FilmFrame {
  double time = 0;
  QImage image;
};

/// Where one patch read at one step, by layer and head.
struct AttentionFrame {
  double time = 0;
  int layers = 0, heads = 0;
  int rows = 0, columns = 0;       ///< of the grid of patches that were read
  std::vector<float> weights;      ///< [layer, head, row, column]
  QStringList words;               ///< of the text that was read, too
  std::vector<float> wordWeights;  ///< [layer, head, word]

  /// The mean over layers and heads, or one of them. \param layer, head  from 0; -1: all
  [[nodiscard]] std::vector<float> map(int layer, int head) const;
  /// The same of the words.
  [[nodiscard]] std::vector<float> wordMap(int layer, int head) const;
};

/// The way of one image with the attention of one patch, drawn again after the image.
struct Replay {
  std::array<int, 2> patch{};  ///< row and column
  std::vector<FilmFrame> film;
  std::vector<AttentionFrame> attention;
  QString note;  ///< whether the pixels came out the same
};

struct DrawnImage {
  std::uint64_t seed = 0;
  std::string sha256;  ///< of the pixels
  Json recipe;
  QImage image;
  QString verdict;          ///< of Verify; "" before
  bool isExact = false;     ///< what Verify found
  std::int64_t stored = 0;  ///< id in the database; 0: not stored
  std::optional<Replay> replay;
};

struct DrawnText {
  std::uint64_t seed = 0;
  QString prompt, text;
  QImage image;  ///< that it describes; null where it is not here
  Json recipe;
  std::int64_t stored = 0;

  /// The text as it is shown: one that is empty says so.
  [[nodiscard]] QString shown() const;
};

/// One cell of a grid: what one request gave.
struct DrawnCell {
  SampleSettings settings;
  std::vector<DrawnImage> images;
  std::vector<DrawnText> texts;
  std::map<std::uint64_t, std::vector<FilmFrame>> films;  ///< by seed
  double seconds = 0;                                     ///< 0 while it is not done
  [[nodiscard]] bool isDone() const { return seconds > 0; }
};

/// One click on Draw.
struct Drawing {
  /// Kept: of an earlier start of the program; its images are not in memory.
  enum class State { Drawing, Done, Cancelled, Failed, Kept };
  int number = 0;  ///< in the history, from 1
  QDateTime at;
  QString runName;
  QString className;  ///< of the class that the settings say; "" where it has none
  SampleSettings base;
  SampleGrid grid;
  std::vector<DrawnCell> cells;
  State state = State::Drawing;
  State ended = State::Done;    ///< of a drawing that was kept: how it ended
  QString error;                ///< one sentence
  QImage kept;                  ///< of a drawing that was kept: a small picture of it
  double seconds = 0;           ///< of all
  double firstSeconds = -1;     ///< from the click to the first image or preview; -1: none yet

  [[nodiscard]] int imageCount() const;
  [[nodiscard]] int textCount() const;
  /// Texts, or the settings ask for them.
  [[nodiscard]] bool areTexts() const;
  /// "2 texts", "1 image"
  [[nodiscard]] QString countText() const;
  /// The first picture there is, of an image or of its way; null where there is none.
  [[nodiscard]] QImage thumbnail() const;
  /// "Class x guidance"; without a grid the subject: a prompt, a class by its name.
  [[nodiscard]] QString title() const;
  /// "Class Sneaker, guidance 4"
  [[nodiscard]] QString cellTitle(int cell) const;
};

/// Takes an answer {image}, {text} or {preview} of the operation `sample`.
/// \throws FileError  it is not as serve.md says
void takePart(DrawnCell& cell, const Json& part);
/// An answer {preview} of the kind attention; the seed that it belongs to.
/// \throws FileError
[[nodiscard]] std::pair<std::uint64_t, AttentionFrame> attentionFrame(const Json& preview);
[[nodiscard]] bool isAttention(const Json& preview);
/// Attention of one patch, float32 [layer, head, 1, key], as an answer or an artifact has it.
/// \throws FileError
[[nodiscard]] AttentionFrame attentionIn(const Json& meta, std::span<const std::byte> data);
/// Steps of one image, uint8 [step, row, column, channel] with `times`, as they are stored.
/// \throws FileError
[[nodiscard]] std::vector<FilmFrame> storedFilm(const Json& meta, std::span<const std::byte> data);

}  // namespace vitrine::ui
