// What toxics do to one direction of a connection, as scripts in virtual time: these steps give
// these pieces at these times.

#include "agent/lab/faults/toxic_link.h"

#include "platform/text.h"

namespace holdfast::agent::faults {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};

std::string shown(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::bytes:
      return piece.bytes.size() <= 20 ? piece.bytes : std::to_string(piece.bytes.size()) + " bytes";
    case Piece::Kind::end:
      return "END";
    case Piece::Kind::close:
      return "CLOSE";
    case Piece::Kind::reset:
      return "RESET";
  }
  return "";
}

// The downstream direction of a connection.
class ToxicScript {
 public:
  // Runs "10ms data abc", "10ms data 500*x", "10ms end", "10ms reset", "10ms add TOXIC", "10ms
  // change TOXIC" and "10ms remove TOXIC", and then everything that is still due.
  std::vector<std::string> play(const std::vector<std::string>& steps) {
    for (const std::string& step : steps) {
      const std::size_t first = step.find(' ');
      const std::size_t second = step.find(' ', first + 1);
      run_until(start + parse_duration(step.substr(0, first)).value());
      act(step.substr(first + 1, second - first - 1),
          second == std::string::npos ? "" : step.substr(second + 1));
    }
    run_until(MonoTime::max());
    return out_;
  }

 private:
  void act(const std::string& verb, const std::string& rest) {
    if (verb == "data") {
      const std::size_t star = rest.find('*');
      const std::string bytes =
          star == std::string::npos
              ? rest
              : std::string(parse_int<std::size_t>(rest.substr(0, star)).value(), rest[star + 1]);
      pipe().feed(now_, {Piece::Kind::bytes, bytes});
    } else if (verb == "end" || verb == "reset") {
      pipe().feed(now_, {verb == "end" ? Piece::Kind::end : Piece::Kind::reset});
    } else if (verb == "add") {
      link_.add(now_, parse_toxics(rest).value().front());
    } else if (verb == "change") {
      link_.change(now_, parse_toxics(rest).value().front());
    } else {
      ASSERT_EQ(verb, "remove");
      link_.remove(now_, parse_toxics(rest).value().front());
    }
    drain();
  }

  void run_until(MonoTime end) {
    while (pipe().deadline() < end) {
      ASSERT_GT(pipe().deadline(), now_) << "everything due has been taken";
      now_ = pipe().deadline();
      drain();
    }
    if (end != MonoTime::max()) now_ = end;
    drain();
  }

  void drain() {
    while (const auto piece = pipe().next(now_)) {
      out_.push_back(format_duration(now_ - start) + " " + shown(*piece));
    }
  }

  Pipe& pipe() { return link_.pipe(Stream::downstream); }

  ToxicLink link_{1};
  MonoTime now_ = start;
  std::vector<std::string> out_;
};

struct ToxicCase {
  std::string name;
  std::vector<std::string> steps;
  std::vector<std::string> out;
};

class ToxicScripts : public testing::TestWithParam<ToxicCase> {};

TEST_P(ToxicScripts, Plays) { EXPECT_EQ(ToxicScript().play(GetParam().steps), GetParam().out); }

const ToxicCase delaying_cases[] = {
    {"no_toxic", {"0s data a", "1ms data b", "2ms end"}, {"0s a", "1ms b", "2ms END"}},
    {"the_other_direction_is_untouched",
     {"0s add black_hole stream=upstream", "0s data a"},
     {"0s a"}},
    {"no_toxicity_does_nothing", {"0s add black_hole toxicity=0", "0s data a"}, {"0s a"}},
    {"latency_delays_each_piece_by_as_much",
     {"0s add latency latency=300", "0s data a", "100ms data b", "1s data c"},
     {"300ms a", "400ms b", "1.3s c"}},
    {"latency_delays_no_end_but_keeps_the_order",
     {"0s add latency latency=300", "0s data a", "100ms end"},
     {"300ms a", "300ms END"}},
    {"latencies_add_up",
     {"0s add latency latency=300", "0s add latency latency=50 name=more", "0s data a"},
     {"350ms a"}},
    {"latency_applies_to_what_is_under_way",
     {"0s add latency latency=300", "0s data a", "100ms change latency latency=150"},
     {"150ms a"}},
    {"removing_latency_releases_everything",
     {"0s add latency latency=300", "0s data a", "50ms data b", "100ms remove latency"},
     {"100ms a", "100ms b"}},
    {"bandwidth_takes_a_millisecond_for_so_many_bytes",
     {"0s add bandwidth rate=10", "0s data 200*x", "100ms data 50*x"},
     {"20ms 200 bytes", "105ms 50 bytes"}},
    {"bandwidth_divides_what_takes_longer_than_100_ms",
     {"0s add bandwidth rate=1", "0s data 250*x", "0s data 30*x", "0s end"},
     {"100ms 100 bytes", "200ms 100 bytes", "250ms 50 bytes", "280ms 30 bytes", "280ms END"}},
    {"bandwidth_saves_nothing_while_idle",
     {"0s add bandwidth rate=1", "10s data 50*x", "10s data 50*x"},
     {"10.05s 50 bytes", "10.1s 50 bytes"}},
    {"bandwidth_0_lets_nothing_pass",
     {"0s add bandwidth rate=0", "0s data a", "1h change bandwidth rate=1", "1h0m1s data b"},
     {"1h0m0.001s a", "1h0m1.001s b"}},
    {"a_faster_bandwidth_applies_at_once",
     {"0s add bandwidth rate=1", "0s data 250*x", "150ms change bandwidth rate=100"},
     {"100ms 100 bytes", "151.5ms 150 bytes"}},
    {"slow_close_delays_the_end_only",
     {"0s add slow_close delay=500", "0s data a", "1ms end"},
     {"0s a", "501ms END"}},
    {"slow_close_also_delays_what_closes",
     {"0s add limit_data bytes=1", "0s add slow_close delay=500", "0s data a"},
     {"0s a", "500ms CLOSE"}},
    {"slicer_divides_and_delays_in_microseconds",
     {"0s add slicer average_size=2 delay=10", "0s data abcde", "0s data f", "0s end"},
     {"0s ab", "10µs cd", "20µs e", "30µs f", "30µs END"}},
    {"slicer_without_delay_only_divides",
     {"0s add slicer average_size=2", "0s data abcde"},
     {"0s ab", "0s cd", "0s e"}},
    {"removing_a_slicer_leaves_the_rest_in_one_piece",
     {"0s add slicer average_size=1 delay=1000", "0s data abcde",
      "1500µs remove slicer average_size=1"},
     {"0s a", "1ms b", "1.5ms cde"}},
    {"black_hole_holds_everything",
     {"0s add black_hole", "0s data a", "1s end", "1h remove black_hole"},
     {"1h0m0s a", "1h0m0s END"}},
    {"toxics_act_in_their_order",
     {"0s add bandwidth rate=1", "0s add latency latency=100", "0s data 10*x"},
     {"110ms xxxxxxxxxx"}},
    {"a_toxic_added_later_does_not_touch_what_has_passed",
     {"0s data a", "1ms add latency latency=10", "2ms data b"},
     {"0s a", "12ms b"}},
    {"what_a_removed_toxic_held_goes_through_the_next_one",
     {"0s add black_hole", "0s add latency latency=10", "0s data a", "1s remove black_hole"},
     {"1.01s a"}},
};

