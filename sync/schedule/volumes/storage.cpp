#include "sync/schedule/volumes/storage.h"

#include <algorithm>
#include <array>
#include <limits>

#include "sync/objects/quantity.h"

namespace holdfast::sync::schedule {
namespace {

constexpr std::string_view bind_completed = "pv.kubernetes.io/bind-completed";
constexpr std::string_view selected_node_annotation = "volume.kubernetes.io/selected-node";
constexpr std::string_view class_annotation = "volume.beta.kubernetes.io/storage-class";

// The labels of volumes and nodes that name their zone or region.
constexpr std::array<std::string_view, 4> zone_labels = {
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region"};

std::int64_t bytes_of(const StringMap& list, std::int64_t invalid) {
  const std::string* text = list.find("storage");
  if (text == nullptr) return 0;
  const auto amount = objects::Quantity::parse(*text);
  return amount ? amount->value() : invalid;
}

// The annotation is that of Kubernetes before 1.6 and precedes the field.
std::string class_of(const ObjectMeta& metadata, const std::string& field) {
  const std::string* old = metadata.annotations.find(class_annotation);
  return old != nullptr ? *old : field;
}

std::string controller_of(const ObjectMeta& metadata) {
  for (const OwnerReference& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) return owner.uid;
  }
  return "";
}

// Reads "a__b", the zones of a replicated volume. Empty if one of them is.
std::set<std::string, std::less<>> zones_of(const std::string& label) {
  constexpr std::string_view delimiter = "__";
  std::set<std::string, std::less<>> zones;
  for (std::size_t begin = 0; begin <= label.size();) {
    const std::size_t end = std::min(label.find(delimiter, begin), label.size());
    if (end == begin) return {};
    zones.insert(label.substr(begin, end - begin));
    begin = end + delimiter.size();
  }
  return zones;
}

bool matches(const TopologySelectorTerm& term, const StringMap& labels) {
  const auto& all = term.match_label_expressions;
  return !all.empty() && std::all_of(all.begin(), all.end(), [&labels](const auto& each) {
    const std::string* value = labels.find(each.key);
    return value != nullptr &&
           std::find(each.values.begin(), each.values.end(), *value) != each.values.end();
  });
}

template <class Map>
auto find_in(const Map& map, const typename Map::key_type& key) -> const
    typename Map::mapped_type* {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

}  // namespace

bool Claim::is_exclusive() const {
  return std::find(access_modes.begin(), access_modes.end(), "ReadWriteOncePod") !=
         access_modes.end();
}

bool Volume::reaches(const Node& node) const {
  return !nodes || std::any_of(nodes->begin(), nodes->end(),
                               [&node](const NodeTerm& term) { return term.matches(node); });
}

bool Volume::belongs_to(const Claim& of) const {
  return claim && claim->namespace_name == of.name.first && claim->name == of.name.second &&
         (claim->uid.empty() || claim->uid == of.uid);
}

bool VolumeClass::reaches(const Node& node) const {
  return topologies.empty() ||
         std::any_of(topologies.begin(), topologies.end(),
                     [&node](const auto& term) { return matches(term, node.metadata.labels); });
}

Claim read_claim(const PersistentVolumeClaim& claim) {
  const ObjectMeta& metadata = claim.metadata;
  const PersistentVolumeClaimSpec& spec = claim.spec;
  Claim out;
  out.name = {metadata.namespace_name, metadata.name};
  out.uid = metadata.uid;
  out.version = metadata.resource_version;
  out.owner = controller_of(metadata);
  out.class_name = class_of(metadata, spec.storage_class_name);
  out.volume = spec.volume_name;
  out.selected_node = metadata.annotations.get(selected_node_annotation);
  out.attributes_class = spec.volume_attributes_class_name;
  out.access_modes = spec.access_modes;
  if (spec.selector) {
    out.selector =
        objects::LabelQuery::from(*spec.selector).value_or(objects::LabelQuery::nothing());
  }
  out.bytes = bytes_of(spec.resources.requests, std::numeric_limits<std::int64_t>::max());
  out.is_block = spec.volume_mode == "Block";
  out.is_bound = !out.volume.empty() && metadata.annotations.has(bind_completed);
  out.is_lost = claim.status.phase == "Lost";
  out.is_deleting = metadata.deletion_timestamp.has_value();
  return out;
}

Volume read_volume(const PersistentVolume& volume) {
  const PersistentVolumeSpec& spec = volume.spec;
  Volume out;
  out.name = volume.metadata.name;
  out.uid = volume.metadata.uid;
  out.version = volume.metadata.resource_version;
  out.class_name = class_of(volume.metadata, spec.storage_class_name);
  out.attributes_class = spec.volume_attributes_class_name;
  if (spec.csi) {
    out.driver = spec.csi->driver;
    out.handle = spec.csi->volume_handle;
  }
  out.labels = volume.metadata.labels;
  out.access_modes = spec.access_modes;
  out.claim = spec.claim_ref;
  if (spec.node_affinity && spec.node_affinity->required) {
    out.nodes.emplace();
    for (const NodeSelectorTerm& term : spec.node_affinity->required->node_selector_terms) {
      out.nodes->emplace_back(term);
    }
  }
  for (const std::string_view key : zone_labels) {
    const std::string* label = out.labels.find(key);
    if (label == nullptr) continue;
    auto zones = zones_of(*label);
    if (!zones.empty()) out.zones.push_back({std::string(key), std::move(zones)});
  }
  out.bytes = bytes_of(spec.capacity, 0);
  out.is_block = spec.volume_mode == "Block";
  out.is_available = volume.status.phase == "Available";
  out.is_deleting = volume.metadata.deletion_timestamp.has_value();
  return out;
}

VolumeClass read_class(const StorageClass& storage_class) {
  return {storage_class.metadata.name, storage_class.provisioner, storage_class.volume_binding_mode,
          storage_class.allowed_topologies};
}

VolumeLimits read_limits(const CsiNode& node) {
  VolumeLimits limits;
  for (const CsiNodeDriver& driver : node.spec.drivers) {
    if (driver.allocatable && driver.allocatable->count) {
      limits[driver.name] = *driver.allocatable->count;
    }
  }
  return limits;
}

void Storage::set(Claim claim) {
  const Claim* before = this->claim(claim.name);
  if (before == nullptr || before->version != claim.version) selected_.erase(claim.name);
  ClaimName name = claim.name;
  claims_.insert_or_assign(std::move(name), std::move(claim));
}

void Storage::set(Volume volume) {
  const Volume* before = this->volume(volume.name);
  if (before == nullptr || before->version != volume.version) promised_.erase(volume.name);
  if (before != nullptr) by_class_[before->class_name].erase(volume.name);
  by_class_[volume.class_name].insert(volume.name);
  std::string name = volume.name;
  volumes_.insert_or_assign(std::move(name), std::move(volume));
}

void Storage::set(VolumeClass volume_class) {
  std::string name = volume_class.name;
  classes_.insert_or_assign(std::move(name), std::move(volume_class));
}

void Storage::set_limits(const std::string& node, VolumeLimits limits) {
  limits_.insert_or_assign(node, std::move(limits));
}

void Storage::remove_claim(const ClaimName& name) {
  claims_.erase(name);
  selected_.erase(name);
}

void Storage::remove_volume(const std::string& name) {
  const Volume* gone = volume(name);
  if (gone == nullptr) return;
  const auto of_class = by_class_.find(gone->class_name);
  of_class->second.erase(name);
  if (of_class->second.empty()) by_class_.erase(of_class);
  volumes_.erase(name);
  promised_.erase(name);
}

const Claim* Storage::claim(const ClaimName& name) const { return find_in(claims_, name); }

const Volume* Storage::volume(const std::string& name) const { return find_in(volumes_, name); }

const VolumeClass* Storage::volume_class(const std::string& name) const {
  return find_in(classes_, name);
}

const VolumeLimits* Storage::limits(const std::string& node) const {
  return find_in(limits_, node);
}

const std::set<std::string>& Storage::volumes_of(const std::string& class_name) const {
  static const std::set<std::string> none;
  const auto* found = find_in(by_class_, class_name);
  return found != nullptr ? *found : none;
}

void Storage::promise(const std::string& volume, const std::string& claim_uid) {
  promised_.insert_or_assign(volume, claim_uid);
}

void Storage::select(const ClaimName& claim, const std::string& node) {
  selected_.insert_or_assign(claim, node);
}

std::string_view Storage::promised_to(const Volume& volume) const {
  const std::string* claim = find_in(promised_, volume.name);
  return claim != nullptr ? std::string_view(*claim) : std::string_view();
}

std::string_view Storage::selected_node(const Claim& claim) const {
  const std::string* node = find_in(selected_, claim.name);
  return node != nullptr ? *node : claim.selected_node;
}

}  // namespace holdfast::sync::schedule
