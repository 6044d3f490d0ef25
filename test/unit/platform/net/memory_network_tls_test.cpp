// TLS over the network in memory.

#include "test/support/certificates.h"
#include "test/unit/platform/net/memory_network_fixture.h"

namespace holdfast::net {
namespace {

class MemoryNetworkTlsTest : public MemoryNetworkTest {
 protected:
  static const test::Authority& authority() {
    static const test::Authority made("our ca");
    return made;
  }
  static TlsPtr server() {
    const test::Subject subject{.common_name = "server", .names = {"DNS:cloud"}};
    return tls::Context::for_server({.identity = authority().sign(subject)}).value();
  }
  static TlsPtr client(const test::Authority& trusted) {
    return tls::Context::for_client({.ca_pem = trusted.certificate_pem()}).value();
  }
};

TEST_F(MemoryNetworkTlsTest, RunsAsOverTcp) {
  listen({"10.0.0.7", 443}, server());
  network_.names().set("cloud", {"10.0.0.7"});
  network_.names().set("elsewhere", {"10.0.0.7"});
  Told accepted = accept();
  EXPECT_EQ(*connect({"cloud", 443}, 10s, client(authority())), "connected");
  EXPECT_EQ(*accepted, "accepted");
  const Ends ends = ends_;
  EXPECT_EQ(*write(ends.client, "hello"), "sent");
  EXPECT_EQ(*read(ends.server), "hello");
  ends.client->shutdown_write();
  EXPECT_EQ(*read(ends.server), "(end)");
  EXPECT_EQ(*write(ends.server, "bye"), "sent");
  EXPECT_EQ(*read(ends.client), "bye");

  (void)accept();
  const test::Authority others("another ca");
  EXPECT_NE(connect({"cloud", 443}, 10s, client(others))->find("certificate verify failed"),
            std::string::npos);
  (void)accept();
  EXPECT_NE(connect({"elsewhere", 443}, 10s, client(authority()))->find("verify failed"),
            std::string::npos);
}

TEST_F(MemoryNetworkTlsTest, AHandshakeMeetsItsDeadline) {
  listen({"10.0.0.7", 443}, server());
  network_.names().set("cloud", {"10.0.0.7"});
  const Told told = connect({"cloud", 443}, 2s, client(authority()));
  time_.run(1980ms);
  EXPECT_EQ(*told, "") << "nobody accepts";
  time_.run(20ms);
  EXPECT_EQ(*told, "TLS handshake: deadline passed");
}

}  // namespace
}  // namespace holdfast::net
