#include "sync/autonomy/token.h"

#include <algorithm>
#include <cmath>

#include "platform/text.h"
#include "sync/autonomy/local_form.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

// The end of 2261, the last year that WallTime expresses as a whole.
constexpr double last_second = 9'214'646'399.0;

// Decodes base64url without padding (RFC 7515, section 2).
Result<std::string> url_base64_decode(std::string_view text) {
  std::string padded(text);
  for (char& c : padded) c = c == '-' ? '+' : c == '_' ? '/' : c;
  padded.append((4 - padded.size() % 4) % 4, '=');
  return base64_decode(padded);
}

// The claim `exp` of a JWT in compact form; nothing if it is not one or says nothing that makes
// sense. A NumericDate may have a fraction (RFC 7519, section 2).
std::optional<WallTime> end_of_jwt(std::string_view jwt) {
  const std::vector<std::string_view> parts = split(jwt, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto claims = url_base64_decode(parts[1]);
  if (!claims) return std::nullopt;
  const auto json = wire::parse_json(*claims);
  if (!json) return std::nullopt;
  const json::value* end = wire::dig(wire::as_object(*json), {"exp"});
  if (end == nullptr || !end->is_number()) return std::nullopt;
  const double seconds = std::floor(end->to_number<double>());
  if (!(seconds > 0)) return std::nullopt;
  return WallTime(std::chrono::seconds(static_cast<std::int64_t>(std::min(seconds, last_second))));
}

}  // namespace

Result<StoredToken> read_token(std::string_view path, const std::string& body) {
  const std::vector<std::string_view> names = split(path, '/');
  if (names.size() != 8 || names[5] != "serviceaccounts" || names[7] != "token") {
    return fail(Errc::invalid, "not the path of a TokenRequest");
  }
  TRY(const std::string text, body_as_json(body));
  TRY(const json::value answer, wire::parse_json(text));
  const json::object& object = wire::as_object(answer);
  StoredToken token{
      .namespace_name = std::string(names[4]),
      .service_account = std::string(names[6]),
      .pod_uid = std::string(wire::dig_text(object, {"spec", "boundObjectRef", "uid"})),
      .audiences = {},
      .ends = end_of_jwt(wire::dig_text(object, {"status", "token"}))};
  for (const json::value& audience : wire::dig_list(object, {"spec", "audiences"})) {
    if (audience.is_string()) token.audiences.emplace_back(wire::as_text(audience));
  }
  if (!token.ends) {
    const auto said = parse_rfc3339(wire::dig_text(object, {"status", "expirationTimestamp"}));
    if (said) token.ends = *said;
  }
  return token;
}

bool is_needed(const StoredToken& token, const std::set<std::string>& pod_uids) {
  return token.pod_uid.empty() || pod_uids.contains(token.pod_uid);
}

}  // namespace holdfast::sync::autonomy
