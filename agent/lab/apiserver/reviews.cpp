// TokenRequests of service accounts, and reviews, which store nothing: TokenReview,
// SelfSubjectReview and the access reviews.

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/apiserver/access_reviews.h"
#include "agent/lab/apiserver/call.h"
#include "agent/lab/apiserver/nodes.h"
#include "agent/lab/rules/convert.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::int64_t shortest_token = 600;  // upstream's minimum of expirationSeconds
// A pod's default token, which is recognized by this expirationSeconds, is valid for a year,
// although the answer says otherwise (upstream's WarnOnlyBoundTokenExpirationSeconds and
// ExpirationExtensionSeconds).
constexpr std::int64_t default_token = 3607;
constexpr std::int64_t extended_token = 365 * 24 * 3600;
constexpr std::string_view own_audience = "holdfast-lab";

std::string url_base64(const json::object& part) {
  std::string text = base64_encode(json::serialize(part));
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text.substr(0, text.find('='));
}

// Has the form of a JWT, as clients expect. It is not signed; its last part is random and makes it
// unguessable.
std::string make_token(Random& random, const std::string& account, std::int64_t issued,
                       std::int64_t expires, const json::object& spec) {
  const json::object header = {{"alg", "none"}, {"kid", ""}};
  json::object claims = {{"aud", sync::wire::dig_list(spec, {"audiences"})},
                         {"exp", expires},
                         {"iat", issued},
                         {"iss", own_audience},
                         {"nbf", issued},
                         {"sub", account}};
  const std::int64_t said = issued + sync::wire::dig_int(spec, {"expirationSeconds"});
  if (expires != said) claims["kubernetes.io"] = json::object{{"warnafter", said}};
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return url_base64(header) + "." + url_base64(claims) + "." + random.text(43, alphabet);
}

// How long the API server accepts a token, in seconds.
std::int64_t lifetime_of(const json::object& spec) {
  const std::int64_t said = sync::wire::dig_int(spec, {"expirationSeconds"});
  const json::array& audiences = sync::wire::dig_list(spec, {"audiences"});
  const bool own = std::all_of(audiences.begin(), audiences.end(), [](const json::value& each) {
    return sync::wire::as_text(each) == own_audience;
  });
  const bool of_pod = sync::wire::dig_text(spec, {"boundObjectRef", "kind"}) == "Pod";
  return said == default_token && own && of_pod ? extended_token : said;
}

std::int64_t seconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// Answers a review with the same object and its status.
http::Response reply_shaped(const sync::StructType& type, const json::object& object,
                            std::string_view kind, std::string_view api_version) {
  const auto made = sync::objects::shape(type, object, kind, api_version);
  CHECK(made.has_value());
  return reply_json(201, sync::wire::serialize(made->object) + "\n");
}

json::object user_info(const Identity& caller) {
  json::object user = {{"username", caller.name}};
  if (!caller.uid.empty()) user["uid"] = caller.uid;
  user["groups"] = json::array(caller.groups.begin(), caller.groups.end());
  return user;
}

json::object review_token(const Backend& backend, const json::object& asked) {
  const Identity* caller = backend.tokens.find(sync::wire::dig_text(asked, {"spec", "token"}));
  json::object status = {{"authenticated", caller != nullptr}};
  if (caller != nullptr) status["user"] = user_info(*caller);
  if (caller != nullptr) status["audiences"] = sync::wire::dig_list(asked, {"spec", "audiences"});
  return status;
}

}  // namespace

Reply issue_token(Backend& backend, const Call& call) {
  const sync::StructType& type = sync::known_type("TokenRequest");
  auto asked = read_as(call, type, "TokenRequest");
  if (!asked) return refuse(asked.error());
  if (auto fine = admit_write(backend, call, &*asked, nullptr); !fine) return refuse(fine.error());
  const StoredPtr account = backend.registry.find(call.stored(), call.name_space(), call.info.name);
  if (!account) return refuse(missing(call.resource(), call.info.name));
  json::object& spec = sync::wire::make_object(*asked, {"spec"});
  sync::wire::set_default(spec, "expirationSeconds", 3600);
  const std::int64_t lasts = sync::wire::dig_int(spec, {"expirationSeconds"});
  if (lasts < shortest_token) {
    const sync::wire::FieldError error =
        sync::wire::field::invalid_raw("spec.expirationSeconds", std::to_string(lasts),
                                       "may not specify a duration less than 10 minutes");
    return refuse(sync::wire::status::invalid({"authentication.k8s.io", "TokenRequest"},
                                              sync::wire::name_of(*asked), std::span(&error, 1)));
  }
  if (sync::wire::dig_list(spec, {"audiences"}).empty())
    spec["audiences"] = json::array({own_audience});
  const std::string space(call.name_space());
  const std::string user = "system:serviceaccount:" + space + ":" + call.info.name;
  const WallTime now = backend.clock.wall();
  const std::string token =
      make_token(backend.random, user, seconds_of(now), seconds_of(now) + lifetime_of(spec), spec);
  backend.tokens.add(token, {user,
                             std::string(sync::wire::uid_of(account->object)),
                             {"system:serviceaccounts", "system:serviceaccounts:" + space,
                              "system:authenticated"}});
  (*asked)["status"] = json::object{
      {"token", token}, {"expirationTimestamp", format_rfc3339(now + std::chrono::seconds(lasts))}};
  sync::wire::make_object(*asked, {"metadata"})["name"] = call.info.name;
  sync::wire::make_object(*asked, {"metadata"})["namespace"] = space;
  sync::wire::make_object(*asked, {"metadata"})["creationTimestamp"] = format_rfc3339(now);
  return reply_shaped(type, *asked, "TokenRequest", "authentication.k8s.io/v1");
}

Reply review(Backend& backend, const Call& call) {
  const sync::StructType& type = type_of(call.resource(), *call.view.version);
  const std::string_view kind = call.resource().kind;
  auto asked = read_as(call, type, kind);
  if (!asked) return refuse(asked.error());
  if (kind == "TokenReview") {
    (*asked)["status"] = review_token(backend, *asked);
  } else if (kind == "SelfSubjectReview") {
    (*asked)["status"] = json::object{{"userInfo", user_info(call.caller)}};
  } else {
    auto status = kind == "SelfSubjectRulesReview" ? rules_status(backend, call, *asked)
                                                   : access_status(backend, call, *asked);
    if (!status) return refuse(status.error());
    (*asked)["status"] = *std::move(status);
  }
  const std::string api_version = call.resource().api_version(call.view.version->name);
  return reply_shaped(type, *asked, kind, api_version);
}

}  // namespace holdfast::agent::lab
