#include "core/config/toml/node.h"

#include "core/base/text.h"

namespace vitrine {

namespace {

Node& childOf(Node& table, const std::string& name, const Node& from) {
  for (auto& [key, child] : table.children) {
    if (key == name) return child;
  }
  Node& child = table.children.emplace_back(name, Node{}).second;
  child.isTable = true;
  child.keyLine = from.keyLine;
  child.keyColumn = from.keyColumn;
  child.line = from.keyLine;
  child.column = from.keyColumn;
  child.source = from.source;
  return child;
}

void makeTable(Node& node, const Node& from) {
  if (node.isTable) return;
  node = Node{};
  node.isTable = true;
  node.keyLine = node.line = from.keyLine;
  node.keyColumn = node.column = from.keyColumn;
  node.source = from.source;
}

void layValue(Node& place, const Node& layer) {
  if (!layer.isTable) {
    place = layer;
    return;
  }
  if (layer.replaces) {
    place = Node{};
    place.isTable = true;
    place.replaces = true;
    place.source = layer.source;
  } else {
    makeTable(place, layer);
  }
  if (layer.line > 0) {
    place.keyLine = layer.keyLine;
    place.keyColumn = layer.keyColumn;
    place.line = layer.line;
    place.column = layer.column;
    place.source = layer.source;
  }
  layTable(place, layer);
}

}  // namespace

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

const Node* Node::find(std::string_view name) const {
  for (const auto& [key, child] : children) {
    if (key == name) return &child;
  }
  return nullptr;
}

const Node* Node::findPath(std::string_view dottedKey) const {
  const Node* node = this;
  for (;;) {
    const std::size_t dot = dottedKey.find('.');
    node = node->find(dottedKey.substr(0, dot));
    if (!node || dot == std::string_view::npos) return node;
    dottedKey.remove_prefix(dot + 1);
  }
}

void Node::mark(Source where) {
  source = where;
  for (auto& [key, child] : children) child.mark(where);
  for (Node& item : items) item.mark(where);
}

void Node::neverReplace() {
  replaces = false;
  for (auto& [key, child] : children) child.neverReplace();
}

void Node::placeAt(const Node& other) {
  keyLine = other.keyLine;
  keyColumn = other.keyColumn;
  line = other.line;
  column = other.column;
  for (auto& [key, child] : children) child.placeAt(other);
}

Node nodeFrom(const Json& value, Source source) {
  Node node;
  node.source = source;
  if (!value.is_object()) {
    node.value = value;
    return node;
  }
  node.isTable = true;
  for (const auto& [name, inner] : value.items())
    node.children.emplace_back(name, nodeFrom(inner, source));
  return node;
}

Json jsonOf(const Node& node) {
  if (!node.isTable) return node.value.is_discarded() ? Json() : node.value;
  Json table = Json::object();
  for (const auto& [name, child] : node.children) table[name] = jsonOf(child);
  return table;
}

void lay(Node& root, const std::vector<std::string>& path, const Node& layer) {
  Node* place = &root;
  for (const std::string& name : path) {
    makeTable(*place, layer);
    place = &childOf(*place, name, layer);
  }
  layValue(*place, layer);
}

void layTable(Node& root, const Node& layer) {
  for (const auto& [key, child] : layer.children) lay(root, split(key, '.'), child);
}

}  // namespace vitrine
