#include "test/unit/sync/wire/protobuf/session.h"

#include <boost/json.hpp>
#include <fstream>

#include "platform/text.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/list.h"

namespace holdfast::sync::wire::test {
namespace {

namespace json = boost::json;

struct Line {
  std::string where;
  json::object exchange;
};

std::vector<Line> lines() {
  std::vector<Line> all;
  for (const std::string file : {"session.jsonl", "session-1.36.jsonl"}) {
    std::ifstream in(HOLDFAST_SOURCE_ROOT "/test/data/kubelet/" + file);
    int number = 0;
    for (std::string text; std::getline(in, text);) {
      Line line{file + ":" + std::to_string(++number) + ": ", json::parse(text).as_object()};
      line.where += std::string(line.exchange.at("method").as_string()) + " " +
                    std::string(line.exchange.at("target").as_string());
      all.push_back(std::move(line));
    }
  }
  return all;
}

std::string decoded(const json::value& base64) {
  return base64_decode(std::string(base64.as_string())).value();
}

}  // namespace

std::vector<Recorded> recorded_bodies() {
  std::vector<Recorded> bodies;
  for (const Line& line : lines()) {
    for (const std::string_view field : {"requestBody", "responseBody"}) {
      const json::value* body = line.exchange.if_contains(field);
      if (body == nullptr || !body->is_string()) continue;
      std::string bytes = decoded(*body);
      if (is_protobuf(bytes)) bodies.push_back({line.where, std::move(bytes)});
    }
  }
  return bodies;
}

std::vector<RecordedWatch> recorded_watches() {
  std::vector<RecordedWatch> watches;
  for (const Line& line : lines()) {
    const json::value* frames = line.exchange.if_contains("frames");
    if (frames == nullptr) continue;
    RecordedWatch watch{line.where, {}};
    for (const json::value& chunk : frames->as_array()) {
      watch.chunks.push_back(decoded(chunk.as_array().at(1)));
    }
    watches.push_back(std::move(watch));
  }
  return watches;
}

std::vector<Recorded> recorded_objects() {
  std::vector<Recorded> objects;
  for (Recorded& body : recorded_bodies()) {
    const Envelope envelope = open_envelope(body.bytes).value();
    if (!envelope.kind.ends_with("List")) {
      objects.push_back(std::move(body));
      continue;
    }
    const ListBytes list = split_protobuf_list(body.bytes).value();
    for (const std::string_view item : list.items) {
      objects.push_back(
          {body.where, enveloped(list.head.api_version, item_kind(list.head.kind), item)});
    }
  }
  for (const RecordedWatch& watch : recorded_watches()) {
    ProtobufFrames splitter;
    for (const std::string& chunk : watch.chunks) {
      const std::vector<std::string> frames = splitter.feed(chunk).value();
      for (const std::string& frame : frames) {
        objects.push_back({watch.where, decode_protobuf_event(frame).value().object});
      }
    }
  }
  return objects;
}

}  // namespace holdfast::sync::wire::test
