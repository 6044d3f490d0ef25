// Writes and reads CertificateSigningRequests (certificates.k8s.io/v1) for a node's certificates.
// Pure.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync::identity {

// The purpose of a node's certificate.
enum class CertificateUse : std::uint8_t { client, serving };

[[nodiscard]] std::string_view to_string(CertificateUse use);

inline constexpr std::string_view csr_path =
    "/apis/certificates.k8s.io/v1/certificatesigningrequests";
inline constexpr std::string_view nodes_group = "system:nodes";

// The signer's name: "kubernetes.io/kube-apiserver-client-kubelet" or
// "kubernetes.io/kubelet-serving".
[[nodiscard]] std::string_view signer_of(CertificateUse use);
// The common name that both signers require: "system:node:NAME". The organization is nodes_group.
[[nodiscard]] std::string node_user(std::string_view node_name);

// The body of the POST to csr_path, as kubelet writes it: a server-generated name ("csr-x7k2p"),
// the signer and the usages. `request_pem` is a PKCS #10 request.
[[nodiscard]] std::string csr_body(CertificateUse use, std::string_view request_pem);

struct CsrState {
  enum class Status : std::uint8_t { pending, issued, denied, failed };

  std::string name = {};
  Status status = Status::pending;
  std::string certificate_pem = {};  // when issued
  std::string reason = {};           // when denied or failed: "KubeletDenied: not one of ours"

  bool operator==(const CsrState&) const = default;
};

// Reads a CertificateSigningRequest. Errors: invalid (not one, or its certificate is not base64).
[[nodiscard]] Result<CsrState> read_csr(std::string_view body);

}  // namespace holdfast::sync::identity
