#include "agent/lab/rules/continue_token.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/go_json.h"
#include "platform/text.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

std::string to_url_alphabet(std::string text) {
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(std::find(text.begin(), text.end(), '='), text.end());
  return text;
}

Result<std::string> from_url_alphabet(std::string text) {
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  // Go ignores the bits after the last whole byte. Clear them, because our decoder checks them.
  const std::size_t rest = text.size() % 4;
  if (rest == 3) {
    const std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t value = alphabet.find(text.back());
    if (value != std::string_view::npos) text.back() = alphabet[value & ~3UL];
  }
  if (rest != 0) text.append(4 - rest, '=');
  return base64_decode(text);
}

sync::wire::ApiStatus bad_token(const std::string& why) {
  return sync::wire::status::bad_request("invalid continue token: continue key is not valid: " +
                                         why);
}

}  // namespace

std::string encode_continue(const ContinueToken& token) {
  // Go and Boost.JSON both write the NUL at the end of the key as an escape.
  const json::object document = {
      {"v", "meta.k8s.io/v1"}, {"rv", token.revision}, {"start", token.start}};
  return to_url_alphabet(base64_encode(json::serialize(document)));
}

Answer<ContinueToken> parse_continue(std::string_view text) {
  const auto bytes = from_url_alphabet(std::string(text));
  if (!bytes) return refuse(bad_token("illegal base64 data at input byte 0"));
  boost::system::error_code ec;
  const json::value value = json::parse(*bytes, ec);
  if (ec) return refuse(bad_token(go_json_error(*bytes)));
  const json::object& document = sync::wire::as_object(value);
  if (sync::wire::dig_text(document, {"v"}) != "meta.k8s.io/v1") {
    return refuse(bad_token("server does not recognize this encoded version " +
                            sync::wire::quoted(sync::wire::dig_text(document, {"v"}))));
  }
  ContinueToken token{sync::wire::dig_int(document, {"rv"}),
                      std::string(sync::wire::dig_text(document, {"start"}))};
  if (token.revision == 0) {
    return refuse(bad_token("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
  }
  if (token.start.empty()) {
    return refuse(bad_token("encoded start key empty (version meta.k8s.io/v1)"));
  }
  return token;
}

}  // namespace holdfast::agent::lab
