// The metrics of holdfast-cloud: upstream's names, types, labels and buckets, and some named
// holdfast_*.
// Counters and histograms are updated when something happens; gauges are read when text() is
// called.
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "agent/cloud/lifecycle_runner.h"
#include "agent/cloud/zone_report.h"
#include "platform/http/message.h"
#include "platform/metrics.h"

namespace holdfast::agent {

class CloudMetrics final : public LifecycleObserver {
 public:
  // `host` is the API server as "host:port". `controller` and `clock` outlive it.
  CloudMetrics(std::string host, const sync::lifecycle::Options& options,
               const sync::lifecycle::Controller& controller, const Clock& clock);

  void planned(const sync::lifecycle::Effect& effect) override;
  void settled(const sync::lifecycle::Effect& effect,
               const sync::lifecycle::Outcome& outcome) override;
  void stepped(const sync::control::Now& began) override;

  // A request was sent and answered with `status`; 0: no answer.
  void requested(http::Method method, int status);
  void skipped(std::string_view kind);  // a malformed object of that kind was skipped

  // Values for gauges that the caller of text() provides.
  struct States {
    std::map<std::string, bool> elections;  // name of the Lease -> whether this replica leads
    bool started = false;
    bool contact_lost = false;
    double saturation = 0;  // of the request bucket
  };
  [[nodiscard]] std::string text(const LifecycleRunner::Queue& queue, const States& states);

 private:
  void read_zones(const sync::lifecycle::Zones& zones);
  void read_zone(const std::string& key, double size, double unhealthy);
  void end_pass(MonoTime now);

  std::string host_;
  bool by_taints_;
  const sync::lifecycle::Controller& controller_;
  const Clock& clock_;
  Metrics metrics_;
  Histogram update_one_;
  Histogram update_all_;
  Counter deletions_;
  Histogram deletion_;

  std::map<std::string, double> evictions_;  // by zone, as last read
  std::unordered_map<std::string, MonoTime>
      updating_;  // nodes whose status is queued or being written
  std::unordered_map<std::string, MonoTime> evicting_;  // by pod uid: when the eviction was queued
  ZoneReport zone_report_;
  std::size_t events_dropped_ = 0;
  std::uint64_t passes_ = 0;

  // The latest monitor pass lasts until the status of each node that it found lost is written.
  MonoTime pass_began_{};
  std::unordered_set<std::string> pass_left_;
};

}  // namespace holdfast::agent
