#include "fourier/line_transform.hpp"

#include <kissfft.hh>

namespace grove {

struct LineTransform::Plans {
  explicit Plans(std::size_t n) : forward(n, false), backward(n, true) {}
  kissfft<double> forward, backward;
};

LineTransform::LineTransform(int points)
    : points_(points), plans_(std::make_unique<Plans>(static_cast<std::size_t>(points))) {}

LineTransform::~LineTransform() = default;

void LineTransform::forward(const Complex* from, Complex* to) const { plans_->forward.transform(from, to); }
void LineTransform::backward(const Complex* from, Complex* to) const { plans_->backward.transform(from, to); }

}  // namespace grove
