#include "platform/random.h"

#include <unistd.h>

#include <array>
#include <random>

#include "platform/check.h"
#include "platform/integers.h"
#include "platform/text.h"

namespace holdfast {

Random Random::from_entropy() {
  std::random_device device;
  return Random(std::uint64_t{device()} << 32U | device());
}

std::string make_secret() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, 32> bytes{};
  CHECK(::getentropy(bytes.data(), bytes.size()) == 0);
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): its
// state is 8 bytes, and it is good enough for jitter and names. It must not be used for secrets.
std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
  return mixed ^ mixed >> 31U;
}

double Random::unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }

Duration Random::jitter(Duration most) {
  if (most <= Duration::zero()) return Duration::zero();
  return Duration(static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most.count()) + 1)));
}

std::string Random::text(std::size_t length, std::string_view alphabet) {
  CHECK(!alphabet.empty());
  std::string drawn;
  drawn.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    drawn += alphabet[to_size(below(alphabet.size()))];
  }
  return drawn;
}

std::string Random::uuid() {
  std::string bytes;
  for (std::uint64_t word : {next(), next()}) {
    for (int i = 0; i < 8; ++i, word >>= 8U) bytes += static_cast<char>(word & 255U);
  }
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);  // RFC 4122 variant
  std::string text = hex_encode(bytes);
  for (const std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, "-");
  return text;
}

}  // namespace holdfast
