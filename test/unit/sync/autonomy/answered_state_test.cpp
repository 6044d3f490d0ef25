// What an API server's answer to a write tells of the object.

#include "sync/autonomy/answered_state.h"

#include <gtest/gtest.h>

#include "sync/autonomy/local_form.h"
#include "sync/wire/status.h"

namespace holdfast::sync::autonomy::answered {
namespace {

std::string pod(std::string_view more = "", std::string_view version = "14") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"a","uid":"u-1",)"
         R"("resourceVersion":")" +
         std::string(version) + '"' + std::string(more) + "}}";
}

// "u-1@14", "gone" or "unknown".
std::string text(const std::optional<AnsweredState>& state) {
  if (!state) return "unknown";
  if (!state->exists) return "gone";
  return state->uid + "@" + std::to_string(state->version);
}

TEST(AnsweredState, IsReadFromTheAnswer) {
  const std::string deleted = wire::status::deleted({"", "pods"}, "p", "u-1").body();
  const std::string not_found = wire::status::not_found({"", "pods"}, "p").body();
  const std::string conflict = wire::status::conflict({"", "pods"}, "p").body();
  const struct {
    std::string_view what;
    std::string_view verb;
    int status;
    std::string body;
    std::string_view expected;
  } rows[] = {
      {"patched", "PATCH", 200, pod(), "u-1@14"},
      {"replaced", "PUT", 200, pod(), "u-1@14"},
      {"created", "POST", 201, pod(), "u-1@14"},
      {"read", "GET", 200, pod(), "u-1@14"},
      {"patched while it is being deleted", "PATCH", 200,
       pod(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30)"),
       "u-1@14"},

      {"deleted, as kube-apiserver answers for pods", "DELETE", 200,
       pod(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0)"),
       "gone"},
      {"deleted at once", "DELETE", 200, pod(), "gone"},
      {"deleted, as a Status", "DELETE", 200, deleted, "gone"},
      {"a grace period runs", "DELETE", 200,
       pod(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30)"),
       "u-1@14"},
      {"a finalizer holds it", "DELETE", 200,
       pod(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.com/f"])"),
       "u-1@14"},
      {"accepted for later", "DELETE", 202, pod(R"(,"finalizers":["orphan"])"), "u-1@14"},
      {"not there when it was to be deleted", "DELETE", 404, not_found, "gone"},
      {"not there when it was to be patched", "PATCH", 404, not_found, "gone"},
      {"not there when it was read", "GET", 404, not_found, "gone"},

      {"another object is not there", "PATCH", 404,
       wire::status::not_found({"", "pods"}, "q").body(), "unknown"},
      {"404 of a path", "PATCH", 404, "404 page not found", "unknown"},
      {"404 without details", "PATCH", 404,
       R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404})",
       "unknown"},
      {"a Status that is no deletion", "POST", 201, deleted, "unknown"},
      {"a failure with status 200", "DELETE", 200, conflict, "unknown"},
      {"a conflict", "DELETE", 409, conflict, "unknown"},
      {"the object with a failure", "PATCH", 409, pod(), "unknown"},
      {"forbidden", "PATCH", 403, "{}", "unknown"},
      {"overloaded", "PATCH", 429, "{}", "unknown"},
      {"redirected", "PATCH", 302, pod(), "unknown"},
      {"empty", "PATCH", 200, "", "unknown"},
      {"no JSON", "PATCH", 200, "{", "unknown"},
      {"not an object", "PATCH", 200, "[1]", "unknown"},
      {"no metadata", "PATCH", 200, "{}", "unknown"},
      {"another name", "PATCH", 200,
       R"({"metadata":{"name":"q","uid":"u-1","resourceVersion":"14"}})", "unknown"},
      {"no uid", "PATCH", 200, R"({"metadata":{"name":"p","resourceVersion":"14"}})", "unknown"},
      {"no version", "PATCH", 200, R"({"metadata":{"name":"p","uid":"u-1"}})", "unknown"},
      {"version 0", "PATCH", 200, pod("", "0"), "unknown"},
      {"a version that is no number", "PATCH", 200, pod("", "abc"), "unknown"},
      {"a local version", "PATCH", 200, pod("", std::to_string(objects::first_local_version)),
       "unknown"},
      {"broken protobuf", "PATCH", 200, std::string("k8s\0\x0a\xff", 6), "unknown"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto state = answered_state(
        {.verb = row.verb, .name = "p", .http_status = row.status, .body = row.body});
    EXPECT_EQ(text(state), row.expected);
    EXPECT_EQ(state ? state->object : "", row.expected == "u-1@14" ? row.body : "");
  }
}

TEST(AnsweredState, IsReadFromProtobufToo) {
  const auto body = body_in(wire::Encoding::protobuf, pod());
  ASSERT_TRUE(body);
  const auto state = answered_state({.verb = "PATCH", .name = "p", .body = *body});
  EXPECT_EQ(text(state), "u-1@14");
  ASSERT_TRUE(state);
  EXPECT_NE(state->object.find(R"("namespace":"a")"), std::string::npos) << state->object;
}

}  // namespace
}  // namespace holdfast::sync::autonomy::answered
