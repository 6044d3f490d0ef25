#include "sync/wire/codec_path.h"

namespace holdfast::sync::wire::codec {

std::string Path::text() const {
  std::string before = parent != nullptr ? parent->text() : std::string();
  if (!key.empty()) return before.append("[").append(key).append("]");
  if (name.empty()) return before.append("[").append(std::to_string(index)).append("]");
  if (!before.empty()) before += '.';
  return before.append(name);
}

}  // namespace holdfast::sync::wire::codec
