#include "io/render.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/errors.hpp"
#include "io/frame.hpp"
#include "io/quantile.hpp"
#include "io/render_colours.hpp"
#include "io/render_map.hpp"
#include "kernels/math/nearest_image.hpp"
#include "particles/models/model.hpp"
#include "support/particles.hpp"
#include "support/periodic_boxes.hpp"
#include "support/png.hpp"

namespace grove {
namespace {

using testing::bytes_of;
using testing::Png;
using testing::TestFolder;

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
  view.pixels = 96;
  return view;
}

Frame frame_about(const Vec3d& centre, double width, std::uint64_t types = all_types) {
  Frame frame;
  frame.centre = centre;
  frame.width = width;
  frame.types = types;
  return frame;
}

/// All of mass 1 and of type 1, at these places, on the master.
Particles particles_at(const Communicator& comm, const std::vector<Vec3d>& places) {
  Particles particles;
  particles.resize(comm.is_master() ? places.size() : 0);
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.position[i] = places[i], particles.mass[i] = 1, particles.type[i] = 1;
  return particles;
}

/// A ball of radius 1 about a place, evenly filled but for rounding: points of a lattice.
std::vector<Vec3d> ball(const Vec3d& centre, int points_along_radius) {
  std::vector<Vec3d> places;
  const int n = points_along_radius;
  for (int i = -n; i <= n; ++i)
    for (int j = -n; j <= n; ++j)
      for (int k = -n; k <= n; ++k)
        if (i * i + j * j + k * k <= n * n)
          places.push_back(centre + Vec3d{1.0 * i, 1.0 * j, 1.0 * k} * (1.0 / n));
  return places;
}

TEST(PixelMap, holds_the_mass_of_all_particles_inside) {
  const Communicator comm(MPI_COMM_WORLD);
  const Particles all = small_merger();
  const int root = comm.size() - 1;
  const PixelMap map = deposit(comm, share_of(comm, all), frame_about({0, 0, 0}, 100), 2, 160, root);
  if (comm.rank() != root) return;
  double mass = 0, expected = 0, number = 0;
  for (const std::int64_t m : map.mass) mass += static_cast<double>(m) * map.mass_unit;
  for (const std::int64_t n : map.number) number += static_cast<double>(n) * PixelMap::number_unit;
  for (const double m : all.mass) expected += m;
  EXPECT_NEAR(mass, expected, 1e-12 * expected) << "62 bits of the total, less rounding";
  EXPECT_NEAR(number, static_cast<double>(all.size()), 4 * 0.5 / 65536 * static_cast<double>(all.size()))
      << "16 bits of one, in each of four pixels";
  // Spreading keeps the mass but for what leaves the square, and here nearly all lies far inside. A pixel is
  // added up from some 60 numbers in single precision for each Gaussian, the wrong way by 6e-8 each at most.
  double smoothed = 0;
  for (const float m : smooth(map)) smoothed += static_cast<double>(m);
  EXPECT_NEAR(smoothed, expected, 60 * 6e-8 * expected);
}

TEST(PixelMap, has_z_upwards_wherever_it_is_seen) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles one = particles_at(comm, {{5, 2, -3}});
  const Vec3d along[] = {{2, -3, 0}, {5, -3, 0}, {5, 2, 0}};  // to the right and up, seen along x, y, z
  for (int axis = 0; axis < 3; ++axis) {
    const PixelMap map = deposit(comm, one, frame_about({0, 0, 0}, 16), axis, 160, 0);
    if (!comm.is_master()) continue;
    double x = 0, y = 0, mass = 0;
    for (std::size_t i = 0; i < map.mass.size(); ++i) {
      const auto side = static_cast<std::size_t>(map.side);
      const double m = static_cast<double>(map.mass[i]) * map.mass_unit;
      x += m * (static_cast<double>(i % side) + 0.5);
      y += m * (static_cast<double>(i / side) + 0.5);
      mass += m;
    }
    EXPECT_NEAR(mass, 1, 1e-12);
    EXPECT_NEAR(x / mass - map.margin, 80 + along[axis].x * 10, 1e-9) << "10 pixels per length";
    EXPECT_NEAR(y / mass - map.margin, 80 + along[axis].y * 10, 1e-9);
  }
}

