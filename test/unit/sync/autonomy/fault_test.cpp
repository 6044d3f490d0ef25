// Kinds of link faults, and answers that do not come from an API server.

#include "sync/autonomy/fault.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fstream>

#include "platform/text.h"

namespace holdfast::sync::autonomy {
namespace {

namespace error = boost::asio::error;

// As the store's, whose errors are told by this name.
class DiskCategory : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "sqlite"; }
  [[nodiscard]] std::string message(int) const override { return "disk full"; }
};

TEST(LinkFault, EveryFailureHasItsWord) {
  struct Case {
    Error error;
    const char* word;
  };
  const auto of = [](Errc code, const char* what, boost::system::error_code cause = {}) {
    return Error{code, what, cause};
  };
  const DiskCategory disk;
  const Case cases[] = {
      {{Errc::exhausted, "commit: outbox.db: full", std::error_code(13, disk)}, "disk"},
      {{Errc::corrupt, "outbox.db: malformed", std::error_code(11, disk)}, "disk"},
      {of(Errc::unavailable, "connect to a:1", error::connection_refused), "refused"},
      {of(Errc::unavailable, "read", error::connection_reset), "reset"},
      {of(Errc::unavailable, "write", error::broken_pipe), "reset"},
      {of(Errc::unavailable, "read", error::connection_aborted), "reset"},
      {of(Errc::unavailable, "the answer broke off"), "reset"},
      {of(Errc::timeout, "read: deadline passed"), "timeout"},
      {of(Errc::timeout, "connect to a:1: deadline passed"), "timeout"},
      {of(Errc::timeout, "connect to a:1", error::timed_out), "timeout"},
      {of(Errc::timeout, "TLS handshake: deadline passed"), "timeout"},
      {of(Errc::unavailable, "connect to a:1", error::network_unreachable), "unreachable"},
      {of(Errc::unavailable, "connect to a:1", error::host_unreachable), "unreachable"},
      {of(Errc::unavailable, "GET /: resolve a: Host not found", error::host_not_found), "dns"},
      {of(Errc::unavailable, "resolve a", error::host_not_found_try_again), "dns"},
      {of(Errc::timeout, "resolve a: deadline passed"), "dns"},
      {of(Errc::denied, "PUT /x: TLS handshake: certificate verify failed"), "tls"},
      {of(Errc::unavailable, "read", {1, error::get_ssl_category()}), "tls"},
      {of(Errc::denied, "the node has no client certificate yet"), "credentials"},
      {of(Errc::corrupt, "answered with a web page: not an API server"), "not_api_server"},
      {of(Errc::unavailable, "socket", error::no_permission), "other"},
      {of(Errc::invalid, "what"), "other"},
  };
  for (const Case& c : cases) EXPECT_EQ(to_string(fault_of(c.error)), c.word) << c.error.what;
  EXPECT_EQ(to_string(LinkFault::overloaded), "overloaded");
  EXPECT_EQ(link_faults, static_cast<std::size_t>(LinkFault::other) + 1);
}

