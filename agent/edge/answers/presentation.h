// Adapts answers from the cache for people: adds a warning that they may be outdated, and prints
// the tables that kubectl shows.
//
// The warning is a header (`Warning: 299 - "..."`, RFC 7234, 5.5), which kubectl prints before the
// answer. It is sent to callers whose user agent is not a node component's; components would only
// log it. Its times are UTC.
//
// Tables have kube-apiserver's columns. For kinds whose columns this program does not know, such as
// custom resources, columns and cells are taken from the last table that came from the cloud.
//
// Threading: the loop's thread only.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/edge/cache/answer_cache.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/route/answer.h"
#include "sync/printing/printed.h"

namespace holdfast::agent {

// Whether a caller with this user agent (its first word, in lower case) is a person: a known tool
// such as kubectl, or neither a known node component nor one of `cache_agents` (--cache-agents).
[[nodiscard]] bool is_person(std::string_view agent, const std::vector<std::string>& cache_agents);

// `text` as the value of a Warning header. Control characters are removed.
[[nodiscard]] std::string warning_header(std::string_view text);

class Presentation {
 public:
  // `whole_bytes_max`: the largest answer from which tables and metadata are made. The references
  // are borrowed.
  Presentation(std::vector<std::string> cache_agents, std::size_t whole_bytes_max, Uplink& uplink,
               AnswerCache& answer_cache, const Clock& clock);

  // While the cloud is unreachable, a request that accepts only a table or metadata is answered
  // with whole objects first, from which present() makes them. Sets `inner_accept` for that.
  void prepare(RoutedRequest& request) const;

  // Prepares an answer for the caller. An answer that was made here gets the warning and the form
  // that the client accepts. Other answers are returned as they are, and tables in them are
  // remembered.
  [[nodiscard]] http::Response present(const RoutedRequest& request, RoutedAnswer answer);
  // Whether present() keeps something of the request's answer if that is whole: a table's columns.
  [[nodiscard]] static bool remembers(const RoutedRequest& request);

 private:
  void warn(const Caller& caller, http::Response& response) const;
  [[nodiscard]] http::Response print(const RoutedRequest& request, sync::wire::Form form,
                                     http::Response response);
  void remember(const RoutedRequest& request, const http::Response& response);
  [[nodiscard]] std::string seen_tables(const RoutedRequest& request);

  const std::vector<std::string> cache_agents_;
  const std::size_t whole_bytes_max_;
  Uplink& uplink_;
  AnswerCache& answer_cache_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
