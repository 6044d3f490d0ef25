#include "agent/edge/admin/admin.h"

#include "agent/edge/admin/journal_json.h"
#include "agent/edge/route/answer.h"
#include "platform/log.h"
#include "platform/proc/disk_usage.h"
#include "platform/text.h"
#include "sync/objects/secret_values.h"
#include "sync/wire/json.h"

namespace holdfast::agent {
namespace {

namespace json = sync::json;
using namespace std::chrono_literals;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

http::Response document(const json::value& value) {
  return json_response(200, sync::wire::serialize(value) + "\n");
}

http::Response plain(int status, std::string text) {
  return {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = std::move(text)};
}

json::array servers_json(const Uplink& uplink, MonoTime now) {
  json::array rows;
  for (std::size_t i = 0; i < uplink.servers().size(); ++i) {
    const sync::autonomy::ServerPool::Server& server = uplink.servers().at(i);
    json::object row{{"server", uplink.server_name(i)},
                     {"health", to_string(server.health)},
                     {"for_seconds", seconds(now - server.since)},
                     {"reason", server.reason},
                     {"heartbeat_limit_ms", uplink.path(i).limit() / 1ms}};
    if (const auto took = uplink.path(i).smoothed()) row["heartbeat_ms"] = *took / 1ms;
    rows.push_back(std::move(row));
  }
  return rows;
}

json::object link_json(const Uplink& uplink, MonoTime now) {
  const sync::autonomy::Link& link = uplink.link();
  json::object described{{"state", to_string(link.state())},
                         {"for_seconds", seconds(now - link.since())},
                         {"reason", link.reason()},
                         {"answers_late", uplink.answers_late()},
                         {"servers", servers_json(uplink, now)}};
  if (uplink.fault()) described["fault"] = to_string(*uplink.fault());
  if (uplink.outage().began()) described["outage"] = uplink.describe_outage();
  if (const auto since = link.overloaded_since()) {
    described["overloaded_for_seconds"] = seconds(now - *since);
  }
  return described;
}

json::object classes_json(const UplinkBytes& bytes) {
  json::object classes;
  for (std::size_t i = 0; i < sync::autonomy::uplink_classes; ++i) {
    const auto traffic = static_cast<sync::autonomy::UplinkClass>(i);
    const UplinkBytes::Cost& cost = bytes.cost(traffic);
    classes[to_string(traffic)] = json::object{{"sent", cost.sent},
                                               {"received", cost.received},
                                               {"delayed_requests", cost.delayed_requests}};
  }
  return classes;
}

// Totals of the cache.
struct Extent {
  std::size_t complete = 0;  // scopes
  std::size_t objects = 0;
  std::size_t bytes = 0;
};

Extent extent_of(const ScopeTable& scopes) {
  Extent extent;
  for (const auto& [key, scope] : scopes.all()) {
    if (scope->cache().complete()) ++extent.complete;
    extent.objects += scope->cache().objects().size();
    for (const auto& [name, object] : scope->cache().objects()) {
      extent.bytes += object.bytes.size();
    }
  }
  return extent;
}

// When the agent's certificates expire, by their use.
std::vector<std::pair<std::string, WallTime>> certificates_of(const NodeIdentity* identity) {
  std::vector<std::pair<std::string, WallTime>> found;
  if (identity == nullptr) return found;
  for (const auto use :
       {sync::identity::CertificateUse::client, sync::identity::CertificateUse::serving}) {
    if (const auto ends = identity->ends(use)) found.emplace_back(to_string(use), *ends);
  }
  return found;
}

}  // namespace

Admin::Admin(std::string node_name, ScopeTable& scopes, StoredAnswers& answers, Uplink& uplink,
             OfflineStore& offline_store, const NodeLease& lease, const Clock& clock)
    : node_name_(std::move(node_name)),
      scopes_(scopes),
      uplink_(uplink),
      offline_store_(offline_store),
      lease_(lease),
      clock_(clock),
      readiness_(scopes, answers, clock) {}

asio::awaitable<http::Response> Admin::handle(const http::Request& request) {
  http::Response response;
  if (ota_ != nullptr && Ota::serves(request.path())) co_return co_await ota_->handle(request);
  const auto query = Query::parse(request.query());
  if (request.method != http::Method::get) {
    response = status_problem(405, "only GET is served here");
  } else if (!query) {
    response = status_problem(400, query.error().what);
  } else {
    response = answer(request, *query);
  }
  co_return response;
}

http::Response Admin::answer(const http::Request& request, const Query& query) {
  const std::string_view path = request.path();
  if (path == "/healthz" || path == "/livez" || path == "/v1/healthz") return plain(200, "ok");
  if (path == "/readyz" || path == "/v1/readyz") return ready();
  if (path == "/metrics") return metrics();
  if (path == "/v1/status") return status();
  if (path == "/v1/link") return link();
  if (path == "/v1/scopes") return scopes();
  if (path == "/v1/objects") return objects(query);
  if (path == "/v1/ready") return document(readiness_.document());
  if (path == "/v1/journal") return journal(query);
  return status_problem(404, "no such page: " + std::string(path));
}

http::Response Admin::ready() const {
  bool cached = false;
  for (const auto& [key, scope] : scopes_.all()) cached = cached || scope->cache().complete();
  if (cached || uplink_.link().allows_reads()) return plain(200, "ok");
  return plain(503, "nothing is cached and the cloud is unreachable: " + uplink_.link().reason());
}

http::Response Admin::link() const { return document(link_json(uplink_, clock_.mono())); }

// Raises a counter to the total `count` that another part of the agent has counted since the start.
void Admin::counter(const std::string& name, const std::string& help, const MetricLabels& labels,
                    std::uint64_t count) {
  std::uint64_t& told = counted_[{name, labels}];
  metrics_.counter(name, help, labels).add(static_cast<double>(count - told));
  told = count;
}

void Admin::count_uplink() {
  for (std::size_t i = 0; i < sync::autonomy::link_faults; ++i) {
    const std::string reason(to_string(static_cast<sync::autonomy::LinkFault>(i)));
    counter("holdfast_edge_uplink_failures_total", "Requests to the cloud that failed, by reason.",
            {{"reason", reason}}, uplink_.faults()[i]);
  }
  for (std::size_t i = 0; i < sync::autonomy::uplink_classes; ++i) {
    const auto traffic = static_cast<sync::autonomy::UplinkClass>(i);
    const UplinkBytes::Cost& cost = uplink_.bytes().cost(traffic);
    const MetricLabels labels{{"class", std::string(to_string(traffic))}};
    counter("holdfast_edge_uplink_class_sent_bytes_total",
            "Bytes of HTTP messages to the cloud, by class of traffic.", labels, cost.sent);
    counter("holdfast_edge_uplink_class_received_bytes_total",
            "Bytes of HTTP messages from the cloud, by class of traffic.", labels, cost.received);
    counter("holdfast_edge_uplink_requests_delayed_total",
            "Requests that --uplink-budget delayed, by class of traffic.", labels,
            cost.delayed_requests);
  }
}

void Admin::count_disk() {
  if (const auto usage = proc::disk_usage()) {
    counter("holdfast_edge_disk_written_bytes_total",
            "Bytes that this process sent to storage, as the kernel counts them.", {},
            usage->bytes_written);
  }
  for (store::Database* database : databases_) {
    const auto written = database->bytes_written();
    if (!written) continue;
    counter("holdfast_edge_database_written_bytes_total", "Bytes of pages written to a database.",
            {{"database", database->name()}}, *written);
  }
}

void Admin::count_refusals() {
  for (const auto& [listener, count] : refusals_) {
    const http::Refusals refusals = count();
    const std::pair<const char*, std::uint64_t> reasons[] = {
        {"server-full", refusals.server_full}, {"caller-full", refusals.caller_full},
        {"memory", refusals.memory},           {"malformed", refusals.malformed},
        {"not-admitted", refusals.gate},
    };
    for (const auto& [reason, value] : reasons) {
      counter("holdfast_edge_refused_callers_total",
              "Connections and requests that a listener refused, by reason.",
              {{"listener", listener}, {"reason", reason}}, value);
    }
  }
}

void Admin::count_readiness() {
  const OutageReadiness::Counts& counts = readiness_.counts();
  metrics_
      .gauge("holdfast_edge_outage_readiness_known",
             "1 if the node's list of pods was received; otherwise the other two metrics are "
             "meaningless.")
      .set(counts.known ? 1 : 0);
  metrics_
      .gauge("holdfast_edge_pods_ready_for_outage",
             "Pods that would come back after a reboot without the cloud.")
      .set(static_cast<double>(counts.ready));
  for (std::size_t i = 0; i < sync::autonomy::obstacles; ++i) {
    const std::string reason(to_string(static_cast<sync::autonomy::Obstacle>(i)));
    metrics_
        .gauge("holdfast_edge_pods_not_ready_for_outage",
               "Pods that would not come back after a reboot without the cloud, by reason. A pod "
               "may have several reasons.",
               {{"reason", reason}})
        .set(static_cast<double>(counts.by_obstacle.at(i)));
  }
}

http::Response Admin::metrics() {
  using sync::autonomy::LinkState;
  for (const LinkState state :
       {LinkState::connected, LinkState::suspect, LinkState::offline, LinkState::rejoining}) {
    metrics_
        .gauge("holdfast_edge_link_state", "1 for the state that the link is in.",
               {{"state", std::string(to_string(state))}})
        .set(uplink_.link().state() == state ? 1 : 0);
  }
  for (std::size_t i = 0; i < uplink_.servers().size(); ++i) {
    const bool healthy = uplink_.servers().at(i).health == sync::autonomy::ServerHealth::healthy;
    metrics_
        .gauge("node_yurthub_server_healthy_status", "1 for an API server that is healthy.",
               {{"server", uplink_.server_name(i)}})
        .set(healthy ? 1 : 0);
  }
  metrics_
      .gauge("holdfast_edge_link_answers_late",
             "1 while the cloud answers later than reads wait that the cache can answer.")
      .set(uplink_.answers_late() ? 1 : 0);
  metrics_
      .gauge("holdfast_edge_link_overloaded",
             "1 while the cloud answers every request with 429 or 503.")
      .set(uplink_.link().overloaded_since() ? 1 : 0);
  count_uplink();
  count_disk();
  count_refusals();
  count_readiness();
  const Extent extent = extent_of(scopes_);
  const auto gauge = [this](const char* name, const char* help, auto value) {
    metrics_.gauge(name, help).set(static_cast<double>(value));
  };
  gauge("holdfast_edge_scopes", "Cached lists.", scopes_.all().size());
  gauge_unhealthy(scopes_, metrics_);
  gauge("holdfast_edge_scopes_complete", "Cached lists that were completely received.",
        extent.complete);
  gauge("holdfast_edge_cache_objects", "Objects in all cached lists.", extent.objects);
  gauge("holdfast_edge_cache_bytes", "Bytes of the objects in all cached lists.", extent.bytes);
  if (const auto outbox = offline_store_.size()) {
    gauge("holdfast_edge_outbox_entries", "Writes that wait for the cloud.", outbox->entries);
    gauge("holdfast_edge_outbox_bytes", "Bytes of the writes that wait for the cloud.",
          outbox->bytes);
  }
  if (housekeeping_ != nullptr) {
    for (const auto& [reason, count] : housekeeping_->dropped()) {
      counter("holdfast_edge_scopes_dropped_total",
              "Cached lists that were dropped because they were not needed, by reason.",
              {{"reason", std::string(reason)}}, count);
    }
  }
  gauge("holdfast_edge_kubelet_inactive",
        "1 while the lease is not renewed because the kubelet sends no heartbeats.",
        lease_.kubelet().is_inactive(clock_.mono()) ? 1 : 0);
  for (const auto& [use, ends] : certificates_of(identity_)) {
    metrics_
        .gauge("holdfast_edge_certificate_expiration_timestamp_seconds",
               "When a certificate of the node expires, in seconds since 1970.", {{"for", use}})
        .set(seconds(ends.time_since_epoch()));
  }
  const http::Traffic traffic = uplink_.traffic();
  gauge("holdfast_edge_uplink_sent_bytes", "Bytes of HTTP sent since the start.", traffic.sent);
  gauge("holdfast_edge_uplink_received_bytes", "Bytes of HTTP received since the start.",
        traffic.received);
  gauge("holdfast_edge_uplink_connections", "Connections to the cloud made since the start.",
        traffic.connections);
  return {
      .status = 200, .headers = {{"Content-Type", Metrics::content_type}}, .body = metrics_.text()};
}

http::Response Admin::status() {
  const Extent extent = extent_of(scopes_);
  const auto outbox = offline_store_.size();
  const http::Traffic traffic = uplink_.traffic();
  const auto usage = proc::disk_usage();
  std::uint64_t database_bytes = 0;
  for (store::Database* database : databases_) {
    database_bytes += database->bytes_written().value_or(0);
  }
  json::object certificates;
  for (const auto& [use, ends] : certificates_of(identity_)) {
    certificates[use] = format_rfc3339(ends);
  }
  return document(json::object{
      {"node", node_name_},
      {"registered_again", registration_ == nullptr ? "" : registration_->last()},
      {"certificates_until", std::move(certificates)},
      {"link", link_json(uplink_, clock_.mono())},
      {"kubelet", json::object{{"inactive", lease_.kubelet().is_inactive(clock_.mono())},
                               {"last_heartbeat_seconds_ago",
                                seconds(clock_.mono() - lease_.kubelet().active_at())}}},
      {"outbox", json::object{{"entries", outbox ? outbox->entries : -1},
                              {"bytes", outbox ? outbox->bytes : -1}}},
      {"cache", json::object{{"scopes", scopes_.all().size()},
                             {"complete_scopes", extent.complete},
                             {"unhealthy_scopes", unhealthy_json(scopes_, clock_.mono())},
                             {"objects", extent.objects},
                             {"bytes", extent.bytes}}},
      {"uplink", json::object{{"bytes_sent", traffic.sent},
                              {"bytes_received", traffic.received},
                              {"connections_made", traffic.connections},
                              {"classes", classes_json(uplink_.bytes())}}},
      {"flash", json::object{{"bytes_written", usage ? json::value(usage->bytes_written) : nullptr},
                             {"database_bytes_written", database_bytes}}},
  });
}

http::Response Admin::scopes() const {
  json::array rows;
  for (const auto& [key, scope] : scopes_.all()) {
    const sync::watch::WatchCache& cache = scope->cache();
    rows.push_back(json::object{{"path", scope->path()},
                                {"owner", key.owner},
                                {"field_selector", key.field_selector},
                                {"label_selector", key.label_selector},
                                {"complete", cache.complete()},
                                {"resource_version", std::to_string(cache.version())},
                                {"objects", cache.objects().size()},
                                {"on_disk", scope->keeps_on_disk()},
                                {"health", health_json(*scope, clock_.mono())}});
  }
  return document(rows);
}

http::Response Admin::objects(const Query& query) const {
  const std::string_view resource = query.get("resource");
  std::map<sync::watch::ObjectKey, std::string> found;
  std::size_t bytes = 0;
  for (const auto& [key, scope] : scopes_.all()) {
    if (key.resource == resource) bytes += scope->cache().object_bytes();
  }
  // The document is made as a whole.
  if (bytes > scopes_.limits().memory_bytes) {
    return status_problem(507, "the cached " + std::string(resource) + " have " +
                                   std::to_string(bytes) + " bytes: list them from the proxy");
  }
  for (const auto& [key, scope] : scopes_.all()) {
    if (key.resource != resource) continue;
    const sync::wire::ScopeKind& kind = scope->cache().kind();
    for (const auto& [name, object] : scope->cache().objects()) {
      std::string text = sync::watch::cached_json(kind, object.bytes).value_or("null");
      found[name] =
          resource == "secrets" ? sync::objects::without_secret_values(text) : std::move(text);
    }
  }
  std::string body = "[";
  for (const auto& [name, object] : found) body += (body.size() > 1 ? ",\n" : "") + object;
  return json_response(200, body + "]\n");
}

http::Response Admin::journal(const Query& query) {
  const store::JournalQuery wanted{
      .from = parse_int<std::int64_t>(query.get("from")).value_or(0),
      .limit = parse_int<std::size_t>(query.get("limit")).value_or(1000),
      .subject = std::string(query.get("subject"))};
  const auto records = offline_store_.records(wanted);
  if (!records) return to_response(sync::wire::status::from_error(records.error()));
  return json_response(200, journal_json(*records) + "\n");
}

}  // namespace holdfast::agent
