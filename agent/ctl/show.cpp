#include "agent/ctl/show.h"

#include <algorithm>
#include <array>
#include <vector>

#include "platform/terminal.h"
#include "platform/text.h"
#include "platform/time.h"
#include "sync/objects/version.h"
#include "sync/wire/codec.h"

namespace holdfast::agent {
namespace {

namespace json = sync::json;

using Row = TableRow;

// The value at `path`; null if any part of it is missing.
const json::value* dig(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* at = &value;
  for (const std::string_view name : path) {
    const json::object* object = at == nullptr ? nullptr : at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(name);
  }
  return at;
}

// A scalar as printed, escaped for the terminal; "-" if it is missing.
std::string text_of(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* found = dig(value, path);
  if (found == nullptr || found->is_null()) return "-";
  if (found->is_string()) return escape_for_terminal(found->get_string());
  if (found->is_double()) return std::to_string(static_cast<std::int64_t>(found->get_double()));
  return escape_for_terminal(sync::wire::serialize(*found));
}

Result<json::array> parse_array(std::string_view document) {
  TRY(json::value value, sync::wire::parse_json(document, sync::wire::trusted_json));
  if (!value.is_array()) return fail(Errc::invalid, "not a list");
  return std::move(value.get_array());
}

std::string link_line(const json::value& status) {
  const std::string state = text_of(status, {"link", "state"});
  const std::string reason = text_of(status, {"link", "reason"});
  if (reason == "-") return state;
  const std::string fault = text_of(status, {"link", "fault"});
  const std::string overloaded = text_of(status, {"link", "overloaded_for_seconds"});
  std::string line = state + " for " + text_of(status, {"link", "for_seconds"}) + " s (";
  if (fault != "-" && state != "connected") line += fault + ": ";
  line += reason + ")";
  if (state == "connected" && text_of(status, {"link", "answers_late"}) == "true") {
    line += ", slow: the cache answers what it can at once";
  }
  if (overloaded != "-") line += ", the cloud has been overloaded for " + overloaded + " s";
  return line;
}

// The bytes sent and received by each class of uplink traffic: "relist 120 + 90000, ..."
std::string classes_line(const json::value& status) {
  std::string line;
  const json::value* classes = dig(status, {"uplink", "classes"});
  if (classes == nullptr || !classes->is_object()) return "-";
  for (const auto& [name, cost] : classes->get_object()) {
    if (!line.empty()) line += ", ";
    line += std::string(name) + " " + text_of(cost, {"sent"}) + " + " + text_of(cost, {"received"});
    const std::string delayed = text_of(cost, {"delayed_requests"});
    if (delayed != "0") line += " (" + delayed + " requests delayed)";
  }
  return line;
}

// One row for each API server, if there is more than one.
std::vector<Row> server_rows(const json::value& status) {
  std::vector<Row> rows;
  const json::value* servers = dig(status, {"link", "servers"});
  if (servers == nullptr || !servers->is_array() || servers->get_array().size() < 2) return rows;
  for (const json::value& server : servers->get_array()) {
    rows.push_back({"server", text_of(server, {"server"}) + " " + text_of(server, {"health"}) +
                                  " for " + text_of(server, {"for_seconds"}) + " s (" +
                                  text_of(server, {"reason"}) + ")"});
  }
  return rows;
}

std::string kubelet_line(const json::value& status) {
  const std::string seconds = text_of(status, {"kubelet", "last_heartbeat_seconds_ago"});
  if (seconds == "-") return seconds;
  const bool inactive = text_of(status, {"kubelet", "inactive"}) == "true";
  return "last heartbeat " + seconds + " s ago" + (inactive ? ": the lease is not renewed" : "");
}

std::string full_name(const json::value& object) {
  const std::string space = text_of(object, {"metadata", "namespace"});
  const std::string name = text_of(object, {"metadata", "name"});
  return space == "-" ? name : space + "/" + name;
}

std::string journal_table(const json::array& records) {
  std::vector<Row> rows{{"SEQ", "AT", "KIND", "SUBJECT", "WHAT"}};
  for (const json::value& record : records) {
    rows.push_back({text_of(record, {"seq"}), text_of(record, {"at"}), text_of(record, {"kind"}),
                    text_of(record, {"subject"}), text_of(record, {"what"})});
  }
  return format_table(rows);
}

std::string toleration_line(const sync::Toleration& toleration) {
  std::string line = "  tolerates " +
                     (toleration.key.empty() ? "everything" : escape_for_terminal(toleration.key));
  if (!toleration.effect.empty()) line += ":" + escape_for_terminal(toleration.effect);
  if (!toleration.toleration_seconds) return line + " for ever\n";
  return line + " for " + std::to_string(*toleration.toleration_seconds) + " s\n";
}

std::string pod_facts(const sync::Pod& pod) {
  std::string text = "  phase " + escape_for_terminal(pod.status.phase) + ", on node " +
                     escape_for_terminal(pod.spec.node_name) + "\n";
  for (const sync::ContainerStatus& container : pod.status.container_statuses) {
    text += "  container " + escape_for_terminal(container.name) + ": " +
            (container.ready ? "ready" : "not ready") + ", restarted " +
            std::to_string(container.restart_count) + " times\n";
  }
  if (pod.metadata.deletion_timestamp) {
    text += "  deletion was asked for; it may run until " +
            format_rfc3339(*pod.metadata.deletion_timestamp) + "\n";
  }
  for (const sync::Toleration& toleration : pod.spec.tolerations) {
    if (toleration.effect.empty() || toleration.effect == "NoExecute") {
      text += toleration_line(toleration);
    }
  }
  const bool local = sync::objects::parse_version(pod.metadata.resource_version).has_value() &&
                     sync::objects::is_local_version(pod.metadata.resource_version);
  if (local) text += "  its status was changed here and waits for the cloud\n";
  return text;
}

}  // namespace

Result<std::string> show_json(std::string_view document) {
  TRY(const json::value value, sync::wire::parse_json(document, sync::wire::trusted_json));
  return escape_json_for_terminal(sync::wire::serialize(value)) + "\n";
}

Result<std::string> show_status(std::string_view document) {
  TRY(const json::value status, sync::wire::parse_json(document, sync::wire::trusted_json));
  std::vector<Row> rows{{"node", text_of(status, {"node"})}, {"link", link_line(status)}};
  const std::string again = text_of(status, {"registered_again"});
  if (again != "-" && !again.empty()) rows.insert(rows.begin() + 1, {"", again});
  const std::string outage = text_of(status, {"link", "outage"});
  if (outage != "-") rows.push_back({"", outage});
  for (Row& row : server_rows(status)) rows.push_back(std::move(row));
  rows.push_back({"kubelet", kubelet_line(status)});
  rows.push_back({"outbox", text_of(status, {"outbox", "entries"}) + " writes, " +
                                text_of(status, {"outbox", "bytes"}) + " bytes"});
  rows.push_back({"cache", text_of(status, {"cache", "objects"}) + " objects, " +
                               text_of(status, {"cache", "bytes"}) + " bytes, " +
                               text_of(status, {"cache", "complete_scopes"}) + " of " +
                               text_of(status, {"cache", "scopes"}) + " scopes complete"});
  rows.push_back({"uplink", text_of(status, {"uplink", "bytes_sent"}) + " bytes sent, " +
                                text_of(status, {"uplink", "bytes_received"}) + " received"});
  rows.push_back({"", classes_line(status)});
  rows.push_back({"flash", text_of(status, {"flash", "bytes_written"}) + " bytes written, " +
                               text_of(status, {"flash", "database_bytes_written"}) +
                               " of them pages of databases"});
  return format_table(rows);
}

Result<std::string> show_objects(std::string_view document) {
  TRY(const json::array objects, parse_array(document));
  std::vector<Row> rows{{"NAME", "VERSION", "CREATED", "STATUS"}};
  for (const json::value& object : objects) {
    rows.push_back({full_name(object), text_of(object, {"metadata", "resourceVersion"}),
                    text_of(object, {"metadata", "creationTimestamp"}),
                    text_of(object, {"status", "phase"})});
  }
  return format_table(rows);
}

Result<std::string> show_journal(std::string_view document) {
  TRY(const json::array records, parse_array(document));
  return journal_table(records);
}

Result<std::string> explain_pod(std::string_view namespace_name, std::string_view name,
                                const PodDocuments& documents) {
  TRY(const json::value status, sync::wire::parse_json(documents.status, sync::wire::trusted_json));
  TRY(const json::array pods, parse_array(documents.pods));
  TRY(const json::array journal, parse_array(documents.journal));
  std::string text =
      "pod " + escape_for_terminal(namespace_name) + "/" + escape_for_terminal(name) + "\n";
  const json::value* found = nullptr;
  for (const json::value& pod : pods) {
    if (text_of(pod, {"metadata", "namespace"}) == namespace_name &&
        text_of(pod, {"metadata", "name"}) == name) {
      found = &pod;
    }
  }
  if (found == nullptr) {
    text += "  unknown: it is in no complete list of pods\n";
  } else {
    TRY(const sync::Pod pod, sync::wire::decode<sync::Pod>(*found));
    text += pod_facts(pod);
  }
  text += "  link: " + link_line(status) + "\n";
  if (text_of(status, {"link", "state"}) == "offline") {
    text +=
        "  while the link is offline the pod is kept as it is: only a complete list from the\n"
        "  cloud can remove it\n";
  }
  if (journal.empty()) return text + "  no journal entries\n";
  return text + "journal\n" + journal_table(journal);
}

namespace {

// The pods of a /v1/ready document. Errors: invalid; unavailable if the agent could not find out.
Result<json::array> pods_of_ready(std::string_view document) {
  TRY(const json::value value, sync::wire::parse_json(document));
  const json::value* known = dig(value, {"known"});
  if (known == nullptr || !known->is_bool())
    return fail(Errc::invalid, "not a document of /v1/ready");
  if (!known->get_bool()) return fail(Errc::unavailable, text_of(value, {"why"}));
  const json::value* pods = dig(value, {"pods"});
  if (pods == nullptr || !pods->is_array())
    return fail(Errc::invalid, "not a document of /v1/ready");
  return pods->get_array();
}

bool is_ready(const json::value& pod) {
  const json::value* ready = dig(pod, {"ready"});
  return ready != nullptr && ready->is_bool() && ready->get_bool();
}

// Whether the pod's images could not be checked.
bool misses_images(const json::value& pod) {
  const json::value* checked = dig(pod, {"imagesChecked"});
  return checked == nullptr || !checked->is_bool() || !checked->get_bool();
}

}  // namespace

Result<std::string> show_ready(std::string_view ready) {
  TRY(const json::array pods, pods_of_ready(ready));
  std::vector<Row> rows{{"POD", "READY", "TOKEN UNTIL", "REMARKS"}};
  std::size_t count = 0;
  bool images_unknown = false;
  for (const json::value& pod : pods) {
    const std::string name = text_of(pod, {"namespace"}) + "/" + text_of(pod, {"name"});
    const bool comes_back = is_ready(pod);
    count += comes_back ? 1 : 0;
    images_unknown = images_unknown || misses_images(pod);
    Row row{name, comes_back ? "yes" : "no", text_of(pod, {"until"}), ""};
    for (const char* list : {"reasons", "warnings"}) {
      const json::value* reasons = dig(pod, {list});
      if (reasons == nullptr || !reasons->is_array()) continue;
      for (const json::value& reason : reasons->get_array()) {
        row.back() = text_of(reason, {"text"});
        rows.push_back(row);
        row = {"", "", "", ""};
      }
    }
    if (!row.front().empty()) rows.push_back(row);
  }
  std::string text = format_table(rows) + std::to_string(count) + " of " +
                     std::to_string(pods.size()) +
                     " pods would come back after a reboot without the cloud.\n";
  if (images_unknown) {
    text +=
        "Whether their images are on the node was not checked: the Node object does not list "
        "all images.\n";
  }
  return text;
}

int exit_code_of_ready(std::string_view ready) {
  const auto pods = pods_of_ready(ready);
  if (!pods) return 2;
  return std::all_of(pods->begin(), pods->end(), is_ready) ? 0 : 1;
}

}  // namespace holdfast::agent
