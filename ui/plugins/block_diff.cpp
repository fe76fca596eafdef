#include "ui/plugins/block_diff.h"

#include <QObject>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/config/experiment.h"
#include "core/config/lookup.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

constexpr std::size_t kMostVariants = 20;
constexpr int kSamePlace = 3, kSameKind = 1;  // how well two pieces fit

int fitOf(const ModelBlock& a, const ModelBlock& b) {
  if (a.kind != b.kind || (a.layer() < 0) != (b.layer() < 0)) return 0;
  return a.place() == b.place() ? kSamePlace : kSameKind;
}

bool isAlike(const std::optional<ModelBlock>& a, const std::optional<ModelBlock>& b) {
  if (!a || !b) return !a && !b;
  return a->place() == b->place() && a->kind == b->kind && a->what == b->what &&
         a->parameters == b->parameters && a->flops == b->flops;
}

int layerOf(const BlockPair& pair) { return pair.a ? pair.a->layer() : pair.b->layer(); }

/// Puts `value` at a dotted key of a table.
void putAt(Json& table, const std::string& key, const Json& value) {
  Json* at = &table;
  const std::vector<std::string> parts = split(key, '.');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    Json& next = (*at)[parts[i]];
    if (!next.is_object()) next = Json::object();
    at = &next;
  }
  (*at)[parts.back()] = value;
}

/// At most so many bytes of `name`; a letter of several bytes is not cut.
std::string beginningOf(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  while (most > 0 && (static_cast<unsigned char>(name[most]) & 0xC0U) == 0x80U) --most;
  return name.substr(0, most);
}

bool isSoundVariant(Document document, const Document::Variant& variant, const Catalog& catalog) {
  document.variants = {{"baseline", {}}, variant};
  return planExperiment(toText(document), "", catalog).problems.empty();
}

}  // namespace

int ModelBlock::layer() const {
  static const QRegularExpression kLayer(QStringLiteral("^[a-z_]+\\.(\\d+)\\."));
  const auto match = kLayer.match(name);
  return match.hasMatch() ? match.captured(1).toInt() : -1;
}

QString ModelBlock::place() const {
  static const QRegularExpression kLayer(QStringLiteral("^[a-z_]+\\.\\d+\\."));
  QString rest = name;
  return rest.remove(kLayer);
}

std::vector<ModelBlock> blocksFromJson(const Json& report) {
  std::vector<ModelBlock> blocks;
  for (const Json& one : stateList(report, "blocks")) {
    if (!one.is_object()) continue;
    blocks.push_back({.name = stateWords(one, "name"),
                      .kind = stateWords(one, "kind"),
                      .what = stateWords(one, "operator"),
                      .parameters = static_cast<std::int64_t>(stateNumber(one, "parameters")),
                      .flops = stateNumber(one, "flops"),
                      .bytes = stateNumber(one, "activation_bytes")});
  }
  return blocks;
}

bool BlockPair::isChanged() const { return !isAlike(a, b); }
std::int64_t BlockPair::parameterDelta() const {
  return (b ? b->parameters : 0) - (a ? a->parameters : 0);
}
double BlockPair::flopDelta() const { return (b ? b->flops : 0) - (a ? a->flops : 0); }

bool BlockGroup::isChanged() const {
  return std::any_of(pairs.begin(), pairs.end(),
                     [](const BlockPair& pair) { return pair.isChanged(); });
}

std::vector<BlockPair> alignBlocks(const std::vector<ModelBlock>& a,
                                   const std::vector<ModelBlock>& b) {
  // best[i][j]: how well the pieces from i of A and from j of B can be made to fit.
  const std::size_t rows = a.size() + 1, columns = b.size() + 1;
  std::vector<int> best(rows * columns, 0);
  const auto at = [&best, columns](std::size_t i, std::size_t j) -> int& {
    return best[i * columns + j];
  };
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      const int fit = fitOf(a[i], b[j]);
      at(i, j) = std::max({at(i + 1, j), at(i, j + 1), fit > 0 ? fit + at(i + 1, j + 1) : 0});
    }
  }
  std::vector<BlockPair> pairs;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size()) {
      const int fit = fitOf(a[i], b[j]);
      if (fit > 0 && at(i, j) == fit + at(i + 1, j + 1)) {
        pairs.push_back({a[i++], b[j++]});
        continue;
      }
    }
    const bool isOfB = i == a.size() || (j < b.size() && at(i, j + 1) >= at(i + 1, j));
    if (isOfB) {
      pairs.push_back({std::nullopt, b[j++]});
    } else {
      pairs.push_back({a[i++], std::nullopt});
    }
  }
  return pairs;
}

