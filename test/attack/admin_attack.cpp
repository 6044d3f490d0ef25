// Attacks on the admin listener: reads by other users, and requests with foreign host names.

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

const std::string admin_pages[] = {"/v1/objects?resource=secrets",
                                   "/v1/objects?resource=pods",
                                   "/v1/journal",
                                   "/v1/scopes",
                                   "/v1/status",
                                   "/v1/link",
                                   "/pods"};
const std::string open_pages[] = {"/healthz", "/livez", "/readyz", "/metrics"};

bool shows_treasure(const Answer& answer) {
  return answer.has(treasure) || answer.has(treasure_decoded);
}

TEST_F(Attack, AdminPagesAreNotForStrangers) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  ASSERT_NO_FATAL_FAILURE(warm("/api/v1/pods?fieldSelector=spec.nodeName%3Dedge-a"));
  for (const std::string& page : admin_pages) {
    const Answer answer = ask_as_nobody(admin_port, {.target = page});
    EXPECT_TRUE(answer.refused()) << page << " answered the user nobody with " << answer.status;
    EXPECT_FALSE(shows_treasure(answer)) << page << " showed the user nobody a Secret's value";
  }
  for (const std::string& page : admin_pages) {
    const Answer answer =
        ask_as_nobody(admin_port, {.target = page, .bearer = "invented-by-nobody"});
    EXPECT_FALSE(answer.served()) << page << " for an invented token";
    EXPECT_FALSE(shows_treasure(answer)) << page << " for an invented token";
  }
  for (const std::string& page : open_pages) {
    const Answer answer = ask_as_nobody(admin_port, {.target = page});
    EXPECT_EQ(answer.status, 200) << page;
    EXPECT_FALSE(shows_treasure(answer)) << page;
  }
  for (const std::string& page : admin_pages) {
    EXPECT_EQ(ask(admin_port, {.target = page}).status, 200) << page << " for root";
  }
}

TEST_F(Attack, AdminPagesNeverShowTheValuesOfSecrets) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  const Answer made =
      as_admin("POST", secrets_path,
               R"({"metadata":{"name":"plain"},"stringData":{"k":")" + treasure_decoded + R"("}})");
  ASSERT_EQ(made.status, 201);
  ASSERT_NO_FATAL_FAILURE(start_edge());
  ASSERT_NO_FATAL_FAILURE(warm(treasure_list));
  ASSERT_NO_FATAL_FAILURE(warm(secrets_path + "?fieldSelector=metadata.name%3Dplain"));
  ASSERT_TRUE(as_node(treasure_list + "&resourceVersion=0").has(treasure)) << "it is cached";
  for (const std::string& page : admin_pages) {
    EXPECT_FALSE(shows_treasure(ask(admin_port, {.target = page}))) << page << " for root";
  }
  EXPECT_TRUE(ask(admin_port, {.target = admin_pages[0]}).has("treasure")) << "its name is shown";
}

TEST_F(Attack, AForeignHostNameIsRefused) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  for (const std::string host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example"}) {
    for (const std::string& page : {admin_pages[0], admin_pages[4], open_pages[0]}) {
      const Answer answer = ask(admin_port, {.target = page, .host = host});
      EXPECT_GE(answer.status, 400) << page << " was shown to a page of " << host;
      EXPECT_FALSE(shows_treasure(answer)) << page << " by " << host;
    }
    const Answer proxied = ask(edge_port, {.target = treasure_list, .host = host});
    EXPECT_GE(proxied.status, 400) << "the proxy, with the host name " << host;
    EXPECT_FALSE(shows_treasure(proxied)) << "the proxy, with the host name " << host;
    const Ask write{
        .target = events_path, .method = "POST", .body = event_body("by-rebinding"), .host = host};
    EXPECT_GE(ask(edge_port, write).status, 400) << host;
  }
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
  const std::string local = "localhost:" + std::to_string(edge_port);
  EXPECT_TRUE(ask(edge_port, {.target = treasure_list, .host = local}).served());
}

TEST_F(Attack, AWebPageIsNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  for (const std::string origin :
       {"Origin: http://evil.example", "Origin: null", "Origin: https://127.0.0.1.evil.example"}) {
    const Answer read = ask(edge_port, {.target = treasure_list, .headers = {origin}});
    EXPECT_GE(read.status, 400) << origin;
    EXPECT_FALSE(shows_treasure(read)) << origin;
    const Ask write{.target = events_path,
                    .method = "POST",
                    .body = event_body("by-a-page"),
                    .headers = {origin, "Content-Type: text/plain"}};
    EXPECT_GE(ask(edge_port, write).status, 400) << origin;
  }
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
}

TEST_F(Attack, AnAdminListenerForTheNetworkNeedsTls) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  for (const std::string address : {"0.0.0.0:0", "[::]:0", "169.254.77.1:0"}) {
    launch_edge({"--admin-listen=" + address}, {.own_network = true});
    const bool said = eventually(10s, [this] {
      return !edge->running() || edge_log().find("admin-listen") != std::string::npos;
    });
    ASSERT_TRUE(said) << address << ": the agent runs with it";
    EXPECT_NE(edge->wait(5s).value_or(0), 0) << address << ": the agent runs with it";
    EXPECT_NE(edge_log().find("admin-listen"), std::string::npos) << edge_log();
    (void)std::remove(file("edge.log").c_str());
  }
}

TEST_F(Attack, AnOpenLabIsNotForTheNetwork) {
  Launch launch{.argv = {"holdfast-lab", "apiserver", "--listen=0.0.0.0:0",
                         "--data=" + file("open-lab"), "--controllers=false"},
                .log = file("lab.log"),
                .own_network = true};
  Program open(launch);
  const auto ended = open.wait(3s);
  ASSERT_TRUE(ended.has_value()) << "the lab must not give everyone on the network all rights";
  EXPECT_NE(*ended, 0);
  const std::string said = read_file(file("lab.log"));
  EXPECT_NE(said.find("token"), std::string::npos) << said;
}

}  // namespace
}  // namespace holdfast::attack
