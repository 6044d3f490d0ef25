#include "agent/lab/rules/managed_fields.h"

#include <algorithm>
#include <boost/json.hpp>
#include <tuple>

#include "agent/lab/rules/merge_walk.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr ManagedLimits managed_limits;

// Nobody owns the identity of an object, or what only the server writes.
FieldSet unowned() {
  FieldSet set;
  set.children["f:apiVersion"].member = true;
  set.children["f:kind"].member = true;
  FieldSet& metadata = set.children["f:metadata"];
  metadata.member = true;
  for (const std::string_view name :
       {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
        "managedFields", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    metadata.children[field_step(name)].member = true;
  }
  return set;
}

ManagedEntry read_entry(const json::object& from) {
  ManagedEntry entry;
  entry.manager = sync::wire::dig_text(from, {"manager"});
  entry.operation = sync::wire::dig_text(from, {"operation"});
  entry.api_version = sync::wire::dig_text(from, {"apiVersion"});
  entry.time = sync::wire::dig_text(from, {"time"});
  entry.subresource = sync::wire::dig_text(from, {"subresource"});
  entry.fields = from_fields_v1(sync::wire::dig_object(from, {"fieldsV1"}));
  return entry;
}

json::object write_entry(const ManagedEntry& entry) {
  json::object made = {{"manager", entry.manager},
                       {"operation", entry.operation},
                       {"apiVersion", entry.api_version}};
  if (!entry.time.empty()) made["time"] = entry.time;
  made["fieldsType"] = "FieldsV1";
  made["fieldsV1"] = to_fields_v1(entry.fields);
  if (!entry.subresource.empty()) made["subresource"] = entry.subresource;
  return made;
}

bool wants_reset(const json::object& object) {
  const json::array& entries = sync::wire::dig_list(object, {"metadata", "managedFields"});
  return entries.size() == 1 && sync::wire::as_object(entries.front()).empty();
}

json::object without_entries(json::object object) {
  if (json::value* metadata = object.if_contains("metadata"); metadata && metadata->is_object()) {
    metadata->get_object().erase("managedFields");
  }
  return object;
}

// Takes the changed fields from all managers that have them.
void take_from_others(ManagedEntries& entries, const FieldChanges& found) {
  const FieldSet changed = unite(unite(found.added, found.modified), found.removed);
  for (ManagedEntry& entry : entries) entry.fields = subtract(std::move(entry.fields), changed);
}

// Unites the oldest updaters when there are too many.
void cap_updaters(ManagedEntries& entries) {
  std::vector<ManagedEntry*> updaters;
  for (ManagedEntry& entry : entries) {
    if (entry.operation == "Update") updaters.push_back(&entry);
  }
  if (updaters.size() <= managed_limits.updaters_max) return;
  std::stable_sort(updaters.begin(), updaters.end(),
                   [](const auto* left, const auto* right) { return left->time < right->time; });
  ManagedEntry ancient = *updaters.front();
  ancient.manager = "ancient-changes";
  ancient.subresource.clear();
  const std::size_t surplus = updaters.size() - managed_limits.updaters_max + 1;
  for (std::size_t at = 0; at < surplus; ++at) {
    ancient.fields = unite(std::move(ancient.fields), updaters[at]->fields);
    ancient.time = updaters[at]->time;
    updaters[at]->fields = {};
  }
  entries.push_back(std::move(ancient));
}

ManagedEntry entry_of(const FieldManager& manager, std::string_view operation) {
  return {manager.name,        std::string(operation),
          manager.api_version, format_rfc3339(manager.now),
          manager.subresource, {}};
}

std::string printed_manager(const ManagedEntry& entry) {
  std::string text = "\"" + entry.manager + "\"";
  if (!entry.subresource.empty()) text += " with subresource \"" + entry.subresource + "\"";
  if (entry.operation != "Update") return text;
  return text + " using " + entry.api_version;
}

struct Conflict {
  std::string manager;
  std::vector<std::string> fields;
};

std::string conflict_message(const std::vector<Conflict>& conflicts, std::size_t count) {
  if (count == 1) {
    return "conflict with " + conflicts.front().manager + ": " + conflicts.front().fields.front();
  }
  std::string text;
  for (const Conflict& conflict : conflicts) {
    if (!text.empty()) text += "\n";
    text += "conflicts with " + conflict.manager + ":";
    for (const std::string& field : conflict.fields) text += "\n- " + field;
  }
  return text;
}

sync::wire::ApiStatus conflict_status(const std::vector<Conflict>& conflicts) {
  sync::wire::ApiStatus status;
  status.code = 409;
  status.reason = "Conflict";
  status.details.emplace();
  for (const Conflict& conflict : conflicts) {
    for (const std::string& field : conflict.fields) {
      status.details->causes.push_back(
          {"FieldManagerConflict", "conflict with " + conflict.manager, field});
    }
  }
  const std::size_t count = status.details->causes.size();
  status.message = "Apply failed with " + std::to_string(count) +
                   (count == 1 ? " conflict: " : " conflicts: ") +
                   conflict_message(conflicts, count);
  return status;
}

// The managers whose fields `found` changes.
std::vector<Conflict> conflicts_of(const ManagedEntries& others, const FieldChanges& found) {
  const FieldSet changed = unite(found.added, found.modified);
  std::vector<Conflict> conflicts;
  for (const ManagedEntry& entry : others) {
    Conflict conflict{printed_manager(entry), paths_of(intersect(entry.fields, changed))};
    if (!conflict.fields.empty()) conflicts.push_back(std::move(conflict));
  }
  return conflicts;
}

void sort_entries(ManagedEntries& entries) {
  std::erase_if(entries, [](const ManagedEntry& entry) { return entry.fields.empty(); });
  const auto order = [](const ManagedEntry& entry) {
    return std::tie(entry.operation, entry.time, entry.manager, entry.api_version,
                    entry.subresource);
  };
  std::stable_sort(entries.begin(), entries.end(), [&order](const auto& left, const auto& right) {
    return order(left) < order(right);
  });
}

}  // namespace

