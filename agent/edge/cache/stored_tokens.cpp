#include "agent/edge/cache/stored_tokens.h"

#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "platform/tls/digest.h"

namespace holdfast::agent {
namespace {

Result<sync::autonomy::StoredToken> read(std::string_view key, const store::Answer& answer) {
  const std::string_view path = key.substr(token_prefix.size());
  auto token = sync::autonomy::read_token(path.substr(0, path.find(' ')), answer.bytes);
  if (token && !token->ends) token->ends = answer.expires;
  return token;
}

}  // namespace

std::string token_key(std::string_view path, const std::string& body) {
  return std::string(token_prefix) + std::string(path) + " " + tls::sha256_hex(body);
}

Result<StoredTokens> stored_tokens(StoredAnswers& answers) {
  StoredTokens tokens;
  TRY(const std::vector<std::string> keys, answers.keys(node_owner, token_prefix));
  for (const std::string& key : keys) {
    const auto answer = answers.find(node_owner, key);
    if (!answer || !*answer) continue;
    if (auto token = read(key, **answer)) tokens.emplace(key, *std::move(token));
  }
  return tokens;
}

std::optional<WallTime> end_of_token(std::string_view key, const store::Answer& answer) {
  const auto token = read(key, answer);
  return token ? token->ends : answer.expires;
}

Status remove_unneeded_tokens(StoredAnswers& answers, const std::set<std::string>& pod_uids) {
  TRY(const StoredTokens tokens, stored_tokens(answers));
  for (const auto& [key, token] : tokens) {
    if (is_needed(token, pod_uids)) continue;
    if (auto removed = answers.remove(node_owner, key); !removed) return removed;
    log_info("token of a pod that is gone removed",
             {{"namespace", token.namespace_name}, {"pod_uid", token.pod_uid}});
  }
  return {};
}

}  // namespace holdfast::agent