TEST(PixelMap, spreads_a_lonely_particle_by_the_widest_gaussian) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr int pixels = 512;
  const PixelMap map =
      deposit(comm, particles_at(comm, {{0.3, 0, 0}}), frame_about({0, 0, 0}, 512), 2, pixels, 0);
  if (!comm.is_master()) return;
  const std::vector<float> picture = smooth(map);
  double mass = 0, x = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < picture.size(); ++i) {
    const double m = static_cast<double>(picture[i]),
                 column = static_cast<double>(i % pixels) + 0.5 - pixels / 2,
                 row = static_cast<double>(i / pixels) + 0.5 - pixels / 2;
    mass += m, x += m * column, xx += m * column * column, yy += m * row * row;
  }
  // 0.7 x 2^(11/2), the widest below a sixteenth of the picture. Gaussians are cut at 3.5 standard
  // deviations or a little farther, which takes at most 0.6 % of the variance.
  const double sigma = 0.7 * std::exp2(5.5);
  EXPECT_NEAR(mass, 1, 1e-5);
  EXPECT_NEAR(x / mass, 0.3, 1e-3);
  EXPECT_NEAR(xx / mass, sigma * sigma, 0.01 * sigma * sigma);
  EXPECT_NEAR(yy / mass, sigma * sigma, 0.01 * sigma * sigma);
}

