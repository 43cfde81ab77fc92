// A child process that tries a file, and how it may end.
#include "io/probe.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

#include "base/errors.hpp"

namespace grove {
namespace {

std::string fault_of(const std::function<void()>& work) {
  try {
    try_in_child("a.hdf5", 1, work);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Probe, lets_errors_be_told_by_whoever_reads_next) {
  EXPECT_EQ(fault_of([] {}), "none");
  EXPECT_EQ(fault_of([] { throw InputError("something"); }), "none");
}

TEST(Probe, survives_a_child_that_dies) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGKILL, SIGFPE}) {
    const std::string fault = fault_of([signal] {
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    });
    EXPECT_EQ(fault.find("a.hdf5: damaged: HDF5 crashes"), 0u) << signal << ": " << fault;
  }
  EXPECT_EQ(fault_of([] { std::_Exit(3); }).find("a.hdf5: damaged: HDF5 crashes"), 0u);
}

TEST(Probe, ends_a_child_that_takes_too_long) {
  const std::string fault = fault_of([] {
    volatile bool ends = false;
    while (!ends) {
    }
  });
  EXPECT_EQ(fault.find("a.hdf5: damaged: reading it does not end"), 0u) << fault;
}

}  // namespace
}  // namespace grove
