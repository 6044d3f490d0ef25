// The claims, volumes, storage classes and limits of attached volumes, as the scheduler knows them.
// Of each object only what the rules read is kept.
//
// What the scheduler decided but the watches have not confirmed yet is assumed: the volume of a
// claim, and the node for which a volume is to be made. The next version of the object ends the
// assumption. Not thread-safe, except that threads may read it at the same time.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sync/model/storage.h"
#include "sync/objects/selector.h"
#include "sync/schedule/node_matcher.h"

namespace holdfast::sync::schedule {

using ClaimName = std::pair<std::string, std::string>;  // namespace and name

// A PersistentVolumeClaim.
struct Claim {
  ClaimName name;
  std::string uid;
  std::string version;        // metadata.resourceVersion
  std::string owner;          // uid of the controlling object
  std::string class_name;     // of its StorageClass
  std::string volume;         // the one that it is bound to, or shall be
  std::string selected_node;  // where its volume is to be made
  std::string attributes_class;
  std::vector<std::string> access_modes;
  std::optional<objects::LabelQuery> selector;  // of volumes
  std::int64_t bytes = 0;                       // at least
  bool is_block = false;
  bool is_bound = false;  // in both directions
  bool is_lost = false;   // its volume does not exist any more
  bool is_deleting = false;

  // Whether only one pod may use it.
  [[nodiscard]] bool is_exclusive() const;
};

// A PersistentVolume.
struct Volume {
  // A label with the zones or regions in which the volume exists.
  struct Zone {
    std::string key;
    std::set<std::string, std::less<>> values;

    bool operator==(const Zone&) const = default;
  };

  std::string name;
  std::string uid;
  std::string version;
  std::string class_name;
  std::string attributes_class;
  std::string driver;  // of CSI; empty for other volumes
  std::string handle;
  StringMap labels;
  std::vector<std::string> access_modes;
  std::optional<ObjectReference> claim;  // the one that it is bound to, or shall be
  std::optional<std::vector<NodeTerm>> nodes;
  std::vector<Zone> zones;
  std::int64_t bytes = 0;
  bool is_block = false;
  bool is_available = false;  // for any claim
  bool is_deleting = false;

  [[nodiscard]] bool reaches(const Node& node) const;
  // Whether it is bound to this claim, or shall be.
  [[nodiscard]] bool belongs_to(const Claim& of) const;
};

// A StorageClass.
struct VolumeClass {
  std::string name;
  std::string provisioner;
  std::string binding_mode;
  std::vector<TopologySelectorTerm> topologies;  // where volumes can be made; empty: anywhere

  // Whether volumes are bound only when a pod needs them.
  [[nodiscard]] bool waits() const { return binding_mode == "WaitForFirstConsumer"; }
  [[nodiscard]] bool reaches(const Node& node) const;
};

// By driver: how many volumes can be attached to a node.
using VolumeLimits = std::map<std::string, std::int64_t, std::less<>>;

// An amount that cannot be parsed counts as nothing for a volume, and as the maximum for a claim. A
// selector that is invalid matches no volume.
[[nodiscard]] Claim read_claim(const PersistentVolumeClaim& claim);
[[nodiscard]] Volume read_volume(const PersistentVolume& volume);
[[nodiscard]] VolumeClass read_class(const StorageClass& storage_class);
[[nodiscard]] VolumeLimits read_limits(const CsiNode& node);

class Storage {
 public:
  // Why some of the objects are not known; "" if all are. While it is not "", no pod with claims
  // may be bound.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  void set_missing(std::string why) { missing_ = std::move(why); }

  void set(Claim claim);
  void set(Volume volume);
  void set(VolumeClass volume_class);
  void set_limits(const std::string& node, VolumeLimits limits);
  void remove_claim(const ClaimName& name);
  void remove_volume(const std::string& name);
  void remove_class(const std::string& name) { classes_.erase(name); }
  void remove_limits(const std::string& node) { limits_.erase(node); }

  // nullptr: there is no such object. Borrowed until the next change.
  [[nodiscard]] const Claim* claim(const ClaimName& name) const;
  [[nodiscard]] const Volume* volume(const std::string& name) const;
  [[nodiscard]] const VolumeClass* volume_class(const std::string& name) const;
  [[nodiscard]] const VolumeLimits* limits(const std::string& node) const;
  // The names of the volumes of a class.
  [[nodiscard]] const std::set<std::string>& volumes_of(const std::string& class_name) const;

  // The volume is promised to the claim, or the node is selected for the claim, until the object
  // changes or the assumption is dropped.
  void promise(const std::string& volume, const std::string& claim_uid);
  void select(const ClaimName& claim, const std::string& node);
  void drop_promise(const std::string& volume) { promised_.erase(volume); }
  void drop_selection(const ClaimName& claim) { selected_.erase(claim); }

  // The uid of the claim to which the volume is promised, or "".
  [[nodiscard]] std::string_view promised_to(const Volume& volume) const;
  // The node where the claim's volume is to be made, also an assumed one; "": none.
  [[nodiscard]] std::string_view selected_node(const Claim& claim) const;

  // The number of objects, for tests and metrics.
  [[nodiscard]] std::size_t size() const {
    return claims_.size() + volumes_.size() + classes_.size() + limits_.size();
  }

 private:
  std::string missing_ = "nothing was received yet";
  std::map<ClaimName, Claim> claims_;
  std::map<std::string, Volume> volumes_;
  std::map<std::string, std::set<std::string>> by_class_;
  std::map<std::string, VolumeClass> classes_;
  std::map<std::string, VolumeLimits> limits_;
  std::map<std::string, std::string> promised_;  // volume: uid of the claim
  std::map<ClaimName, std::string> selected_;    // claim: node
};

}  // namespace holdfast::sync::schedule
