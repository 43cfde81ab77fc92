#pragma once

#include <initializer_list>
#include <vector>

#include "io/schema.hpp"
#include "io/words.hpp"

/// Parts that the rows of several sections are made of.
namespace grove::schema {

/// A member of a section.
template <class Section, class T>
Slot<T> at(Section Parameters::*section, T Section::*member) {
  return [=](Parameters& p) -> T& { return p.*section.*member; };
}

/// One whose words are words<Enum>.
template <class Section, class Enum>
Choice choice(Section Parameters::*section, Enum Section::*member) {
  return {{words<Enum>.begin(), words<Enum>.end()},
          [=](const Parameters& p) { return static_cast<std::size_t>(p.*section.*member); },
          [=](Parameters& p, std::size_t index) { p.*section.*member = static_cast<Enum>(index); }};
}

inline std::vector<Row> together(std::initializer_list<std::vector<Row>> parts) {
  std::vector<Row> all;
  for (const std::vector<Row>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace grove::schema
