#pragma once
// A laboratory: plans of programs for many simulated IPUs, as rows. CMake: tilewright_lab, or the component lab.
#include "tilewright/lab/main.hpp"