bool ManagedEntry::same_manager(const ManagedEntry& other) const {
  return manager == other.manager && operation == other.operation &&
         api_version == other.api_version && subresource == other.subresource;
}

ManagedEntries managed_entries(const json::object& object) {
  ManagedEntries entries;
  for (const json::value& entry : sync::wire::dig_list(object, {"metadata", "managedFields"})) {
    entries.push_back(read_entry(sync::wire::as_object(entry)));
  }
  return entries;
}

void set_managed_entries(json::object& object, ManagedEntries entries) {
  sort_entries(entries);
  json::object& metadata = sync::wire::make_object(object, {"metadata"});
  metadata.erase("managedFields");
  if (entries.empty()) return;
  json::array list;
  for (const ManagedEntry& entry : entries) list.push_back(write_entry(entry));
  metadata["managedFields"] = std::move(list);
}

void note_update(const json::object& before, json::object& after, const MergeType& type,
                 const FieldManager& manager) {
  if (wants_reset(after)) {
    set_managed_entries(after, {});
    return;
  }
  ManagedEntries entries = managed_entries(after);
  if (entries.empty()) entries = managed_entries(before);
  const bool is_stored = !sync::wire::dig_text(before, {"metadata", "creationTimestamp"}).empty();
  if (entries.empty() && is_stored) {
    set_managed_entries(after, {});
    return;
  }
  const FieldChanges found = compare(without_entries(before), without_entries(after), type);
  take_from_others(entries, found);
  ManagedEntry mine = entry_of(manager, "Update");
  mine.fields = subtract(unite(found.added, found.modified), unowned());
  if (!mine.fields.empty()) {
    const auto known = std::find_if(entries.begin(), entries.end(), [&mine](const auto& entry) {
      return entry.same_manager(mine);
    });
    if (known == entries.end()) {
      entries.push_back(std::move(mine));
    } else {
      known->fields = unite(std::move(known->fields), mine.fields);
      known->time = mine.time;
    }
  }
  cap_updaters(entries);
  set_managed_entries(after, std::move(entries));
}

