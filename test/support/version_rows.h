// What a kube-apiserver 1.36 answers to each combination of verb, resourceVersion,
// resourceVersionMatch, limit, sendInitialEvents and allowWatchBookmarks: the rows of
// test/data/apiserver/resource_versions.json, as requests and as texts to compare.

#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/http/message.h"
#include "platform/time.h"

namespace holdfast::test {

// The versions of the server that is asked. The collection has eight objects, and the third was
// created at `old`.
struct KnownVersions {
  std::string old;
  std::string current;
  std::string ahead;  // newer than any
};

struct VersionRow {
  std::string verb;     // "get", "list" or "watch"
  std::string version;  // "none", "0", "old", "current", "current+1000000" or "not a number"
  std::string options;  // "resourceVersionMatch=Exact&limit=2"
  std::string expected;

  [[nodiscard]] std::string text() const { return verb + " " + version + " " + options; }
  // The path and query. `collection` is a path; a get is for the object `name`.
  [[nodiscard]] std::string target(const std::string& collection, const std::string& name,
                                   const KnownVersions& versions) const;
};

[[nodiscard]] std::vector<VersionRow> load_version_rows();

// An answer as VersionRow::expected is written. `lines` are the events of a watch, which belong to
// the first second; `took` is shown for lists.
[[nodiscard]] std::string describe_answer(const VersionRow& row, const http::Response& answer,
                                          const std::vector<std::string>& lines, Duration took,
                                          const KnownVersions& versions);

}  // namespace holdfast::test
