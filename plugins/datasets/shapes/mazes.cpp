// Mazes: does a way lead from one mark to the other?
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "plugins/datasets/shapes/generated_set.h"

namespace vitrine::shapes {

namespace {

constexpr std::int64_t kPathBins = 8;

/// Rooms on a grid with doors between neighbours. Drawn on (2 rooms + 1) x (2 rooms + 1) cells.
class Maze {
 public:
  Maze(std::int64_t rooms, Numbers& numbers)
      : rooms_(rooms), cells_(2 * rooms + 1), isOpen_(static_cast<std::size_t>(cells_ * cells_)) {
    // A tree over all rooms: walls fall in random order where rooms are not joined yet (Kruskal).
    std::vector<std::int64_t> walls;
    for (std::int64_t room = 0; room < rooms * rooms; ++room) {
      open(cellOf(room)) = 1;
      if (room % rooms + 1 < rooms) walls.push_back(2 * room);
      if (room / rooms + 1 < rooms) walls.push_back(2 * room + 1);
    }
    for (std::size_t i = walls.size(); i > 1; --i)
      std::swap(walls[i - 1],
                walls[static_cast<std::size_t>(numbers.below(static_cast<std::int64_t>(i)))]);
    std::vector<std::int64_t> group(static_cast<std::size_t>(rooms * rooms));
    std::iota(group.begin(), group.end(), 0);
    const auto root = [&](std::int64_t room) {
      while (group[static_cast<std::size_t>(room)] != room)
        room = group[static_cast<std::size_t>(room)] =
            group[static_cast<std::size_t>(group[static_cast<std::size_t>(room)])];
      return room;
    };
    for (const std::int64_t wall : walls) {
      const std::int64_t one = root(wall / 2), other = root(neighbour(wall));
      if (one == other) {
        closed_.push_back(wall);
        continue;
      }
      group[static_cast<std::size_t>(one)] = other;
      open(doorOf(wall)) = 1;
      doors_.push_back(wall);
    }
  }

  [[nodiscard]] std::int64_t cells() const noexcept { return cells_; }
  [[nodiscard]] bool isOpen(std::int64_t cell) const {
    return isOpen_[static_cast<std::size_t>(cell)] != 0;
  }
  [[nodiscard]] std::int64_t cellOf(std::int64_t room) const {
    return (2 * (room / rooms_) + 1) * cells_ + 2 * (room % rooms_) + 1;
  }

  /// Steps between cells from `from`, -1 where no way leads.
  [[nodiscard]] std::vector<std::int64_t> steps(std::int64_t from) const {
    std::vector<std::int64_t> distance(isOpen_.size(), -1), queue{from};
    distance[static_cast<std::size_t>(from)] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (const std::int64_t side : {-cells_, std::int64_t{-1}, std::int64_t{1}, cells_}) {
        const std::int64_t next = queue[head] + side;
        if (!isOpen(next) || distance[static_cast<std::size_t>(next)] >= 0) continue;
        distance[static_cast<std::size_t>(next)] =
            distance[static_cast<std::size_t>(queue[head])] + 1;
        queue.push_back(next);
      }
    }
    return distance;
  }

  /// Closes one door, which parts the maze, and opens a wall within one of the parts. The number of
  /// open cells stays. \param isApart  whether the rooms `from` and `to` end up in different parts
  void part(std::int64_t from, std::int64_t to, bool isApart, Numbers& numbers) {
    const std::size_t first = static_cast<std::size_t>(numbers.below(std::ssize(doors_)));
    for (std::size_t i = 0; i < doors_.size(); ++i) {
      const std::int64_t door = doors_[(first + i) % doors_.size()];
      open(doorOf(door)) = 0;
      const std::vector<std::int64_t> reached = steps(cellOf(from));
      const auto isReached = [&](std::int64_t room) {
        return reached[static_cast<std::size_t>(cellOf(room))] >= 0;
      };
      if (isReached(to) != isApart) {
        const auto within = std::find_if(closed_.begin(), closed_.end(), [&](std::int64_t wall) {
          return isReached(wall / 2) == isReached(neighbour(wall));
        });
        if (within != closed_.end()) {
          open(doorOf(*within)) = 1;
          return;
        }
      }
      open(doorOf(door)) = 1;
    }
  }

 private:
  std::uint8_t& open(std::int64_t cell) { return isOpen_[static_cast<std::size_t>(cell)]; }
  /// A wall is twice its room, plus 1 for the one below it instead of the one to its right.
  [[nodiscard]] std::int64_t neighbour(std::int64_t wall) const {
    return wall / 2 + (wall % 2 == 0 ? 1 : rooms_);
  }
  [[nodiscard]] std::int64_t doorOf(std::int64_t wall) const {
    return cellOf(wall / 2) + (wall % 2 == 0 ? 1 : cells_);
  }
  std::int64_t rooms_, cells_;
  std::vector<std::uint8_t> isOpen_;          // [cells, cells]
  std::vector<std::int64_t> doors_, closed_;  // walls of the tree; the others
};

enum class MazeLabel { Connected, Length, Step };

class Mazes final : public GeneratedSet {
 public:
  Mazes(const std::string& name, std::uint64_t seed, std::array<std::int64_t, 3> sizes,
        DatasetInfo info, std::int64_t rooms, MazeLabel label)
      : GeneratedSet(name, seed, sizes, std::move(info)), rooms_(rooms), label_(label) {}