TEST(LinkFault, ACaptivePortalIsToldFromAnApiServer) {
  constexpr const char* page = "answered with a web page: not an API server";
  constexpr const char* pods = "/api/v1/namespaces/a/pods?limit=500";
  constexpr const char* proxy = "/api/v1/namespaces/a/services/web/proxy/index.html";
  constexpr const char* log = "/api/v1/namespaces/a/pods/p/log?follow=true";
  constexpr const char* json = "application/json";
  const std::string envelope("k8s\0rest", 8);
  struct Case {
    const char* target;
    AnswerHead head;
    std::string body;
    const char* why;  // null: may be an API server's
  };
  const Case cases[] = {
      {pods, {.content_type = json}, "{}", nullptr},
      {pods, {.content_type = "application/vnd.kubernetes.protobuf"}, envelope, nullptr},
      {pods, {.content_type = "application/json;stream=watch"}, "", nullptr},
      {pods, {}, "{}", nullptr},
      {pods, {}, " \n[1]", nullptr},
      {pods, {}, envelope, nullptr},
      {pods, {.status = 204}, "", nullptr},
      {pods, {.status = 404, .content_type = "text/plain"}, "404 page not found", nullptr},
      {pods, {.status = 429, .content_type = "text/plain"}, "Too many requests", nullptr},
      {pods, {.status = 401, .content_type = json}, "{}", nullptr},
      {"/healthz", {.content_type = "text/plain"}, "ok", nullptr},
      {"/metrics", {.content_type = "text/plain"}, "a 1", nullptr},
      {"/version", {.content_type = json}, "{}", nullptr},
      {"/apisix", {.content_type = "text/plain"}, "x", nullptr},
      {"/", {.status = 301, .location = "/ui"}, "", nullptr},
      {log, {.content_type = "text/plain"}, "<html> says the application", nullptr},
      {proxy, {.content_type = "text/html", .audited = true}, "<html>", nullptr},
      {proxy, {.status = 302, .location = "https://a/", .audited = true}, "", nullptr},
      {"/openapi/v3", {.content_type = "text/plain; charset=utf-8"}, R"({"paths":{}})", nullptr},
      {"/openapi/v2", {.content_type = "text/plain; charset=utf-8"}, "", nullptr},
      {"/debug/pprof/", {.content_type = "text/html", .audited = true}, "<html>", nullptr},
      {pods, {.content_type = "text/plain", .audited = true}, "", nullptr},
      {pods, {.content_type = "text/plain", .verified = true}, "", nullptr},
      {pods, {.content_type = "text/html", .verified = true}, "<html>", nullptr},
      {pods, {.status = 302, .location = "http://a/", .verified = true}, "", nullptr},
      {proxy, {.status = 502, .content_type = "text/html", .audited = true}, "<html>", nullptr},
      {pods, {.status = 502, .content_type = "text/html", .verified = true}, "<html>", page},
      {pods, {.status = 503, .content_type = "text/html", .verified = true}, "<html>", page},
      {pods, {.content_type = "text/html"}, "<html>", page},
      {pods, {.content_type = "text/html; charset=utf-8"}, "", page},
      {pods, {.content_type = "application/xhtml+xml"}, "", page},
      {pods, {}, "\r\n <!DOCTYPE html>", page},
      {pods, {.content_type = "text/plain"}, "<html>", page},
      {pods, {.status = 403, .content_type = "text/plain"}, "<html>", page},
      {pods, {.status = 502, .content_type = "text/html"}, "<html>Bad Gateway", page},
      {"/healthz", {.content_type = "text/html"}, "ok", page},
      {"/healthz", {}, "<p>", page},
      {log, {.content_type = "text/html"}, "x", page},
      {proxy, {.content_type = "text/html"}, "<html>", page},
      {pods,
       {.content_type = "text/plain"},
       "hello",
       "answered with text/plain: not an API server"},
      {pods, {.content_type = "image/gif"}, "GIF", "answered with image/gif: not an API server"},
      {pods, {}, "hello", "answered with no Content-Type: not an API server"},
      {"/version",
       {.content_type = "text/plain"},
       "login",
       "answered with text/plain: not an API server"},
      {"/apis/apps/v1",
       {.content_type = "text/plain"},
       "login",
       "answered with text/plain: not an API server"},
      {pods,
       {.status = 302, .location = "http://login.example/"},
       "",
       "redirected to another server: not an API server"},
      {pods, {.status = 511, .content_type = json}, "{}", "the network asks for a login (511)"},
  };
  for (const Case& c : cases) {
    const auto why = why_not_api_answer(c.target, c.head, c.body);
    EXPECT_EQ(why.value_or("an API server's"), c.why == nullptr ? "an API server's" : c.why)
        << c.target << " " << c.head.status << " " << c.head.content_type << " " << c.body;
  }
}

TEST(LinkFault, APageIsEvidenceWhereADocumentIsExpected) {
  for (const char* target :
       {"/api/v1/nodes/a", "/api/v1/pods?watch=true", "/apis/apps/v1", "/version", "/openapi/v2",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a?x=/logs/"}) {
    EXPECT_TRUE(is_for_document(target)) << target;
  }
  for (const char* target : {"/", "/logs/", "/healthz", "/metrics", "/debug/pprof/", "/apisix",
                             "/logs/?x=/api/v1", "/api/v1/namespaces/a/services/web/proxy/",
                             "/api/v1/nodes/a/proxy/logs/", "/api/v1/namespaces/a/pods/p/log"}) {
    EXPECT_FALSE(is_for_document(target)) << target;
  }
}

TEST(LinkFault, NothingThatKubeApiserverAnswersIsTakenForAPortal) {
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/test/data/apiserver/heads-1.36.tsv");
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const std::vector<std::string_view> column = split(line, '\t');
    ASSERT_EQ(column.size(), 7u) << line;
    AnswerHead head{.status = std::stoi(std::string(column[2])),
                    .content_type = column[3],
                    .location = column[5],
                    .audited = column[4] == "1"};
    EXPECT_EQ(why_not_api_answer(column[0], head, column[6]), std::nullopt) << line;
    EXPECT_EQ(why_not_api_answer(column[0], head, ""), std::nullopt) << "streamed: " << line;
    head.audited = false;
    head.verified = true;
    EXPECT_EQ(why_not_api_answer(column[0], head, column[6]), std::nullopt) << line;
  }
  EXPECT_EQ(lines, 131);
}

}  // namespace
}  // namespace holdfast::sync::autonomy
