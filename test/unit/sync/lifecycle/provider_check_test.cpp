#include "sync/lifecycle/provider_check.h"

#include "test/unit/sync/lifecycle/bench.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

NodeFacts lost(const std::string& name) {
  NodeFacts node = make_facts(name, "Unknown");
  node.provider_id = "cloud://" + name;
  return node;
}

Outcome answer(bool exists) {
  Outcome outcome;
  outcome.exists = exists;
  return outcome;
}

const AskProvider provider_question{"a", "uid-a", "cloud://a"};

TEST(ProviderCheck, ANodeThatIsGoneIsDeletedAndToldOf) {
  ProviderCheck check;
  check.set_node(start, lost("a"));
  EXPECT_EQ(check.pass(start), Effects{provider_question});
  EXPECT_EQ(check.pass(start + 1h), Effects{}) << "one question at a time";
  const Effects follows = check.settle(start, provider_question, answer(false));
  const RecordEvent event{
      EventSource::provider, EventKind::node,
      {"", "a", "uid-a"},    false,
      "DeletingNode",        "Deleting node a because it does not exist in the cloud provider"};
  const DeleteNode deletion{"a", "uid-a"};
  EXPECT_EQ(follows, Effects{deletion});
  EXPECT_EQ(check.settle(start, deletion, {}), Effects{event});
  EXPECT_EQ(check.nodes(), 0u);
  EXPECT_EQ(check.settle(start, deletion, {}), Effects{event}) << "the watch was faster";
}

TEST(ProviderCheck, ExistingUnknownAndUndeletableAreAskedAgain) {
  ProviderCheck check;
  check.set_node(start, lost("a"));
  (void)check.pass(start);
  EXPECT_EQ(check.settle(start, provider_question, answer(true)), Effects{});
  EXPECT_EQ(check.pass(start + 29s), Effects{});
  EXPECT_EQ(check.pass(start + 30s), Effects{provider_question});
  EXPECT_EQ(check.settle(start + 30s, provider_question, {Errc::invalid, {}}), Effects{});
  EXPECT_EQ(check.pass(start + 60s), Effects{provider_question});
  EXPECT_EQ(check.settle(start + 60s, provider_question, {}), Effects{}) << "no answer is no news";
  EXPECT_EQ(check.pass(start + 90s), Effects{provider_question});
  (void)check.settle(start + 90s, provider_question, answer(false));
  EXPECT_EQ(describe(check.settle(start + 90s, DeleteNode{"a", "uid-a"}, {Errc::unavailable, {}})),
            Lines{"event Node/a Warning DeletingNodeFailed"});
  EXPECT_EQ(check.pass(start + 120s), Effects{provider_question});
}

TEST(ProviderCheck, ANodeThatIsReadyAfterAllIsNotToldOf) {
  ProviderCheck check;
  check.set_node(start, lost("a"));
  (void)check.pass(start);
  const Effects deletion = check.settle(start, provider_question, answer(false));
  Outcome ready{Errc::conflict, make_facts("a", "True")};
  EXPECT_EQ(check.settle(start, deletion.front(), ready), Effects{});
  EXPECT_EQ(check.nodes(), 0u);
}

TEST(ProviderCheck, AnAnswerForWhoCameBackOrWasReplacedIsIgnored) {
  ProviderCheck check;
  check.set_node(start, lost("a"));
  (void)check.pass(start);
  check.set_node(start, make_facts("a", "True"));
  EXPECT_EQ(check.settle(start, provider_question, answer(false)), Effects{});
  NodeFacts another = lost("a");
  another.uid = "another";
  check.set_node(start, another);
  EXPECT_EQ(check.settle(start, provider_question, answer(false)), Effects{});
  EXPECT_EQ(check.nodes(), 1u);
}

TEST(ProviderCheck, QuestionsAreFewAndTheLongestWaitingComeFirst) {
  ProviderCheck check({.period = 30s, .per_pass = 2});
  check.set_node(start, lost("c"));
  check.set_node(start + 1s, lost("b"));
  check.set_node(start + 2s, lost("a"));
  EXPECT_EQ(describe(check.pass(start + 2s)),
            (Lines{"ask for c cloud://c", "ask for b cloud://b"}));
  EXPECT_EQ(describe(check.pass(start + 2s)), Lines{"ask for a cloud://a"});
}

TEST(ProviderCheck, ReadyAndExemptNodesAreNobodysBusiness) {
  ProviderCheck check;
  check.set_node(start, make_facts("a", "True"));
  NodeFacts exempt = lost("b");
  exempt.exempt = true;
  check.set_node(start, exempt);
  EXPECT_EQ(check.pass(start), Effects{});
  check.set_node(start, make_facts("c", ""));
  EXPECT_EQ(check.pass(start).size(), 1u) << "never reported counts as unknown";
}

// The provider is asked only with Options::ask_provider, and not during the grace period after the
// API server was unreachable.
TEST(ProviderCheck, IsOffByDefaultAndSilentWhileSparing) {
  Options options;
  for (const bool wanted : {false, true}) {
    options.ask_provider = wanted;
    Bench bench(options);
    bench.add_node("a");
    bench.add_node("b");
    bench.silence("a");
    int asked = 0;
    for (const std::string& line : bench.run_until(2min)) asked += line.ends_with("ask for a ");
    EXPECT_EQ(asked > 0, wanted);
    bench.restore_contact();
    for (const std::string& line : bench.run_until(2min + 45s)) {
      EXPECT_EQ(line.find("ask for"), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