std::vector<BlockGroup> groupBlocks(const std::vector<BlockPair>& pairs) {
  std::vector<BlockGroup> groups;
  int first = -1, last = -1;
  const auto name = [&groups, &first, &last] {
    if (groups.empty() || groups.back().layers == 0) return;
    groups.back().name = first == last ? QObject::tr("block %1").arg(first)
                                       : QObject::tr("blocks %1\u2013%2").arg(first).arg(last);
  };
  for (std::size_t from = 0; from < pairs.size();) {
    const int layer = layerOf(pairs[from]);
    std::size_t to = from + 1;
    if (layer >= 0) {
      while (to < pairs.size() && layerOf(pairs[to]) == layer) ++to;
    }
    const std::vector<BlockPair> own(pairs.begin() + static_cast<std::ptrdiff_t>(from),
                                     pairs.begin() + static_cast<std::ptrdiff_t>(to));
    const bool isSame =
        layer >= 0 && !groups.empty() && groups.back().layers > 0 &&
        std::equal(own.begin(), own.end(), groups.back().pairs.begin(), groups.back().pairs.end(),
                   [](const BlockPair& left, const BlockPair& right) {
                     return isAlike(left.a, right.a) && isAlike(left.b, right.b);
                   });
    if (isSame) {
      ++groups.back().layers;
      last = layer;
    } else {
      BlockGroup group;
      group.pairs = own;
      group.layers = layer >= 0 ? 1 : 0;
      group.name = own.front().a ? own.front().a->name : own.front().b->name;
      groups.push_back(std::move(group));
      first = last = layer;
    }
    name();
    from = to;
  }
  return groups;
}

Ablation ablationOf(Document base, const QString& nameA, const Json& modelA, const QString& nameB,
                    const Json& modelB, const Catalog& catalog) {
  base.sweep.clear();
  base.variants.clear();
  base.title = QObject::tr("%1 to %2, one difference at a time").arg(nameA, nameB).toStdString();
  Ablation ablation;
  std::set<std::string> taken;
  const auto add = [&](const std::string& wanted,
                       const std::vector<std::pair<std::string, Json>>& set) {
    if (base.variants.size() >= kMostVariants) {
      ++ablation.left;
      return;
    }
    std::string name = beginningOf(wanted, 80);
    for (int n = 2; !taken.insert(name).second; ++n)
      name = beginningOf(wanted, 76) + " " + std::to_string(n);
    base.variants.push_back({name, set});
    ablation.variants << QString::fromStdString(name);
  };
  Json whole = modelB;
  whole.erase("preset");  // its values are in the table already
  add(nameA.toStdString(), {});
  std::vector<Difference> later;
  std::vector<Difference> all = difference(modelA, modelB);
  std::erase_if(
      all, [](const Difference& one) { return one.key == "architecture" || one.key == "preset"; });
  const bool isOneArchitecture =
      modelA.value("architecture", Json()) == modelB.value("architecture", Json());
  for (const Difference& one : all) {
    const Document::Variant variant{"one", {{"model." + one.key, one.after}}};
    if (valueAt(modelB, one.key) != nullptr && isSoundVariant(base, variant, catalog)) {
      add("+ " + one.key + " = " + valueText(one.after).toStdString(), variant.set);
    } else {
      later.push_back(one);
    }
  }
  if (!(isOneArchitecture && all.size() == 1 && later.empty()))
    add(nameB.toStdString(), {{"model", whole}});
  for (const Difference& one : later) {
    if (valueAt(modelA, one.key) == nullptr || valueAt(modelB, one.key) == nullptr) continue;
    Json without = whole;
    putAt(without, one.key, one.before);
    const Document::Variant variant{"one", {{"model", without}}};
    if (isSoundVariant(base, variant, catalog))
      add(nameB.toStdString() + ", but " + one.key + " = " + valueText(one.before).toStdString(),
          variant.set);
  }
  ablation.text = toText(base);
  return ablation;
}

}  // namespace vitrine::ui
