// The client side of `holdfast-lab proxy`: list, set and clear.

#include "agent/lab/faults/proxy_command.h"
#include "agent/lab/faults/proxy_json.h"
#include "platform/http/client.h"
#include "platform/terminal.h"
#include "platform/text.h"

namespace holdfast::agent::faults {

namespace asio = boost::asio;

namespace {

constexpr Duration call_limit = std::chrono::seconds(5);

// One running `holdfast-lab proxy`, or a toxiproxy.
class ProxyClient {
 public:
  ProxyClient(net::HostPort at, const Clock& clock)
      : client_(http::Endpoint{std::move(at)}), clock_(clock) {}

  asio::awaitable<Result<std::string>> list();
  asio::awaitable<Result<std::string>> set(std::string name, Toxic toxic);
  // Removes the toxics of that name or, if there is none, of that type; all if `which` is empty.
  asio::awaitable<Result<std::string>> clear(std::string name, std::string which);

 private:
  struct Answer {
    int status = 0;
    json::value body = nullptr;
  };
  // Errors: as call_proxies() has them, but not for a status of `allowed`.
  asio::awaitable<Result<Answer>> call(http::Method method, std::string target, std::string body,
                                       int allowed);
  asio::awaitable<Result<Answer>> get(std::string target);
  asio::awaitable<Result<std::vector<Toxic>>> toxics_of(std::string name);

  http::Client client_;
  const Clock& clock_;
};

Errc code_of(int status) {
  if (status == 404) return Errc::not_found;
  return status == 400 ? Errc::invalid : Errc::unavailable;
}

asio::awaitable<Result<ProxyClient::Answer>> ProxyClient::call(http::Method method,
                                                               std::string target, std::string body,
                                                               int allowed) {
  http::Request request{.method = method, .target = std::move(target), .body = std::move(body)};
  request.headers.set("Content-Type", "application/json");
  request.headers.set("User-Agent", "holdfast-lab");
  const std::string at = client_.endpoint().at.text();
  auto response = co_await client_.send(std::move(request), clock_.mono() + call_limit);
  if (!response) {
    co_return fail(
        "no proxy answers at " + at + ", start one with holdfast-lab proxy LISTEN TARGET",
        response.error());
  }
  Answer answer{.status = response->status};
  if (!response->body.empty()) {
    auto parsed = sync::wire::parse_json(response->body);
    if (!parsed) co_return fail(Errc::corrupt, at + " does not answer as a proxy does");
    answer.body = *std::move(parsed);
  }
  if (answer.status < 300 || answer.status == allowed) co_return answer;
  const json::object* const object = answer.body.if_object();
  const json::value* const error = object == nullptr ? nullptr : object->if_contains("error");
  const bool has_text = error != nullptr && error->is_string();
  std::string why = "HTTP " + std::to_string(answer.status);
  if (has_text) why = escape_for_terminal(error->get_string());
  co_return fail(code_of(answer.status), std::move(why));
}

asio::awaitable<Result<ProxyClient::Answer>> ProxyClient::get(std::string target) {
  const std::string none;
  return call(http::Method::get, std::move(target), none, 0);
}

Result<std::vector<Toxic>> read_toxics(const json::value& document) {
  std::vector<Toxic> toxics;
  if (!document.is_array()) return fail(Errc::corrupt, "the answer has no list of toxics");
  for (const json::value& each : document.get_array()) {
    TRY(Toxic toxic, read_toxic(each));
    toxics.push_back(std::move(toxic));
  }
  return toxics;
}

asio::awaitable<Result<std::vector<Toxic>>> ProxyClient::toxics_of(std::string name) {
  const std::string target = "/proxies/" + name + "/toxics";
  CO_TRY(const Answer answer, co_await get(target));
  co_return read_toxics(answer.body);
}

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return "-";
  return escape_for_terminal(value->get_string());
}

// The row of one proxy in the table.
Result<TableRow> row_of(std::string_view name, const json::value& document) {
  if (!document.is_object()) return fail(Errc::corrupt, "the answer has a proxy without fields");
  const json::object& proxy = document.get_object();
  const json::value* const enabled = proxy.if_contains("enabled");
  const json::value* const list = proxy.if_contains("toxics");
  TRY(const std::vector<Toxic> toxics, read_toxics(list == nullptr ? json::array() : *list));
  std::string shown;
  for (const Toxic& toxic : toxics) shown.append(shown.empty() ? "" : ", ").append(to_text(toxic));
  const bool is_enabled = enabled != nullptr && enabled->is_bool() && enabled->get_bool();
  return TableRow{escape_for_terminal(name), text_of(proxy, "listen"), text_of(proxy, "upstream"),
                  is_enabled ? "enabled" : "disabled", shown.empty() ? "-" : shown};
}

asio::awaitable<Result<std::string>> ProxyClient::list() {
  const std::string target = "/proxies";
  CO_TRY(const Answer answer, co_await get(target));
  if (!answer.body.is_object()) co_return fail(Errc::corrupt, "the answer has no proxies");
  std::vector<TableRow> rows{{"NAME", "LISTEN", "TARGET", "STATE", "TOXICS"}};
  for (const auto& [name, proxy] : answer.body.get_object()) {
    CO_TRY(TableRow row, row_of(name, proxy));
    rows.push_back(std::move(row));
  }
  co_return format_table(rows);
}

asio::awaitable<Result<std::string>> ProxyClient::set(std::string name, Toxic toxic) {
  constexpr int exists = 409;
  const std::string all = "/proxies/" + name + "/toxics";
  const std::string body = sync::wire::serialize(to_json(toxic));
  CO_TRY(const Answer added, co_await call(http::Method::post, all, body, exists));
  if (added.status != exists) co_return name + ": added " + to_text(toxic) + "\n";
  const std::string one = all + "/" + toxic.name;
  CO_TRY(const Answer present, co_await get(one));
  CO_TRY(const Toxic old, read_toxic(present.body));
  if (old.type != toxic.type || old.stream != toxic.stream) {
    co_return fail(Errc::invalid, toxic.name + " is now " + to_text(old) +
                                      "; clear it first, or give the new one a name=");
  }
  CO_TRY([[maybe_unused]] const Answer changed, co_await call(http::Method::patch, one, body, 0));
  co_return name + ": changed " + to_text(toxic) + "\n";
}

asio::awaitable<Result<std::string>> ProxyClient::clear(std::string name, std::string which) {
  CO_TRY(const std::vector<Toxic> toxics, co_await toxics_of(name));
  const std::string none;
  std::vector<std::string> names;
  std::vector<std::string> same_type;
  for (const Toxic& toxic : toxics) {
    if (which.empty() || toxic.name == which) names.push_back(toxic.name);
    if (to_string(toxic.type) == which) same_type.push_back(toxic.name);
  }
  if (names.empty()) names = std::move(same_type);
  if (names.empty() && !which.empty()) {
    co_return fail(Errc::not_found, "no toxic \"" + which + "\"");
  }
  for (const std::string& each : names) {
    const std::string target = "/proxies/" + name + "/toxics/" + each;
    CO_TRY([[maybe_unused]] const Answer gone,
           co_await call(http::Method::remove, target, none, 0));
  }
  if (names.empty()) co_return name + ": has no toxics\n";
  co_return name + ": removed " + join(names, ", ") + "\n";
}

// Names the proxy in an error about it.
Result<std::string> with_name(const std::string& name, Result<std::string> text) {
  if (text || text.error().code == Errc::unavailable) return text;
  return fail(name, text.error());
}

}  // namespace

