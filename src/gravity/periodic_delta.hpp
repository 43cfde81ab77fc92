#pragma once

#include "gravity/gravity_storage.hpp"

namespace grove {

/// The largest delta that forces in a periodic box take: that of the parameters, or, with octupoles, what
/// errs as much as that with quadrupoles, where far cells act through expansions. What walks sum falls faster
/// with the number of particles then, up to 300^3 (fitted from 32^3 to 512^3 particles, docs/cosmology.md).
double most_delta(const GravityParameters& gravity, Count particles);

/// h: the median of |a_old| over G M / L^2, with the mass M in the box and its edge L. 0.03 at z = 49 in
/// 100 Mpc, 2.6 at z = 0. Masses are taken to be equal; where they are not it is larger than that. Without
/// masses it is 1.
double unevenness(const GravityParameters& gravity, const GravityStorage::Sums& sums);

/// Delta for all targets in a periodic box, at most this one.
///
/// Errors of n nodes add up as sqrt(n), and the nearer a box is to homogeneity the more nodes it takes: of
/// matter of even density b^6 / d^5 <= delta h, in units of the edge L, so n is as 1 / sqrt(delta h), with h
/// = unevenness(). Then errors of accelerations are as delta^(3/4) h^(-1/4): 0.4 times that in the 99th
/// percentile, from z = 49 (h = 0.03 in 100 Mpc) to 0 (h = 2.6) within a third (docs/cosmology.md). Nodes of
/// a lattice err alike, so that their errors add up to more: h^(2/5) in place of h^(1/3) makes delta smaller
/// where h is small. Then errors are some 2 delta there, and 3 to 4 delta in steps with far_delta().
/// Masses are taken to be equal; where they are not it is smaller than need be.
double periodic_delta(double unevenness, double most);

/// That delta where cells far off act through expansions. most: as for it.
///
/// These err less than the nodes that would act in their place: 1.8 times the delta gives the same errors.
/// The more particles there are, the smaller is the part of a force that walks sum, and with it what they
/// err: the 99th percentile of errors at z = 49, which is as delta^(3/4), falls by a half from 32^3 particles
/// to 256^3. Above 48^3 this makes up for most of that: `high`, and lattices, have less room than most
/// (docs/cosmology.md).
/// Near the largest delta, where matter is uneven, less is left to be made up for: a half of it is the most,
/// and of 256^3 particles two thirds.
double far_delta(double delta, double most, Count particles);

/// The part of all particles from which on, if they are active in a step, cells far off act through
/// expansions. These cost a leaf the same however many of its particles are active. Walks through all 27
/// boxes cost each of these as much as the nodes it meets, whose number is as 1 / sqrt(delta h), so as
/// h^(-0.7). At z = 0 (h = 2.6 in 100 Mpc) they are worth it up to a quarter, at z = 49 up to a hundredth
/// (docs/cosmology.md, "Which steps have far cells"). Nothing below 1/128 was tried.
double least_far_part(double unevenness);

}  // namespace grove
