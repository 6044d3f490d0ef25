// Rows of storage, runtime classes and priority classes.

#include <map>
#include <vector>

#include "platform/text.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::sync::printing {
namespace {

namespace json = boost::json;

void csinode_cells(json::array& cells, const json::object& node, WallTime now) {
  cells.emplace_back(wire::name_of(node));
  cells.emplace_back(wire::dig_list(node, {"spec", "drivers"}).size());
  cells.emplace_back(object_age(node, now));
}

void csidriver_cells(json::array& cells, const json::object& driver, WallTime now) {
  std::vector<std::string> modes;
  for (const json::value& mode : wire::dig_list(driver, {"spec", "volumeLifecycleModes"})) {
    modes.emplace_back(wire::as_text(mode));
  }
  std::vector<std::string> audiences;
  for (const json::value& token : wire::dig_list(driver, {"spec", "tokenRequests"})) {
    audiences.emplace_back(wire::dig_text(wire::as_object(token), {"audience"}));
  }
  cells.emplace_back(wire::name_of(driver));
  cells.emplace_back(wire::dig_bool(driver, {"spec", "attachRequired"}));
  cells.emplace_back(wire::dig_bool(driver, {"spec", "podInfoOnMount"}));
  cells.emplace_back(wire::dig_bool(driver, {"spec", "storageCapacity"}));
  cells.emplace_back(audiences.empty() ? "<unset>" : join(audiences, ","));
  cells.emplace_back(wire::dig_bool(driver, {"spec", "requiresRepublish"}));
  cells.emplace_back(modes.empty() ? "<none>" : join(modes, ","));
  cells.emplace_back(object_age(driver, now));
}

void runtimeclass_cells(json::array& cells, const json::object& runtime, WallTime now) {
  cells.emplace_back(wire::name_of(runtime));
  cells.emplace_back(wire::dig_text(runtime, {"handler"}));
  cells.emplace_back(object_age(runtime, now));
}

void priorityclass_cells(json::array& cells, const json::object& priority, WallTime now) {
  cells.emplace_back(wire::name_of(priority));
  cells.emplace_back(wire::dig_int(priority, {"value"}));
  cells.emplace_back(wire::dig_bool(priority, {"globalDefault"}));
  cells.emplace_back(object_age(priority, now));
  cells.emplace_back(
      text_or(wire::dig_text(priority, {"preemptionPolicy"}), "PreemptLowerPriority"));
}

void storageclass_cells(json::array& cells, const json::object& storage, WallTime now) {
  std::string name(wire::name_of(storage));
  const json::object& notes = wire::dig_object(storage, {"metadata", "annotations"});
  const bool chosen =
      wire::dig_text(notes, {"storageclass.kubernetes.io/is-default-class"}) == "true";
  if (chosen) name += " (default)";
  cells.emplace_back(name);
  cells.emplace_back(wire::dig_text(storage, {"provisioner"}));
  cells.emplace_back(text_or(wire::dig_text(storage, {"reclaimPolicy"}), "Delete"));
  cells.emplace_back(text_or(wire::dig_text(storage, {"volumeBindingMode"}), "<unset>"));
  cells.emplace_back(wire::dig_bool(storage, {"allowVolumeExpansion"}));
  cells.emplace_back(object_age(storage, now));
}

void attachment_cells(json::array& cells, const json::object& attachment, WallTime now) {
  cells.emplace_back(wire::name_of(attachment));
  cells.emplace_back(wire::dig_text(attachment, {"spec", "attacher"}));
  cells.emplace_back(wire::dig_text(attachment, {"spec", "source", "persistentVolumeName"}));
  cells.emplace_back(wire::dig_text(attachment, {"spec", "nodeName"}));
  cells.emplace_back(wire::dig_bool(attachment, {"status", "attached"}));
  cells.emplace_back(object_age(attachment, now));
}

// "RWO,ROX"
std::string access_modes(const json::array& modes) {
  static const std::map<std::string_view, std::string_view> shorts = {{"ReadWriteOnce", "RWO"},
                                                                      {"ReadOnlyMany", "ROX"},
                                                                      {"ReadWriteMany", "RWX"},
                                                                      {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> parts;
  for (const json::value& mode : modes) {
    const auto found = shorts.find(wire::as_text(mode));
    if (found != shorts.end()) parts.emplace_back(found->second);
  }
  return join(parts, ",");
}

void volume_cells(json::array& cells, const json::object& volume, WallTime now) {
  std::string claim(wire::dig_text(volume, {"spec", "claimRef", "namespace"}));
  claim += wire::dig(volume, {"spec", "claimRef"}) == nullptr ? "" : "/";
  claim += wire::dig_text(volume, {"spec", "claimRef", "name"});
  cells.emplace_back(wire::name_of(volume));
  cells.emplace_back(wire::dig_text(volume, {"spec", "capacity", "storage"}));
  cells.emplace_back(access_modes(wire::dig_list(volume, {"spec", "accessModes"})));
  cells.emplace_back(wire::dig_text(volume, {"spec", "persistentVolumeReclaimPolicy"}));
  cells.emplace_back(wire::dig_text(volume, {"status", "phase"}));
  cells.emplace_back(claim);
  cells.emplace_back(wire::dig_text(volume, {"spec", "storageClassName"}));
  cells.emplace_back(
      text_or(wire::dig_text(volume, {"spec", "volumeAttributesClassName"}), "<unset>"));
  cells.emplace_back(wire::dig_text(volume, {"status", "reason"}));
  cells.emplace_back(object_age(volume, now));
  cells.emplace_back(text_or(wire::dig_text(volume, {"spec", "volumeMode"}), "<unset>"));
}

void claim_cells(json::array& cells, const json::object& claim, WallTime now) {
  const bool bound = !wire::dig_text(claim, {"spec", "volumeName"}).empty();
  const json::object& status = wire::dig_object(claim, {"status"});
  cells.emplace_back(wire::name_of(claim));
  cells.emplace_back(wire::is_terminating(claim) ? "Terminating"
                                                 : wire::dig_text(status, {"phase"}));
  cells.emplace_back(wire::dig_text(claim, {"spec", "volumeName"}));
  cells.emplace_back(bound ? wire::dig_text(status, {"capacity", "storage"}) : "");
  cells.emplace_back(bound ? access_modes(wire::dig_list(status, {"accessModes"})) : "");
  cells.emplace_back(wire::dig_text(claim, {"spec", "storageClassName"}));
  cells.emplace_back(
      text_or(wire::dig_text(claim, {"spec", "volumeAttributesClassName"}), "<unset>"));
  cells.emplace_back(object_age(claim, now));
  cells.emplace_back(text_or(wire::dig_text(claim, {"spec", "volumeMode"}), "<unset>"));
}

}  // namespace

FillCells storage_cells(std::string_view plural) {
  if (plural == "csinodes") return csinode_cells;
  if (plural == "csidrivers") return csidriver_cells;
  if (plural == "runtimeclasses") return runtimeclass_cells;
  if (plural == "priorityclasses") return priorityclass_cells;
  if (plural == "storageclasses") return storageclass_cells;
  if (plural == "volumeattachments") return attachment_cells;
  if (plural == "persistentvolumes") return volume_cells;
  if (plural == "persistentvolumeclaims") return claim_cells;
  return nullptr;
}

}  // namespace holdfast::sync::printing
