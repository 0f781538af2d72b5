#include <cstdint>
#include <filesystem>
#include <tilewright/checkpoint/mapped_npy.hpp>
namespace ops = tw::ops;
