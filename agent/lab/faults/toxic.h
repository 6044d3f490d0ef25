// Toxics: the faults that a proxy can put on a link, under toxiproxy's names and in its units.
//
//   latency      latency, jitter (ms)  delays data by latency +/- jitter
//   bandwidth    rate (kB/s)           limits the rate; at 0 no data passes
//   slow_close   delay (ms)            delays the end of the connection
//   timeout      timeout (ms)          drops all data and closes the connection at the timeout; 0:
//                                      when the toxic is removed
//   reset_peer   timeout (ms)          drops all data and resets the connection at the timeout
//   slicer       average_size, size_variation (bytes), delay (microseconds)
//                                      divides data into small pieces with a delay between them
//   limit_data   bytes                 closes the connection after so many bytes
//   black_hole                         a cut cable: nothing passes until the toxic is removed
//   refuse                             resets the connections and refuses new ones
//
// The last two are our own. A toxic acts on one direction; our own act on both by default.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::agent::faults {

enum class ToxicType : std::uint8_t {
  latency,
  bandwidth,
  slow_close,
  timeout,
  reset_peer,
  slicer,
  limit_data,
  black_hole,
  refuse
};

// A direction, named after where the bytes go: upstream is from the client to the server.
enum class Stream : std::uint8_t { upstream, downstream, both };

[[nodiscard]] std::string_view to_string(ToxicType type);
[[nodiscard]] std::string_view to_string(Stream stream);
[[nodiscard]] Stream opposite(Stream stream);  // not of `both`

// Errors of both: invalid, with the possible names.
[[nodiscard]] Result<ToxicType> parse_toxic_type(std::string_view name);
[[nodiscard]] Result<Stream> parse_stream(std::string_view name);

// The attributes' names, in their order.
[[nodiscard]] std::span<const std::string_view> attributes_of(ToxicType type);

inline constexpr std::size_t attributes_max = 3;

struct Toxic {
  std::string name = {};
  ToxicType type = ToxicType::latency;
  Stream stream = Stream::downstream;
  double toxicity = 1;  // the probability that it acts on a connection
  std::array<std::int64_t, attributes_max> values = {};  // in the order of attributes_of()

  // The toxic without a name, with the default stream and with all attributes 0.
  [[nodiscard]] static Toxic of(ToxicType type);

  // The value of an attribute that the type must have.
  [[nodiscard]] std::int64_t get(std::string_view attribute) const;
  // Errors: invalid (the type has no such attribute).
  [[nodiscard]] Status set(std::string_view attribute, std::int64_t value);

  [[nodiscard]] bool acts_on(Stream direction) const {
    return stream == direction || stream == Stream::both;
  }

  bool operator==(const Toxic&) const = default;
};

// A black hole in both directions.
[[nodiscard]] Toxic cut_cable();

// Gives a toxic without a name its default name ("latency_downstream", "black_hole") and checks
// that everything fits together. Errors: invalid.
[[nodiscard]] Result<Toxic> complete(Toxic toxic);

// Checks the name of a proxy or toxic, which is part of a URL: up to 128 letters, digits and the
// characters ". _ - :". `what` is for the error. Errors: invalid.
[[nodiscard]] Status check_name(std::string_view what, std::string_view name);

// Parses a toxic as it is written on the command line: the type, and then attributes and any of
// stream=, toxicity= and name=, as separate words: {"latency", "latency=300", "stream=upstream"}.
// A '-' within a type or an attribute's name stands for '_'. Errors: invalid.
[[nodiscard]] Result<Toxic> parse_toxic(const std::vector<std::string>& words);

// Parses any number of toxics in one text: words are separated by spaces, toxics by commas.
[[nodiscard]] Result<std::vector<Toxic>> parse_toxics(std::string_view text);

// The inverse of parse_toxic(), with spaces between the words and without what is the default.
[[nodiscard]] std::string to_text(const Toxic& toxic);

}  // namespace holdfast::agent::faults
