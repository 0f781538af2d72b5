#pragma once
// What others measured on IPUs, with sources: the data of ./dev bench fidelity. No number here is of the library.
#include <cstdint>
#include <iterator>
#include <string_view>

namespace fidelity {

/// Numbers above are rows M1 to M15, which stand on a list of their own: M1 is 101.
inline constexpr int second_list = 100;

/// A row of measurements. `configuration` is what the source says of it.
struct Row {
  int number;
  std::string_view what, configuration, source;
};
inline constexpr Row measurements[] = {
    {1, "the unit for products: (N, 16) by (16, 16)", "Bow at 1.85 GHz, float16, sums in float16, cycle counters, all tiles",
     "tessellate-ipu, notebook IPU Peak Flops, output cells"},
    {2, "products, float16", "28 points, the best plan of each", "sparsity-benchmarks, analysis notebook, figure dense_ipu_gpu"},
    {3, "products, float32", "25 points, the best plan of each", "sparsity-benchmarks, analysis notebook, figure dense_ipu_gpu"},
    {4, "STREAM triad, float32", "GC200, a codelet tuned by hand", "simehaa/IPU, STREAMTriad"},
    {5, "STREAM triad, float32", "GC2", "Using the Graphcore IPU for Traditional HPC Applications, table I"},
    {6, "STREAM triad, float16", "GC2", "Using the Graphcore IPU for Traditional HPC Applications, table I"},
    {7, "matrix of 10,000 x 1,000 by a vector", "Mk2, vertices in C++, exchange cycles, average of all tiles",
     "graphcore/examples, Poplar tutorial 6"},
    {8, "barriers of the program of row 7", "Mk2", "graphcore/examples, Poplar tutorial 6"},
    {9, "2D heat equation, 5 points", "GC200, 8,000 x 8,000, float32, 1,000 steps", "simehaa/IPU, README"},
    {10, "3D heat equation, 7 points", "GC200, 360 x 360 x 360, float32, 1,000 steps", "simehaa/IPU, README"},
    {11, "3D heat equation on several IPUs", "GC200, 403^3 to 806^3, float32, 1,000 steps", "simehaa/IPU, README"},
    {12, "Aliev-Panfilov model", "GC200, 7,000 x 7,000, 1,000 steps", "simehaa/IPU, README"},
    {13, "stencil, 32 bytes a cell", "GC2, 1 to 16 IPUs, 2,200 x 1,122", "thorbenlouw/lbm-graphcore, should-i-use-all-ipus"},
    {14, "Gaussian blur, 3 x 3, a step by phase", "GC2, one IPU, 4 channels, vertices in C++",
     "thorbenlouw/lbm-graphcore, gaussian-blur-scaling/exchange-vs-compute.csv"},
    {15, "Gaussian blur on 16 IPUs", "GC2", "thorbenlouw/lbm-graphcore, gaussian-blur-scaling/exchange-vs-compute.csv"},
    {16, "BERT, SQuAD inference", "C600", "ByteMLPerf, reports of IPU"},
    {17, "ResNet-50 inference", "C600, float16", "ByteMLPerf, reports of IPU"},
    {18, "ALBERT, CLIP, Swin-L and DeBERTa inference", "C600, float16", "ByteMLPerf, reports of IPU"},
    {19, "BERT-Large training, 128 tokens", "Bow Pod16, float16, sums in float16", "Graphcore, performance results"},
    {20, "BERT-Base training", "Bow Pod16, float16, sums in float16", "Graphcore, performance results"},
    {21, "BERT-Large training, long sequences", "Bow Pod16, float16, sums in float16", "Graphcore, performance results"},
    {22, "ResNet-50 training", "Bow Pods, float16, sums in float16", "Graphcore, performance results"},
    {23, "EfficientNet-B4 training", "Bow Pods, groups of 16 channels", "Graphcore, performance results"},
    {24, "Conformer training", "Pods", "graphcore/examples, conformer"},
    {25, "peaks", "by chip",
     "datasheets of the IPU-POD64 and the Bow Pod256; A Paper a Day, December 2019; thecharlieblake.co.uk/ipus"},
    {26, "block-sparse products beside dense ones", "as products", "sparsity-benchmarks"},
    {27, "nanoGPT of characters, a training step",
     "Mk2, 10.67 million weights, 2 texts of 1,024 tokens, float32, gradients accumulated, AdamW",
     "graphcore-research/flash-attention-ipu, demo: notebook and train.py"},
    {101, "scaled addition on one tile, float32", "Mk2, cycle counter, without the 45 cycles that the source subtracts",
     "tessellate-ipu, tests of tiles"},
    {103, "3 x 3 convolution of 4 channels and a copy, 200 times", "GC2 at 1.6 GHz, 499 x 302 places, float16",
     "thorbenlouw/lbm-graphcore, effect-of-mem-on-convolution"},
    {104, "3 x 3 convolution of 4 channels and a copy, 200 times", "GC2 at 1.6 GHz, 499 x 302 places, float32",
     "thorbenlouw/lbm-graphcore, effect-of-mem-on-convolution"},
    {107, "3 x 3 convolution of 4 channels and a copy, 200 times", "GC2 at 1.6 GHz, 2,200 x 1,122 places",
     "thorbenlouw/lbm-graphcore, effect-of-mem-on-convolution"},
    {108, "2D heat equation on 2 IPUs", "GC200, float32, 1,000 steps", "simehaa/IPU, README"},
    {109, "2D heat equation on 4 to 16 IPUs", "GC200, float32, 1,000 steps", "simehaa/IPU, README"},
    {112, "barrier of 16 IPUs", "GC2", "thorbenlouw/lbm-graphcore, gaussian-blur-scaling/exchange-vs-compute.csv"},
    {114, "BERT-Base training, 384 tokens", "Bow Pod16, SDK 3.3", "graphcore.cn, performance results"},
    {115, "BERT-Large training, 384 tokens", "Bow Pod16, before SDK 2.5", "graphcore.cn, performance results"},
};

/// Between which parts of a measured figure the model's is good enough.
struct Bound {
  int row;
  double least, most;
};
inline constexpr Bound bounds[] = {
    {1, 0.95, 1.05},  {4, 0.95, 1.05},  {9, 0.65, 1.35},  {10, 0.65, 1.35},  {11, 0.65, 1.35},  {101, 0.85, 1.15},
    {103, 0.65, 1.5}, {104, 0.65, 1.5}, {107, 0.65, 1.5}, {108, 0.75, 1.25}, {109, 0.75, 1.25},
};

/// A measured figure of a row. `at` is what the figure depends on: rows, IPUs or a batch. The unit "fits" has 0
/// for no and 1 for yes.
struct Figure {
  int row;
  std::string_view key;
  std::int64_t at;
  double value;
  std::string_view unit;
};
inline constexpr Figure figures[] = {
    {1, "N = 16", 16, 402, "cycles"},
    {1, "N = 32", 32, 461, "cycles"},
    {1, "N = 64", 64, 584, "cycles"},
    {1, "N = 128", 128, 845, "cycles"},
    {1, "N = 256", 256, 1352, "cycles"},
    {1, "N = 512", 512, 2381, "cycles"},
    {1, "N = 1,024", 1024, 4424, "cycles"},
    {1, "N = 2,048", 2048, 8525, "cycles"},
    {4, "tuned by hand", 0, 46.55, "TB/s"},
    {5, "plain C++", 0, 3.726, "TB/s"},
    {5, "the vendor's primitives", 0, 7.261, "TB/s"},
    {5, "assembly", 0, 12.42, "TB/s"},
    {6, "plain C++", 0, 1.488, "TB/s"},
    {6, "the vendor's primitives", 0, 7.490, "TB/s"},
    {7, "hardware", 0, 8743.1, "cycles"},
    {7, "the vendor's IPUModel", 0, 8697.4, "cycles"},
    {9, "1,000 steps", 1, 0.30, "s"},
    {10, "1,000 steps", 1, 0.26, "s"},
    {11, "2 IPUs, 403^3", 2, 0.23, "s"},
    {11, "4 IPUs, 508^3", 4, 0.26, "s"},
    {11, "8 IPUs, 640^3", 8, 0.26, "s"},
    {11, "16 IPUs, 806^3", 16, 0.32, "s"},
    {14, "barrier, half4", 8, 64, "cycles"},
    {14, "barrier, float2 and float", 16, 117, "cycles"},
    {14, "halo exchange, half4", 8, 637, "cycles"},
    {14, "halo exchange, float2 and float", 16, 1173, "cycles"},
    {14, "compute, half4", 8, 63'531, "cycles"},
    {14, "compute, float2", 16, 100'257, "cycles"},
    {14, "compute, float", 16, 210'249, "cycles"},
    {17, "batch 4", 4, 7062, "images/s"},
    {17, "batch 32", 32, 13'542, "images/s"},
    {19, "unpacked", 0, 5179, "sequences/s"},
    {19, "packed", 0, 6044, "sequences/s"},
    {20, "128 tokens", 128, 16'391, "sequences/s"},
    {20, "512 tokens", 512, 3656, "sequences/s"},
    {21, "512 tokens, packed", 512, 2126, "sequences/s"},
    {21, "fine-tuning, 384 tokens", 384, 1183, "sequences/s"},
    {22, "Pod16", 16, 42'029, "images/s"},
    {22, "Pod64", 64, 145'287, "images/s"},
    {22, "Pod256", 256, 425'514, "images/s"},
    {25, "gc2, float16", 0, 124.5, "Tflop/s"},
    {25, "gc2, float32", 0, 31.1, "Tflop/s"},
    {25, "gc200, float16", 0, 249.66, "Tflop/s"},
    {25, "gc200, float32", 0, 62.41, "Tflop/s"},
    {25, "bow, float16", 0, 348.55, "Tflop/s"},
    {25, "bow, float32", 0, 87.15, "Tflop/s"},
    {25, "gc200, memory of all tiles", 0, 47.5, "TB/s"},
    {25, "gc200, exchange of all tiles", 0, 8, "TB/s"},
    {27, "scores of a layer", 0, 50.3, "MB"},
    {27, "the fullest of tiles of 638,976 bytes, plain attention", 0, 876'060, "bytes"},
    {27, "plain attention", 0, 0, "fits"},
    {27, "attention in chunks", 1, 1, "fits"},
    {101, "64 elements", 64, 330, "cycles"},
    {101, "128 elements", 128, 422, "cycles"},
    {101, "256 elements", 256, 620, "cycles"},
    {101, "512 elements", 512, 998, "cycles"},
    {103, "all", 2, 969'520, "cycles"},
    {104, "all", 4, 2'679'840, "cycles"},
    {107, "float16", 2, 7'154'720, "cycles"},
    {107, "float32", 4, 0, "fits"},
    {108, "10,000^2", 2, 0.28, "s"},
    {109, "4 IPUs, 14,000^2", 4, 0.27, "s"},
    {109, "8 IPUs, 19,000^2", 8, 0.25, "s"},
    {109, "16 IPUs, 27,000^2", 16, 0.25, "s"},
    {112, "float2", 8, 642, "cycles"},
    {112, "float", 4, 640, "cycles"},
    {114, "pre-training", 384, 4387, "sequences/s"},
    {115, "pre-training", 384, 1470, "sequences/s"},
};

/// A product of (n, m) by (m, m), digitised from a picture with logarithmic axes, on which a pixel is 2.7 %.
struct ProductPoint {
  std::int64_t m, n;
  double tflops;
};
inline constexpr double pixel = 0.027;
inline constexpr ProductPoint float16_products[] = {
    {1024, 4, 6.3},      {1024, 16, 21.2},    {1024, 64, 46.6},    {1024, 256, 89.9},    {1024, 1024, 120.7},
    {1024, 2048, 153.6}, {1024, 4096, 180.4}, {1024, 8192, 206.2}, {1024, 16384, 223.5}, {1024, 32768, 223.5},
    {2048, 4, 13.4},     {2048, 16, 45.4},    {2048, 64, 84.1},    {2048, 256, 134.3},   {2048, 1024, 166.4},
    {2048, 2048, 200.8}, {2048, 4096, 211.8}, {2048, 8192, 229.5}, {4096, 4, 19.0},      {4096, 16, 61.8},
    {4096, 64, 130.8},   {4096, 256, 175.6},  {4096, 1024, 209.0}, {4096, 2048, 223.5},  {8192, 4, 22.3},
    {8192, 16, 72.6},    {8192, 64, 157.8},   {8192, 256, 223.5},
};
inline constexpr ProductPoint float32_products[] = {
    {1024, 4, 3.8},     {1024, 16, 11.4},    {1024, 64, 21.5},   {1024, 256, 34.3},  {1024, 1024, 43.6},
    {1024, 4096, 55.5}, {1024, 16384, 58.6}, {2048, 4, 5.9},     {2048, 16, 18.3},   {2048, 64, 34.3},
    {2048, 256, 44.8},  {2048, 1024, 52.6},  {2048, 2048, 57.0}, {2048, 8192, 60.2}, {4096, 4, 7.3},
    {4096, 16, 22.3},   {4096, 64, 41.3},    {4096, 256, 52.6},  {4096, 1024, 55.5}, {4096, 4096, 58.6},
    {8192, 4, 7.9},     {8192, 16, 24.9},    {8192, 64, 48.6},   {8192, 256, 55.5},  {8192, 1024, 54.0},
};
static_assert(std::size(float16_products) == 28 && std::size(float32_products) == 25);

/// Why a row is not computed.
struct Unused {
  int row;
  std::string_view reason;
};
inline constexpr std::string_view held_back = "held back: nothing may be fitted to it";
inline constexpr Unused unused[] = {
    {8, held_back},
    {12, "its equations need a program of their own, of several terms and two fields"},
    {13, "needs a planned exchange of halos between IPUs"},
    {15, "needs a planned exchange of halos between IPUs"},
    {16, held_back},
    {18, held_back},
    {23, "there is no EfficientNet among the examples"},
    {24, held_back},
    {26, held_back},
};

}  // namespace fidelity
