#include "agent/lab/rules/catalog.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "agent/lab/rules/custom_definition.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

// The order of versions: (no version name, alpha/beta/stable, negative numbers).
std::tuple<int, int, int, int, std::string> rank_of(const std::string& version) {
  const std::string_view text(version);
  const std::size_t end = text.find_first_not_of("0123456789", 1);
  const auto major = parse_int<int>(text.substr(1, end == text.npos ? text.npos : end - 1));
  if (!text.starts_with('v') || !major) return {1, 0, 0, 0, version};
  if (end == text.npos) return {0, 0, -*major, 0, ""};
  const std::string_view rest = text.substr(end);
  for (const auto& [word, level] : {std::pair{"beta", 1}, std::pair{"alpha", 2}}) {
    if (!rest.starts_with(word)) continue;
    const auto minor = parse_int<int>(rest.substr(std::string_view(word).size()));
    return {0, level, -*major, -minor.value_or(0), ""};
  }
  return {1, 0, 0, 0, version};
}

}  // namespace

void Catalog::put(const boost::json::object& crd) {
  const std::string name(sync::wire::name_of(crd));
  if (is_established(crd)) {
    customs_[name] = CustomResource::make(crd);
  } else {
    customs_.erase(name);
  }
}

void Catalog::remove(std::string_view name) {
  const auto found = customs_.find(name);
  if (found != customs_.end()) customs_.erase(found);
}

const sync::printing::Resource* Catalog::find_resource(std::string_view group,
                                                       std::string_view version,
                                                       std::string_view plural) const {
  const auto* built_in = sync::printing::find_resource(group, version, plural);
  if (built_in != nullptr) return built_in;
  const auto found = customs_.find(std::string(plural) + "." + std::string(group));
  if (found == customs_.end() || !found->second->serves(version)) return nullptr;
  return found->second.get();
}

const sync::printing::Resource* Catalog::find_kind(std::string_view group,
                                                   std::string_view kind) const {
  const auto* built_in = sync::printing::find_kind(group, kind);
  if (built_in != nullptr) return built_in;
  for (const auto& [name, custom] : customs_) {
    if (custom->group == group && custom->kind == kind) return custom.get();
  }
  return nullptr;
}

std::shared_ptr<const CustomResource> Catalog::share(
    const sync::printing::Resource& resource) const {
  if (!resource.is_custom) return nullptr;
  const auto found =
      customs_.find(std::string(resource.plural) + "." + std::string(resource.group));
  return found == customs_.end() ? nullptr : found->second;
}

std::vector<std::string> Catalog::groups() const {
  std::set<std::string> found;
  for (const auto& [name, custom] : customs_) {
    if (sync::printing::versions_of(custom->group).empty()) found.emplace(custom->group);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> Catalog::versions_of(std::string_view group) const {
  std::vector<std::string> found;
  for (const std::string_view version : sync::printing::versions_of(group)) {
    found.emplace_back(version);
  }
  std::set<std::string> more;
  for (const auto& [name, custom] : customs_) {
    if (custom->group != group) continue;
    for (const sync::printing::ServedVersion& version : custom->versions) {
      const bool known = std::find(found.begin(), found.end(), version.name) != found.end();
      if (custom->serves(version.name) && !known) more.emplace(version.name);
    }
  }
  std::vector<std::string> sorted(more.begin(), more.end());
  std::sort(sorted.begin(), sorted.end(), [](const std::string& left, const std::string& right) {
    return rank_of(left) < rank_of(right);
  });
  found.insert(found.end(), sorted.begin(), sorted.end());
  return found;
}

std::vector<std::shared_ptr<const CustomResource>> Catalog::customs() const {
  std::vector<std::shared_ptr<const CustomResource>> found;
  found.reserve(customs_.size());
  for (const auto& [name, custom] : customs_) found.push_back(custom);
  return found;
}

}  // namespace holdfast::agent::lab
