// Compiled for the architecture's baseline (see CMakeLists.txt) and free of inline library functions, whose
// compiled copies the linker might take from files that use the very instructions that are checked here.
#include "base/instruction_set.hpp"

#include <unistd.h>

#include <cstddef>

namespace grove {
namespace {

void say(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, length);
}

#if defined(__x86_64__)
struct Extension {
  const char* name;
  int supported;
};

bool contains_word(const char* words, const char* word) {
  for (const char* w = words; *w != '\0';) {
    const char* a = w;
    const char* b = word;
    while (*b != '\0' && *a == *b) ++a, ++b;
    if (*b == '\0' && (*a == ' ' || *a == '\0')) return true;
    while (*w != '\0' && *w != ' ') ++w;
    while (*w == ' ') ++w;
  }
  return false;
}

// Before the static objects of other files, which may already use the extensions.
[[gnu::constructor(101)]] void check_instruction_set() {
  __builtin_cpu_init();
  const Extension extensions[] = {
      {"sse4.2", __builtin_cpu_supports("sse4.2")},
      {"avx", __builtin_cpu_supports("avx")},
      {"avx2", __builtin_cpu_supports("avx2")},
      {"fma", __builtin_cpu_supports("fma")},
      {"bmi2", __builtin_cpu_supports("bmi2")},
      {"avx512f", __builtin_cpu_supports("avx512f")},
      {"avx512bw", __builtin_cpu_supports("avx512bw")},
      {"avx512dq", __builtin_cpu_supports("avx512dq")},
      {"avx512vl", __builtin_cpu_supports("avx512vl")},
      {"avx512vbmi2", __builtin_cpu_supports("avx512vbmi2")},
  };
  for (const Extension& extension : extensions) {
    if (extension.supported || !contains_word(compiled_instruction_set(), extension.name)) continue;
    say("grove: this build uses ");
    say(extension.name);
    say(" instructions, which this processor lacks.\n"
        "Build on the machine that runs it, or portably: cmake -DGROVE_NATIVE=OFF\n");
    _exit(2);
  }
}
#endif

}  // namespace

const char* compiled_instruction_set() { return GROVE_INSTRUCTION_SET; }

}  // namespace grove
