// The table of limits in agent/edge/README.md names the limits that the agent has.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "agent/client/answer_reader.h"
#include "agent/edge/admin/hub_metrics.h"
#include "agent/edge/cache/list_snapshots.h"
#include "agent/edge/cache/scope_reflectors.h"
#include "agent/edge/door/request_gate.h"
#include "agent/edge/options/options.h"
#include "agent/edge/room_settings.h"
#include "platform/http/h2/receive_window.h"
#include "store/answers.h"
#include "store/journal.h"
#include "store/outbox.h"
#include "sync/objects/large_lists.h"
#include "sync/watch/list_place.h"

namespace holdfast::agent {
namespace {

std::string mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20); }
std::string kibibytes(std::size_t bytes) { return std::to_string(bytes >> 10); }

// "20,000" for 20000.
std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t left = digits.size(); left > 3;) {
    left -= 3;
    digits.insert(left, ",");
  }
  return digits;
}

// The README with single spaces between its words.
std::string readme() {
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/agent/edge/README.md");
  std::string text;
  for (std::string word; in >> word;) text += word + " ";
  return text;
}

TEST(EdgeLimits, AreThoseOfTheReadme) {
  const EdgeOptions defaults;
  const auto list_bytes = static_cast<std::size_t>(defaults.list_bytes_max);
  const AnswerLimits answers = answer_limits(list_bytes);
  const sync::watch::CacheLimits cache = cache_limits(defaults);
  const http::ShareLimits proxy = limits_of(Listener::proxy).shares;
  const http::ShareLimits admin = limits_of(Listener::admin).shares;
  const http::h2::ReceiveWindowLimits windows;
  const sync::watch::WatchCacheLimits events;
  const SnapshotLimits snapshots;
  const store::AnswerLimits stored;
  const store::OutboxLimits outbox;
  const store::JournalLimits journal;
  const HubMetricsLimits metrics;
  const std::size_t foreign_list = sync::watch::foreign_scope_bytes(list_bytes);
  const std::string of_others = mebibytes(answers.passed_on.foreign) + " MiB; else 429";
  const std::vector<std::string> rows = {
      "| one answer that the agent needs whole | `--list-bytes-max`, " + mebibytes(list_bytes) +
          " MiB, ",
      "| lists that were too large, which are not read again | " +
          std::to_string(sync::objects::LargeListLimits().count) + ", for a minute |",
      "with " + kibibytes(answers.passed_on_each) +
          " KiB for each: all; those of other callers | " + mebibytes(answers.passed_on.bytes) +
          "; " + of_others,
      "for other callers half of it, but at least " + mebibytes(foreign_list) + " MiB; else",
      "| answers being read: all; the node's; those of others | " +
          mebibytes(answers.in_flight.bytes) + "; " + mebibytes(answers.in_flight.own) + "; " +
          mebibytes(answers.in_flight.foreign) + " MiB;",
      "| " + kibibytes(windows.first) + " KiB each at first,",
      "from " + kibibytes(windows.least) + " KiB to " + mebibytes(windows.most) + " MiB |",
      "| requests and answers under way of one listener | " + mebibytes(proxy.bytes) +
          " MiB, of the admin listener " + mebibytes(admin.bytes) + " MiB;",
      "| an answer other than 2xx | " + mebibytes(answers.error_bytes) + " MiB; else 429 |",
      "those of other callers; one event | " + mebibytes(receive_limits.bytes) + "; " +
          mebibytes(receive_limits.foreign) + "; " + mebibytes(receive_limits.event) + " MiB;",
      "| a page of a list that is kept on disk | about " + mebibytes(receive_limits.page) + " MiB,",
      "with " + std::to_string(sync::watch::object_overhead) + " bytes for each object, and " +
          std::to_string(sync::watch::place_overhead) +
          " more if its bytes are on disk | `--cache-memory-max`, " +
          mebibytes(cache.memory_bytes) + " MiB |",
      "| `--cache-disk-max`, " + mebibytes(cache.list_bytes()) +
          " MiB, uncompressed, and only while `cache.db` fills at most " +
          std::to_string(sync::watch::lists_share) + "% of what it may;",
      "for those who still read them | " + mebibytes(sync::watch::taken_back_max) + " MiB; else",
      "| objects of one cached list | " + grouped(cache.scope_objects) + " |",
      "| events of one list kept for watches that resume | " + grouped(events.events) + " and " +
          mebibytes(events.bytes) + " MiB,",
      "| " + std::to_string(snapshots.count) + " and " + mebibytes(snapshots.bytes) +
          " MiB, or one of any size; 5 minutes;",
      "| `--cache-disk-max`, " + mebibytes(static_cast<std::size_t>(cache.disk_bytes)) + " MiB |",
      "| discovery documents and tokens: one; all | " +
          mebibytes(static_cast<std::size_t>(stored.answer_bytes)) + " MiB; " +
          mebibytes(static_cast<std::size_t>(stored.bytes)) + " MiB and " +
          grouped(static_cast<std::size_t>(stored.rows)) + " |",
      "| scopes | `--scopes-max`, " + std::to_string(cache.scopes) + " |",
      "| " + std::to_string(cache.foreign.scopes) + ", " + mebibytes(cache.foreign.bytes) +
          " MiB or half of `--list-bytes-max`; " + std::to_string(stored.foreign_rows) + ", " +
          mebibytes(static_cast<std::size_t>(stored.foreign_bytes)) + " MiB |",
      "| writes that wait for the cloud | " + grouped(static_cast<std::size_t>(outbox.entries)) +
          " and " + mebibytes(static_cast<std::size_t>(outbox.bytes)) + " MiB;",
      "| records of the journal | " + grouped(static_cast<std::size_t>(journal.rows)) + ";",
      "At most " + std::to_string(metrics.clients) + " clients and " + grouped(metrics.series) +
          " series are kept",
  };
  const std::string text = readme();
  for (const std::string& row : rows) EXPECT_NE(text.find(row), std::string::npos) << row;
}

}  // namespace
}  // namespace holdfast::agent