// With 10 pixels per length one image is 3.5 pixels from the left of the picture and another as far beyond
// its right end, where the map goes on; and so upwards.
TEST(PixelMap, of_a_periodic_box_has_all_images_that_it_reaches) {
  const Communicator comm(MPI_COMM_WORLD);
  const Images box{16};
  const PixelMap of_one =
      deposit(comm, particles_at(comm, {{0.35, 0.35, 2}}), frame_about({8, 8, 8}, 16), 2, 160, 0, box);
  const PixelMap of_its_image =
      deposit(comm, particles_at(comm, {{-15.65, 16.35, -46}}), frame_about({8, 8, 8}, 16), 2, 160, 0, box);
  if (!comm.is_master()) return;
  std::vector<double> found(of_one.mass.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = static_cast<double>(of_one.mass[i]) * of_one.mass_unit;
  const int at = of_one.margin + 3, side = of_one.side;
  for (const int row : {at, at + 160})
    for (const int column : {at, at + 160}) {
      double& mass = found[static_cast<std::size_t>(row * side + column)];
      EXPECT_NEAR(mass, 1, 1e-12) << row << " " << column;
      mass = 0;
    }
  // Places are rounded by 1e-15 of a pixel or so.
  EXPECT_LT(*std::max_element(found.begin(), found.end()), 1e-12) << "four images and no more";
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(static_cast<double>(of_its_image.mass[i] - of_one.mass[i]) * of_one.mass_unit, 0, 1e-12);
}

/// Smoothed column densities of the box in `frame`, on the master.
std::vector<float> picture_of_box(const Communicator& comm, const Particles& particles, const Frame& frame) {
  const PixelMap map = deposit(comm, particles, frame, 2, 256, 0, {box_edge});
  return comm.is_master() ? smooth(map) : std::vector<float>{};
}

// 20,000 particles at random are 0.3 a pixel. 40 of them are in 4 pi sigma^2 for a sigma of 6 pixels, or 7
// where they are sparse, and 3.5 sigma are far less than the margin of 64 pixels. So a picture that is
// centred half a box away, a multiple of the pixels of all coarser maps, is the same one rolled, but for
// single precision: some 60 terms of 6e-8 of a pixel's mass.
TEST(Render, of_a_periodic_box_goes_on_over_its_edges) {
  const Communicator comm(MPI_COMM_WORLD);
  const Particles particles = share_of(comm, random_box(20000));
  const Vec3d middle = 0.5 * box_edge * Vec3d{1, 1, 1};
  const std::vector<float> about_middle = picture_of_box(comm, particles, frame_about(middle, box_edge)),
                           about_corner = picture_of_box(comm, particles, frame_about({0, 0, 0}, box_edge));
  if (!comm.is_master()) return;
  double mass = 0;
  for (std::size_t row = 0; row < 256; ++row)
    for (std::size_t column = 0; column < 256; ++column) {
      const float here = about_middle[256 * row + column];
      mass += static_cast<double>(here);
      ASSERT_NEAR(about_corner[256 * ((row + 128) % 256) + (column + 128) % 256] / here, 1, 60 * 6e-8)
          << row << " " << column;
    }
  EXPECT_NEAR(mass, 1, 60 * 6e-8) << "all there is, and once";
}

TEST(Frame, of_a_periodic_box_is_the_box) {
  const Communicator comm(MPI_COMM_WORLD);
  const Particles particles = share_of(comm, clustered_box(2000));
  View view;
  view.images = {box_edge};
  const Frame first = frame_of(comm, particles, view, {});
  EXPECT_EQ(first.centre, 0.5 * box_edge * (Vec3d{1, 1, 1}));
  EXPECT_EQ(first.width, box_edge);
  view.centre_on = CentreOn::fixed;
  EXPECT_EQ(frame_of(comm, particles, view, {}).centre, (Vec3d{0, 0, 0}));
  EXPECT_EQ(frame_of(comm, particles, view, {}).width, box_edge) << "about another centre";
  view.width = 0.25;
  EXPECT_EQ(frame_of(comm, particles, view, first).width, 0.25) << "as it was asked for";
}

/// The same particles, moved in a periodic box.
Particles moved_in_box(Particles particles, const Vec3d& by) {
  for (Vec3d& p : particles.position) p = Box::periodic(box_edge).wrapped(p + by);
  return particles;
}

// A halo of radius 0.2 with a third of the particles, whose density falls with r^-1.5, in a background: at
// (1, 2, 1.5) and with its middle in a corner of the box. 100 of its 2109 particles are within 0.2 (100 /
// 2109)^(2/3) = 0.026, and a sphere that misses its middle by more has not yet shrunk to so few.
TEST(Frame, finds_a_halo_over_a_corner_as_in_the_middle) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Vec3d place{1, 2, 1.5};
  Particles all = random_box(6000);
  std::vector<Vec3d> halo = ball({0, 0, 0}, 8);
  for (std::size_t i = 0; i < halo.size(); ++i) all.position[i] = place + 0.2 * norm(halo[i]) * halo[i];
  const Particles over_corner = moved_in_box(all, -1.0 * place);
  const Images box{box_edge};
  const Vec3d densest = densest_place(comm, share_of(comm, all), all_types, box);
  const Vec3d at_corner = densest_place(comm, share_of(comm, over_corner), all_types, box);
  EXPECT_NEAR(norm(densest - place), 0, 0.026);
  EXPECT_EQ(at_corner, densest_place(alone, over_corner, all_types, box)) << "on one rank";
  EXPECT_EQ(at_corner, Box::periodic(box_edge).wrapped(at_corner));
  const NearestImage nearest = NearestImage::of(box);
  EXPECT_NEAR(norm(nearest(at_corner)), 0, 0.026);

  Particles alone_in_box = all;
  alone_in_box.resize(halo.size());
  const Particles torn = moved_in_box(alone_in_box, -1.0 * place);
  const Vec3d mass = centre_of_mass(comm, share_of(comm, torn), all_types, box);
  EXPECT_NEAR(norm(nearest(mass)), 0, 1e-14) << "places are rounded by 3e-16";
  EXPECT_EQ(mass, centre_of_mass(alone, torn, all_types, box)) << "on one rank";
}

