// The names and marks of a run in a cluster that others use, too.

#include "agent/lab/guest/guest.h"

namespace holdfast::agent::lab::guest {
namespace {

namespace json = sync::json;

const Guest guest_of_test{.run = "lab-x7k2p", .owner = "here/boot.7.9//tmp/run"};

TEST(LabGuestNames, BeginWithTheRun) {
  EXPECT_EQ(guest_of_test.name("a-1"), "lab-x7k2p-a-1");
  EXPECT_EQ(guest_of_test.space(""), "lab-x7k2p-default");
  EXPECT_EQ(guest_of_test.space("shop"), "lab-x7k2p-shop");
  EXPECT_EQ(guest_of_test.bare("lab-x7k2p-a-1"), "a-1");
  EXPECT_EQ(guest_of_test.bare("lab-other-a-1"), "lab-other-a-1");
  EXPECT_EQ(guest_of_test.selector(), "holdfast.dev/lab-run=lab-x7k2p");
  EXPECT_EQ(guest_of_test.query(), "labelSelector=holdfast.dev%2Flab-run%3Dlab-x7k2p");
  EXPECT_TRUE(guest_of_test.check_name(std::string(53, 'a')));
  const Status longer = guest_of_test.check_name(std::string(54, 'a'));
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().what, "\"" + std::string(54, 'a') +
                                     "\" is too long: with the prefix lab-x7k2p- it has 64 "
                                     "characters, at most 63 are possible");
}

TEST(LabGuestNames, AreNewForEveryRun) {
  const Guest one = Guest::make();
  EXPECT_EQ(one.run.size(), 9u);
  EXPECT_TRUE(one.run.starts_with("lab-"));
  EXPECT_NE(one.run, Guest::make().run);
}

TEST(LabGuestMarks, AreAddedToWhatIsThere) {
  json::object metadata = {{"name", "n"}, {"labels", json::object{{"app", "web"}}}};
  guest_of_test.mark(metadata);
  EXPECT_EQ(sync::wire::serialize(metadata),
            R"({"name":"n","labels":{"app":"web","holdfast.dev/lab-run":"lab-x7k2p"},)"
            R"("annotations":{"holdfast.dev/lab-owner":"here/boot.7.9//tmp/run"}})");
  json::object pods = {{"spec", json::object{{"nodeSelector", json::object{{"role", "cell"}}}}}};
  guest_of_test.confine(pods);
  EXPECT_EQ(sync::wire::serialize(pods),
            R"({"spec":{"nodeSelector":{"role":"cell","holdfast.dev/lab-run":"lab-x7k2p"},)"
            R"("tolerations":[{"key":"holdfast.dev/lab-run","operator":"Equal",)"
            R"("value":"lab-x7k2p","effect":"NoSchedule"}]},)"
            R"("metadata":{"labels":{"holdfast.dev/lab-run":"lab-x7k2p"}}})");
}

TEST(LabGuestOwner, IsReadAsItIsWritten) {
  const Owner self = Owner::self("/tmp/run");
  const auto read = Owner::read(self.text());
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->text(), self.text());
  EXPECT_EQ(read->data, "/tmp/run");
  EXPECT_TRUE(read->is_here());
  EXPECT_TRUE(read->is_alive());
  struct Case {
    std::string text;
    bool is_owner;
    bool is_alive;
  };
  const std::string boot = self.process.substr(0, self.process.find('.'));
  for (const Case& each : {Case{self.host + "/" + boot + ".1.7/", true, false},
                           Case{self.host + "/other-boot.1.1/", true, false},
                           Case{self.host + "/unknown/", true, false}, Case{"", false, false},
                           Case{"host", false, false}, Case{"/boot.1.1/", false, false},
                           Case{"host//data", false, false}}) {
    const auto owner = Owner::read(each.text);
    EXPECT_EQ(owner.has_value(), each.is_owner) << each.text;
    EXPECT_EQ(owner && owner->is_alive(), each.is_alive) << each.text;
  }
  EXPECT_FALSE(Owner::read("elsewhere/boot.1.1/data")->is_here());
}

}  // namespace
}  // namespace holdfast::agent::lab::guest
