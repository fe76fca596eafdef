#include "plugins/datasets/text/text_datasets.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/datasets/text/continuations.h"
#include "plugins/datasets/text/sequences.h"

namespace vitrine::text {

namespace {

namespace fs = std::filesystem;

constexpr std::array kSplits = {Split::Train, Split::Validation, Split::Test};

/// The files "<split><ending>" of a folder that are there. \throws FileError  there is none
std::vector<std::pair<Split, fs::path>> filesOf(const fs::path& folder, const char* ending) {
  std::vector<std::pair<Split, fs::path>> files;
  for (const Split split : kSplits) {
    const fs::path file = folder / (toString(split) + ending);
    std::error_code ignored;  // a file that cannot be read is not there
    if (fs::exists(file, ignored)) files.emplace_back(split, file);
  }
  if (files.empty()) {
    throw FileError(folder.string() + " has none of train" + ending + ", validation" + ending +
                    " and test" + ending + "; set data.folder to the folder that has them");
  }
  return files;
}

}  // namespace

TextDocuments::TextDocuments(const fs::path& folder, Documents divide, TextForm form)
    : form_(form) {
  for (const auto& [split, file] : filesOf(folder, ".txt")) {
    Part& part = parts_[static_cast<std::size_t>(split)];
    part.text = readCorpus(file);
    part.documents = divideText(part.text, divide);
    if (part.documents.empty()) throw FileError(file.string() + " holds no text");
  }
  if (form == TextForm::Bytes) {
    info_.fields = {{"tokens", FieldKind::Tokens, at::kLong, {-1}, "bytes of the UTF-8 text"}};
  } else {
    info_.fields = {{"text", FieldKind::Text, at::kByte, {}, "one document"}};
  }
}

void TextDocuments::read(Split split, std::int64_t id, Sample& sample) const {
  requireSample(split, id);
  const Part& part = parts_[static_cast<std::size_t>(split)];
  const TextRange range = part.documents[static_cast<std::size_t>(id)];
  const std::string_view text(part.text.data() + range.begin, range.end - range.begin);
  if (form_ == TextForm::Text) {
    sample["text"].resizeTexts(1)[0] = text;
    return;
  }
  const auto tokens = sample["tokens"].resize<std::int64_t>({std::ssize(text)});
  std::transform(text.begin(), text.end(), tokens.begin(),
                 [](char c) { return static_cast<std::int64_t>(static_cast<unsigned char>(c)); });
}

double TextDocuments::memoryBytes() const {
  double bytes = 0;
  for (const Part& part : parts_)
    bytes += static_cast<double>(part.text.size() + part.documents.size() * sizeof(TextRange));
  return bytes;
}

TextChoice::TextChoice(const fs::path& folder) {
  for (const auto& [split, file] : filesOf(folder, ".jsonl"))
    questions_[static_cast<std::size_t>(split)] = readChoices(file);
  info_.fields = {{"context", FieldKind::Text, at::kByte, {}, "what the choices continue"},
                  {"choices", FieldKind::Text, at::kByte, {-1}, "2 to 64 of them"},
                  {"label", FieldKind::Label, at::kLong, {}, "index of the right choice"}};
}

void TextChoice::read(Split split, std::int64_t id, Sample& sample) const {
  requireSample(split, id);
  const ChoiceQuestion& question =
      questions_[static_cast<std::size_t>(split)][static_cast<std::size_t>(id)];
  sample["context"].resizeTexts(1)[0] = question.context;
  const auto choices = sample["choices"].resizeTexts(question.choices.size());
  std::copy(question.choices.begin(), question.choices.end(), choices.begin());
  sample["label"].resize<std::int64_t>({})[0] = question.answer;
}

double TextChoice::memoryBytes() const {
  double bytes = 0;
  for (const auto& questions : questions_) {
    for (const ChoiceQuestion& question : questions) {
      bytes += static_cast<double>(sizeof(question) + question.context.size());
      for (const std::string& choice : question.choices)
        bytes += static_cast<double>(sizeof(choice) + choice.size());
    }
  }
  return bytes;
}

ItemCard DocumentsSource::card() const {
  ItemCard card =
      itemCard(ItemKind::Dataset, "text_documents", "Text documents",
               "Documents of train.txt, validation.txt and test.txt, as bytes or as text");
  card.offers = {"tokens", "text"};
  Field divide =
      choiceField("divide", "paragraph", {"paragraph", "line", "file"}, "unit of a document")
          .titled("Documents");
  divide.withChoiceDocs({"text between empty lines", "a line", "a whole file"});
  Field form =
      choiceField("as", "tokens", {"tokens", "text"}, "field that a sample has").titled("As");
  form.withChoiceDocs({"bytes of the UTF-8 text, 0 to 255", "the text itself"});
  card.schema.fields = runOnly({folderField("folder with train.txt and, where there are any, "
                                            "validation.txt and test.txt"),
                                divide, form});
  return card;
}

std::shared_ptr<const Dataset> DocumentsSource::open(const Config& config) const {
  const std::string divide = config.text("divide");
  return std::make_shared<TextDocuments>(
      config.text("folder"),
      divide == "paragraph" ? Documents::Paragraph
      : divide == "line"    ? Documents::Line
                            : Documents::File,
      config.text("as") == "text" ? TextForm::Text : TextForm::Bytes);
}

ItemCard ChoiceSource::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "text_choice", "Text with choices",
                           "Questions of JSON lines: a context, choices and the right one");
  card.offers = {"context", "choices", "label"};
  card.schema.fields = {folderField("folder with train.jsonl, validation.jsonl or test.jsonl")};
  return card;
}

std::shared_ptr<const Dataset> ChoiceSource::open(const Config& config) const {
  return std::make_shared<TextChoice>(config.text("folder"));
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<DocumentsSource>());
  registry.add(std::make_unique<ChoiceSource>());
  registry.add(std::make_unique<ContinuationsSource>());
  registry.add(std::make_unique<SequencesSource>());
}

}  // namespace vitrine::text
