#include "sync/objects/patch/schema.h"

namespace holdfast::sync::objects {
namespace {

PatchField::How how_to_patch(const Field& field) {
  if (field.merge) return PatchField::How::merge;
  return field.replace ? PatchField::How::replace : PatchField::How::plain;
}

}  // namespace

std::optional<PatchField> find_patch_field(const StructType* type, std::string_view field) {
  const Field* found = type != nullptr ? type->field(field) : nullptr;
  if (found == nullptr) return std::nullopt;
  // The keys of a map are not fields.
  const bool is_map = found->shape == Shape::map;
  return PatchField{.type = type->name,
                    .field = found->name,
                    .how = how_to_patch(*found),
                    .of = is_map ? nullptr : found->type,
                    .key = found->merge_key(),
                    .retains = found->retain_keys};
}

bool has_patch_schema(std::string_view kind) {
  const StructType* type = find_type(kind);
  return type != nullptr && type->is_kind;
}

}  // namespace holdfast::sync::objects
