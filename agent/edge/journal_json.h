// The journal as the admin endpoint and holdfastctl print it.

#pragma once

#include <string>
#include <vector>

#include "store/journal.h"

namespace holdfast::agent {

// An array of {"seq","at","kind","subject","what","detail","entry"}.
[[nodiscard]] std::string journal_json(const std::vector<store::Record>& records);

}  // namespace holdfast::agent