const ToxicCase ending_cases[] = {
    {"a_reset_passes", {"0s data a", "0s reset", "0s data b"}, {"0s a", "0s RESET"}},
    {"a_reset_may_follow_an_end", {"0s end", "1s reset"}, {"0s END", "1s RESET"}},
    {"timeout_drops_and_closes",
     {"0s add timeout timeout=100", "0s data a", "99ms data b"},
     {"100ms CLOSE"}},
    {"timeout_counts_from_when_it_was_added",
     {"0s data a", "1s add timeout timeout=100"},
     {"0s a", "1.1s CLOSE"}},
    {"timeout_0_drops_until_it_is_removed",
     {"0s add timeout", "0s data a", "1h remove timeout"},
     {"1h0m0s CLOSE"}},
    {"timeout_lets_the_end_pass",
     {"0s add timeout timeout=100", "0s data a", "1ms end"},
     {"1ms END", "100ms CLOSE"}},
    {"a_changed_timeout_counts_anew",
     {"0s add timeout timeout=100", "50ms change timeout timeout=200"},
     {"250ms CLOSE"}},
    {"a_timeout_without_toxicity_ends_nothing",
     {"0s add timeout timeout=100 toxicity=0", "1s data a", "2s remove timeout"},
     {"1s a"}},
    {"reset_peer_resets_at_once", {"0s add reset_peer", "0s data a"}, {"0s RESET"}},
    {"reset_peer_drops_until_it_resets",
     {"0s add reset_peer timeout=100", "0s data a", "1ms end"},
     {"100ms RESET"}},
    {"removing_reset_peer_resets_if_bytes_are_missing",
     {"0s add reset_peer timeout=100", "0s data a", "10ms remove reset_peer"},
     {"10ms RESET"}},
    {"removing_reset_peer_before_that_leaves_the_connection",
     {"0s add reset_peer timeout=100", "10ms remove reset_peer", "1s data a"},
     {"1s a"}},
    {"limit_data_closes_after_so_many_bytes",
     {"0s add limit_data bytes=5", "0s data abc", "1s data def", "2s data g"},
     {"0s abc", "1s de", "1s CLOSE"}},
    {"limit_data_0_closes_at_the_first_byte", {"0s add limit_data", "1s data a"}, {"1s CLOSE"}},
    {"limit_data_lets_the_end_pass",
     {"0s add limit_data bytes=5", "0s data abc", "1s end"},
     {"0s abc", "1s END"}},
    {"a_changed_limit_counts_what_has_passed",
     {"0s add limit_data bytes=5", "0s data abc", "1s change limit_data bytes=4", "1s data def"},
     {"0s abc", "1s d", "1s CLOSE"}},
    {"a_black_hole_holds_what_a_timeout_closes",
     {"0s add timeout timeout=100", "0s add black_hole", "1s remove black_hole"},
     {"1s CLOSE"}},
    {"nothing_follows_a_close",
     {"0s add limit_data bytes=1", "0s data a", "1s remove limit_data", "2s data b"},
     {"0s a", "0s CLOSE"}},
};

std::string name_of_case(const testing::TestParamInfo<ToxicCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Delaying, ToxicScripts, testing::ValuesIn(delaying_cases), name_of_case);
INSTANTIATE_TEST_SUITE_P(Ending, ToxicScripts, testing::ValuesIn(ending_cases), name_of_case);

}  // namespace
}  // namespace holdfast::agent::faults
