#include "sync/autonomy/references.h"

#include <algorithm>
#include <array>

#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

// Collects names from anywhere in a pod. The name of a field tells which kind it names: volumes,
// environment and pull secrets of core/v1, and sources of CSI and older volume plugins.
class Collector {
 public:
  Collector(std::string pod, std::string namespace_name, NeededObjects& references)
      : pod_(std::move(pod)), namespace_(std::move(namespace_name)), references_(references) {}

  void visit(std::string_view field, const json::value& value) {
    if (const json::array* items = value.if_array()) {
      for (const json::value& item : *items) visit(field, item);
      return;
    }
    if (value.is_string()) return visit_text(field, wire::as_text(value));
    const json::object* object = value.if_object();
    if (object == nullptr) return;
    const bool config = field.starts_with("configMap");  // itself, ...Ref, ...KeyRef
    const bool secret = field.starts_with("secret") || field.ends_with("SecretRef") ||
                        field.ends_with("SecretKeyRef") || field == "imagePullSecrets";
    if (config || secret) {
      add(config ? "configmaps" : "secrets", wire::dig_text(*object, {"name"}));
    }
    // The claim of an ephemeral volume is named POD-VOLUME.
    if (field == "volumes" && object->contains("ephemeral")) {
      add("persistentvolumeclaims", pod_ + "-" + std::string(wire::dig_text(*object, {"name"})));
    }
    for (const auto& each : *object) visit(each.key(), each.value());
  }

 private:
  void visit_text(std::string_view field, std::string_view text) {
    if (field == "secretName") add("secrets", text);
    if (field == "claimName") add("persistentvolumeclaims", text);
    if (field == "resourceClaimName") add("resourceclaims", text);
    if (field == "serviceAccountName") add("serviceaccounts", text);
  }
  void add(const char* resource, std::string_view name) {
    if (!name.empty()) references_.insert({resource, namespace_, std::string(name)});
  }

  std::string pod_;
  std::string namespace_;
  NeededObjects& references_;
};

// The PersistentVolume named by the field at `path` of an object.
std::optional<NeededObject> volume_named_at(std::string_view object, wire::Path path) {
  const auto parsed = wire::parse_json(object);
  if (!parsed) return std::nullopt;
  const std::string_view name = wire::dig_text(wire::as_object(*parsed), path);
  if (name.empty()) return std::nullopt;
  return NeededObject{"persistentvolumes", "", std::string(name)};
}

}  // namespace

Status add_references(std::string_view pod, NeededObjects& references) {
  TRY(const json::value value, wire::parse_json(pod));
  if (!value.is_object()) return fail(Errc::invalid, "the pod is not a JSON object");
  const json::object& object = value.get_object();
  const std::string_view space = wire::namespace_of(object);
  if (space.empty()) return fail(Errc::invalid, "the pod has no namespace");
  Collector collector(std::string(wire::name_of(object)), std::string(space), references);
  if (const json::value* spec = wire::dig(object, {"spec"})) collector.visit("spec", *spec);
  const json::value* claims = wire::dig(object, {"status", "resourceClaimStatuses"});
  if (claims != nullptr) collector.visit("resourceClaimStatuses", *claims);
  return {};
}

std::optional<NeededObject> volume_of_claim(std::string_view claim) {
  return volume_named_at(claim, {"spec", "volumeName"});
}

std::optional<NeededObject> volume_of_attachment(std::string_view attachment) {
  return volume_named_at(attachment, {"spec", "source", "persistentVolumeName"});
}

std::optional<std::string_view> kind_got_by_name(std::string_view group,
                                                 std::string_view resource) {
  struct Row {
    std::string_view group, resource, kind;
  };
  constexpr std::array rows{
      Row{"", "persistentvolumeclaims", "PersistentVolumeClaim"},
      Row{"", "persistentvolumes", "PersistentVolume"},
      Row{"", "serviceaccounts", "ServiceAccount"},
      Row{"storage.k8s.io", "csinodes", "CSINode"},
      Row{"storage.k8s.io", "volumeattachments", "VolumeAttachment"},
      Row{"resource.k8s.io", "resourceclaims", "ResourceClaim"},
  };
  const auto* row = std::find_if(rows.begin(), rows.end(), [group, resource](const Row& each) {
    return each.group == group && each.resource == resource;
  });
  return row == rows.end() ? std::nullopt : std::optional(row->kind);
}

}  // namespace holdfast::sync::autonomy
