#include "io/render.hpp"

#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.hpp"
#include "io/render_colours.hpp"
#include "io/render_font.hpp"
#include "io/render_map.hpp"
#include "particles/models/model.hpp"

namespace grove {
namespace {

/// This rank's share of a merger, whose rows go to the ranks in turn.
Particles share_of(const Communicator& comm, const Particles& all) {
  Particles mine = all;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i) % comm.size() == comm.rank()) order.push_back(i);
  mine.reorder(order);
  return mine;
}

Particles small_merger() {
  ModelParameters p;
  p.model = "merger";
  p.particles = 5000;
  return make_particles(p);
}

View small_view() {
  View view;
  view.pixels = 160;
  return view;
}

/// A folder for this run's files, the same on all ranks, removed at the end.
class Folder {
 public:
  explicit Folder(const Communicator& comm) : comm_(comm) {
    path_ = std::filesystem::temp_directory_path() /
            ("grove_render_" + std::to_string(comm.broadcast(static_cast<int>(getpid()))));
    if (comm.is_master()) std::filesystem::create_directories(path_);
    comm.barrier();
  }
  ~Folder() {
    std::error_code ignored;
    comm_.barrier();
    if (comm_.is_master()) std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  const Communicator& comm_;
  std::filesystem::path path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

struct Decoded {
  unsigned width = 0, height = 0;
  std::vector<unsigned char> bytes;
};

Decoded decode(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  Decoded decoded;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) return decoded;
  image.format = PNG_FORMAT_RGB;
  decoded.bytes.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, decoded.bytes.data(), 0, nullptr) == 0) return decoded;
  decoded.width = image.width;
  decoded.height = image.height;
  return decoded;
}

TEST(PixelMap, holds_the_mass_of_all_particles_inside) {
  const Communicator comm(MPI_COMM_WORLD);
  const Particles all = small_merger();
  View view = small_view();
  view.types = all_types;
  view.centre = Vec3d{0, 0, 0};
  view.width = 100;  // all of it
  const PixelMap map = deposit(comm, share_of(comm, all), view);
  if (!comm.is_master()) return;
  double mass = 0, expected = 0, number = 0;
  for (const std::int64_t m : map.mass) mass += static_cast<double>(m) * map.mass_unit;
  for (const std::int64_t n : map.number) number += static_cast<double>(n) * PixelMap::number_unit;
  for (const double m : all.mass) expected += m;
  EXPECT_NEAR(mass, expected, 1e-12 * expected) << "62 bits of the total, less rounding";
  EXPECT_NEAR(number, static_cast<double>(all.size()), 4 * 0.5 / 65536 * static_cast<double>(all.size()))
      << "16 bits of one, in each of four pixels";
  // Spreading keeps the mass but for what leaves the square, and here all lies far inside. Running sums in
  // single precision lose 6e-8 of them at each pixel of a side, six times for a Gaussian.
  double smoothed = 0;
  for (const double m : smooth(map)) smoothed += m;
  EXPECT_NEAR(smoothed, expected, 6 * 6e-8 * map.side() * expected);
}

TEST(PixelMap, one_particle_stays_where_it_is) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles one;
  one.resize(comm.is_master() ? 1 : 0);
  if (comm.is_master()) one.position[0] = {5, 2, -3}, one.mass[0] = 7, one.type[0] = 1;
  View view = small_view();
  view.axis = 0;  // y to the right, z up
  view.types = all_types;
  view.centre = Vec3d{0, 0, 0};
  view.width = 16;
  const PixelMap map = deposit(comm, one, view);
  if (!comm.is_master()) return;
  double x = 0, y = 0, mass = 0;
  for (std::size_t i = 0; i < map.mass.size(); ++i) {
    const auto side = static_cast<std::size_t>(map.side());
    const double m = static_cast<double>(map.mass[i]) * map.mass_unit;
    x += m * (static_cast<double>(i % side) + 0.5);
    y += m * (static_cast<double>(i / side) + 0.5);
    mass += m;
  }
  EXPECT_NEAR(mass, 7, 1e-12);
  EXPECT_NEAR(x / mass - map.margin, 80 + 2 * 10, 1e-9) << "10 pixels per length";
  EXPECT_NEAR(y / mass - map.margin, 80 - 3 * 10, 1e-9);
}

