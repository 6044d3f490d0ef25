// Status answers that were not recorded, field errors, and the conversion to Error.

#include "sync/wire/status.h"

#include "sync/wire/protobuf/status.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::wire {
namespace {

struct Answer {
  ApiStatus answer;
  std::string_view body;  // after the apiVersion
};

const Answer answers[] = {
    {status::generate_name_conflict({"", "pods"}, "g-1", 1),
     R"("status":"Failure","message":"pods \"g-1\" already exists, the server was not able to )"
     R"(generate a unique name for the object","reason":"AlreadyExists","details":{"name":"g-1",)"
     R"("kind":"pods","retryAfterSeconds":1},"code":409})"},
    {status::expired("too old resource version: 5 (9)"),
     R"~("status":"Failure","message":"too old resource version: 5 (9)","reason":"Expired",)~"
     R"("code":410})"},
    {status::gone("x"), R"("status":"Failure","message":"x","reason":"Gone","code":410})"},
    {status::too_many_requests("busy", 1),
     R"("status":"Failure","message":"busy","reason":"TooManyRequests",)"
     R"("details":{"retryAfterSeconds":1},"code":429})"},
    {status::service_unavailable("down"),
     R"("status":"Failure","message":"down","reason":"ServiceUnavailable","code":503})"},
    {status::service_unavailable("down", 2),
     R"("status":"Failure","message":"down","reason":"ServiceUnavailable",)"
     R"("details":{"retryAfterSeconds":2},"code":503})"},
    {status::internal_error("oops"),
     R"("status":"Failure","message":"Internal error occurred: oops","reason":"InternalError",)"
     R"("details":{"causes":[{"message":"oops"}]},"code":500})"},
    {status::entity_too_large("limit is 3145728"),
     R"("status":"Failure","message":"Request entity too large: limit is 3145728",)"
     R"("reason":"RequestEntityTooLarge","code":413})"},
    {status::forbidden({"", "pods"}, "p", "no"),
     R"("status":"Failure","message":"pods \"p\" is forbidden: no","reason":"Forbidden",)"
     R"("details":{"name":"p","kind":"pods"},"code":403})"},
    {status::forbidden({"", ""}, "", "no"),
     R"("status":"Failure","message":"forbidden: no","reason":"Forbidden","details":{},)"
     R"("code":403})"},
    {status::invalid({"", "Pod"}, "p", {}),
     R"("status":"Failure","message":"Pod \"p\" is invalid","reason":"Invalid",)"
     R"("details":{"name":"p","kind":"Pod"},"code":422})"},
    {status::generic(500),
     R"("status":"Failure","message":"an error on the server (\"unknown\") has prevented the )"
     R"(request from succeeding","reason":"InternalError","details":{},"code":500})"},
    {status::generic(418),
     R"("status":"Failure","message":"the server responded with the status code 418 but did not )"
     R"(return more information","details":{},"code":418})"},
    {status::from_error({Errc::exhausted, "queue full"}),
     R"("status":"Failure","message":"queue full","reason":"TooManyRequests",)"
     R"("details":{"retryAfterSeconds":1},"code":429})"},
    {status::success(), R"("status":"Success","code":200})"},
};

TEST(ApiStatus, Bodies) {
  for (const Answer& line : answers) {
    const std::string body =
        R"({"kind":"Status","apiVersion":"v1","metadata":{},)" + std::string(line.body);
    EXPECT_EQ(line.answer.body(), body);
    EXPECT_EQ(*parse_json_status(body), line.answer);
  }
}

TEST(ApiStatus, RefusesWhatIsNoStatus) {
  EXPECT_EQ(parse_json_status("{}").error().what, "not a Status: kind \"\"");
  EXPECT_EQ(parse_json_status(R"({"kind":"Pod","status":{"phase":"x"}})").error().what,
            "not a Status: kind \"Pod\"");
  EXPECT_EQ(parse_json_status("404 page not found\n").error().what,
            "JSON at byte 0: expected an object");
  EXPECT_FALSE(parse_json_status(R"({"kind":"Status","details":{"causes":[{"field":)").has_value());
}

struct Back {
  int http_status;
  std::string body;
  Error error;
};

std::string refused_by_a_budget() {
  ApiStatus status = status::too_many_requests("budget", 0);
  status.details.emplace().causes.push_back({"DisruptionBudget", "b needs 1", ""});
  return status.body();
}

const Back backs[] = {
    {404,
     status::not_found({"", "pods"}, "x").body(),
     {Errc::not_found, "404 pods \"x\" not found"}},
    {409,
     status::already_exists({"", "pods"}, "x").body(),
     {Errc::conflict, "409 pods \"x\" already exists"}},
    {410, status::expired("old").body(), {Errc::gone, "410 old"}},
    {200, status::expired("inside a watch").body(), {Errc::gone, "410 inside a watch"}},
    {429, status::too_many_requests("busy", 0).body(), {Errc::unavailable, "429 busy"}},
    {429, refused_by_a_budget(), {Errc::exhausted, "429 budget"}},
    {504, status::timeout("slow", 1).body(), {Errc::timeout, "504 Timeout: slow"}},
    {422,
     status::generic(422).body(),
     {Errc::invalid, "422 the server rejected our request due to an error in our request"}},
    {403, "nope", {Errc::denied, "403 unknown"}},
    {502,
     "<html>",
     {Errc::unavailable,
      "502 an error on the server (\"unknown\") has prevented the request from succeeding"}},
    {404,
     "404 page not found\n",
     {Errc::not_found, "404 the server could not find the requested resource"}},
    {400, "", {Errc::invalid, "400 the server rejected our request for an unknown reason"}},
};

TEST(ApiStatus, BecomesOurError) {
  for (const Back& line : backs) EXPECT_EQ(to_error(line.http_status, line.body), line.error);
}

TEST(FieldErrors, AreWordedAsUpstream) {
  constexpr std::string_view known[] = {"Always", "Never"};
  const FieldErrors errors = {
      field::not_supported("a", "x", known),
      field::too_long("b", 1),
      field::too_many("c", 3, 2),
      field::not_found("d", "q\""),
      field::internal("e", "why"),
      field::invalid_raw("f", "-1", "must be positive"),
      field::forbidden("g", "not now"),
      field::required("h", "say why"),
      field::required("h", "say why"),
  };
  EXPECT_EQ(aggregate(errors),
            R"([a: Unsupported value: "x": supported values: "Always", "Never", )"
            R"(b: Too long: may not be more than 1 byte, )"
            R"(c: Too many: 3: must have at most 2 items, d: Not found: "q\"", )"
            R"(e: Internal error: why, f: Invalid value: -1: must be positive, )"
            R"(g: Forbidden: not now, h: Required value: say why])");
  EXPECT_EQ(aggregate({}), "");
  EXPECT_EQ(at(child(at(child("", "spec"), std::string_view("k")), "x"), 2), "spec[k].x[2]");
}

TEST(FieldErrors, QuoteAsGoDoes) {
  EXPECT_EQ(quoted("a\"\\\n\x01\x7f\xff\u00e9<"), R"("a\"\\\n\x01\x7f\xffé<")");
}

}  // namespace
}  // namespace holdfast::sync::wire
