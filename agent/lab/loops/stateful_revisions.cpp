#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "agent/lab/loops/stateful_parts.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::size_t prefix_max = 223;  // of a revision's name; the hash follows

std::int64_t number_of(const json::object& revision) {
  return sync::wire::dig_int(revision, {"revision"});
}

// The part of the set that a revision keeps, as a patch that would bring it back.
json::object kept_state(const json::object& set) {
  json::object kept = sync::wire::dig_object(set, {"spec", "template"});
  kept["$patch"] = "replace";
  return {{"spec", json::object{{"template", std::move(kept)}}}};
}

// FNV-1, as upstream. The text that is hashed is not Go's, so the hashes differ from upstream's.
std::string hash_of(const json::object& state, std::int64_t collisions) {
  std::uint32_t hash = 2166136261U;
  for (const char c : json::serialize(state) + std::to_string(collisions)) {
    hash = (hash * 16777619U) ^ static_cast<unsigned char>(c);
  }
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text = std::to_string(hash);
  for (char& c : text) c = alphabet[static_cast<unsigned char>(c) % alphabet.size()];
  return text;
}

json::object new_revision(const json::object& set, json::object state, std::int64_t number,
                          std::int64_t collisions) {
  const std::string hash = hash_of(state, collisions);
  json::object labels = sync::wire::dig_object(set, {"spec", "template", "metadata", "labels"});
  labels["controller.kubernetes.io/hash"] = hash;
  json::object metadata;
  metadata["name"] = std::string(sync::wire::name_of(set).substr(0, prefix_max)) + "-" + hash;
  metadata["namespace"] = sync::wire::namespace_of(set);
  metadata["labels"] = std::move(labels);
  metadata["annotations"] = sync::wire::dig_object(set, {"metadata", "annotations"});
  metadata["ownerReferences"] = json::array({controller_reference(set)});
  return {{"kind", "ControllerRevision"},
          {"apiVersion", "apps/v1"},
          {"metadata", std::move(metadata)},
          {"data", std::move(state)},
          {"revision", number}};
}

bool is_older(const json::object* left, const json::object* right) {
  if (number_of(*left) != number_of(*right)) return number_of(*left) < number_of(*right);
  return sync::wire::name_of(*left) < sync::wire::name_of(*right);
}

}  // namespace

SetRevisions find_revisions(const json::object& set, Objects existing, StatefulPlan& plan) {
  std::sort(existing.begin(), existing.end(), is_older);
  SetRevisions found;
  found.collisions = sync::wire::dig_int(set, {"status", "collisionCount"});
  const std::int64_t next = existing.empty() ? 1 : number_of(*existing.back()) + 1;
  json::object state = kept_state(set);
  const json::object* same = nullptr;
  for (const json::object* revision : existing) {
    if (sync::wire::dig_object(*revision, {"data"}) == state) same = revision;
  }
  if (same == nullptr) {
    found.update = new_revision(set, std::move(state), next, found.collisions);
    const auto taken = [&found](const json::object* revision) {
      return sync::wire::name_of(*revision) == sync::wire::name_of(found.update);
    };
    // The next plan tries another name.
    if (std::any_of(existing.begin(), existing.end(), taken)) ++found.collisions;
    plan.create_revision = found.update;
  } else {
    found.update = *same;
    if (same != existing.back()) {
      plan.renumber[std::string(sync::wire::name_of(*same))] = next;
      found.update["revision"] = next;
    }
  }
  found.current = found.update;
  const std::string_view current = sync::wire::dig_text(set, {"status", "currentRevision"});
  for (const json::object* revision : existing) {
    if (sync::wire::name_of(*revision) == current) found.current = *revision;
  }
  return found;
}

void trim_revisions(const json::object& set, Objects existing, const Objects& pods,
                    const SetRevisions& revisions, StatefulPlan& plan) {
  std::set<std::string_view> used = {sync::wire::name_of(revisions.current),
                                     sync::wire::name_of(revisions.update)};
  for (const json::object* pod : pods) used.insert(revision_of_pod(*pod));
  std::erase_if(existing, [&used](const json::object* revision) {
    return used.contains(sync::wire::name_of(*revision));
  });
  std::sort(existing.begin(), existing.end(), is_older);
  const auto keep = static_cast<std::size_t>(
      std::max<std::int64_t>(sync::wire::dig_int(set, {"spec", "revisionHistoryLimit"}), 0));
  for (std::size_t at = 0; at + keep < existing.size(); ++at) {
    plan.remove_revisions.emplace_back(sync::wire::name_of(*existing[at]));
  }
}

}  // namespace holdfast::agent::lab
