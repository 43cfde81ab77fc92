// Cells of a periodic box in images that walks may come to, and how many numbers they take.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include "support/device_grown.hpp"
#include "support/device_records.hpp"
#include "support/periodic_boxes.hpp"

namespace grove {
namespace {

using namespace testing;

class TopImages : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    particles_ = random_box(30000);
    std::fill(particles_.old_acceleration.begin(), particles_.old_acceleration.end(), 1.F);
    gravity_.criterion = Criterion::acceleration;
    gravity_.delta = 0.02;
    gravity_.softening = {0.01};
    gravity_.tree = LocalTreeKind::octree;  // whose codes leave as many bits for nodes as are wanted
    gravity_.images = {box_edge};
    grown_.emplace(grow_on_device(particles_, gravity_, 64, 1));
  }

  /// None: it cannot be.
  std::optional<std::vector<Vec3f>> forces(const cuda::NodeCodes& codes) {
    const DeviceSources sources(*grown_, gravity_, 1, codes);
    try {
      grown_->walk_through(sources, particles_, gravity_);
    } catch (const std::logic_error&) {
      EXPECT_THROW(sources.top.check_images(), std::length_error);
      return {};
    }
    EXPECT_NO_THROW(sources.top.check_images());
    return std::vector<Vec3f>(particles_.acceleration.begin(), particles_.acceleration.end());
  }

  Particles particles_;
  GravityParameters gravity_;
  std::optional<DeviceGrown> grown_;
};

/// The fewer bits codes have for cells, the fewer of their images there is room for. None that walks come to
/// is left out without an error, and these are few.
TEST_F(TopImages, take_few_numbers_and_say_if_there_are_not_enough) {
  const std::size_t cells = grown_->host.cells.size();
  cuda::NodeCodes codes = grown_->codes();
  ASSERT_GT(codes.most_frames(), 27 * cells);
  const auto expected = forces(codes);
  ASSERT_TRUE(expected.has_value());
  std::uint32_t least = codes.most_frames();
  bool has_failed = false;
  for (; codes.most_frames() >= cells + 2 * 27; ++codes.node_bits) {  // fewer have no images of the root
    const auto found = forces(codes);
    has_failed = has_failed || !found;
    if (!found) continue;
    EXPECT_FALSE(has_failed) << "with fewer numbers than before";
    EXPECT_EQ(*found, *expected) << codes.most_frames();
    least = codes.most_frames();
  }
  EXPECT_TRUE(has_failed);
  EXPECT_LT(least, 27 * cells);
}

}  // namespace
}  // namespace grove