asio::awaitable<Result<std::string>> call_proxies(ProxySettings settings, const Clock& clock) {
  const std::vector<std::string>& words = settings.words;
  const std::string command = words.front();
  if (!settings.toxics.empty()) {
    co_return fail(Errc::invalid, "--toxic is for proxy LISTEN TARGET; use proxy set NAME TOXIC");
  }
  auto at = net::HostPort::parse(settings.admin);
  if (!at) co_return fail("--admin", at.error());
  ProxyClient client(*std::move(at), clock);
  if (command == "list" && words.size() == 1) co_return co_await client.list();
  const bool is_set = command == "set" && words.size() >= 3;
  const bool is_clear = command == "clear" && (words.size() == 2 || words.size() == 3);
  if (!is_set && !is_clear) {
    co_return fail(Errc::invalid,
                   "use proxy list, proxy set NAME TOXIC [attribute=value]... or proxy clear NAME "
                   "[TOXIC]");
  }
  const std::string name = words[1];
  if (auto named = check_name("proxy", name); !named) co_return fail(named.error());
  const std::vector<std::string> rest(words.begin() + 2, words.end());
  if (is_clear) {
    const std::string which = rest.empty() ? "" : rest.front();
    auto cleared = co_await client.clear(name, which);
    co_return with_name(name, std::move(cleared));
  }
  CO_TRY(const Toxic toxic, parse_toxic(rest));
  auto set = co_await client.set(name, toxic);
  co_return with_name(name, std::move(set));
}

}  // namespace holdfast::agent::faults
