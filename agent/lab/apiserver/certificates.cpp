#include "agent/lab/apiserver/certificates.h"

#include <boost/json.hpp>

#include "agent/lab/loops/certificates.h"
#include "agent/lab/rules/decode.h"
#include "platform/log.h"
#include "platform/text.h"
#include "platform/tls/jws.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// Certificates start this long before now, because clocks of nodes may be behind; as upstream.
constexpr Duration begins_before = std::chrono::minutes(5);

const sync::printing::Resource& requests() {
  return sync::printing::known_kind("certificates.k8s.io", "CertificateSigningRequest");
}

std::string request_of(const json::object& csr) {
  return base64_decode(sync::wire::dig_text(csr, {"spec", "request"})).value_or("");
}

std::string kubeconfig_for(const std::string& address, const tls::Signer& signer) {
  return "apiVersion: v1\nkind: Config\nclusters:\n- name: \"\"\n  cluster:\n    server: https://" +
         address + "\n    certificate-authority-data: " + base64_encode(signer.authority_pem()) +
         "\n";
}

}  // namespace

void CertificateLoop::pass() {
  for (const StoredPtr& stored : editor_.registry().list(requests())) handle(stored);
}

void CertificateLoop::handle(const StoredPtr& stored) {
  const json::object& csr = stored->object;
  const CsrStep step = next_step(csr);
  if (step == CsrStep::none || !is_known_signer(csr)) return;
  const std::string pem = request_of(csr);
  const auto read = tls::read_request(pem);
  RequestedNames names;
  if (read) names = {read->common_name, read->organizations, read->alternatives};
  const WallTime now = editor_.now();
  if (step == CsrStep::decide) {
    if (!read || !is_auto_approved(csr, names)) return;  // An administrator may approve it.
    write(stored, with_condition(csr, "Approved", "AutoApproved",
                                 "Auto approving kubelet certificate", now));
    return;
  }
  const std::string reason = read ? objection(csr, names) : read.error().what;
  if (reason.empty()) {
    write(stored, sign(csr, pem));
  } else {
    write(stored, with_condition(csr, "Failed", "SignerValidationFailure", reason, now));
  }
}

json::object CertificateLoop::sign(const json::object& csr, std::string_view pem) const {
  const WallTime now = editor_.now();
  const Duration lasts = lifetime(csr, lifetime_);
  const bool serves =
      sync::wire::dig_text(csr, {"spec", "signerName"}) == "kubernetes.io/kubelet-serving";
  const tls::Grant grant{.not_before = now - std::min(begins_before, lasts / 10),
                         .not_after = now + lasts,
                         .for_client = !serves,
                         .for_server = serves};
  const auto signed_pem = signer_.sign(pem, grant);
  if (!signed_pem) {
    return with_condition(csr, "Failed", "SignerFailure", signed_pem.error().what, now);
  }
  json::object made = csr;
  sync::wire::make_object(made, {"status"})["certificate"] = base64_encode(*signed_pem);
  return made;
}

void CertificateLoop::write(const StoredPtr& stored, json::object changed) {
  const sync::printing::Resource& resource = requests();
  const auto written = editor_.replace(resource, canonical(resource, std::move(changed)), stored);
  if (!written) {
    log_warn("certificate request",
             {{"name", sync::wire::name_of(stored->object)}, {"why", written.error().message}});
  }
}

void CertificateLoop::publish(const std::string& address, const TokenTable& tokens) {
  const sync::printing::Resource& resource = sync::printing::known_kind("", "ConfigMap");
  const StoredPtr old = editor_.registry().find(resource, "kube-public", "cluster-info");
  json::object map = {
      {"metadata", json::object{{"name", "cluster-info"}, {"namespace", "kube-public"}}},
      {"data", json::object{{"kubeconfig", kubeconfig_for(address, signer_)}}}};
  if (old) map = old->object;  // It may have been edited: only the signatures are renewed.
  json::object& data = sync::wire::make_object(map, {"data"});
  const std::string kubeconfig(sync::wire::dig_text(map, {"data", "kubeconfig"}));
  for (const auto& [token, identity] : tokens.all()) {
    const auto parts = split(token, '.');
    if (parts.size() != 2 || !identity.in_group("system:bootstrappers")) continue;
    data["jws-kubeconfig-" + std::string(parts[0])] =
        tls::detached_jws(kubeconfig, parts[0], parts[1]);
  }
  if (old && map == old->object) return;
  json::object changed = canonical(resource, std::move(map));
  const auto made = old ? editor_.replace(resource, std::move(changed), old)
                        : editor_.create(resource, std::move(changed), "kube-public");
  if (!made) log_warn("cluster-info", {{"why", made.error().message}});
}

}  // namespace holdfast::agent::lab
