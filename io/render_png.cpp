#include "io/render_png.hpp"

#include <fmt/format.h>
#include <png.h>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {

void write_png(const RgbImage& image, const std::string& path) {
  AtomicFile file(path);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&header, file.temporary().c_str(), 0, image.bytes.data(), 0, nullptr) == 0)
    throw InputError(fmt::format("{}: cannot write the picture: {}", path, header.message));
  file.commit();
}

}  // namespace grove
