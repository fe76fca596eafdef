// pad and pack: ragged tokens become dense rows. Without either they stay ragged.
#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/error.h"
#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

namespace {

Field tokensField() {
  return textField("field", "tokens", "field of the tokens").titled("Field").runOnly();
}

const SampleField& raggedTokens(const Config& config, const TransformContext& context,
                                const char* transform) {
  const std::string name = config.text("field");
  const SampleField* field = findField(context.fields, name);
  if (field == nullptr || field->kind != FieldKind::Tokens ||
      field->shape != std::vector<std::int64_t>{-1}) {
    throw ConfigError(std::string("data.pipeline: ") + transform + ": '" + name +
                      "' is not a field of tokens whose number differs from sample to sample");
  }
  return *field;
}

/// The fields of samples whose tokens `name` came into rows of `length`, and those added.
std::vector<SampleField> inRows(const TransformContext& context, const std::string& name,
                                std::int64_t length, std::vector<SampleField> added) {
  std::vector<SampleField> fields = context.fields;
  for (SampleField& field : fields) {
    if (field.name == name) field.shape = {length};
  }
  for (SampleField& field : added) fields.push_back(std::move(field));
  return fields;
}

ItemCard rowsCard(const char* id, const char* title, const char* doc, const Field& length) {
  ItemCard card = itemCard(ItemKind::Transform, id, title, doc);
  card.offers = {"batch"};
  Field wide = length;
  card.schema.fields = {
      tokensField(), wide.titled("Length").range(1, 1 << 20).withUnit("tokens").runOnly(),
      integerField("value", 0, "token that fills the rest of a row").titled("Filler").runOnly()};
  return card;
}

/// The tokens of each sample, out of a batch.
class Rows {
 public:
  Rows(Batch& batch, const std::string& name) : ragged_(batch.ragged.extract(name).mapped()) {}
  [[nodiscard]] std::int64_t size() const { return ragged_.offsets.size(0) - 1; }
  [[nodiscard]] std::span<const std::int64_t> operator[](std::int64_t i) const {
    const std::int64_t* offsets = ragged_.offsets.const_data_ptr<std::int64_t>();
    return {ragged_.values.const_data_ptr<std::int64_t>() + offsets[i],
            static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }

 private:
  Ragged ragged_;
};

class Pad final : public Transform {
 public:
  ItemCard card() const override {
    return rowsCard(
        "pad", "Pad tokens",
        "Tokens of each sample in a row of their own; <field>_count says how many they are",
        integerField("length", nullptr, "of a row; longer samples are cut. none: of the longest")
            .orNone());
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    const std::string name = raggedTokens(config, context, "pad").name;
    return inRows(context, name, config.maybeInteger("length").value_or(-1),
                  {{name + "_count", FieldKind::Number, at::kLong, {}, "tokens before padding"}});
  }

  std::unique_ptr<BatchTransform> forBatches(const Config& config,
                                             const TransformContext& context) const override {
    // Of length 0: that of the longest.
    return onBatches([name = raggedTokens(config, context, "pad").name,
                      asked = config.maybeInteger("length").value_or(0),
                      value = config.integer("value")](Batch& batch, const Draws&) {
      const Rows rows(batch, name);
      std::int64_t length = asked;
      if (length == 0) {
        for (std::int64_t i = 0; i < rows.size(); ++i)
          length = std::max(length, std::ssize(rows[i]));
      }
      at::Tensor dense = at::empty({rows.size(), length}, at::kLong);
      at::Tensor counts = at::empty({rows.size()}, at::kLong);
      std::int64_t* to = dense.mutable_data_ptr<std::int64_t>();
      for (std::int64_t i = 0; i < rows.size(); ++i, to += length) {
        const std::span<const std::int64_t> tokens = rows[i];
        const std::int64_t count = std::min(length, std::ssize(tokens));
        std::copy_n(tokens.begin(), count, to);
        std::fill(to + count, to + length, value);
        counts.mutable_data_ptr<std::int64_t>()[i] = count;
      }
      batch.fields[name] = std::move(dense);
      batch.fields[name + "_count"] = std::move(counts);
    });
  }
};

/// Rows of one length that hold the samples one after another, each wholly in one row.
class Pack final : public Transform {
 public:
  ItemCard card() const override {
    return rowsCard(
        "pack", "Pack tokens",
        "Tokens of several samples in one row; <field>_document says which sample a token is of, "
        "-1 for none, <field>_position where in it",
        integerField("length", 1024, "of a row; longer samples are cut"));
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    const std::string name = raggedTokens(config, context, "pack").name;
    const std::int64_t length = config.integer("length");
    return inRows(context, name, length,
                  {{name + "_document",
                    FieldKind::Number,
                    at::kLong,
                    {length},
                    "number of the sample within the batch, -1 for none"},
                   {name + "_position",
                    FieldKind::Number,
                    at::kLong,
                    {length},
                    "place of the token within its sample"}});
  }

  std::unique_ptr<BatchTransform> forBatches(const Config& config,
                                             const TransformContext& context) const override {
    return onBatches([name = raggedTokens(config, context, "pack").name,
                      length = config.integer("length"),
                      value = config.integer("value")](Batch& batch, const Draws&) {
      const Rows rows(batch, name);
      // The first row with room.
      std::vector<std::int64_t> used, rowOf, start;
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        const std::int64_t count = std::min(length, std::ssize(rows[i]));
        auto row = std::find_if(used.begin(), used.end(),
                                [&](std::int64_t taken) { return taken + count <= length; });
        if (row == used.end()) row = used.insert(used.end(), 0);
        rowOf.push_back(row - used.begin());
        start.push_back(*row);
        *row += count;
      }
      const std::int64_t count = std::ssize(used);
      at::Tensor tokens = at::full({count, length}, value, at::kLong);
      at::Tensor documents = at::full({count, length}, -1, at::kLong);
      at::Tensor positions = at::zeros({count, length}, at::kLong);
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        const std::int64_t at =
            rowOf[static_cast<std::size_t>(i)] * length + start[static_cast<std::size_t>(i)];
        const std::int64_t size = std::min(length, std::ssize(rows[i]));
        std::copy_n(rows[i].begin(), size, tokens.mutable_data_ptr<std::int64_t>() + at);
        std::fill_n(documents.mutable_data_ptr<std::int64_t>() + at, size, i);
        for (std::int64_t t = 0; t < size; ++t)
          positions.mutable_data_ptr<std::int64_t>()[at + t] = t;
      }
      batch.fields[name] = std::move(tokens);
      batch.fields[name + "_document"] = std::move(documents);
      batch.fields[name + "_position"] = std::move(positions);
    });
  }
};

}  // namespace

std::unique_ptr<Transform> makePad() { return std::make_unique<Pad>(); }
std::unique_ptr<Transform> makePack() { return std::make_unique<Pack>(); }

}  // namespace vitrine::transforms
