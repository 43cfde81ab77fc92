#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/read_all.hpp"
#include "fuzz/targets.hpp"

namespace grove::fuzz {

std::string memory_file(const char* name) {
  const std::filesystem::path shared = "/dev/shm";
  const std::filesystem::path folder =
      std::filesystem::is_directory(shared) ? shared : std::filesystem::temp_directory_path();
  return folder / ("grove-fuzz-" + std::to_string(::getpid()) + "-" + name);
}

void snapshot(std::span<const std::uint8_t> bytes) {
  static const std::string path = memory_file("snapshot");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  read_all(alone(), path);
  std::filesystem::remove(path);
}

}  // namespace grove::fuzz
