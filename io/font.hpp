#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace grove {

/// A text as it is to be printed.
struct TextImage {
  int width = 0, height = 0;           ///< pixels
  std::vector<std::uint8_t> coverage;  ///< of each pixel by ink, 0 to 255; row 0 on top; length width height
};

/// A scalable font, read from a file by FreeType.
class Font {
 public:
  /// The first font that there is: the file that the environment variable GROVE_FONT names, the one found
  /// when Grove was built, or one of the usual ones of a Linux system. Unset: there is none. InputError if
  /// GROVE_FONT names a file that is no font.
  static std::optional<Font> find();

  /// InputError if the file is no font.
  explicit Font(const std::string& path);
  ~Font();
  Font(Font&&) noexcept;
  Font& operator=(Font&&) noexcept;

  /// One line of Latin-1, its letters `size` pixels high (em). Text in ^{} is raised, as in 10^{-3}.
  /// The height is the same for all texts of a size: ascender to descender.
  TextImage draw(const std::string& text, double size) const;
  const std::string& path() const { return path_; }

 private:
  struct Face;
  std::string path_;
  std::unique_ptr<Face> face_;
};

}  // namespace grove
