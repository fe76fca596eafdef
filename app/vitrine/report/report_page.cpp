#include "app/vitrine/report/report_page.h"

#include <map>
#include <set>

#include "app/vitrine/report/stored_json.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/store/run_facts.h"

namespace vitrine::app {

namespace {

constexpr const char* kStyle = R"(:root {
  --page: #ffffff; --panel: #f4f6f8; --text: #1b1f24; --muted: #57606a; --line: #d0d7de;
  --accent: #0b5cad; --good: #1a6e3c; --bad: #a3262a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --panel: #1d2126; --text: #e6e9ec; --muted: #9aa4ae; --line: #363d45;
    --accent: #6cb2ff; --good: #62c98a; --bad: #ff8a8a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 68rem; background: var(--page);
  color: var(--text); font: 16px/1.5 Inter, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.4rem; margin: 3rem 0 .3rem; padding-top: 1.2rem;
  border-top: 2px solid var(--line); }
h3 { font-size: 1.08rem; margin: 2rem 0 .6rem; }
h4 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
h1, h2, h3, h4, p, td, th, figcaption { overflow-wrap: anywhere; }
a { color: var(--accent); }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap;
  gap: .3rem 1.4rem; }
.muted, .note, figcaption, caption, small { color: var(--muted); }
.note, figcaption, caption { font-size: .86rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums;
  margin: .4rem 0; }
caption { text-align: left; padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--muted); font-weight: 600; border-bottom-width: 2px; }
tbody th { font-weight: 600; min-width: 7rem; }
th.number, td.number { text-align: right; white-space: nowrap; }
td small { display: block; font-size: .8rem; }
td code, th code { font-size: .82rem; font-weight: 400; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre {
  margin: .5rem 0; padding: .7rem .9rem; background: var(--panel); border-radius: 6px;
  font-size: .8rem;
  overflow-x: auto;
}
pre.command { white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin: .4rem 0; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
figure { margin: 1rem 0 1.6rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(28rem, 100%), 1fr));
  gap: 0 1.2rem; }
.wide { grid-column: 1 / -1; }
img.chart { display: block; width: 100%; padding: .5rem; background: #ffffff;
  border: 1px solid var(--line); border-radius: 6px; }
.samples { display: flex; flex-wrap: wrap; gap: 3px; }
img.sample { image-rendering: pixelated; background: var(--panel); }
figcaption { margin-top: .4rem; }
.reproduced { color: var(--good); }
.contradicted { color: var(--bad); }
@media print {
  :root {
    --page: #ffffff; --panel: #f4f6f8; --text: #000000; --muted: #444444; --line: #bbbbbb;
    --accent: #000000; --good: #000000; --bad: #000000;
  }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .scroll { overflow: visible; }
  table { font-size: 8pt; }
  pre { white-space: pre-wrap; }
  figure, tr, .samples { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  nav { display: none; }
}
)";

std::string anchorOf(std::size_t number) { return "experiment-" + std::to_string(number + 1); }

Html contents(const std::vector<std::vector<store::RunRow>>& experiments) {
  Html items;
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    items += Html::element("li", Html::element("a", {{"href", "#" + anchorOf(i)}},
                                               Html(experiments[i].front().experiment)));
  }
  items += Html::element("li", Html::element("a", {{"href", "#environment"}}, Html("Environment")));
  return Html::element("nav", {{"aria-label", "Contents"}}, Html::element("ul", items));
}

}  // namespace

Html environmentPart(store::RunReader& store, const std::vector<store::RunRow>& rows) {
  std::set<std::int64_t> ids;
  for (const store::RunRow& row : rows) ids.insert(row.id);
  const auto environments =
      store::environmentsOf([&store](const std::string& sql) { return store.query(sql); }, ids);
  // Key, value, and of how many runs.
  std::vector<std::string> keys;
  std::map<std::string, std::map<std::string, int>> values;
  std::map<std::pair<std::string, std::string>, std::string> plugins;  // id, SHA-256: version
  for (const auto& [run, environment] : environments) {
    if (!environment.is_object()) continue;
    Json facts = environment;
    if (facts.contains("plugins") && facts.at("plugins").is_array()) {
      for (const Json& plugin : facts.at("plugins"))
        plugins[{wordAt(plugin, "id"), wordAt(plugin, "sha256")}] = wordAt(plugin, "version");
    }
    // Names of machines stay at home; seeds are in the table of runs.
    for (const char* key : {"plugins", "host", "seeds"}) facts.erase(key);
    for (const auto& [key, value] : flatten(facts)) {
      if (!values.contains(key)) keys.push_back(key);
      ++values[key][value.is_null() ? "unknown" : plainText(value)];
    }
  }
  Html content;
  if (keys.empty()) {
    content +=
        Html::element("p", Html("No environment is stored with these runs: none has begun."));
  } else {
    HtmlTable table{{"Fact", "Value"}, {}, ""};
    for (const std::string& key : keys) {
      const auto& found = values.at(key);
      table.add({textCell(key), textCell(joined(found, [&](const auto& each) {
                   return found.size() == 1
                              ? each.first
                              : each.first + " (" + std::to_string(each.second) + " of " +
                                    std::to_string(environments.size()) + " runs)";
                 }))});
    }
    content += toHtml(table);
  }
  if (!plugins.empty()) {
    HtmlTable table{{"Plugin", "Version", "SHA-256"}, {}, ""};
    for (const auto& [plugin, version] : plugins)
      table.add({textCell(plugin.first), textCell(version), codeCell(plugin.second)});
    Html list = Html::element("summary", Html(std::to_string(plugins.size()) + " plugins"));
    list += toHtml(table);
    content += Html::element("details", list);
  }
  Html all = Html::element("h2", Html("Environment"));
  all += content;
  return Html::element("section", {{"id", "environment"}}, all);
}

std::string reportPage(store::RunReader& store,
                       const std::vector<std::vector<store::RunRow>>& experiments,
                       const std::string& title, const PartOptions& options,
                       FigureDrawer& figures) {
  std::vector<store::RunRow> all;
  for (const std::vector<store::RunRow>& rows : experiments)
    all.insert(all.end(), rows.begin(), rows.end());

  Html parts;
  for (std::size_t i = 0; i < experiments.size(); ++i)
    parts += experimentPart(store, experiments[i], anchorOf(i), options, figures);

  Html head = Html::element("h1", Html(title));
  head += Html::element(
      "p", {{"class", "muted"}},
      Html("Vitrine " VITRINE_VERSION ", " + utcNow().substr(0, 10) + ", from the database " +
           store.file().filename().string() + " (" + store.uuid() + "), " +
           std::to_string(all.size()) + (all.size() == 1 ? " run." : " runs.")));
  head += contents(experiments);
  for (const std::string& problem : figures.problems())
    head += Html::element("p", {{"class", "note"}}, Html(problem));

  Html body = Html::element("header", head);
  Html main = parts;
  main += environmentPart(store, all);
  body += Html::element("main", main);
  return documentOf(title, kStyle, body);
}

}  // namespace vitrine::app
