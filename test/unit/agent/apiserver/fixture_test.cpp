// 108 requests with the answers of a real kube-apiserver. Our answers are compared in status,
// headers, reason, message, details, defaults, tables, shape and order of fields.

#include <set>

#include "platform/text.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"
#include "test/unit/agent/apiserver/differences.h"
#include "test/unit/agent/apiserver/recorded.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

constexpr std::string_view tokens =
    "admin,admin,1,system:masters\n"
    "bootstrap,token-bootstrap-client,2\n";

agent::lab::ApiServerOptions options() {
  agent::lab::ApiServerOptions made;
  made.tokens = std::string(tokens);
  made.controllers = false;  // as in the recorded server
  return made;
}

std::string token_for(const Exchange& exchange) {
  if (exchange.note == "unauthorized") return "wrong";
  return exchange.note == "forbidden" ? "bootstrap" : "admin";
}

TestResponse replay(ApiServerFixture& fixture, const Exchange& exchange,
                    const Translation& translation) {
  TestResponse response = fixture.ask({.method = exchange.method,
                                       .target = translation.to_ours(exchange.target),
                                       .body = translation.to_ours(exchange.body),
                                       .content_type = exchange.content_type,
                                       .accept = exchange.accept,
                                       .token = token_for(exchange)});
  if (response.stream) fixture.drain(response);
  return response;
}

json::value parsed(const TestResponse& response) {
  const bool is_json = response.headers.get("Content-Type") == "application/json";
  return is_json ? response.json() : json::value(response.body);
}

// Answers to requests with a deadline were recorded as arrays, even if they were answered at once.
json::value recorded_answer(const Exchange& exchange, const TestResponse& response) {
  const bool wrapped = exchange.response.is_array() && !response.stream;
  return wrapped ? exchange.response.as_array().at(0) : exchange.response;
}

// Whether the answer is a Status in which every byte should be the same. Excluded are #53 and #67,
// which have other messages, and #43, whose recorded Content-Length does not match its body.
bool is_status(const Exchange& exchange) {
  const json::object* object = exchange.response.if_object();
  if (object == nullptr || !object->contains("kind")) return false;
  return object->at("kind") == "Status" && exchange.number != 53 && exchange.number != 67 &&
         exchange.number != 43;
}

void compare_headers(const Exchange& exchange, const TestResponse& response) {
  for (const std::string name : {"content-type", "retry-after", "warning", "location"}) {
    const auto recorded = exchange.headers.find(name);
    EXPECT_EQ(response.headers.get(name),
              recorded == exchange.headers.end() ? "" : recorded->second)
        << name;
  }
  // Compares the length, too. Other objects were recorded without their managedFields.
  const auto length = exchange.headers.find("content-length");
  if (length != exchange.headers.end() && is_status(exchange)) {
    EXPECT_EQ(std::to_string(response.body.size()), length->second);
  }
}

TEST(RecordedApiServer, AnswersAreTheSame) {
  ApiServerFixture fixture(options());
  Translation translation;
  std::set<std::size_t> used;
  for (const Exchange& exchange : load_exchanges()) {
    SCOPED_TRACE("#" + std::to_string(exchange.number) + " " + exchange.note + ": " +
                 exchange.method + " " + exchange.target);
    const TestResponse response = replay(fixture, exchange, translation);
    // 400 since 1.36, as the deliberate differences say.
    EXPECT_EQ(response.status, exchange.number == 67 ? 400 : exchange.status) << response.body;
    compare_headers(exchange, response);
    json::value recorded = recorded_answer(exchange, response);
    json::value ours = parsed(response);
    apply_differences(exchange.number, recorded, ours, used);
    for (const Difference& difference : translation.compare(recorded, ours)) {
      ADD_FAILURE() << difference.text();
    }
  }
  for (std::size_t at = 0; at < deliberate().size(); ++at) {
    EXPECT_TRUE(used.contains(at)) << "no longer needed: " << deliberate()[at].reason;
  }
}

// Differences to a kube-apiserver 1.36.2 in the text of refusals. Its objects have more fields than
// ours, so the test compares the status, the content type, and that text.
struct Newer {
  std::size_t number;
  const char* reason;
};

constexpr Newer newer[] = {
    {43, "1.36 adds which representations there are"},
    {46, "1.36 has the missing image before the second name"},
    {53, "1.36 lists one more field that may change, and prints Go's structs otherwise"},
    {86, "1.36 says when to ask again: after 10 s"},
    {102, "1.36 prints maps as JSON"},
};

const Newer* newer_at(std::size_t number) {
  for (const Newer& one : newer) {
    if (one.number == number) return &one;
  }
  return nullptr;
}

TEST(RecordedApiServer, Kubernetes136AnswersTheSame) {
  ApiServerFixture fixture(options());
  Translation translation;
  for (const Exchange& exchange : load_exchanges("exchanges-1.36.jsonl")) {
    SCOPED_TRACE("#" + std::to_string(exchange.number) + " " + exchange.note + ": " +
                 exchange.method + " " + exchange.target);
    const TestResponse response = replay(fixture, exchange, translation);
    const json::value recorded = recorded_answer(exchange, response);
    const std::vector<Difference> found = translation.compare(recorded, parsed(response));
    const Newer* const known = newer_at(exchange.number);
    EXPECT_EQ(response.status, exchange.status) << response.body;
    const auto type = exchange.headers.find("content-type");
    if (type != exchange.headers.end()) {
      EXPECT_EQ(response.headers.get("content-type"), type->second);
    }
    if (!is_status(exchange) || known != nullptr) continue;
    for (const Difference& difference : found) ADD_FAILURE() << difference.text();
  }
}

}  // namespace
}  // namespace holdfast::test
