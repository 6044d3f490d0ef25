#include "agent/cloud/provider.h"

#include "platform/text.h"

namespace holdfast::agent {
namespace {

constexpr Duration patience = std::chrono::seconds(5);
constexpr std::string_view name_word = "{name}";
constexpr std::string_view id_word = "{providerID}";

void replace(std::string& text, std::string_view word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
}

}  // namespace

Result<std::unique_ptr<Provider>> Provider::make(std::string_view url, const Clock& clock) {
  const auto wrong = [whole = std::string(url)](const std::string& why) {
    return fail(Errc::invalid, "\"" + whole + "\" " + why);
  };
  const bool secure = url.starts_with("https://");
  if (!secure && !url.starts_with("http://")) return wrong("is neither http:// nor https://");
  url.remove_prefix(secure ? 8 : 7);
  const std::size_t slash = url.find('/');
  if (slash == std::string_view::npos) return wrong("has no path");
  std::string target(url.substr(slash));
  if (target.find(name_word) == std::string::npos && target.find(id_word) == std::string::npos) {
    return wrong("has neither {name} nor {providerID} in its path or query");
  }
  std::string authority(url.substr(0, slash));
  const bool has_port = authority.rfind(':') != std::string::npos && !authority.ends_with(']');
  if (!has_port) authority += secure ? ":443" : ":80";
  auto at = net::HostPort::parse(authority);
  if (!at) return wrong("has an invalid host: " + at.error().what);
  http::Endpoint endpoint{.at = *at};
  if (secure) {
    TRY(endpoint.tls, tls::Context::for_client({}));
  }
  return std::unique_ptr<Provider>(new Provider(std::move(endpoint), std::move(target), clock));
}

Provider::Provider(http::Endpoint endpoint, std::string target, const Clock& clock)
    : http_(std::move(endpoint),
            http::ClientLimits{.reader = {.header_bytes = 16 * 1024, .body_bytes = 1024 * 1024}}),
      target_(std::move(target)),
      clock_(clock) {}

asio::awaitable<Result<bool>> Provider::exists(std::string node, std::string provider_id) {
  std::string target = target_;
  if (target.find(id_word) != std::string::npos && provider_id.empty()) {
    co_return fail(Errc::invalid, "node " + node + " has no providerID");
  }
  replace(target, name_word, percent_encode(node));
  replace(target, id_word, percent_encode(provider_id));
  http::Request request{.method = http::Method::get, .target = std::move(target)};
  CO_TRY(const http::Response answer,
         co_await http_.send(std::move(request), clock_.mono() + patience));
  const int status = answer.status;
  if (status != 200 && status != 404) {
    co_return fail(Errc::unavailable, "the provider answered " + std::to_string(status));
  }
  co_return status == 200;
}

}  // namespace holdfast::agent
