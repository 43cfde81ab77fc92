#include <cstdlib>
#include <iostream>
#include <string>

#include "base/errors.hpp"
#include "fuzz/targets.hpp"
#include "io/parameters.hpp"

namespace grove::fuzz {

void parameters(std::span<const std::uint8_t> bytes) {
  Parameters parsed;
  try {
    parsed = parse_parameters(std::string(bytes.begin(), bytes.end()), "fuzz.yml", {});
  } catch (const InputError&) {
    return;
  }
  const std::string used = used_parameters(parsed);
  const std::string again = used_parameters(parse_parameters(used, "used-parameters.yml", {}));
  if (used == again) return;
  std::cerr << "resolved to\n" << used << "\nbut that to\n" << again << '\n';
  std::abort();
}

}  // namespace grove::fuzz
