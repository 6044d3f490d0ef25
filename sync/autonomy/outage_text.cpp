// The texts of outage.h: log lines, journal entries and descriptions.

#include <chrono>

#include "platform/check.h"
#include "sync/autonomy/outage.h"

namespace holdfast::sync::autonomy {
namespace {

// A node whose own disk keeps it from rejoining is offline, although the cloud answers.
bool is_of_node(LinkFault fault) { return fault == LinkFault::disk; }

// What to say about a kind of fault.
struct Words {
  std::string_view brief;   // the reason in a few words
  std::string_view advice;  // what a person should check
};

Words words_of(LinkFault fault) {
  switch (fault) {
    case LinkFault::refused:
      return {
          "connection refused",
          "check the server's address and port in the kubeconfig, and that the API server runs"};
    case LinkFault::reset:
      return {"the connection broke",
              "check that the server's address is an API server's, and what is on the way to it: a "
              "firewall, proxy or load balancer"};
    case LinkFault::timeout:
      return {
          "no answer in time",
          "check the network between this node and the API server: cable, route, VPN, firewall"};
    case LinkFault::unreachable:
      return {"no route", "check this node's network: interface, address and default route"};
    case LinkFault::dns:
      return {"its name cannot be resolved",
              "check the server's name in the kubeconfig, and this node's DNS in /etc/resolv.conf"};
    case LinkFault::tls:
      return {
          "a TLS certificate is not accepted",
          "check the certificate authority and the client certificate in the kubeconfig, whether "
          "one has expired, and this node's clock"};
    case LinkFault::credentials:
      return {
          "the node's credentials are not accepted",
          "check the token or client certificate in the kubeconfig, whether it has expired, and "
          "this node's clock"};
    case LinkFault::not_api_server:
      return {"something else answers in its place",
              "check for a login page or proxy on this network, and the server's address in the "
              "kubeconfig"};
    case LinkFault::overloaded:
      return {"it is overloaded",
              "nothing to do here: the agent retries as often as the server allows"};
    case LinkFault::disk:
      return {"this node's disk takes no writes",
              "check the space and the health of the disk with the agent's data; the API server "
              "answers"};
    case LinkFault::other:
      return {"it can't be reached", "check the kubeconfig and the network"};
  }
  UNREACHABLE();
}

Duration whole_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration);
}

// "26m37s": whole seconds.
std::string exactly(Duration duration) { return format_duration(whole_seconds(duration)); }

// "14:02:11Z": the first `digits` characters of the time, after the date if that is not today's.
std::string time_of(WallTime time, WallTime now, std::size_t digits) {
  const std::string text = format_rfc3339(time);  // 2026-11-21T01:02:03Z
  const std::string clock = text.substr(11, digits) + "Z";
  const bool today = text.substr(0, 10) == format_rfc3339(now).substr(0, 10);
  return today ? clock : text.substr(0, 10) + " " + clock;
}

constexpr std::size_t to_seconds = 8;
constexpr std::size_t to_minutes = 5;

// "12 s", "26 min", "5 h 12 min" or "3 d 4 h": precise enough for a person.
std::string roughly(Duration duration) {
  const std::int64_t seconds = whole_seconds(duration).count() / 1'000'000'000;
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (minutes < 60) return std::to_string(minutes) + " min";
  if (hours < 48) return std::to_string(hours) + " h " + std::to_string(minutes % 60) + " min";
  return std::to_string(hours / 24) + " d " + std::to_string(hours % 24) + " h";
}

std::string counted(std::uint64_t count, std::string_view thing) {
  std::string text = std::to_string(count) + " ";
  text.append(thing);
  return count == 1 ? text : text + "s";
}

// "14 writes replayed, 1 refused: PATCH ...: answered 422"
std::string replayed_text(const ReplayTally& tally) {
  if (tally == ReplayTally{}) return "nothing to replay";
  std::string text = counted(tally.applied, "write") + " replayed";
  if (tally.refused == 0) return text;
  text += ", " + std::to_string(tally.refused) + " refused: " + tally.first_refused;
  return tally.refused > 1 ? text + ", ..." : text;
}

std::string why_and_what(const OutageNote& note) {
  const Words words = words_of(note.fault);
  return note.reason + "; " + std::string(words.advice);
}

std::string never(LinkFault fault) {
  return is_of_node(fault) ? "the node did not come online" : "the cloud was not reached";
}

std::string no_longer(LinkFault fault) {
  return is_of_node(fault) ? "the node has been offline" : "the cloud has been unreachable";
}

std::string began_text(const OutageNote& note, std::string_view lost, const std::string& at) {
  if (note.was_reached) return std::string(lost) + " at " + at;
  return "not reached since the start at " + at;
}

}  // namespace

std::string log_text(const OutageNote& note, const ClockReading& now) {
  const std::string at = time_of(now.wall_at(note.began), now.wall, to_seconds);
  const std::string lasted = exactly(note.at - note.began);
  switch (note.kind) {
    case OutageNote::Kind::lost:
      if (!note.was_reached) return never(note.fault) + ": " + why_and_what(note);
      return no_longer(note.fault) + " since " + at + ": " + why_and_what(note);
    case OutageNote::Kind::still:
      if (!note.was_reached) {
        return never(note.fault) + " in " + lasted + ": " + why_and_what(note);
      }
      return no_longer(note.fault) + " for " + lasted + " (since " + at +
             "): " + why_and_what(note);
    case OutageNote::Kind::back:
      if (!note.was_reported) return "connected";
      return "connected after " + lasted + " (" + began_text(note, "lost", at) + "; " +
             replayed_text(note.replayed) + ")";
  }
  UNREACHABLE();
}

std::string journal_text(const OutageNote& note) {
  const std::string why = std::string(to_string(note.fault)) + ": " + note.reason;
  if (note.kind != OutageNote::Kind::back) return "began: " + why;
  return "ended after " + exactly(note.at - note.began) + " (" + why + "); " +
         replayed_text(note.replayed);
}

std::string describe(const Outage& outage, const ClockReading& now) {
  const auto began = outage.began();
  if (!began) return {};
  const std::string lasted = roughly(now.mono - *began);
  const std::string at = time_of(now.wall_at(*began), now.wall, to_minutes);
  const std::string why(words_of(outage.fault()).brief);
  switch (outage.state()) {
    case LinkState::connected:
      return {};
    case LinkState::suspect:
      return "the cloud has not answered for " + lasted + ": " + why;
    case LinkState::rejoining:
      return "the cloud is reachable again, and the cache is being brought up to date";
    case LinkState::offline:
      break;
  }
  std::string what = no_longer(outage.fault()) + " since ";
  if (!outage.was_reached()) {
    what = is_of_node(outage.fault()) ? "the node has not come online since the start at "
                                      : "the cloud has not been reached since the start at ";
  }
  return what + at + " (" + lasted + "): " + why;
}

}  // namespace holdfast::sync::autonomy