Answer<json::object> apply_configuration(const json::object& live, json::object configuration,
                                         const MergeType& type, const FieldManager& manager,
                                         const FieldSet& spared, bool force) {
  const std::string about = std::string(sync::wire::namespace_of(configuration)) + "/" +
                            std::string(sync::wire::name_of(configuration)) + "; " +
                            printed_kind(configuration);
  remove_fields(configuration, type, spared, {});
  auto wanted = fields_of(configuration, type);
  if (!wanted) {
    return refuse(sync::wire::status::unexplained("failed to create typed patch object (" + about +
                                                  "): " + wanted.error().what));
  }
  ManagedEntry mine = entry_of(manager, "Apply");
  mine.fields = subtract(*std::move(wanted), unowned());
  ManagedEntries others = managed_entries(live);
  FieldSet last;
  const auto known = std::find_if(others.begin(), others.end(),
                                  [&mine](const auto& entry) { return entry.same_manager(mine); });
  if (known != others.end()) {
    last = known->fields;
    others.erase(known);
  }
  FieldSet owned = mine.fields;
  for (const ManagedEntry& entry : others) owned = unite(std::move(owned), entry.fields);
  const json::object before = without_entries(live);
  json::object made = merged(before, configuration, type);
  remove_fields(made, type, last, owned);
  const FieldChanges found = compare(before, made, type);
  const std::vector<Conflict> conflicts = conflicts_of(others, found);
  if (!conflicts.empty() && !force) return refuse(conflict_status(conflicts));
  take_from_others(others, found);
  others.push_back(std::move(mine));
  set_managed_entries(made, std::move(others));
  return made;
}

bool same_but_times(const json::object& left, const json::object& right) {
  if (without_entries(left) != without_entries(right)) return false;
  ManagedEntries ours = managed_entries(left);
  ManagedEntries theirs = managed_entries(right);
  if (ours.size() != theirs.size()) return false;
  return std::all_of(ours.begin(), ours.end(), [&theirs](const ManagedEntry& entry) {
    return std::any_of(theirs.begin(), theirs.end(), [&entry](const ManagedEntry& other) {
      return entry.same_manager(other) && entry.fields == other.fields;
    });
  });
}

std::string printed_kind(const json::object& object) {
  const std::string version(sync::wire::dig_text(object, {"apiVersion"}));
  const bool has_group = version.find('/') != std::string::npos;
  return (has_group ? "" : "/") + version +
         ", Kind=" + std::string(sync::wire::dig_text(object, {"kind"}));
}

Answer<std::string> read_field_manager(std::string_view field_manager, std::string_view user_agent,
                                       bool is_apply, bool forces) {
  sync::wire::FieldErrors errors;
  const bool printable = std::all_of(field_manager.begin(), field_manager.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (is_apply && field_manager.empty()) {
    errors.push_back(sync::wire::field::required("fieldManager", "is required for apply patch"));
  }
  if (forces && !is_apply) {
    errors.push_back(
        sync::wire::field::forbidden("force", "may not be specified for non-apply patch"));
  }
  if (field_manager.size() > managed_limits.manager_bytes) {
    errors.push_back(sync::wire::field::too_long("fieldManager", managed_limits.manager_bytes));
  }
  if (!printable) {
    errors.push_back(sync::wire::field::invalid("fieldManager", field_manager,
                                                "should only contain printable characters"));
  }
  if (!errors.empty()) {
    return refuse(sync::wire::status::invalid(
        {"meta.k8s.io", is_apply || forces ? "PatchOptions" : "UpdateOptions"}, "", errors));
  }
  if (!field_manager.empty()) return std::string(field_manager);
  const std::string_view name = user_agent.substr(0, user_agent.find('/'));
  return std::string(name.substr(0, managed_limits.manager_bytes));
}

}  // namespace holdfast::agent::lab
