// The API server's data is replaced by older data, as by restoring a backup of etcd: its versions
// go back, and watches from the versions of before would wait for ever.

#include "test/unit/agent/edge/uplink/versions_fixture.h"

namespace holdfast::agent {
namespace {

const std::string eight_maps = "m1 m2 m3 m4 m5 m6 m7 m8";

class RestoredCloud : public VersionsTest {
 protected:
  // Two objects and many versions that the backup does not have.
  RestoredCloud() {
    (void)create(versioned_maps, "m9");
    (void)create(versioned_maps, "n1");
    time_.run(2min);
    EXPECT_EQ(listed_names(), eight_maps + " m9 n1");
  }

  // The journal records of kind "cloud".
  std::vector<std::string> journalled() {
    const std::vector<store::Record> records = edge_->offline_store().records({}).value();
    std::vector<std::string> said;
    for (const store::Record& record : records) {
      if (record.kind == "cloud") said.push_back(record.subject + ": " + record.what);
    }
    return said;
  }
};

TEST_F(RestoredCloud, IsNoticedByTheNextRenewalAndListedAgain) {
  ToldVersions watch;
  http::Request request{.target = versioned_maps + "?watch=true&resourceVersion=" +
                                  listed_version() + "&timeoutSeconds=600",
                        .headers = {{"User-Agent", "kubelet/v1"}}};
  tasks_.spawn("watch", asking(*local_, std::move(request), watch));
  time_.run(1s);
  EXPECT_EQ(journalled(), std::vector<std::string>{});
  restore_backup();
  time_.run(options_.lease_renew_interval + 2s);
  EXPECT_EQ(edge_->uplink().link().state(), sync::autonomy::LinkState::connected);
  EXPECT_EQ(listed_names(), eight_maps);
  const std::vector<std::string> said = journalled();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with("nodes/edge1: the API server's versions went back from "))
      << said[0];
  ASSERT_EQ(watch.lines.size(), 1u) << "the client lists again";
  EXPECT_NE(watch.lines.front().find("\"code\":410"), std::string::npos) << watch.lines.front();

  (void)create(versioned_maps, "later");
  time_.run(1s);
  EXPECT_EQ(listed_names(), "later " + eight_maps);
}

// Then the lease is only read.
TEST_F(RestoredCloud, IsNoticedWhileTheKubeletIsSilent) {
  stop();
  options_.kubelet_grace = 1s;
  start();
  time_.run(1min);
  restore_backup();
  time_.run(options_.lease_renew_interval + 2s);
  EXPECT_EQ(edge_->uplink().link().state(), sync::autonomy::LinkState::connected);
  EXPECT_EQ(listed_names(), eight_maps);
}

TEST_F(RestoredCloud, IsListedAgainAfterAnOutage) {
  cut();
  restore_backup();
  EXPECT_EQ(listed_names(), eight_maps + " m9 n1") << "the last known state";
  time_.network().refuse(at_, false);
  EXPECT_TRUE(until(sync::autonomy::LinkState::connected));
  EXPECT_EQ(listed_names(), eight_maps);
  (void)create(versioned_maps, "later");
  time_.run(1s);
  EXPECT_EQ(listed_names(), "later " + eight_maps);
}

// What was noticed is not forgotten when the link breaks before the lists have arrived, and the
// versions have grown past the old ones until it is back.
TEST_F(RestoredCloud, IsListedAgainHoweverOftenTheLinkBreaks) {
  const int before = lists_;
  lists_hang_ = true;
  restore_backup();
  time_.run(options_.lease_renew_interval + 2s);
  EXPECT_EQ(journalled().size(), 1u);
  EXPECT_EQ(lists_, before + 1);
  for (int i = 0; i < 40; ++i) (void)create("/api/v1/namespaces", "more" + std::to_string(i));
  time_.network().set_link(at_, {.is_silent = true});
  EXPECT_TRUE(until(sync::autonomy::LinkState::offline));
  EXPECT_EQ(listed_names(), eight_maps + " m9 n1") << "the last known state";
  lists_hang_ = false;
  time_.network().set_link(at_, {});
  EXPECT_TRUE(until(sync::autonomy::LinkState::connected));
  EXPECT_EQ(listed_names(), eight_maps);
}

TEST_F(RestoredCloud, GetsWhatWasAcceptedDuringTheOutage) {
  const std::string events = "/api/v1/namespaces/versions/events";
  cut();
  http::Request write{
      .method = http::Method::post,
      .target = events,
      .headers = {{"User-Agent", "kubelet/v1"}, {"Content-Type", "application/json"}},
      .body = R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"versions"},)"
              R"("involvedObject":{"kind":"ConfigMap","name":"m1","namespace":"versions"}})"};
  ToldVersions accepted;
  time_.complete(asking(*local_, std::move(write), accepted));
  ASSERT_EQ(accepted.response.status, 201) << accepted.response.body;
  restore_backup();
  time_.network().refuse(at_, false);
  EXPECT_TRUE(until(sync::autonomy::LinkState::connected));
  ToldVersions arrived;
  http::Request read{.target = events + "/e"};
  time_.complete(asking(cloud_, std::move(read), arrived));
  EXPECT_EQ(arrived.response.status, 200) << arrived.response.body;
  EXPECT_EQ(edge_->offline_store().size().value().entries, 0);
}

TEST_F(RestoredCloud, IsListedAgainAfterARestartOfTheAgent) {
  stop();
  restore_backup();
  start();
  EXPECT_EQ(listed_names(), eight_maps);
  (void)create(versioned_maps, "later");
  time_.run(1s);
  EXPECT_EQ(listed_names(), "later " + eight_maps);
}

}  // namespace
}  // namespace holdfast::agent
