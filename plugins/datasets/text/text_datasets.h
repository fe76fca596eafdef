// Texts from files: documents, and questions with choices.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/files/sample_lists.h"
#include "core/plugin/registry.h"

namespace vitrine::text {

enum class TextForm { Bytes, Text };

/// Documents of {train,validation,test}.txt, in memory as a whole. Fields: `tokens`, the bytes 0 to
/// 255, or `text`.
class TextDocuments final : public Dataset {
 public:
  /// \throws FileError  there is none of the files, or one is empty or not UTF-8
  TextDocuments(const std::filesystem::path& folder, Documents divide, TextForm form);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override {
    return std::ssize(parts_[static_cast<std::size_t>(split)].documents);
  }
  void read(Split split, std::int64_t id, Sample& sample) const override;
  [[nodiscard]] double memoryBytes() const override;

 private:
  struct Part {
    std::string text;
    std::vector<TextRange> documents;
  };
  TextForm form_;
  DatasetInfo info_;
  std::array<Part, 3> parts_;  // by Split
};

/// Questions of {train,validation,test}.jsonl. Fields: `context`, `choices`, `label`: the index of
/// the right one.
class TextChoice final : public Dataset {
 public:
  /// \throws FileError  there is none of the files, or a line is not a question
  explicit TextChoice(const std::filesystem::path& folder);

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override {
    return std::ssize(questions_[static_cast<std::size_t>(split)]);
  }
  void read(Split split, std::int64_t id, Sample& sample) const override;
  [[nodiscard]] std::int64_t label(Split split, std::int64_t id) const override {
    return questions_[static_cast<std::size_t>(split)].at(static_cast<std::size_t>(id)).answer;
  }
  [[nodiscard]] double memoryBytes() const override;

 private:
  DatasetInfo info_;
  std::array<std::vector<ChoiceQuestion>, 3> questions_;  // by Split
};

class DocumentsSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

class ChoiceSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

}  // namespace vitrine::text
