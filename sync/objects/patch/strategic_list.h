// List functions for strategic merge patches: lists are merged by key, in an order that respects
// the order of both sides. Private to this folder.

#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sync/objects/patch/schema.h"
#include "sync/wire/json.h"

namespace holdfast::sync::objects::strategic {

inline constexpr std::string_view directive = "$patch";
inline constexpr std::string_view retain_keys = "$retainKeys";
inline constexpr std::string_view order_prefix = "$setElementOrder/";
inline constexpr std::string_view delete_prefix = "$deleteFromPrimitiveList/";

// A value as Go's %v prints it, for errors: map[a:b c:[1 2]].
[[nodiscard]] std::string printed(const json::value& value);
[[nodiscard]] Error no_merge_key(const json::value& element, std::string_view key);
// The error "expected a []interface {}, but received a string".
[[nodiscard]] Error bad_type(std::string_view wanted, const json::value& got);

// The positions of a list's elements by their key, or by their value if `key` is empty.
class ListIndex {
 public:
  ListIndex(const json::array& list, std::string_view key);
  // The position of the first such element, or npos.
  [[nodiscard]] std::size_t find(const json::value& element) const;
  [[nodiscard]] bool has(const json::value& element) const { return find(element) != npos; }
  void add(const json::value& element, std::size_t position);

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  [[nodiscard]] std::string identity(const json::value& element) const;

  std::string_view key_;
  std::unordered_map<std::string, std::size_t> positions_;
};

// The kind of all elements of a list.
enum class Elements : std::uint8_t { none, objects, scalars };
// Returns the kind of the elements of both lists. Errors: corrupt (mixed), invalid (lists of
// lists).
[[nodiscard]] Result<Elements> elements_of(const json::array& one, const json::array& other);

// Sorts the elements of `merged` that are in `wanted` into its order, and inserts the others
// between them according to their order in `before`.
[[nodiscard]] json::array in_order(json::array merged, const json::array& wanted,
                                   const json::array& before, std::string_view key);

// For lists of scalars: the union, and `before` without the elements of `patch`.
[[nodiscard]] json::array united(const json::array& before, const json::array& patch);
[[nodiscard]] json::array without(const json::array& before, const json::array& patch);

// Executes the $patch elements of a list of objects: removes them from `patch`, and removes the
// elements that they delete or replace from `before`.
// Errors: corrupt (an element without its key, an unknown directive).
[[nodiscard]] Status take_directives(json::array& before, json::array& patch, std::string_view key);

// Checks that the patch's elements are all in $setElementOrder, and in its order. Errors: corrupt.
[[nodiscard]] Status check_order(const json::array& patch, const json::array& order,
                                 std::string_view key);

}  // namespace holdfast::sync::objects::strategic
