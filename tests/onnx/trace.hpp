#pragma once
// Traces programs of imported models at run time.
#include <cstdio>
#include <tilewright/layers/layers.hpp>
#include <tilewright/model.hpp>
#include <tilewright/module/members_of.hpp>

/// Prints the number of a model with ok, or with what is wrong.
inline void trace(int number, void (*program)(tilewright::Ir&)) {
  try {
    tilewright::Ir ir;
    program(ir);
    std::printf("%d ok\n", number);
  } catch (const std::exception& error) {
    std::printf("%d %s\n", number, error.what());
  }
}
