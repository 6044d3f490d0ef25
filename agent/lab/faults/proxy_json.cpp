#include "agent/lab/faults/proxy_json.h"

#include <set>

namespace holdfast::agent::faults {
namespace {

constexpr sync::wire::JsonLimits json_limits = {.bytes = 1UL << 20, .depth = 16, .values = 20'000};

tl::unexpected<Error> bad_body(const std::string& what) {
  return fail(Errc::invalid, "bad request body: " + what);
}

tl::unexpected<Error> missing(const std::string& field) {
  return fail(Errc::invalid, "missing required field: " + field);
}

Result<json::value> parse_body(std::string_view body) {
  auto value = sync::wire::parse_json(body, json_limits);
  if (!value) return bad_body(value.error().what);
  return value;
}

// The field's value; null if it is missing or null, which mean the same in Go.
const json::value* field_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<std::string> text_field(const json::object& object, std::string_view name) {
  const json::value* value = field_of(object, name);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return bad_body(std::string(name) + ": not a string");
  return std::string(value->get_string());
}

// An integer that a 64-bit signed number can hold.
std::optional<std::int64_t> integer(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  return std::nullopt;
}

// Reads the fields that a client may change in `config`.
Status read_fields(const json::object& object, ProxyConfig& config) {
  TRY(const std::string listen, text_field(object, "listen"));
  TRY(const std::string upstream, text_field(object, "upstream"));
  if (!listen.empty()) {
    auto parsed = parse_listen(listen);
    if (!parsed) return bad_body(parsed.error().what);
    config.listen = *std::move(parsed);
  }
  if (!upstream.empty()) {
    auto parsed = parse_upstream(upstream);
    if (!parsed) return bad_body(parsed.error().what);
    config.upstream = *std::move(parsed);
  }
  if (const json::value* enabled = field_of(object, "enabled")) {
    if (!enabled->is_bool()) return bad_body("enabled: neither true nor false");
    config.enabled = enabled->get_bool();
  }
  return {};
}

// `where` is "" or names the proxy by its number, for errors.
Result<ProxyConfig> read_new_proxy(const json::value& document, const std::string& where) {
  if (!document.is_object()) return bad_body("a proxy is not an object" + where);
  const json::object& object = document.get_object();
  ProxyConfig config;
  config.listen = {"127.0.0.1", 0};
  TRY(config.name, text_field(object, "name"));
  if (config.name.empty()) return missing("name" + where);
  if (auto named = check_name("proxy", config.name); !named) return bad_body(named.error().what);
  if (auto read = read_fields(object, config); !read) return fail(read.error());
  if (config.upstream.host.empty()) return missing("upstream" + where);
  return config;
}

Status read_attributes(const json::object& object, Toxic& toxic) {
  const json::value* attributes = field_of(object, "attributes");
  if (attributes == nullptr) return {};
  if (!attributes->is_object()) return bad_body("attributes: not an object");
  for (const auto& [name, value] : attributes->get_object()) {
    const auto number = integer(value);
    // An unknown attribute is the worse mistake, so it is reported first.
    if (auto set = toxic.set(std::string(name), number.value_or(0)); !set) {
      return bad_body(set.error().what);
    }
    if (!number) return bad_body("attribute " + std::string(name) + ": not a whole number");
  }
  return {};
}

Status read_toxicity(const json::object& object, Toxic& toxic) {
  const json::value* toxicity = field_of(object, "toxicity");
  if (toxicity == nullptr) return {};
  if (!toxicity->is_number()) return bad_body("toxicity: not a number");
  toxic.toxicity = toxicity->to_number<double>();
  return {};
}

Result<Toxic> completed(Toxic toxic) {
  auto complete_toxic = complete(std::move(toxic));
  if (!complete_toxic) return bad_body(complete_toxic.error().what);
  return complete_toxic;
}

}  // namespace

Result<net::HostPort> parse_listen(std::string_view text) {
  if (text.starts_with(':')) return parse_listen("0.0.0.0" + std::string(text));
  TRY(net::HostPort at, net::HostPort::parse(text));
  if (at.host == "localhost") at.host = "127.0.0.1";
  return at;
}

Result<net::HostPort> parse_upstream(std::string_view text) {
  TRY(net::HostPort at, net::HostPort::parse(text));
  if (at.port == 0) return fail(Errc::invalid, "a server has no port 0: \"" + at.text() + "\"");
  return at;
}

Result<ProxyConfig> read_proxy(std::string_view body) {
  TRY(const json::value document, parse_body(body));
  return read_new_proxy(document, "");
}

Result<std::vector<ProxyConfig>> read_proxies(std::string_view body) {
  TRY(const json::value document, parse_body(body));
  if (!document.is_array()) return bad_body("not an array of proxies");
  std::vector<ProxyConfig> configs;
  std::set<std::string> names;
  for (const json::value& each : document.get_array()) {
    const std::string where = " at proxy " + std::to_string(configs.size() + 1);
    TRY(ProxyConfig config, read_new_proxy(each, where));
    if (!names.insert(config.name).second) {
      return bad_body("the name \"" + config.name + "\" is used twice");
    }
    configs.push_back(std::move(config));
  }
  return configs;
}

Result<ProxyConfig> read_proxy_change(std::string_view body, ProxyConfig current) {
  TRY(const json::value document, parse_body(body));
  if (!document.is_object()) return bad_body("a proxy is not an object");
  if (auto read = read_fields(document.get_object(), current); !read) return fail(read.error());
  return current;
}

Result<Toxic> read_toxic(std::string_view body) {
  TRY(const json::value document, parse_body(body));
  return read_toxic(document);
}

Result<Toxic> read_toxic(const json::value& document) {
  if (!document.is_object()) return bad_body("a toxic is not an object");
  const json::object& object = document.get_object();
  TRY(const std::string stream, text_field(object, "stream"));
  TRY(const std::string type, text_field(object, "type"));
  std::optional<Stream> wanted;
  if (!stream.empty()) {
    TRY(wanted, parse_stream(stream));
  }
  TRY(const ToxicType known, parse_toxic_type(type));
  Toxic toxic = Toxic::of(known);
  toxic.stream = wanted.value_or(toxic.stream);
  TRY(toxic.name, text_field(object, "name"));
  if (auto read = read_toxicity(object, toxic); !read) return fail(read.error());
  if (auto read = read_attributes(object, toxic); !read) return fail(read.error());
  return completed(std::move(toxic));
}

Result<Toxic> read_toxic_change(std::string_view body, Toxic current) {
  TRY(const json::value document, parse_body(body));
  if (!document.is_object()) return bad_body("a toxic is not an object");
  const json::object& object = document.get_object();
  if (auto read = read_toxicity(object, current); !read) return fail(read.error());
  if (auto read = read_attributes(object, current); !read) return fail(read.error());
  return completed(std::move(current));
}

json::object to_json(const Toxic& toxic) {
  json::object attributes;
  const auto names = attributes_of(toxic.type);
  for (std::size_t i = 0; i < names.size(); ++i) attributes[names[i]] = toxic.values.at(i);
  return {{"attributes", std::move(attributes)},
          {"name", toxic.name},
          {"type", to_string(toxic.type)},
          {"stream", to_string(toxic.stream)},
          {"toxicity", toxic.toxicity}};
}

json::array to_json(const std::vector<Toxic>& toxics) {
  json::array list;
  for (const Stream stream : {Stream::upstream, Stream::downstream, Stream::both}) {
    for (const Toxic& toxic : toxics) {
      if (toxic.stream == stream) list.push_back(to_json(toxic));
    }
  }
  return list;
}

json::object to_json(const ProxyConfig& proxy, const std::vector<Toxic>& toxics) {
  return {{"name", proxy.name},
          {"listen", proxy.listen.text()},
          {"upstream", proxy.upstream.text()},
          {"enabled", proxy.enabled},
          {"toxics", to_json(toxics)}};
}

}  // namespace holdfast::agent::faults