 protected:
  void draw(Numbers& numbers, Split, std::int64_t id, Sample& sample) const override {
    Maze maze(rooms_, numbers);
    const std::int64_t count = rooms_ * rooms_;
    const std::int64_t from = numbers.below(count),
                       to = (from + 1 + numbers.below(count - 1)) % count;
    const bool isApart = label_ == MazeLabel::Connected && id % 2 == 0;
    if (label_ == MazeLabel::Connected) maze.part(from, to, isApart, numbers);
    const std::vector<std::int64_t> steps = maze.steps(maze.cellOf(to));
    paint(maze, maze.cellOf(from), maze.cellOf(to), sample);
    const std::int64_t length = steps[static_cast<std::size_t>(maze.cellOf(from))];
    putLabel(labelOf(maze, steps, maze.cellOf(from), length), sample);
    sample["length"].resize<std::int64_t>({})[0] = length;
  }

 private:
  [[nodiscard]] std::int64_t labelOf(const Maze& maze, const std::vector<std::int64_t>& steps,
                                     std::int64_t from, std::int64_t length) const {
    if (label_ == MazeLabel::Connected) return length >= 0 ? 1 : 0;
    if (label_ == MazeLabel::Length)
      return std::min(kPathBins - 1, (length - 1) / (2 * std::max<std::int64_t>(1, rooms_ / 2)));
    const std::array<std::int64_t, 4> sides = {-maze.cells(), 1, maze.cells(), -1};
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const std::int64_t there = steps[static_cast<std::size_t>(from + sides[i])];
      if (there == length - 1) return static_cast<std::int64_t>(i);
    }
    return 0;
  }

  void paint(const Maze& maze, std::int64_t from, std::int64_t to, Sample& sample) const {
    const std::int64_t size = info().height, cells = maze.cells();
    const auto image = sample["image"].resize<std::uint8_t>({3, size, size});
    const auto plane = static_cast<std::size_t>(size * size);
    for (std::int64_t y = 0; y < size; ++y) {
      for (std::int64_t x = 0; x < size; ++x) {
        const std::int64_t cell = y * cells / size * cells + x * cells / size;
        const bool isOpen = maze.isOpen(cell);
        const auto at = static_cast<std::size_t>(y * size + x);
        image[at] = isOpen && cell != to ? 255 : 0;  // red: the start
        image[at + plane] = isOpen && cell != from && cell != to ? 255 : 0;
        image[at + 2 * plane] = isOpen && cell != from ? 255 : 0;  // blue: the end
      }
    }
  }

  std::int64_t rooms_;
  MazeLabel label_;
};

class MazesSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard("mazes", "Mazes",
                                  "Rooms and doors: does a way lead from the red to the blue room?",
                                  {"image", "label", "length"}, 34, {20'000, 1'000, 2'000});
    Field label =
        choiceField("label", "connected", {"connected", "length", "step"}, "learned label")
            .titled("Label");
    label.withChoiceDocs({"whether there is a way; half of the mazes have none",
                          "8 ranges of the steps", "the first step: up, right, down or left"});
    card.schema.fields.insert(
        card.schema.fields.begin() + 1,
        {label.runOnly(),
         integerField("rooms", 8, "a side; a maze has 2 rooms + 1 cells a side, walls included")
             .titled("Rooms a side")
             .range(3, 64)
             .runOnly()});
    return card;
  }

  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size"), rooms = config.integer("rooms");
    if (size < 2 * rooms + 1) {
      throw ConfigError("data.size = " + std::to_string(size) + " is too small for a maze of " +
                        std::to_string(rooms) + " rooms a side; set at least " +
                        std::to_string(2 * rooms + 1));
    }
    DatasetInfo info = imageInfo(3, size);
    info.fields.push_back(
        {"length", FieldKind::Number, at::kLong, {}, "steps of the way, -1 without one"});
    const std::string name = config.text("label");
    const MazeLabel label = name == "connected" ? MazeLabel::Connected
                            : name == "length"  ? MazeLabel::Length
                                                : MazeLabel::Step;
    if (label == MazeLabel::Connected) info.classes = {"apart", "connected"};
    if (label == MazeLabel::Step) info.classes = {"up", "right", "down", "left"};
    for (std::int64_t c = 0; label == MazeLabel::Length && c < kPathBins; ++c)
      info.classes.push_back(std::to_string(c));
    return std::make_shared<Mazes>("mazes/1/" + std::to_string(rooms), seedFrom(config),
                                   sizesFrom(config), std::move(info), rooms, label);
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeMazes() { return std::make_unique<MazesSource>(); }

}  // namespace vitrine::shapes
