#include "platform/loop/randomness.h"

#include <boost/asio/query.hpp>

namespace holdfast::loop {
namespace {

// The generator of the seeds of a loop, as an Asio service.
class LoopRandom final : public asio::execution_context::service {
 public:
  using key_type = LoopRandom;
  static asio::execution_context::id id;  // Asio finds the service by its address.

  LoopRandom(asio::execution_context& loop, Random seeds_of_loop)
      : service(loop), seeds(seeds_of_loop) {}
  // Asio calls this if the loop was given no seed.
  explicit LoopRandom(asio::execution_context& loop) : LoopRandom(loop, Random::from_entropy()) {}

  Random seeds;

 private:
  void shutdown() override {}
};

asio::execution_context::id LoopRandom::id;

}  // namespace

void set_seed(asio::execution_context& loop, std::uint64_t seed) {
  asio::make_service<LoopRandom>(loop, Random(seed));
}

Random make_random(const asio::any_io_executor& executor) {
  auto& loop = asio::query(executor, asio::execution::context);
  return Random(asio::use_service<LoopRandom>(loop).seeds.next());
}

}  // namespace holdfast::loop
