// label_text and tokenize: from labels to captions, from texts to tokens.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "plugins/transforms/text_encoder.h"
#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

namespace {

constexpr std::uint32_t kChoiceLane = 0, kWindowLane = 1;

std::string lowered(std::string name) {
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

/// The class's name in the place of {class}.
std::string filledIn(const std::string& form, const std::string& name) {
  const std::string place = "{class}";
  std::string text = form;
  for (std::size_t at = text.find(place); at != std::string::npos;
       at = text.find(place, at + name.size()))
    text.replace(at, place.size(), name);
  return text;
}

class LabelText final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "label_text", "Captions of labels",
                             "Several captions for each sample, made of the name of its class");
    card.needs = {"label"};
    card.offers = {"captions"};
    card.schema.fields = runOnly(
        {listField("templates", FieldType::Text,
                   {"a photo of a {class}", "an image of a {class}", "one {class} on black"},
                   "captions, with {class} for the name of the class")
             .titled("Templates"),
         listField("names", FieldType::Text, Json::array(),
                   "names of the classes in order; empty: those of the data set in lower case")
             .titled("Names")});
    return card;
  }

  std::vector<SampleField> fields(const Config&, const TransformContext& context) const override {
    std::vector<SampleField> fields = context.fields;
    std::erase_if(fields, [](const SampleField& field) { return field.name == "captions"; });
    fields.push_back({"captions", FieldKind::Text, at::kByte, {-1}, "made of the label"});
    return fields;
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    std::vector<std::string> names = config.texts("names");
    if (names.empty()) {
      for (const std::string& name : context.dataset->classes) names.push_back(lowered(name));
    }
    if (names.empty())
      throw ConfigError("data.pipeline: label_text: the data set names no classes; set its names");
    std::vector<std::string> templates = config.texts("templates");
    if (templates.empty())
      throw ConfigError("data.pipeline: label_text: there are no templates; give one or more");
    return onSamples(
        [templates = std::move(templates), names = std::move(names)](Sample& sample, const Draws&) {
          const std::int64_t label = sample.at("label").get<std::int64_t>()[0];
          if (label < 0 || label >= std::ssize(names)) {
            throw ConfigError("sample " + std::to_string(sample.id()) + " has the label " +
                              std::to_string(label) + ", and label_text names " +
                              std::to_string(names.size()) + " classes; set its names");
          }
          const auto texts = sample["captions"].resizeTexts(templates.size());
          for (std::size_t i = 0; i < templates.size(); ++i)
            texts[i] = filledIn(templates[i], names[static_cast<std::size_t>(label)]);
        });
  }
};

class Tokenize final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "tokenize", "Tokenize",
                             "Tokens of a text field; of several texts one is taken");
    card.offers = {"tokens"};
    Field window =
        choiceField("window", "random", {"random", "first"}, "part of a longer text that is used")
            .titled("Part taken");
    Field choose =
        choiceField("choose", "random", {"random", "first"}, "text that is used of several")
            .titled("Text taken");
    card.schema.fields = runOnly(
        {textField(
             "tokenizer", "bytes",
             "bytes, or a file: tokenizer.json, or tokenizer.model of SentencePiece or in lines of "
             "base64 and rank")
             .titled("Tokenizer"),
         listField("words", FieldType::Text, Json::array(),
                   "of bytes: texts that are one token each, behind the 264; the longest first")
             .titled("Words"),
         textField("field", nullptr, "field of the texts; none: captions, else text")
             .titled("Field")
             .orNone(),
         flagField("begin", true, "the tokenizer's first token stands before each text")
             .titled("Begin token"),
         flagField("end", true, "the tokenizer's last token stands behind each text")
             .titled("End token"),
         integerField("length", nullptr, "tokens at most, with those; none: all")
             .titled("Length")
             .range(2, 1 << 20)
             .withUnit("tokens")
             .orNone(),
         window, choose});
    return card;
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    (void)textsOf(config, context);
    std::vector<SampleField> fields = context.fields;
    std::erase_if(fields, [](const SampleField& field) { return field.name == "tokens"; });
    fields.push_back({"tokens", FieldKind::Tokens, at::kLong, {-1}, "of the text"});
    return fields;
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    const std::shared_ptr<TextEncoder> encoder =
        encoders_.of(config.text("tokenizer"), config.texts("words"));
    std::optional<std::int64_t> begin, end;
    if (config.flag("begin")) begin = required(encoder->tokenizer().beginToken(), "begin");
    if (config.flag("end")) end = required(encoder->tokenizer().endToken(), "end");
    return onSamples([encoder, begin, end, field = textsOf(config, context),
                      length = config.maybeInteger("length").value_or(0),
                      takesFirst = config.text("choose") == "first",
                      beginsFirst = config.text("window") == "first"](Sample& sample,
                                                                      const Draws& draws) {
      const std::span<const std::string> texts = sample.at(field).texts();
      if (texts.empty()) {
        throw ConfigError("sample " + std::to_string(sample.id()) + " has no text in '" + field +
                          "'");
      }
      const auto count = std::ssize(texts);
      const std::int64_t chosen = takesFirst || count == 1 ? 0 : draws.below(count, kChoiceLane);
      const auto tokens =
          encoder->encode(texts[static_cast<std::size_t>(chosen)],
                          "'" + field + "' of sample " + std::to_string(sample.id()));
      const std::int64_t before = begin ? 1 : 0, size = std::ssize(*tokens);
      std::int64_t first = 0, taken = before + size + (end ? 1 : 0);
      if (length > 0 && taken > length) {
        first = beginsFirst ? 0 : draws.below(taken - length + 1, kWindowLane);
        taken = length;
      }
      const auto out = sample["tokens"].resize<std::int64_t>({taken});
      for (std::int64_t i = 0; i < taken; ++i) {
        const std::int64_t at = first + i - before;
        out[static_cast<std::size_t>(i)] =
            at < 0 ? *begin : at < size ? (*tokens)[static_cast<std::size_t>(at)] : *end;
      }
    });
  }

 private:
  static std::string textsOf(const Config& config, const TransformContext& context) {
    const std::string asked = config.text("field");
    for (const char* name : {"captions", "text"}) {
      if (!asked.empty() && asked != name) continue;
      const SampleField* field = findField(context.fields, name);
      if (field != nullptr && field->kind == FieldKind::Text) return name;
    }
    const SampleField* field = findField(context.fields, asked);
    if (field != nullptr && field->kind == FieldKind::Text) return asked;
    throw ConfigError("data.pipeline: tokenize: " +
                      (asked.empty() ? std::string("neither captions nor text")
                                     : "'" + asked + "' is not a field of texts") +
                      (asked.empty() ? " are among the fields; they are " : "; the fields are ") +
                      joined(context.fields, [](const SampleField& each) { return each.name; }));
  }

  static std::int64_t required(std::optional<std::int64_t> token, const char* key) {
    if (token) return *token;
    throw ConfigError(std::string("data.pipeline: tokenize: the tokenizer has no token to ") + key +
                      " a text with; set " + key + " = false");
  }

  mutable TextEncoders encoders_;
};

}  // namespace

std::unique_ptr<Transform> makeLabelText() { return std::make_unique<LabelText>(); }
std::unique_ptr<Transform> makeTokenize() { return std::make_unique<Tokenize>(); }

}  // namespace vitrine::transforms
