// An unmodified kubectl lists, approves and denies certificate signing requests of the lab.

#include <fstream>

#include "platform/text.h"
#include "test/e2e/secure_bench.h"

namespace holdfast::test {
namespace {

class CertificateKubectl : public ::testing::Test, public SecureBench {
 protected:
  void SetUp() override {
    start_tls_server();
    file_ = write_kubeconfig("admin", "admin-token", server_port);
  }
  std::string kubectl(const std::string& what) {
    const std::string command =
        "HOME=" + dir().string() + " kubectl --kubeconfig=" + file_ + " " + what + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    char buffer[4096];
    for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    EXPECT_EQ(pclose(pipe), 0) << command << "\n" << out;
    return out;
  }
  void request(const std::string& name) {
    const std::string pem =
        tls::make_request_pem(tls::make_key_pem(), {.common_name = "alice"}).value();
    const Answer made = as_admin(
        http::Method::post, "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        R"({"metadata":{"name":")" + name + R"("},"spec":{"request":")" + base64_encode(pem) +
            R"(","signerName":"kubernetes.io/kube-apiserver-client","expirationSeconds":3600,)"
            R"("usages":["digital signature","client auth"]}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  // The condition of a request: the last column that `kubectl get csr` prints.
  std::string condition(const std::string& name) {
    const std::string line = kubectl("get csr " + name + " --no-headers");
    return std::string(trim(line.substr(trim(line).rfind(' '))));
  }

  std::string file_;
};

TEST_F(CertificateKubectl, TheyAreSeenApprovedAndDenied) {
  request("yes");
  request("no");
  const std::string table = kubectl("get csr");
  EXPECT_NE(table.find("NAME   AGE   SIGNERNAME                            REQUESTOR   "
                       "REQUESTEDDURATION   CONDITION"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("kubernetes.io/kube-apiserver-client   admin       60m"), std::string::npos)
      << table;
  EXPECT_EQ(condition("yes"), "Pending");
  EXPECT_NE(kubectl("certificate approve yes").find("approved"), std::string::npos);
  EXPECT_NE(kubectl("certificate deny no").find("denied"), std::string::npos);
  EXPECT_TRUE(eventually(10s, [this] { return condition("yes") == "Approved,Issued"; }));
  EXPECT_EQ(condition("no"), "Denied");
  const std::string pem =
      base64_decode(trim(kubectl("get csr yes -o jsonpath='{.status.certificate}'"))).value();
  EXPECT_EQ(tls::read_certificate(pem)->names.common_name, "alice");
  EXPECT_NE(kubectl("describe csr yes").find("Common Name:"), std::string::npos);
  EXPECT_NE(kubectl("delete csr yes no").find("deleted"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
