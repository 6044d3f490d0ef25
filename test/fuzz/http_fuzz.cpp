// Requests as they arrive: bodies and headers stay within their limits, the result does not depend
// on how the network splits the bytes, and a target and its query keep their meaning when written
// again.

#include <algorithm>

#include "platform/check.h"
#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/text.h"
#include "sync/objects/list_options.h"
#include "sync/objects/request_info.h"
#include "test/fuzz/pieces.h"

namespace holdfast::sync {
namespace {

constexpr http::ReaderLimits limits{.header_bytes = 512, .body_bytes = 256};

std::vector<http::Request> requests(const std::vector<std::string_view>& pieces) {
  std::vector<http::Request> out;
  http::RequestReader reader(limits);
  for (const std::string_view piece : pieces) {
    Status put = reader.put(piece);
    while (put && reader.done()) {
      bool keep_alive = false;
      out.push_back(reader.take(keep_alive));
      put = reader.put("");
    }
    (void)reader.take_expectation();
    if (put) continue;
    CHECK(reader.refusal() == 400 || reader.refusal() == 413 || reader.refusal() == 431);
    break;
  }
  return out;
}

void check_query(std::string_view raw) {
  const auto query = Query::parse(raw);
  if (!query) return;
  const auto again = Query::parse(query->encode());
  CHECK(again.has_value() && *again == *query);
  auto options = objects::parse_list_options(*query);
  if (!options) return;
  // A negative limit means no limit, as 0 does.
  options->limit = std::max<std::int64_t>(options->limit, 0);
  const auto read = objects::parse_list_options(encode_query(*options));
  CHECK(read.has_value() && *read == *options);
}

std::string path_of(const objects::RequestInfo& info) {
  std::string path = "/" + info.api_prefix;
  const auto add = [&path](std::string_view part) {
    path.append("/").append(percent_encode(part));
  };
  if (!info.group.empty()) add(info.group);
  add(info.version);
  const bool watches = info.path.starts_with(path + "/watch/");
  const bool proxies = info.path.starts_with(path + "/proxy/");
  if (watches || proxies) add(watches ? "watch" : "proxy");
  if (!info.namespace_name.empty() && info.parts.front() != "namespaces") {
    add("namespaces");
    add(info.namespace_name);
  }
  for (const std::string& part : info.parts) add(part);
  return path;
}

void check_path(std::string_view path, std::string_view query) {
  const auto info = objects::parse_request("GET", path, query);
  if (!info || !info->is_resource) return;
  CHECK(!info->resource.empty() && !info->version.empty() && !info->parts.empty());
  for (const std::string& part : info->parts) {
    CHECK(!part.empty() && part != "." && part != ".." && part.find('/') == part.npos);
    CHECK(part.find('\0') == part.npos);
  }
  CHECK(info->namespace_name != ".." && info->namespace_name.find('/') == std::string::npos);
  CHECK(info->name != ".." && info->name.find('/') == std::string::npos);
  // Only the path tells whether something named "namespaces" is inside a namespace; and a group or
  // version may need escapes that a prefix does not have.
  const std::string_view named = info->parts.size() > 1 ? info->parts[1] : std::string_view();
  const bool inside =
      info->parts.size() > 2 && info->parts[2] != "status" && info->parts[2] != "finalize";
  const bool odd = info->resource == "namespaces" && (inside || info->namespace_name != named);
  if (odd || percent_encode(info->group + info->version) != info->group + info->version) return;
  auto again = objects::parse_request("GET", path_of(*info), query);
  CHECK(again.has_value());
  again->path = info->path;
  CHECK(*again == *info);
}

void check_target(std::string_view target) {
  const http::Request request{.target = std::string(target)};
  check_query(request.query());
  check_path(request.path(), request.query());
}

void check_http(std::string_view bytes) {
  check_target(bytes);
  const auto whole = requests({bytes});
  const auto pieced = requests(test::pieces(bytes));
  for (std::size_t at = 0; at < std::min(whole.size(), pieced.size()); ++at) {
    CHECK(whole[at].method_text == pieced[at].method_text && whole[at].body == pieced[at].body);
    CHECK(whole[at].target == pieced[at].target && whole[at].headers == pieced[at].headers);
  }
  for (const http::Request& request : whole) {
    CHECK(request.body.size() <= limits.body_bytes);
    CHECK(request.target.size() <= limits.header_bytes);
    CHECK(request.target.find_first_of(" \r\n") == std::string::npos);
    check_target(request.target);
  }
}

}  // namespace
}  // namespace holdfast::sync

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::sync::check_http(holdfast::test::text_of(data, size));
  return 0;
}
