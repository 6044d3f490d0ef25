// The Accept header of a request: in which encodings and forms a client takes its answer.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/watch/encoding.h"

namespace holdfast::sync {

// Whole objects, or what an API server makes of them: a Table, or PartialObjectMetadata(List) of
// meta.k8s.io.
enum class Form : std::uint8_t { object, table, metadata };

class Accept {
 public:
  // Orders the media types by quality, equal ones as in the header. A media type that is malformed
  // or unknown accepts nothing. An empty header accepts everything, and JSON is preferred.
  [[nodiscard]] static Accept parse(std::string_view header);

  // The preferred encoding of whole objects; nothing if the client accepts none of them.
  [[nodiscard]] std::optional<Encoding> encoding() const;
  // Whether the client accepts whole objects in this encoding.
  [[nodiscard]] bool accepts(Encoding encoding) const;
  // The preferred form in JSON; nothing if the client accepts no JSON, which is answered with 406.
  [[nodiscard]] std::optional<Form> json_form() const;
  // Whether the client prefers another form to whole objects. Only an API server can make all of
  // them.
  [[nodiscard]] bool prefers_transformed() const;
  // Whether the client prefers whole objects in protobuf to everything else.
  [[nodiscard]] bool prefers_protobuf() const;

  // The same without all forms but whole objects; nothing if the client accepts no whole objects.
  [[nodiscard]] std::optional<Accept> whole_objects() const;

  // The header; "" if the request had none.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct MediaType {
    std::string text;
    std::optional<Encoding> encoding;  // of whole objects
    std::optional<Form> form;          // in JSON
    bool transformed = false;          // some form other than whole objects
    double quality = 1;
  };
  [[nodiscard]] static MediaType parse_media_type(std::string_view text);

  std::string text_;
  std::vector<MediaType> types_;  // best first; empty: everything is accepted
};

}  // namespace holdfast::sync
