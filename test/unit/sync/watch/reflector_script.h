// Scripts for the reflector: each step has a time, an input and the exact actions that must follow.

#pragma once

#include "sync/watch/reflector.h"

namespace holdfast::sync::watch::scripts {

using namespace reflect;
using namespace std::chrono_literals;

inline constexpr MonoTime start{};

inline std::string shown(MonoTime time) { return format_duration(time - start); }

// One action as a line of a script.
struct Show {
  std::string operator()(const SendList& list) const {
    return "list rv=" + list.resource_version + (list.not_older ? " or newer" : "") +
           " limit=" + std::to_string(list.limit) + " continue=" + list.continue_token;
  }
  std::string operator()(const OpenWatch& watch) const {
    return "watch rv=" + watch.resource_version + " for " + std::to_string(watch.timeout_seconds);
  }
  std::string operator()(const CloseWatch&) const { return "close"; }
  std::string operator()(const Replace& replace) const {
    std::string text = "replace rv=" + replace.resource_version + ":";
    for (const std::string& item : replace.items) text += " " + item;
    return text;
  }
  std::string operator()(const TakePage& page) const {
    std::string text = page.first ? "first page:" : "page:";
    for (const std::string& item : page.items) text += " " + item;
    return text;
  }
  std::string operator()(const EndList& end) const { return "end rv=" + end.resource_version; }
  std::string operator()(const Apply& apply) const {
    return std::string(wire::to_string(apply.event.type)) + " " + apply.event.object +
           " rv=" + apply.event.resource_version;
  }
  std::string operator()(const Bookmark& bookmark) const {
    return "bookmark rv=" + bookmark.resource_version;
  }
  std::string operator()(const WaitUntil& wait) const { return "wait until " + shown(wait.time); }
  std::string operator()(const Warn& warning) const { return "warn: " + warning.what; }
  std::string operator()(const ReportStall& stall) const { return "stall: " + stall.failure.what; }
};

struct Line {
  Duration at;  // since `start`
  Input input;
  std::vector<std::string> expect;
};

struct Script {
  std::string name;
  std::vector<Line> lines;
  ReflectorConfig config = {};
};

inline PageReceived page(std::vector<std::string> items, std::string version,
                         std::string token = {}) {
  return {std::move(items), std::move(version), std::move(token)};
}
inline EventReceived event(wire::WatchEvent::Type type, std::string object, std::string version) {
  return {{type, std::move(object), std::move(version)}};
}
inline EventReceived error_event(const wire::ApiStatus& status) {
  return {{wire::WatchEvent::Type::error, status.body(), {}}};
}
inline ListFailed list_failed(const wire::ApiStatus& status) { return {failure_of(status)}; }
inline WatchFailed watch_failed(const wire::ApiStatus& status) { return {failure_of(status)}; }
inline const Error refused{Errc::unavailable, "connection refused"};
inline const wire::ApiStatus expired = wire::status::expired("too old resource version");

inline constexpr auto added = wire::WatchEvent::Type::added;
inline constexpr auto modified = wire::WatchEvent::Type::modified;
inline constexpr auto deleted = wire::WatchEvent::Type::deleted;
inline constexpr auto bookmark = wire::WatchEvent::Type::bookmark;

// The random numbers come from seed 1, so waits and timeouts are always the same.
inline void replay(const std::vector<Script>& scripts) {
  for (const Script& script : scripts) {
    SCOPED_TRACE(script.name);
    Random random(1);
    Reflector reflector(script.config, random);
    for (const Line& line : script.lines) {
      SCOPED_TRACE("at " + shown(start + line.at));
      std::vector<std::string> actions;
      for (const Action& action : reflector.step(start + line.at, line.input)) {
        actions.push_back(std::visit(Show{}, action));
      }
      EXPECT_EQ(actions, line.expect);
    }
  }
}

}  // namespace holdfast::sync::watch::scripts
