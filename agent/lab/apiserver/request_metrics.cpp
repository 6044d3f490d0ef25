#include "agent/lab/apiserver/request_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "platform/fs/file.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

const std::vector<double>& duration_bounds() {
  // kube-apiserver's.
  static const std::vector<double> bounds = {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8,
                                             1.0,   1.25,  1.5,  2,   3,   4,   5,   6,
                                             8,     10,    15,   20,  30,  45,  60};
  return bounds;
}

std::string verb_of(const MeasuredRequest& request) {
  if (request.is_apply) return "APPLY";
  static const std::map<std::string, std::string, std::less<>> verbs = {
      {"create", "POST"},   {"update", "PUT"},      {"patch", "PATCH"},
      {"delete", "DELETE"}, {"get", "GET"},         {"list", "LIST"},
      {"watch", "WATCH"},   {"put", "PUT"},         {"post", "POST"},
      {"head", "HEAD"},     {"options", "OPTIONS"}, {"deletecollection", "DELETECOLLECTION"}};
  const auto found = verbs.find(request.info.verb);
  return found == verbs.end() ? "other" : found->second;
}

std::string scope_of(const sync::objects::RequestInfo& info) {
  if (!info.is_resource) return "";
  if (!info.name.empty()) return "resource";
  return info.namespace_name.empty() ? "cluster" : "namespace";
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Memory in bytes from /proc/self/statm: total and resident, in pages.
void measure_memory(Metrics& metrics) {
  const auto text = fs::read_all("/proc/self/statm", 4096);
  if (!text) return;
  const std::vector<std::string_view> words = split(*text, ' ');
  if (words.size() < 2) return;
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const auto total = parse_int<std::int64_t>(words[0]).value_or(0);
  const auto resident = parse_int<std::int64_t>(words[1]).value_or(0);
  metrics.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.")
      .set(static_cast<double>(total) * page);
  metrics.gauge("process_resident_memory_bytes", "Resident memory size in bytes.")
      .set(static_cast<double>(resident) * page);
}

}  // namespace

MetricLabels RequestMetrics::labels_of(const MeasuredRequest& request) {
  const sync::objects::RequestInfo& info = request.info;
  MetricLabels labels = {{"component", "apiserver"},
                         {"dry_run", info.dry_run ? "All" : ""},
                         {"scope", scope_of(info)},
                         {"verb", verb_of(request)},
                         {"group", ""},
                         {"version", ""},
                         {"resource", ""},
                         {"subresource", ""}};
  // What a client makes up does not become a label.
  if (!request.is_known) return labels;
  const std::string key = info.group + "/" + info.version + "/" + info.resource + "/" +
                          info.subresource + "/" + labels["verb"] + "/" + labels["scope"];
  if (!series_.contains(key) && series_.size() >= MetricsLimits{}.series) return labels;
  series_[key] = true;
  labels["group"] = info.group;
  labels["version"] = info.version;
  labels["resource"] = info.resource;
  labels["subresource"] = info.subresource;
  return labels;
}

void RequestMetrics::record(const MeasuredRequest& request) {
  MetricLabels labels = labels_of(request);
  if (request.info.verb != "watch") {
    metrics_
        .histogram("apiserver_request_duration_seconds",
                   "Response latency of requests in seconds; without watches.", duration_bounds(),
                   labels)
        .observe(std::chrono::duration<double>(request.took).count());
  }
  labels["code"] = std::to_string(request.status);
  metrics_
      .counter("apiserver_request_total",
               "Requests by verb, dry run, group, version, resource, scope, component and code.",
               labels)
      .add();
}

void RequestMetrics::count_objects(const Registry& registry) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : counted_) counts[name] = 0;
  const auto count = [&registry, &counts](const sync::printing::Resource& resource) {
    const bool stored = sync::printing::allows(resource.verbs, "list");
    if (stored && resource.group != "events.k8s.io") {
      counts[resource.qualified()] = registry.list(resource).size();
    }
  };
  for (const auto& resource : sync::printing::all_resources()) count(resource);
  for (const auto& custom : registry.catalog().customs()) count(*custom);
  counted_.clear();
  for (const auto& [name, number] : counts) {
    counted_.push_back(name);
    metrics_.gauge("apiserver_storage_objects", "Stored objects by resource.", {{"resource", name}})
        .set(static_cast<double>(number));
  }
}

void RequestMetrics::measure_process() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    const double now = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    metrics_
        .counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")
        .add(std::max(0.0, now - cpu_seconds_));
    cpu_seconds_ = std::max(now, cpu_seconds_);
  }
  measure_memory(metrics_);
  metrics_.gauge("process_start_time_seconds", "Start time of the process since the Unix epoch.")
      .set(std::chrono::duration<double>(started_.time_since_epoch()).count());
  std::error_code ec;
  std::size_t open = 0;
  for (std::filesystem::directory_iterator each("/proc/self/fd", ec), end; !ec && each != end;
       each.increment(ec)) {
    ++open;
  }
  metrics_.gauge("process_open_fds", "Number of open file descriptors.")
      .set(static_cast<double>(open));
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) == 0) {
    metrics_.gauge("process_max_fds", "Maximum number of open file descriptors.")
        .set(static_cast<double>(most.rlim_cur));
  }
}

std::string RequestMetrics::text(const Registry& registry, std::size_t watches) {
  count_objects(registry);
  measure_process();
  // Requests are answered one after the other: only the scrape itself is in flight.
  const std::string help = "Requests that are being answered, by kind.";
  metrics_.gauge("apiserver_current_inflight_requests", help, {{"request_kind", "readOnly"}})
      .set(1);
  metrics_.gauge("apiserver_current_inflight_requests", help, {{"request_kind", "mutating"}})
      .set(0);
  metrics_.gauge("apiserver_longrunning_requests", "Open watches.", {{"verb", "WATCH"}})
      .set(static_cast<double>(watches));
  return metrics_.text();
}

}  // namespace holdfast::agent::lab