TEST(Frame, fits_around_the_stars_and_is_the_same_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Particles all = small_merger();
  for (const CentreOn centre : {CentreOn::middle, CentreOn::mass, CentreOn::densest}) {
    View view;
    view.centre_on = centre;
    const Frame fitted = frame_of(comm, share_of(comm, all), view, {});
    const Frame expected = frame_of(alone, all, view, {});
    EXPECT_EQ(fitted.types, 0b011100u);
    EXPECT_EQ(fitted.centre, expected.centre);
    EXPECT_EQ(fitted.width, expected.width);
    double inside = 0, shown = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.type[i] != 2) continue;
      const Vec3d d = all.position[i] - fitted.centre;
      inside += std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}) < 0.5 * fitted.width;
      ++shown;
    }
    EXPECT_GE(inside, 0.9 * shown) << "twice what holds 90 %";
  }
}

TEST(Frame, is_centred_where_it_was_asked_to_be) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<Vec3d> places = ball({10, 0, 0}, 8);  // 2109 particles in a volume,
  const std::size_t dense = places.size();
  for (const Vec3d& p : ball({0, 0, 0}, 8))
    places.push_back({-10 + 3 * p.x, 3 * p.y, 3 * p.z});  // and in 27 of it
  const Particles two = particles_at(comm, places);
  const Vec3d mass = centre_of_mass(comm, two, all_types), densest = densest_place(comm, two, all_types);
  EXPECT_EQ(places.size(), 2 * dense);
  EXPECT_NEAR(norm(mass), 0, 1e-12) << "of two equal masses";
  // Symmetric about its centre, on which spheres stay that have some hundred points of a lattice of 1/8 in
  // them: they miss it by less than its spacing.
  EXPECT_NEAR(norm(densest - Vec3d{10, 0, 0}), 0, 0.125);
  EXPECT_EQ(centre_of_mass(comm, two, 1u << 5), (Vec3d{0, 0, 0})) << "of no particle";
  EXPECT_EQ(densest_place(comm, two, 1u << 5), (Vec3d{0, 0, 0}));
  View view;
  view.centre_on = CentreOn::fixed;
  view.centre = {1, 2, 3};
  EXPECT_EQ(frame_of(comm, two, view, {}).centre, view.centre);
}

TEST(Frame, stays_until_a_quarter_of_the_particles_have_left_it) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto moved = [&](double by, double stretched) {
    std::vector<Vec3d> places = ball({0, 0, 0}, 8);
    for (Vec3d& p : places) p = stretched * p + Vec3d{by, 0, 0};
    return particles_at(comm, places);
  };
  View view;
  const Frame first = frame_of(comm, moved(0, 1), view, {});
  EXPECT_NEAR(norm(first.centre), 0, 1e-8);
  const double width = first.width;
  EXPECT_GT(width, 3) << "twice the ball's diameter, less its outermost tenth";
  Frame frame = frame_of(comm, moved(0.5 * width, 1), view, first);
  EXPECT_NEAR(frame.centre.x, 0.5 * width, 1e-8) << "a half has left";
  EXPECT_NEAR(frame.width, width, 1e-6);
  frame = frame_of(comm, moved(0.5 * width - 0.7, 1), view, first);
  EXPECT_EQ(frame.centre, first.centre) << "6 % have left, a cap of height 0.3";
  frame = frame_of(comm, moved(0, 4), view, first);
  EXPECT_NEAR(frame.width, 4 * width, 1e-6 * width) << "it has grown";
  frame = frame_of(comm, moved(0, 0.1), view, first);
  EXPECT_EQ(frame.width, width) << "it has shrunk, and the scale remains";
  view.width = 2.0;
  view.centre_on = CentreOn::fixed;
  EXPECT_EQ(frame_of(comm, moved(9, 1), view, first).width, 2) << "as it was asked for";
}

TEST(Render, reads_no_fields_but_those_that_are_drawn) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "render");
  const Particles all = share_of(comm, small_merger());
  Particles part;
  for_each_field([&](const auto& field) {
    if (is_drawn(field.info)) part.*field.array = all.*field.array;
  });
  EXPECT_TRUE(part.velocity.empty());
  render_png(comm, all, small_view(), {}, folder / "all.png");
  render_png(comm, part, small_view(), {}, folder / "part.png");
  comm.barrier();
  EXPECT_TRUE(bytes_of(folder / "part.png") == bytes_of(folder / "all.png"));
}