TEST(View, fits_around_the_stars_and_is_the_same_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Particles all = small_merger();
  const View fitted = fit_view(comm, share_of(comm, all), small_view());
  const View expected = fit_view(alone, all, small_view());
  EXPECT_EQ(fitted.types, 0b011100);
  EXPECT_EQ(*fitted.centre, *expected.centre);
  EXPECT_EQ(*fitted.width, *expected.width);
  double inside = 0, stars = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.type[i] != 2) continue;
    const Vec3d d = all.position[i] - *fitted.centre;
    inside += std::max(std::abs(d.x), std::abs(d.y)) < 0.5 * *fitted.width;
    ++stars;
  }
  EXPECT_GE(inside, 0.9 * stars) << "twice what holds 90 %";
}

TEST(Render, gives_the_same_bytes_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Folder folder(comm);
  const Particles all = small_merger();
  render_png(comm, share_of(comm, all), small_view(), folder.file("shared.png"));
  if (!comm.is_master()) return;
  render_png(alone, all, small_view(), folder.file("alone.png"));
  const std::string bytes = bytes_of(folder.file("shared.png"));
  EXPECT_GT(bytes.size(), 1000u);
  EXPECT_TRUE(bytes == bytes_of(folder.file("alone.png")));
  const Decoded decoded = decode(folder.file("shared.png"));
  EXPECT_EQ(decoded.width, 160u);
  EXPECT_EQ(decoded.height, 160u);
}

TEST(Render, labels_show_time_and_length) {
  const Communicator comm(MPI_COMM_WORLD);
  const Folder folder(comm);
  Particles none;
  View view = small_view();
  view.width = 10;
  view.centre = Vec3d{0, 0, 0};
  view.time = 1;
  render_png(comm, none, view, folder.file("one.png"));
  view.time = 2;
  render_png(comm, none, view, folder.file("two.png"));
  view.width = 30;
  render_png(comm, none, view, folder.file("wide.png"));
  if (!comm.is_master()) return;
  const auto differ = [&](const char* a, const char* b, std::size_t begin, std::size_t end) {
    const Decoded first = decode(folder.file(a)), second = decode(folder.file(b));
    std::size_t count = 0;
    for (std::size_t i = begin * 160 * 3; i < end * 160 * 3; ++i) count += first.bytes[i] != second.bytes[i];
    return count;
  };
  EXPECT_GT(differ("one.png", "two.png", 0, 40), 10u) << "the time, at the top";
  EXPECT_EQ(differ("one.png", "two.png", 40, 160), 0u);
  EXPECT_EQ(differ("two.png", "wide.png", 0, 40), 0u);
  EXPECT_GT(differ("two.png", "wide.png", 120, 160), 10u) << "the bar, at the bottom";
}

TEST(Render, of_a_folder_that_does_not_exist_is_refused_on_all_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles none;
  EXPECT_THROW(render_png(comm, none, small_view(), "/nowhere/at/all/a.png"), Agreed<InputError>);
  View view = small_view();
  view.pixels = 0;
  EXPECT_THROW(render_png(comm, none, view, "a.png"), Agreed<InputError>);
}

TEST(Colours, are_perceptually_uniform) {
  double least = 1, most = 0;
  for (int i = 0; i < 256; ++i) {
    const auto a = oklab_of(colour_of(i / 256.0)), b = oklab_of(colour_of((i + 1) / 256.0));
    // Lightness rises by the same amount in each step, so the map reads well in grey.
    // The matrices of OKLab, of ten digits, are each other's inverses to some 1e-7.
    EXPECT_NEAR(b[0] - a[0], 0.90 / 256, 1e-6) << i;
    const double distance = std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    least = std::min(least, distance);
    most = std::max(most, distance);
  }
  EXPECT_LT(most / least, 1.5) << "no step stands out";
}

TEST(Font, has_a_shape_for_every_character_of_a_label) {
  const std::string characters = "0123456789.-+=/abcdefghijklmnopqrstuvwxyzGM";
  std::vector<std::vector<double>> seen;
  for (const char c : characters) {
    std::vector<double> shape;
    double total = 0;
    for (int y = 0; y < 27; ++y)
      for (int x = 0; x < 15; ++x) {
        shape.push_back(text_coverage(std::string(1, c), 3, x + 0.5, y + 0.5));
        total += shape.back();
      }
    EXPECT_GE(total, 9) << c << ": a dot of 3 x 3 pixels at least";
    for (const auto& other : seen) EXPECT_NE(other, shape) << c;
    seen.push_back(shape);
  }
  EXPECT_EQ(text_width("ab", 2), 22);
}

}  // namespace
}  // namespace grove
