// The numbers of holdfast-cloud: upstream's names, types, labels and buckets, and a few of our own.
//
// Counts are taken where things happen; what is a state is read when somebody asks for the text.
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "agent/cloud/cloud.h"
#include "platform/http/message.h"
#include "platform/metrics.h"

namespace holdfast::agent {

class CloudMetrics final : public CloudObserver {
 public:
  // `host` is the API server as "host:port". `clock` outlives it.
  CloudMetrics(std::string host, const sync::lifecycle::Options& options, const Clock& clock);

  void wished(const sync::lifecycle::Action& action) override;
  void settled(const sync::lifecycle::Action& action,
               const sync::lifecycle::Outcome& outcome) override;
  void passed(MonoTime began) override;

  // A request was sent; status 0: no answer.
  void requested(http::Method method, int status);
  void skipped(std::string_view kind);  // a malformed object of that kind

  // States that only their owners know.
  struct States {
    std::map<std::string, bool> elections;  // names of Leases, and whether we lead
    bool started = false;
    bool deaf = false;
    double saturation = 0;  // of the request bucket
  };
  [[nodiscard]] std::string text(const Cloud& cloud, const States& states);

 private:
  void read_zones(const sync::lifecycle::Zones& zones);
  void read_zone(const std::string& key, double size, double unhealthy);
  void end_pass(MonoTime now);

  std::string host_;
  bool by_taints_;
  const Clock& clock_;
  Metrics metrics_;
  Histogram& update_one_;
  Histogram& update_all_;
  Counter& deletions_;
  Histogram& deletion_;

  std::map<std::string, double> evictions_;             // by zone, as counted so far
  std::unordered_map<std::string, MonoTime> updating_;  // nodes whose status is being written
  std::unordered_map<std::string, MonoTime> evicting_;  // pods by uid, since they were due
  std::size_t events_dropped_ = 0;

  // The newest pass goes on until the nodes that it has judged lost are written.
  MonoTime pass_began_{};
  std::unordered_set<std::string> pass_left_;
};

}  // namespace holdfast::agent
