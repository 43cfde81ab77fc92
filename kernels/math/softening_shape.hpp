#pragma once

#include <stdexcept>
#include <type_traits>

#include "kernels/math/interaction.hpp"
#include "kernels/math/opening.hpp"

/// From values of enumerations to the types that sums are compiled for. The switches name each value, so that
/// the compiler warns of one that is new.
namespace grove {

/// use(Plummer{}) or use(Spline{}).
template <class Use>
auto with_shape(SofteningKernel kernel, Use use) {
  switch (kernel) {
    case SofteningKernel::plummer:
      return use(Plummer{});
    case SofteningKernel::spline:
      return use(Spline{});
  }
  throw std::logic_error("no such softening kernel");
}

/// use(order), as a std::integral_constant.
template <class Use>
auto with_order(Order order, Use use) {
  switch (order) {
    case Order::monopole:
      return use(std::integral_constant<Order, Order::monopole>{});
    case Order::quadrupole:
      return use(std::integral_constant<Order, Order::quadrupole>{});
    case Order::octupole:
      return use(std::integral_constant<Order, Order::octupole>{});
  }
  throw std::logic_error("no such order");
}

/// use(order, shape).
template <class Use>
auto with_order_and_shape(const GravityParameters& gravity, Use use) {
  return with_order(gravity.order, [&](auto order) {
    if constexpr (decltype(order)::value == Order::octupole) {
      // Plummer's softening does not end, and octupoles act beyond it only: fault_of_order().
      if (gravity.kernel != SofteningKernel::spline) throw std::logic_error("octupoles of Plummer softening");
      return use(order, Spline{});
    } else {
      return with_shape(gravity.kernel, [&](auto shape) { return use(order, shape); });
    }
  });
}

}  // namespace grove
