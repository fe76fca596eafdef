// POSIX shared memory by name, removed when it is no longer used. Private to core/live.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace vitrine::live {

class SharedSegment {
 public:
  /// Makes it, for this user alone and with every page there: no later write can fail for lack of
  /// memory.
  /// \returns  nothing where the name is taken
  /// \throws Error  no room, no permission
  [[nodiscard]] static std::optional<SharedSegment> create(const std::string& name,
                                                           std::size_t bytes);
  /// One that is there, of this user and of exactly that size; nothing otherwise.
  [[nodiscard]] static std::optional<SharedSegment> open(const std::string& name,
                                                         std::size_t bytes) noexcept;
  ~SharedSegment();
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The name still leads here: neither removed nor made again.
  [[nodiscard]] bool isNamed() const noexcept;
  /// Takes the name away; processes that have it mapped keep the memory.
  void unlink() const noexcept;

 private:
  SharedSegment(std::string name, int descriptor, std::byte* data, std::size_t bytes)
      : name_(std::move(name)), descriptor_(descriptor), data_(data), bytes_(bytes) {}
  std::string name_;
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Removes segments of this user whose names begin with `prefix` and that `isStale` condemns.
/// \param isStale  of a name and the first `headBytes` bytes, fewer where it is shorter
void sweepSegments(const std::string& prefix, std::size_t headBytes,
                   const std::function<bool(const std::string& name, const std::string& head,
                                            double ageSeconds)>& isStale) noexcept;

}  // namespace vitrine::live
