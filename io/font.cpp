#include "io/font.hpp"

#include <fmt/format.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/errors.hpp"

namespace grove {
namespace {

/// Sans-serif fonts where Linux distributions have them.
constexpr const char* usual_fonts[] = {
    GROVE_FONT_FILE,
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
    "/usr/share/fonts/liberation-sans/LiberationSans-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/truetype/freefont/FreeSans.ttf",
};

/// Letters of a raised part, and how far they are raised, in those of the others.
constexpr double raised_size = 0.72, raised_by = 0.38;

/// Letters of one size.
struct Run {
  std::string letters;
  bool is_raised;
};

std::vector<Run> runs_of(const std::string& text) {
  std::vector<Run> runs;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t mark = std::min(text.find("^{", begin), text.size());
    if (mark > begin) runs.push_back({text.substr(begin, mark - begin), false});
    if (mark == text.size()) break;
    const std::size_t end = std::min(text.find('}', mark), text.size());
    runs.push_back({text.substr(mark + 2, end - mark - 2), true});
    begin = std::min(end + 1, text.size());
  }
  return runs;
}

}  // namespace

struct Font::Face {
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  Face() = default;
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;
  ~Face() {
    if (face) FT_Done_Face(face);
    if (library) FT_Done_FreeType(library);
  }
  void set_size(double size) const {
    FT_Set_Char_Size(face, 0, static_cast<FT_F26Dot6>(std::lround(64 * size)), 72, 72);
  }
};

Font::Font(const std::string& path) : path_(path), face_(std::make_unique<Face>()) {
  if (FT_Init_FreeType(&face_->library) != 0 ||
      FT_New_Face(face_->library, path.c_str(), 0, &face_->face) != 0 || !FT_IS_SCALABLE(face_->face))
    throw InputError(fmt::format("{}: is not a scalable font that FreeType can read", path));
}
Font::~Font() = default;
Font::Font(Font&&) noexcept = default;
Font& Font::operator=(Font&&) noexcept = default;

std::optional<Font> Font::find() {
  if (const char* named = std::getenv("GROVE_FONT")) return Font(named);
  for (const char* path : usual_fonts) {
    std::error_code error;
    if (*path == '\0' || !std::filesystem::exists(path, error)) continue;
    try {
      return Font(path);
    } catch (const InputError&) {
      continue;  // the next one may do
    }
  }
  return std::nullopt;
}

TextImage Font::draw(const std::string& text, double size) const {
  const FT_Face face = face_->face;
  face_->set_size(size);
  const int ascender = static_cast<int>((face->size->metrics.ascender + 63) >> 6);
  const int descender = static_cast<int>((-face->size->metrics.descender + 63) >> 6);
  TextImage image;
  image.height = ascender + descender;
  image.width = static_cast<int>(std::ceil(size * static_cast<double>(text.size() + 1) * 1.2));
  const auto stride = static_cast<std::size_t>(image.width);
  image.coverage.assign(stride * static_cast<std::size_t>(image.height), 0);

  FT_Pos pen = 0;  // 1/64 of a pixel
  for (const Run& run : runs_of(text)) {
    face_->set_size(run.is_raised ? raised_size * size : size);
    const int baseline = ascender - (run.is_raised ? static_cast<int>(std::lround(raised_by * size)) : 0);
    for (const char letter : run.letters) {
      if (FT_Load_Char(face, static_cast<unsigned char>(letter), FT_LOAD_RENDER) != 0) continue;
      const FT_GlyphSlot glyph = face->glyph;
      const int left = static_cast<int>((pen + 32) >> 6) + glyph->bitmap_left,
                top = baseline - glyph->bitmap_top;
      for (int row = 0; row < static_cast<int>(glyph->bitmap.rows); ++row)
        for (int column = 0; column < static_cast<int>(glyph->bitmap.width); ++column) {
          const int x = left + column, y = top + row;
          if (x < 0 || y < 0 || x >= image.width || y >= image.height) continue;
          std::uint8_t& target =
              image.coverage[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)];
          target = std::max(target, glyph->bitmap.buffer[row * glyph->bitmap.pitch + column]);
        }
      pen += glyph->advance.x;
    }
  }

  // Cut to what was printed.
  const int used = std::clamp(static_cast<int>((pen + 63) >> 6), 0, image.width);
  TextImage cut{used, image.height, {}};
  for (int row = 0; row < image.height; ++row) {
    const auto begin = image.coverage.begin() + static_cast<std::ptrdiff_t>(row) * image.width;
    cut.coverage.insert(cut.coverage.end(), begin, begin + used);
  }
  return cut;
}

}  // namespace grove
