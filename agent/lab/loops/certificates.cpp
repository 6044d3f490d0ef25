#include "agent/lab/loops/certificates.h"

#include <algorithm>
#include <boost/json.hpp>

#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view any_client = "kubernetes.io/kube-apiserver-client";
constexpr std::string_view node_client = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr std::string_view node_serving = "kubernetes.io/kubelet-serving";

std::string_view signer_name(const json::object& csr) {
  return sync::wire::dig_text(csr, {"spec", "signerName"});
}

bool has_condition(const json::object& csr, std::string_view type) {
  const json::array& conditions = sync::wire::dig_list(csr, {"status", "conditions"});
  return std::any_of(conditions.begin(), conditions.end(), [type](const json::value& condition) {
    return sync::wire::dig_text(sync::wire::as_object(condition), {"type"}) == type;
  });
}

bool asks_to(const json::object& csr, std::string_view usage) {
  const json::array& usages = sync::wire::dig_list(csr, {"spec", "usages"});
  return std::find(usages.begin(), usages.end(), json::value(usage)) != usages.end();
}

bool in_group(const json::object& csr, std::string_view group) {
  const json::array& groups = sync::wire::dig_list(csr, {"spec", "groups"});
  return std::find(groups.begin(), groups.end(), json::value(group)) != groups.end();
}

// The requirements on the subject that both kubelet signers have; returns the objection or "".
std::string node_objection(const RequestedNames& names) {
  if (names.organizations != std::vector<std::string>{"system:nodes"}) {
    return "organization in the subject is not [system:nodes]";
  }
  if (!names.common_name.starts_with("system:node:")) {
    return "subject common name does not begin with \"system:node:\"";
  }
  return {};
}

}  // namespace

void set_requester(json::object& csr, const Identity& who) {
  json::object& spec = sync::wire::make_object(csr, {"spec"});
  spec["username"] = who.name;
  spec["uid"] = who.uid;
  spec["groups"] = json::array(who.groups.begin(), who.groups.end());
}

CsrStep next_step(const json::object& csr) {
  const bool over = has_condition(csr, "Denied") || has_condition(csr, "Failed") ||
                    !sync::wire::dig_text(csr, {"status", "certificate"}).empty();
  if (over) return CsrStep::none;
  return has_condition(csr, "Approved") ? CsrStep::sign : CsrStep::decide;
}

bool is_auto_approved(const json::object& csr, const RequestedNames& names) {
  if (!objection(csr, names).empty()) return false;
  const bool own = sync::wire::dig_text(csr, {"spec", "username"}) == names.common_name;
  if (signer_name(csr) == node_client) return own || in_group(csr, "system:bootstrappers");
  return signer_name(csr) == node_serving && own;
}

bool is_known_signer(const json::object& csr) {
  const std::string_view signer = signer_name(csr);
  return signer == any_client || signer == node_client || signer == node_serving;
}

std::string objection(const json::object& csr, const RequestedNames& names) {
  const std::string_view signer = signer_name(csr);
  const bool serves = signer == node_serving;
  if (!asks_to(csr, serves ? "server auth" : "client auth")) {
    return serves ? "usages did not include server auth" : "usages did not include client auth";
  }
  if (asks_to(csr, serves ? "client auth" : "server auth")) {
    return "usages include those of another signer";
  }
  if (signer == any_client) return {};
  if (std::string reason = node_objection(names); !reason.empty()) return reason;
  if (serves && names.alternatives.empty()) {
    return "DNS or IP subjectAltName is required";
  }
  if (!serves && !names.alternatives.empty()) {
    return "subjectAltNames are not allowed in a client's certificate";
  }
  return {};
}

Duration lifetime(const json::object& csr, Duration most) {
  if (sync::wire::dig(csr, {"spec", "expirationSeconds"}) == nullptr) return most;
  constexpr Duration least = std::chrono::minutes(10);  // upstream's minimum
  const Duration wanted =
      std::chrono::seconds(sync::wire::dig_int(csr, {"spec", "expirationSeconds"}));
  return std::min(std::max(wanted, least), most);
}

json::object with_condition(json::object csr, std::string_view type, std::string_view reason,
                            std::string_view message, WallTime now) {
  const std::string time = format_rfc3339(now);
  json::value& conditions = sync::wire::make_object(csr, {"status"})["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  const json::object condition = {{"type", type},           {"status", "True"},
                                  {"reason", reason},       {"message", message},
                                  {"lastUpdateTime", time}, {"lastTransitionTime", time}};
  conditions.get_array().push_back(condition);
  return csr;
}

}  // namespace holdfast::agent::lab
