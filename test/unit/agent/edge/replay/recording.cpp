#include "test/unit/agent/edge/replay/recording.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"

namespace holdfast::agent::replay {
namespace {

namespace json = boost::json;

std::string text(const json::object& in, std::string_view name) {
  const json::value* found = in.if_contains(name);
  return found == nullptr || !found->is_string() ? "" : std::string(found->as_string());
}

Duration seconds(const json::value& value) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(value.to_number<double>()));
}

// A token that replaces the real ones, which the recording does not contain.
std::string some_token() {
  constexpr std::int64_t year_2100 = 4'102'444'800;
  std::string expires;
  sync::wire::append_wire(expires, 1, year_2100);
  std::string status;
  sync::wire::append_wire(status, 1, "token");
  sync::wire::append_wire(status, 2, expires);
  std::string raw;
  sync::wire::append_wire(raw, 3, status);
  return sync::wire::enveloped("authentication.k8s.io/v1", "TokenRequest", raw);
}

// The frames in the chunks of a watch; the time of a frame is that of its last chunk.
std::vector<Frame> frames_of(const json::array& chunks) {
  std::vector<Frame> all;
  sync::wire::ProtobufFrames splitter;
  for (const json::value& chunk : chunks) {
    const Duration at = seconds(chunk.as_array().at(0));
    const std::string bytes =
        base64_decode(std::string(chunk.as_array().at(1).as_string())).value();
    const auto frames = splitter.feed(bytes);
    for (const std::string& frame : frames.value()) {
      const sync::wire::WatchEvent event = sync::wire::decode_protobuf_event(frame).value();
      all.push_back({at, sync::wire::encode_protobuf_event(event.type, event.object),
                     event.type == sync::wire::WatchEvent::Type::bookmark});
      CHECK(all.back().bytes.substr(4) == frame);
    }
  }
  return all;
}

Exchange read(const json::object& line, int number) {
  Exchange out{.line = number, .at = seconds(line.at("t"))};
  out.request.method = http::parse_method(text(line, "method"));
  out.request.target = text(line, "target");
  for (const auto& header : line.at("requestHeaders").as_object()) {
    if (header.key() == "accept-encoding") continue;
    out.request.headers.add(std::string(header.key()), std::string(header.value().as_string()));
  }
  out.request.body = base64_decode(text(line, "requestBody")).value();
  const json::value* status = line.if_contains("status");
  if (status != nullptr && status->is_int64()) out.status = static_cast<int>(status->as_int64());
  if (const json::value* start = line.if_contains("start")) {
    out.start = start->to_number<int>();
  }
  out.body = base64_decode(text(line, "responseBody")).value();
  if (out.is_token()) out.body = some_token();
  if (const json::value* frames = line.if_contains("frames")) {
    out.is_watch = true;
    out.frames = frames_of(frames->as_array());
  }
  return out;
}

Recording read_all(std::string_view file) {
  Recording all;
  std::ifstream in(std::string(HOLDFAST_SOURCE_ROOT "/test/data/kubelet/").append(file));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    Exchange exchange = read(json::parse(line).as_object(), ++number);
    if (exchange.start == 2) all.second_start = number;
    if (exchange.start == 3) all.third_start = number;
    if (exchange.status != 0) all.exchanges.push_back(std::move(exchange));
  }
  CHECK(all.exchanges.size() > 100 && all.second_start > 0 && all.third_start > 0);
  return all;
}

bool asks_for(const http::Request& request, std::string_view parameter) {
  return request.query().find(parameter) != std::string_view::npos;
}

}  // namespace

std::string to_string(Session session) { return session == Session::v1_20 ? "v1_20" : "v1_36"; }

bool Exchange::is_list() const {
  return request.method == http::Method::get && !is_watch && asks_for(request, "limit=");
}

bool Exchange::is_watch_list() const {
  return is_watch && asks_for(request, "sendInitialEvents=true");
}

std::size_t Exchange::initial_frames() const {
  const auto bookmark = std::ranges::find_if(frames, &Frame::is_bookmark);
  CHECK(is_watch_list() && bookmark != frames.end());
  return static_cast<std::size_t>(bookmark - frames.begin());
}

const Exchange& Recording::first(const std::function<bool(const Exchange&)>& holds) const {
  const auto found = std::ranges::find_if(exchanges, holds);
  CHECK(found != exchanges.end());
  return *found;
}

const Exchange& Recording::first_renewal() const {
  return first([](const Exchange& exchange) {
    return exchange.is_lease() && exchange.request.method == http::Method::put;
  });
}

std::string Exchange::name() const {
  return std::string(http::to_string(request.method)) + " " + request.target + ", line " +
         std::to_string(line);
}

const Recording& recording(Session session) {
  static const Recording v1_20 = read_all("session.jsonl");
  static const Recording v1_36 = read_all("session-1.36.jsonl");
  return session == Session::v1_20 ? v1_20 : v1_36;
}

std::string scope_of(const http::Request& request) {
  const auto query = Query::parse(request.query());
  CHECK(query);
  return std::string(request.path()) + " " + std::string(query->get("fieldSelector"));
}

}  // namespace holdfast::agent::replay
