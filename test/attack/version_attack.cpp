// Forged resourceVersions, continue tokens and limits: an answer is never older than was asked for,
// never of another caller, and never the last one.

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

// Of "holdfast/1 SNAPSHOT NAMESPACE NAME", the form of the agent's own continue tokens.
const std::string page_of_the_moment = "aG9sZGZhc3QvMSAwIG5zIGE=";                       // 0 ns a
const std::string page_of_a_guess = "aG9sZGZhc3QvMSAxODQ0Njc0NDA3MzcwOTU1MTYxNSBucyBh";  // 2^64-1
const std::string page_without_a_name = "aG9sZGZhc3QvMSAwIG5zIA==";                      // "0 ns "
const std::string page_beyond = "aG9sZGZhc3QvMSAxODQ0Njc0NDA3MzcwOTU1MTYxNiBucyBh";      // 2^64
const std::string page_with_a_nul = "aG9sZGZhc3QvMSAwIG5zIGEA";                          // 0 ns a\0

struct Row {
  std::string query;
  int offline = 0;  // the status of a list
};

std::vector<Row> forged() {
  const std::string version = "resourceVersion=";
  return {{version + "18446744073709551615", 504},
          {version + "9223372036854775807", 504},
          {version + "4611686018427387904", 504},
          {version + "4611686018427387904&resourceVersionMatch=Exact", 504},
          {version + "4611686018427387904&limit=1", 504},
          {version + "18446744073709551616", 400},
          {version + std::string(4000, '9'), 400},
          {version + "-1", 400},
          {version + "%2B5", 400},
          {version + "0x10", 400},
          {version + "1e3", 400},
          {version + "%00", 400},
          {version + "5%00", 400},
          {version + "0&" + version + "18446744073709551615", 200},  // the first one counts
          {version + "0&limit=9223372036854775807", 200},
          {version + "0&limit=-9223372036854775808", 200},
          {version + "0&limit=9223372036854775808", 400},
          {version + "0&timeoutSeconds=9223372036854775807", 200},
          {version + "0&timeoutSeconds=1e9", 400},
          {"continue=" + page_of_the_moment, 200},
          {"continue=" + page_of_a_guess, 410},
          {"continue=" + page_without_a_name, 410},
          {"continue=" + page_beyond, 410},
          {"continue=" + page_with_a_nul, 200},
          {"continue=" + std::string(4000, 'A'), 410},
          {"continue=%00", 410}};
}

class Versions : public AttackThroughServer {
 protected:
  void go_offline() {
    hostile->cut();
    ASSERT_TRUE(wait_for_link("offline"));
  }
};

TEST_F(Versions, ForgedOnesAreRefusedAndShowNothingOld) {
  ASSERT_NO_FATAL_FAILURE(go_offline());
  for (const Row& row : forged()) {
    const Answer answer = as_node(treasure_list + "&" + row.query);
    EXPECT_EQ(answer.status, row.offline) << row.query.substr(0, 80) << ": " << answer.body;
    EXPECT_EQ(answer.has(treasure), answer.status == 200) << row.query.substr(0, 80);
  }
  // A watch from a version that nobody has issued ends at once, and sends nothing.
  for (const std::string version : {"18446744073709551615", "4611686018427387905", "5%00"}) {
    const Answer answer = as_node(
        treasure_list + "&watch=true&timeoutSeconds=1&resourceVersion=" + version +
        "&resourceVersionMatch=NotOlderThan" + "&sendInitialEvents=true&allowWatchBookmarks=true");
    EXPECT_FALSE(answer.has(treasure)) << version << ": " << answer.body;
    EXPECT_FALSE(answer.has("BOOKMARK")) << version << ": " << answer.body;
  }
  expect_root_is_served();
}

TEST_F(Versions, APageOfTheNodesListIsNotForOthers) {
  for (const bool connected : {true, false}) {
    if (!connected) {
      ASSERT_NO_FATAL_FAILURE(go_offline());
    }
    for (const std::string& token : {page_of_the_moment, page_of_a_guess, page_without_a_name}) {
      for (const char* bearer : {"", "invented", "alice-token"}) {
        const Answer answer = ask_as_nobody(
            edge_port, {.target = treasure_list + "&limit=1&continue=" + token, .bearer = bearer});
        EXPECT_FALSE(answer.has(treasure)) << bearer << " " << token;
        EXPECT_FALSE(answer.served()) << bearer << " " << token << ": " << answer.body;
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::attack
