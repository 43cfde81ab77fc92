#pragma once

#include <string>
#include <vector>

#include "io/parameter_entries.hpp"
#include "io/parameters.hpp"

namespace grove {

/// Refuses missing, contradictory and useless values: values that are valid one
/// by one, but not together. p: the parameters with all values of the entries in it. name: the file's, for
/// messages. InputError tells the entry and what would be right.
void check_together(const Parameters& p, const std::vector<Entry>& entries, const std::string& name);

}  // namespace grove