TEST(Render, gives_the_same_bytes_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const TestFolder folder(comm, "render");
  const Particles all = small_merger();
  const Frame drawn = render_png(comm, share_of(comm, all), small_view(), {}, folder / "shared.png");
  if (!comm.is_master()) return;
  const Frame expected = render_png(alone, all, small_view(), {}, folder / "alone.png");
  EXPECT_EQ(drawn.limits, expected.limits);
  const std::string bytes = bytes_of(folder / "shared.png");
  EXPECT_GT(bytes.size(), 1000u);
  EXPECT_TRUE(bytes == bytes_of(folder / "alone.png"));
  const Png decoded(folder / "shared.png");
  EXPECT_GT(decoded.width, 3 * 96u) << "three panels";
  EXPECT_GT(decoded.height, 96u);
  EXPECT_EQ(decoded.width % 2 + decoded.height % 2, 0u) << "as films want it";
}

// The mean column density of a whole box is its mass over its area, whatever structure there is. A particle
// at a face is spread over it, and its image back, over as many pixels as hold the same few dozen particles,
// but for one or two: of these two thousand a tenth are that near, so that less than a hundredth is lost or
// gained.
TEST(Render, has_colours_about_the_mean_of_a_periodic_box) {
  const Communicator comm(MPI_COMM_WORLD);
  View view = small_view();
  view.images = {box_edge};
  for (const Particles& all : {clustered_box(2000), random_box(2000)}) {
    const double mean = std::accumulate(all.mass.begin(), all.mass.end(), 0.0) / (box_edge * box_edge);
    const Frame frame = measure(comm, share_of(comm, all), view);
    EXPECT_NEAR(frame.limits[0] / mean, 0.2, 0.002);
    EXPECT_NEAR(frame.limits[1] / mean, 100, 1);
    View part = view;
    part.width = 0.25 * box_edge;
    EXPECT_NE(measure(comm, share_of(comm, all), part).limits[1], frame.limits[1]) << "a part has its own";
  }
}

TEST(Render, keeps_limits_and_size_of_the_picture_before) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "render");
  const Particles all = small_merger();
  View view = small_view();
  const Frame first = render_png(comm, share_of(comm, all), view, {}, folder / "first.png");
  Particles heavier = share_of(comm, all);
  for (double& mass : heavier.mass) mass *= 10;
  const Frame second =
      render_png(comm, heavier, view, {.time = 123.456, .shown = {}}, folder / "second.png", first);
  EXPECT_EQ(second.limits, first.limits);
  EXPECT_NEAR(measure(comm, heavier, view).limits[1] / first.limits[1], 10, 1e-4)
      << "of its own, in single precision";
  view.limits = {1e-3, 2};
  EXPECT_EQ(measure(comm, heavier, view, first).limits, (std::array<double, 2>{1e-3, 2})) << "as asked for";
  if (!comm.is_master()) return;
  const Png a(folder / "first.png"), b(folder / "second.png");
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
}

TEST(Render, of_a_folder_that_does_not_exist_is_refused_on_all_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles none;
  EXPECT_THROW(render_png(comm, none, small_view(), {}, "/nowhere/at/all/a.png"), Agreed<InputError>);
  View view = small_view();
  view.pixels = 8;
  EXPECT_THROW(render_png(comm, none, view, {}, "a.png"), Agreed<InputError>);
  view = small_view();
  view.axes = {2, 2};
  EXPECT_THROW(render_png(comm, none, view, {}, "a.png"), Agreed<InputError>);
  view = small_view();
  view.images = {1};
  view.width = 8.01;
  EXPECT_THROW(render_png(comm, none, view, {}, "a.png"), Agreed<InputError>) << "edges of the box";
  view = small_view();
  view.limits = {2, 1};
  EXPECT_THROW(render_png(comm, none, view, {}, "a.png"), Agreed<InputError>);
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

}  // namespace
}  // namespace grove
