#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "commands/commands.hpp"
#include "commands/other_program.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

namespace fs = std::filesystem;

struct MovieOptions {
  std::string folder, output;
  double rate = 12;
};

/// True if a name comes before another one; numbers in them are compared as numbers.
bool comes_before(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    while (i + 1 < a.size() && a[i] == '0' && is_digit(a[i + 1])) ++i;
    while (j + 1 < b.size() && b[j] == '0' && is_digit(b[j + 1])) ++j;
    std::size_t end_i = i, end_j = j;
    while (end_i < a.size() && is_digit(a[end_i])) ++end_i;
    while (end_j < b.size() && is_digit(b[end_j])) ++end_j;
    if (end_i - i != end_j - j) return end_i - i < end_j - j;
    if (const int order = a.compare(i, end_i - i, b, j, end_j - j); order != 0) return order < 0;
    i = end_i, j = end_j;
  }
  return a.size() - i < b.size() - j;
}

/// Pictures of snapshots in a folder, or, if there are none, all PNG files; in the order of their names.
std::vector<fs::path> pictures_in(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw InputError(
        fmt::format("{}: is no folder; expected the output folder of a run, or one with pictures", folder));
  std::vector<fs::path> snapshots, all;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".png") continue;
    all.push_back(entry.path());
    if (entry.path().filename().string().starts_with("snapshot_")) snapshots.push_back(entry.path());
  }
  std::vector<fs::path>& chosen = snapshots.empty() ? all : snapshots;
  if (error) throw InputError(fmt::format("{}: cannot be read: {}", folder, error.message()));
  if (chosen.empty())
    throw InputError(
        fmt::format("{}: has no pictures; draw them first: grove render {}/snapshot_*.hdf5", folder, folder));
  std::sort(chosen.begin(), chosen.end(), [](const fs::path& a, const fs::path& b) {
    return comes_before(a.filename().string(), b.filename().string());
  });
  return chosen;
}

/// Width and height of a PNG file, which stand in its first block. InputError if it is none.
std::array<unsigned, 2> size_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 24> head{};
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  if (!file || head[0] != 0x89 || head[1] != 'P' || head[2] != 'N' || head[3] != 'G')
    throw InputError(fmt::format("{}: is no PNG file", path.string()));
  const auto number = [&](std::size_t at) {
    return unsigned{head[at]} << 24 | unsigned{head[at + 1]} << 16 | unsigned{head[at + 2]} << 8 |
           head[at + 3];
  };
  return {number(16), number(20)};
}

void require_one_size(const std::vector<fs::path>& pictures) {
  const auto first = size_of(pictures[0]);
  for (const fs::path& picture : pictures)
    if (const auto size = size_of(picture); size != first)
      throw InputError(
          fmt::format("{}: has {} x {} pixels, {} has {} x {}; a film needs one size: draw them anew with "
                      "one grove render",
                      picture.string(), size[0], size[1], pictures[0].string(), first[0], first[1]));
}

void require_ffmpeg() {
  if (run_other_program({"ffmpeg", "-version"}, true) != 0)
    throw InputError(
        "a film needs ffmpeg, which is not on the PATH; install it (Debian: apt install ffmpeg; conda: conda "
        "install -c "
        "conda-forge ffmpeg; on a cluster often: module load ffmpeg)");
}

/// A new folder beside a file that is made in it, removed at the end.
class Workshop {
 public:
  explicit Workshop(const std::string& file) {
    std::string name = file + ".XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw InputError(fmt::format("{}: a folder cannot be made beside it: {}", file, std::strerror(errno)));
    path_ = name;
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// A path as ffmpeg takes it before a number: each % in it is doubled.
std::string pattern_of(const fs::path& path) {
  std::string pattern;
  for (const char c : path.string()) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern;
}

void make_movie(const MovieOptions& options) {
  const std::vector<fs::path> pictures = pictures_in(options.folder);
  require_one_size(pictures);
  const fs::path output =
      options.output.empty() ? fs::path(options.folder) / "movie.mp4" : fs::path(options.output);
  for (const fs::path& picture : pictures) require_output(output.string(), {picture.string()});
  if (!output.has_extension())
    throw InputError(fmt::format("{}: needs an ending that names its format, as .mp4", output.string()));
  require_ffmpeg();

  // Links with names in a row, which ffmpeg reads whatever the pictures are called.
  const Workshop workshop(output.string());
  for (std::size_t i = 0; i < pictures.size(); ++i)
    fs::create_symlink(fs::absolute(pictures[i]), workshop / fmt::format("picture_{:06}.png", i));
  const fs::path film = workshop / ("film" + output.extension().string());
  std::vector<std::string> words{"ffmpeg",     "-nostdin",
                                 "-loglevel",  "error",
                                 "-framerate", fmt::format("{}", options.rate),
                                 "-i",         pattern_of(workshop / "picture_") + "%06d.png"};
  if (output.extension() == ".mp4" ||
      output.extension() == ".mov")  // what all players show, from its beginning
    words.insert(words.end(), {"-pix_fmt", "yuv420p", "-movflags", "+faststart"});
  words.push_back(film.string());
  if (const int status = run_other_program(words, false); status != 0)
    throw std::runtime_error(
        fmt::format("{}: the film was not made: ffmpeg ended with status {}", output.string(), status));
  fs::rename(film, output);
  fmt::print("{}: {}, {:g} s\n", output.string(), how_many(pictures.size(), "picture"),
             static_cast<double>(pictures.size()) / options.rate);
}

}  // namespace

void add_movie(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("movie", "Make a film of the pictures of a run, or of a folder (needs ffmpeg)");
  auto options = std::make_shared<MovieOptions>();
  command->add_option("FOLDER", options->folder, "The output folder of a run, or one with PNG files")
      ->required();
  command->add_option("-o,--output", options->output,
                      "The film to write, of any format of ffmpeg [FOLDER/movie.mp4]");
  command->add_option("--rate", options->rate, "Pictures per second [12]")->check(CLI::Range(0.1, 1000.0));
  command->callback([options, &action] {
    action = [options](const Communicator& comm) {
      comm.together([&] {
        if (comm.is_master()) make_movie(*options);
      });
    };
  });
}

}  // namespace grove
