#include "sync/runtime/expand.h"

namespace holdfast::sync::runtime {
namespace {

// The cases of Kubernetes' own tests of the expansion.
TEST(Expand, AsKubernetes) {
  const std::map<std::string, std::string, std::less<>> known = {
      {"VAR_A", "A"}, {"VAR_B", "B"}, {"VAR_C", "C"}, {"VAR_REF", "$(VAR_A)"}, {"VAR_EMPTY", ""}};
  const Variables variables = [&known](std::string_view name) -> std::optional<std::string_view> {
    const auto found = known.find(name);
    if (found == known.end()) return std::nullopt;
    return std::string_view(found->second);
  };
  const std::pair<std::string, std::string> rows[] = {
      {"$(VAR_A)", "A"},
      {"___$(VAR_B)___", "___B___"},
      {"___$(VAR_C)", "___C"},
      {"$(VAR_A)_$(VAR_B)_$(VAR_C)", "A_B_C"},
      {"$(VAR_A)$(VAR_A)", "AA"},
      {"$(VAR_DNE)", "$(VAR_DNE)"},
      {"$(VAR_REF)", "$(VAR_A)"},
      {"foo-$(VAR_EMPTY)-bar", "foo--bar"},
      {"\\$(VAR_A)", "\\A"},
      {"$$", "$"},
      {"$$$", "$$"},
      {"$$$$", "$$"},
      {"$$(VAR_A)", "$(VAR_A)"},
      {"$$$(VAR_A)", "$A"},
      {"$$$$(VAR_A)", "$$(VAR_A)"},
      {"$VAR_A", "$VAR_A"},
      {"$", "$"},
      {"foo$", "foo$"},
      {"$(", "$("},
      {"$(VAR_A", "$(VAR_A"},
      {"$(VAR_B)_______$(A", "B_______$(A"},
      {"$()", "$()"},
      {"$(VAR_C)_______$(", "C_______$("},
      {"$(VAR_A)_______$", "A_______$"},
      {"$%$(VAR_A)", "$%A"},
      {"$($(VAR_A))", "$($(VAR_A))"},
      {"f000-$($VAR_A", "f000-$($VAR_A"},
      {"", ""},
      {"no dollars", "no dollars"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(expand(text, variables), expected) << text;
}

}  // namespace
}  // namespace holdfast::sync::runtime
