// The section `fleet`: sites and their links.

#include <set>

#include "agent/lab/scenario/sections.h"
#include "sync/objects/name.h"
#include "sync/objects/names.h"

namespace holdfast::agent::lab {
namespace {

constexpr Duration latency_max = std::chrono::minutes(10);
constexpr std::int64_t site_pods_max = 10'000;

std::string first_reason(const sync::objects::Reasons& reasons, const std::string& value) {
  return reasons.empty() ? std::string() : quoted_text(value) + ": " + reasons.front();
}

FieldTable quality_fields(SectionReader& reader, LinkQuality& quality) {
  FieldReader& fields = reader.fields;
  return {{"latency", fields.duration(quality.latency, Duration::zero(), latency_max)},
          {"jitter", fields.duration(quality.jitter, Duration::zero(), latency_max)},
          {"loss", fields.fraction(quality.loss)},
          {"rate", fields.rate(quality.rate)}};
}

void read_quality(SectionReader& reader, const YamlItem& item, LinkProfile& out) {
  LinkQuality both;
  const ReadItem ignore = [](const YamlItem& /*direction*/) {};
  FieldTable fields = quality_fields(reader, both);
  fields.emplace_back("up", ignore);
  fields.emplace_back("down", ignore);
  reader.fields.map(item, fields);
  LinkProfile made{.name = "custom", .up = both, .down = both, .trace = {}};
  for (const auto& [key, quality] : {std::pair{"up", &made.up}, std::pair{"down", &made.down}}) {
    const YamlNode* direction = item.node.find(key);
    if (direction == nullptr) continue;
    reader.fields.map({*direction, path_of(item.path, key)}, quality_fields(reader, *quality));
  }
  out = std::move(made);
}

// The points of a trace. Each file is read once.
const Result<std::vector<TracePoint>>& trace_of(SectionReader& reader, const std::string& file) {
  const auto known = reader.traces.find(file);
  if (known != reader.traces.end()) return known->second;
  auto content = reader.open(file);
  Result<std::vector<TracePoint>> points;
  if (content) {
    points = parse_trace(printable(file), content->content, reader.limits.trace);
  } else {
    points = fail(content.error());
  }
  return reader.traces.emplace(file, std::move(points)).first->second;
}

void read_trace_link(SectionReader& reader, const YamlItem& item, LinkProfile& out) {
  LinkProfile made;
  std::string file;
  reader.fields.map(
      item, {{"trace", reader.fields.text(file)}, {"repeat", reader.fields.flag(made.repeats)}});
  if (file.empty()) return;
  const YamlItem trace{*item.node.find("trace"), path_of(item.path, "trace")};
  const auto& points = trace_of(reader, file);
  if (!points) return reader.fields.wrong(trace, points.error().what);
  count_points(reader, trace, points->size(), 1);
  if (reader.trace_points > reader.limits.trace_points) return;
  made.name = file;
  made.trace = *points;
  made.up = made.trace.front().up;
  made.down = made.trace.front().down;
  out = std::move(made);
}

ReadItem taint_reader(SectionReader& reader, std::vector<Taint>& out) {
  return [&reader, &out](const YamlItem& item) {
    FieldReader& fields = reader.fields;
    Taint taint;
    fields.map(item,
               {{"key", fields.text(taint.key, check_key)},
                {"value", fields.text(taint.value, check_label_text)},
                {"effect", fields.choice<std::string>(taint.effect, "effect",
                                                      {{"NoSchedule", "NoSchedule"},
                                                       {"PreferNoSchedule", "PreferNoSchedule"},
                                                       {"NoExecute", "NoExecute"}})}});
    fields.require(item, "key");
    fields.require(item, "effect");
    out.push_back(std::move(taint));
  };
}

FieldTable site_fields(SectionReader& reader, Site& site) {
  FieldReader& fields = reader.fields;
  const ReadItem capacity = [&reader, &site](const YamlItem& item) {
    FieldReader& of = reader.fields;
    of.map(item, {{"cpu", of.quantity(site.cpu)},
                  {"memory", of.quantity(site.memory)},
                  {"pods", of.integer(site.pods, 1, site_pods_max)}});
  };
  const ReadItem taints = [&reader, &site](const YamlItem& item) {
    reader.fields.list(item, reader.limits.entries, taint_reader(reader, site.taints));
  };
  return {{"name", fields.text(site.name, check_name)},
          {"nodes", fields.integer(site.nodes, 1, reader.limits.nodes)},
          {"zone", fields.text(site.zone, check_label_text)},
          {"link", link_reader(reader, site.link)},
          {"agent", fields.choice<NodeAgent>(
                        site.agent, "agent",
                        {{"holdfast", NodeAgent::holdfast}, {"none", NodeAgent::none}})},
          {"labels", fields.texts(site.labels, check_key, check_label_text)},
          {"annotations", fields.texts(site.annotations, check_key, {})},
          {"taints", taints},
          {"capacity", capacity}};
}

// Names must tell sites and nodes apart: "a-2" is a node of a site "a" with two nodes.
void check_site_names(SectionReader& reader, const std::vector<YamlItem>& items,
                      const Scenario& scenario) {
  std::set<std::string_view> seen;
  const ScenarioNames names(scenario);
  for (std::size_t i = 0; i < scenario.sites.size(); ++i) {
    const std::string& name = scenario.sites[i].name;
    if (!seen.insert(name).second) {
      reader.fields.wrong(items[i], "two sites are called " + quoted_text(name));
    }
    const auto [other, number] = split_node_name(name);
    const Site* owner = number > 0 ? names.site_of(other) : nullptr;
    if (owner != nullptr && owner->name == other && number <= owner->nodes) {
      reader.fields.wrong(items[i], quoted_text(name) + " is also the name of a node of site " +
                                        quoted_text(owner->name));
    }
  }
}

// The sites of a fleet and the items that they were read from.
void read_sites(SectionReader& reader, const YamlItem& list, Scenario& scenario) {
  std::vector<YamlItem> items;
  reader.fields.list(list, reader.limits.sites, [&reader, &scenario, &items](const YamlItem& item) {
    Site site;
    site.link = *named_profile("ethernet");
    reader.fields.map(item, site_fields(reader, site));
    reader.fields.require(item, "name");
    if (site.labels.contains(std::string(sync::objects::label_zone))) {
      reader.fields.wrong(item, std::string(sync::objects::label_zone) + " is set by the key zone");
    }
    if (site.name.empty()) return;
    if (site.zone.empty()) site.zone = site.name;
    scenario.sites.push_back(std::move(site));
    items.push_back(item);
  });
  check_site_names(reader, items, scenario);
}

}  // namespace

void count_points(SectionReader& reader, const YamlItem& item, std::size_t points,
                  std::size_t times) {
  reader.trace_points += points * times;
  if (reader.trace_points <= reader.limits.trace_points) return;
  reader.fields.wrong(item, "all links together have more than " +
                                std::to_string(reader.limits.trace_points) + " points");
}

std::string check_name(const std::string& name) {
  for (const char* reserved : {"all", "cloud", "api-server"}) {
    if (name == reserved) return quoted_text(name) + " is reserved";
  }
  return first_reason(sync::objects::check_dns1123_label(name), name);
}

std::string check_key(const std::string& key) {
  return first_reason(sync::objects::check_qualified_name(key), key);
}

std::string check_label_text(const std::string& value) {
  return first_reason(sync::objects::check_label_value(value), value);
}

ReadItem link_reader(SectionReader& reader, LinkProfile& out) {
  return [&reader, &out](const YamlItem& item) {
    if (item.node.kind == YamlNode::Kind::map) {
      if (item.node.find("trace") != nullptr) return read_trace_link(reader, item, out);
      return read_quality(reader, item, out);
    }
    const std::string* name = reader.fields.word(item, "a profile's name or a map");
    if (name == nullptr) return;
    if (auto profile = named_profile(*name)) {
      out = *std::move(profile);
      return;
    }
    const std::string hint = reader.fields.problems().hint(*name, profile_names());
    reader.fields.wrong(
        item, "unknown profile " + quoted_text(*name) +
                  (hint.empty() ? "; known are " + alternatives(profile_names(), "and") : hint));
  };
}

void read_fleet(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  const ReadItem sites = [&reader, &scenario](const YamlItem& list) {
    read_sites(reader, list, scenario);
    std::int64_t nodes = 0;
    for (const Site& site : scenario.sites) nodes += site.nodes;
    if (nodes > reader.limits.nodes) {
      reader.fields.wrong(list, std::to_string(nodes) + " nodes; at most " +
                                    std::to_string(reader.limits.nodes) + " are allowed");
    }
    if (list.node.kind == YamlNode::Kind::list && list.node.items.empty()) {
      reader.fields.wrong(list, "a fleet needs a site");
    }
  };
  reader.fields.map(item, {{"sites", sites}});
  reader.fields.require(item, "sites");
}

}  // namespace holdfast::agent::lab
