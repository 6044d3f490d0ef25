#include "sync/autonomy/replay.h"

#include "platform/check.h"

namespace holdfast::sync {
namespace {

// Of failures that may pass, but may also be this one write's own: server errors, a refusal.
constexpr int attempts_max = 5;

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::applied:
      return "applied";
    case Verdict::conflict:
      return "conflict";
    case Verdict::rejected:
      return "rejected";
    case Verdict::retry:
      return "retry";
  }
  UNREACHABLE();
}

Verdict judge_replay(std::string_view verb, int http_status, bool maybe_sent, int attempts) {
  if (http_status >= 200 && http_status < 300) return Verdict::applied;
  switch (http_status) {
    case 404:
      return verb == "DELETE" ? Verdict::applied : Verdict::conflict;
    case 409:
      return verb == "POST" && maybe_sent ? Verdict::applied : Verdict::conflict;
    case 401:  // Whoever we are, and how loaded the server is, says nothing about the write.
    case 429:
    case 503:
      return Verdict::retry;
    case 403:
      break;
    default:
      if (http_status < 500) return Verdict::rejected;
  }
  return attempts >= attempts_max ? Verdict::rejected : Verdict::retry;
}

bool is_expired(std::string_view resource, Duration age) {
  return resource == "events" && age > event_lifetime;
}

}  // namespace holdfast::sync
