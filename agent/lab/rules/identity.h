// Identities of callers, from static tokens and client certificates, and a simple authorizer.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/rules/answer.h"
#include "platform/result.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent::lab {

struct Identity {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;

  bool operator==(const Identity&) const = default;
  [[nodiscard]] bool in_group(std::string_view group) const;
};

// "system:anonymous"
[[nodiscard]] Identity anonymous();

class TokenTable {
 public:
  // Parses lines of token,user,uid[,"group1,group2"], the format of kube-apiserver's
  // --token-auth-file.
  // Errors: invalid, naming the line.
  [[nodiscard]] static Result<TokenTable> parse(std::string_view csv);

  // nullptr for an unknown token.
  [[nodiscard]] const Identity* find(std::string_view token) const;
  void add(std::string token, Identity identity);
  using Identities = std::map<std::string, Identity, std::less<>>;
  [[nodiscard]] const Identities& all() const { return identities_; }

 private:
  Identities identities_;
};

// The 403 for a request that nothing allows.
[[nodiscard]] sync::wire::ApiStatus access_denied(const Identity& identity,
                                                  const sync::objects::RequestInfo& info);

// Whether `identity` may send the request; if not, the 403. Members of system:masters may do
// everything, system:nodes may read everything and write what nodes write, system:bootstrappers may
// request certificates; all others may only read health, version and kube-public/cluster-info.
[[nodiscard]] Answer<bool> authorize(const Identity& identity,
                                     const sync::objects::RequestInfo& info);

}  // namespace holdfast::agent::lab
