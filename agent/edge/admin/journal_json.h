// The JSON form of the journal that the admin page and holdfastctl print.

#pragma once

#include <string>
#include <vector>

#include "store/journal.h"

namespace holdfast::agent {

// An array of {"seq","at","kind","subject","what","detail","entry"}. `detail` is null if it is
// empty or not valid JSON.
[[nodiscard]] std::string journal_json(const std::vector<store::Record>& records);

}  // namespace holdfast::agent
