// Clients of a FilterFixture, and the Services that they read.

#pragma once

#include <string>

#include "test/unit/agent/edge/filters/filter_fixture.h"

namespace holdfast::agent::filtered {

inline const Client kubelet{"kubelet"};
inline const Client kubelet_protobuf{"kubelet", true};
inline const Client proxy{"kube-proxy"};
inline const Client proxy_protobuf{"Kube-Proxy", true};
inline const Client kubectl{"kubectl"};

inline const std::string services = "/api/v1/services";
inline const std::string slices = "/apis/discovery.k8s.io/v1/endpointslices";
inline const std::string cached = "?resourceVersion=0";

inline EdgeOptions with_door() {
  EdgeOptions options;
  options.identity.secure_listen = "169.254.2.1:10268";
  return options;
}

inline std::string service(const std::string& name, const std::string& annotations,
                           const std::string& type = "NodePort") {
  return R"({"metadata":{"name":")" + name + R"(","annotations":{)" + annotations +
         R"(}},"spec":{"type":")" + type + R"(","ports":[{"name":"https","port":80}]}})";
}
inline std::string listens(const std::string& pools) {
  return R"("nodeport.openyurt.io/listen":")" + pools + R"(")";
}

inline const std::string ns = "/api/v1/namespaces/ns";

}  // namespace holdfast::agent::filtered
