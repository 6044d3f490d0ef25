#include "agent/client/discovery.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "platform/text.h"
#include "platform/tls/certificate.h"
#include "platform/tls/jws.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent {
namespace {

// The certificate authority of the first cluster in a kubeconfig.
Result<std::string> authority_in(const std::string& kubeconfig) {
  try {
    const YAML::Node root = YAML::Load(kubeconfig);
    const YAML::Node data = root["clusters"][0]["cluster"]["certificate-authority-data"];
    if (data && data.IsScalar()) return base64_decode(trim(data.Scalar()));
  } catch (const YAML::Exception& error) {
    return fail(Errc::invalid, error.msg);
  }
  return fail(Errc::invalid, "no certificate-authority-data");
}

bool is_token_part(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || is_digit(c); });
}

}  // namespace

Result<std::string> parse_ca_hash(std::string_view text) {
  constexpr std::string_view kind = "sha256:";
  const std::string digits = to_lower(text.substr(std::min(kind.size(), text.size())));
  const bool good = text.starts_with(kind) && digits.size() == 64 &&
                    digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (good) return digits;
  return fail(Errc::invalid,
              "\"" + std::string(text) + "\" is not sha256: followed by 64 hexadecimal digits");
}

Result<JoinToken> parse_join_token(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() == 2 && is_token_part(parts[0]) && is_token_part(parts[1])) {
    return JoinToken{std::string(parts[0]), std::string(parts[1])};
  }
  return fail(Errc::invalid, "the join token is not ID.SECRET, of lower-case letters and digits");
}

Status check_signature(std::string_view document, const JoinToken& token) {
  TRY(const auto kubeconfig, sync::wire::text_at(document, {"data", "kubeconfig"}));
  if (!kubeconfig) return fail(Errc::invalid, "cluster-info: no kubeconfig");
  const std::string key = "jws-kubeconfig-" + token.id;
  TRY(const auto signature, sync::wire::text_at(document, {"data", key}));
  if (!signature || signature->empty()) {
    return fail(Errc::denied, "cluster-info is not signed with the join token " + token.id +
                                  " (no " + key +
                                  "): the token is unknown to the cluster, or has "
                                  "expired, or may not be used for signing");
  }
  const std::string expected = tls::detached_jws(*kubeconfig, token.id, token.secret);
  if (tls::equal_in_constant_time(*signature, expected)) return {};
  return fail(Errc::denied, "cluster-info: " + key +
                                " is not the join token's signature: the token differs from "
                                "the cluster's, or the document was changed in transit");
}

Result<std::string> pinned_authority(std::string_view document, std::string_view ca_hash) {
  TRY(const std::string wanted, parse_ca_hash(ca_hash));
  TRY(const auto kubeconfig, sync::wire::text_at(document, {"data", "kubeconfig"}));
  if (!kubeconfig) return fail(Errc::invalid, "cluster-info: no kubeconfig");
  auto pem = authority_in(*kubeconfig);
  if (!pem) return fail("cluster-info", pem.error());
  TRY(const tls::Certificate authority, tls::read_certificate(*pem));
  // Only the first certificate is trusted: others in the text were not pinned.
  if (authority.public_key_sha256 == wanted) return tls::first_certificate(*pem);
  return fail(Errc::denied,
              "the server's authority is not the one that was pinned: its hash is "
              "sha256:" +
                  authority.public_key_sha256);
}

}  // namespace holdfast::agent
