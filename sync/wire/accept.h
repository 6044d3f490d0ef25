// Parses the Accept header of a request: in which encodings and forms a client accepts the answer.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/wire/encoding.h"

namespace holdfast::sync::wire {

// Whole objects, or a form that an API server makes of them: a Table, or meta.k8s.io's
// PartialObjectMetadata(List).
enum class Form : std::uint8_t { object, table, metadata };

class Accept {
 public:
  // Orders the media types by quality; types of equal quality keep their order. A malformed or
  // unknown media type accepts nothing. An empty header accepts everything and prefers JSON.
  [[nodiscard]] static Accept parse(std::string_view header);

  // The preferred encoding of whole objects; std::nullopt if the client accepts no whole objects.
  [[nodiscard]] std::optional<Encoding> encoding() const;
  // Whether the client accepts whole objects in this encoding.
  [[nodiscard]] bool accepts(Encoding encoding) const;
  // The preferred form in JSON; std::nullopt if the client accepts no JSON (the answer is 406).
  [[nodiscard]] std::optional<Form> json_form() const;
  // Whether the client prefers another form to whole objects. Only an API server can produce all of
  // these forms.
  [[nodiscard]] bool prefers_transformed() const;
  // Whether the client prefers this form in protobuf to everything else.
  [[nodiscard]] bool prefers_protobuf(Form form) const;

  // A copy without the forms other than whole objects; std::nullopt if nothing remains.
  [[nodiscard]] std::optional<Accept> whole_objects() const;

  // The header; "" if the request had none.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct MediaType {
    std::string text;
    std::optional<Encoding> encoding;  // if it accepts whole objects
    std::optional<Form> form;          // if it accepts JSON
    std::optional<Form> protobuf;      // if it accepts protobuf
    bool transformed = false;          // asks for a form other than whole objects
    double quality = 1;
  };
  [[nodiscard]] static MediaType parse_media_type(std::string_view text);

  std::string text_;
  std::vector<MediaType> types_;  // best first; empty: everything is accepted
};

}  // namespace holdfast::sync::wire
