#include "sync/identity/csr.h"

#include <boost/json.hpp>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::sync::identity {
namespace {

// "Reason: message", or the part that is not empty.
std::string explain(const json::object& condition) {
  const std::string reason(wire::dig_text(condition, {"reason"}));
  const std::string message(wire::dig_text(condition, {"message"}));
  if (reason.empty() || message.empty()) return reason + message;
  return reason + ": " + message;
}

}  // namespace

std::string_view to_string(CertificateUse use) {
  return use == CertificateUse::client ? "client" : "serving";
}

std::string_view signer_of(CertificateUse use) {
  switch (use) {
    case CertificateUse::client:
      return "kubernetes.io/kube-apiserver-client-kubelet";
    case CertificateUse::serving:
      return "kubernetes.io/kubelet-serving";
  }
  UNREACHABLE();
}

std::string node_user(std::string_view node_name) {
  return "system:node:" + std::string(node_name);
}

std::string csr_body(CertificateUse use, std::string_view request_pem) {
  // "key encipherment" is not requested: it does not apply to elliptic curve keys.
  const std::string_view auth = use == CertificateUse::client ? "client auth" : "server auth";
  const json::object body = {
      {"kind", "CertificateSigningRequest"},
      {"apiVersion", "certificates.k8s.io/v1"},
      {"metadata", json::object{{"generateName", "csr-"}}},
      {"spec", json::object{{"request", base64_encode(request_pem)},
                            {"signerName", signer_of(use)},
                            {"usages", json::array{"digital signature", auth}}}}};
  return wire::serialize(body);
}

Result<CsrState> read_csr(std::string_view body) {
  TRY(const json::value value, wire::parse_json(body));
  const json::object& object = wire::as_object(value);
  if (wire::dig_text(object, {"kind"}) != "CertificateSigningRequest") {
    return fail(Errc::invalid, "not a CertificateSigningRequest");
  }
  CsrState state{.name = std::string(wire::name_of(object))};
  for (const json::value& each : wire::dig_list(object, {"status", "conditions"})) {
    const json::object& condition = wire::as_object(each);
    const std::string_view type = wire::dig_text(condition, {"type"});
    const bool denied = type == "Denied";
    if (!denied && type != "Failed") continue;
    state.status = denied ? CsrState::Status::denied : CsrState::Status::failed;
    state.reason = explain(condition);
    return state;
  }
  const std::string_view encoded = wire::dig_text(object, {"status", "certificate"});
  if (encoded.empty()) return state;
  auto pem = base64_decode(encoded);
  if (!pem) return fail("status.certificate", pem.error());
  state.status = CsrState::Status::issued;
  state.certificate_pem = *std::move(pem);
  return state;
}

}  // namespace holdfast::sync::identity
