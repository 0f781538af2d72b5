#pragma once
// Cycles of programs by the vendor's own simulator, Poplar's IPUModel, as poplibs published them in 2021: the data of ./dev bench
// fidelity that stand beside plans of the same programs. No number here is of the library.
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace fidelity {

enum class VendorKind : std::uint8_t {
  convolutions,
  depthwise,
  max_pool,
  embedding,
  reductions,
  dense,
  products_512,
  products_64,
  grouped_products,
  recurrent
};
/// What rows of a kind are, and the mean error up to which their plans are good enough.
struct VendorKindText {
  std::string_view name, program;
  double most_mean;  ///< of errors without sign
  double least = 0, most = 1e9;  ///< of the vendor's cycles: for each row
};
inline constexpr VendorKindText vendor_kinds[] = {
    {"convolutions", "forward, both gradients and the update", 0.35, 0.5, 1.8},
    {"depthwise convolutions", "the same", 0.40},
    {"max pools", "forward and gradient", 0.40},
    {"embedding", "a gather, and a scaled sum into the table", 0.50, 0.5, 1.5},
    {"reductions", "sums, sums of squares and maxima", 0.25},
    {"dense layers", "three products, of which the last is the update", 0.20},
    {"products, k = 512", "C += A B", 0.18},
    {"products, k = 64", "C += A B", 0.10},
    {"grouped products", "three products, of which the last is the update", 0.10},
    {"LSTM, GRU", "inference of a layer, 25 steps", 0.20},
};
/// A program with its cycles on both chips, for float16 where `shape` does not say otherwise. `shape` has, by kind:
///  - convolutions, depthwise: images, channels, height, width, results, kernel, stride, padding
///  - max_pool, of one image and windows of 3 x 3: height, channels, stride, padding
///  - embedding: rows, columns, rows that are taken
///  - reductions: tiles (0: all); 0 for maxima, 1 for sums, 2 for sums of squares; the extents, of which axis 1, and axis 3 of
///    four or more, are reduced
///  - dense, grouped_products: groups, batch, inputs, results, bytes of an element
///  - products_512, products_64: m, k, n
///  - recurrent: 0 for LSTM, 1 for GRU; batch, steps, features
struct VendorRow {
  VendorKind kind;
  std::string_view name;
  std::int64_t gc2, gc200;
  std::array<std::int64_t, 8> shape;
};
using enum VendorKind;
inline constexpr VendorRow vendor_rows[] = {
    {convolutions, "resnet50_tr_bs4_cnv", 152083, 148450, {4, 4, 224, 224, 64, 7, 2, 3}},
    {convolutions, "resnet50_tr_bs4_bm64L0_projection", 53258, 46489, {4, 64, 56, 56, 256, 1, 1, 0}},
    {convolutions, "resnet50_tr_bs4_bm64L0", 24183, 22016, {4, 64, 56, 56, 64, 1, 1, 0}},
    {convolutions, "resnet50_tr_bs4_bm64L0A1", 91024, 84246, {4, 64, 56, 56, 64, 3, 1, 1}},
    {convolutions, "resnet50_tr_bs4_bm128L0A0", 40320, 36048, {4, 256, 56, 56, 128, 1, 2, 0}},
    {convolutions, "resnet50_tr_bs4_bm128L0A1", 97881, 82252, {4, 128, 28, 28, 128, 3, 1, 1}},
    {convolutions, "resnet50_tr_bs4_bm128L0A2", 52359, 46395, {4, 128, 28, 28, 512, 1, 1, 0}},
    {convolutions, "resnet50_tr_bs4_bm128L1A0", 53060, 47073, {4, 512, 28, 28, 128, 1, 1, 0}},
    {convolutions, "resnet50_tr_bs4_bm256L1A0", 54955, 46333, {4, 1024, 14, 14, 256, 1, 1, 0}},
    {convolutions, "resnet50_tr_bs4_bm512L0A1", 103734, 81121, {4, 512, 7, 7, 512, 3, 1, 1}},
    {convolutions, "resnet50_tr_bs4_bm512L0A2", 57531, 49368, {4, 512, 7, 7, 2048, 1, 1, 0}},
    {convolutions, "mobilenet_conv_pw_1_1", 34960, 30698, {4, 32, 112, 112, 64, 1, 1, 0}},
    {convolutions, "mobilenet_conv_pw_13_1", 58171, 47698, {4, 1024, 7, 7, 1024, 1, 1, 0}},
    {depthwise, "mobilenet_depthwise", 28393, 31273, {4, 32, 112, 112, 32, 3, 1, 1}},
    {max_pool, "inception_tr_bs1_pool1", 16965, 15346, {147, 64, 2, 0}},
    {max_pool, "inception_tr_bs1_i1_dmaxpool", 14026, 12241, {35, 192, 1, 1}},
    {max_pool, "inception_tr_bs1_i4_cmaxpool", 9646, 9400, {35, 288, 2, 0}},
    {max_pool, "inception_tr_bs1_i6_dmaxpool", 7049, 7717, {17, 768, 2, 0}},
    {embedding, "embedding_vlarge", 154767, 155289, {100000, 200, 1440}},
    {reductions, "bert_reduce_0", 1466, 1466, {1024, 0, 16, 4, 16, 32, 8}},
    {reductions, "bert_reduce_2", 2758, 2758, {1024, 1, 16, 256, 8, 4}},
    {reductions, "bert_reduce_3", 2758, 2758, {1024, 2, 16, 256, 8, 4}},
    {reductions, "resnet50_tr_bs1_cnv_reduce", 3232, 3040, {0, 2, 4, 25088, 8}},
    {reductions, "resnet50_tr_bs1_bm64L0A0_reduce", 2811, 2811, {1200, 1, 4, 6272, 8}},
    {reductions, "resnet50_tr_bs1_bm128L0A0_reduce", 2611, 2536, {0, 1, 4, 3136, 8}},
    {dense, "fc_layer_1440x100x200", 22432, 20628, {1, 1440, 100, 200, 2}},
    {dense, "fc_layer_1440x200x400", 40627, 36606, {1, 1440, 200, 400, 2}},
    {dense, "fc_layer_16x1324x100", 11587, 12752, {1, 16, 1324, 100, 2}},
    {dense, "fc_layer_1_1000_1000_half", 12349, 12185, {1, 1, 1000, 1000, 2}},
    {dense, "fc_layer_16_1000_1000_half", 20205, 19538, {1, 16, 1000, 1000, 2}},
    {dense, "fc_layer_16_1000_1000_float", 24815, 19388, {1, 16, 1000, 1000, 4}},
    {dense, "bert_kqv_128x1024x3072", 87025, 75225, {1, 128, 1024, 3072, 2}},
    {dense, "bert_kqv_512x1024x3072", 252143, 214813, {1, 512, 1024, 3072, 2}},
    {dense, "bert_ffn1_128x1024x4096", 110146, 92480, {1, 128, 1024, 4096, 2}},
    {dense, "bert_ffn1_512x768x3072", 200928, 172390, {1, 512, 768, 3072, 2}},
    {dense, "bert_ffn2_128x3072x768", 75749, 66644, {1, 128, 3072, 768, 2}},
    {products_512, "gemm_200x512x10000", 62001, 51094, {200, 512, 10000}},
    {products_512, "gemm_200x512x20000", 106118, 88869, {200, 512, 20000}},
    {products_512, "gemm_200x512x30000", 164152, 123952, {200, 512, 30000}},
    {products_512, "gemm_600x512x10000", 157344, 123229, {600, 512, 10000}},
    {products_512, "gemm_600x512x20000", 328585, 228667, {600, 512, 20000}},
    {products_512, "gemm_600x512x30000", 502572, 315397, {600, 512, 30000}},
    {products_512, "gemm_1000x512x10000", 273226, 178134, {1000, 512, 10000}},
    {products_512, "gemm_1000x512x20000", 682097, 324972, {1000, 512, 20000}},
    {products_512, "gemm_1000x512x30000", 940609, 506247, {1000, 512, 30000}},
    {products_64, "gemm_200x64x10000", 11690, 10128, {200, 64, 10000}},
    {products_64, "gemm_200x64x20000", 18753, 16810, {200, 64, 20000}},
    {products_64, "gemm_200x64x30000", 25060, 22142, {200, 64, 30000}},
    {products_64, "gemm_600x64x10000", 23150, 19998, {600, 64, 10000}},
    {products_64, "gemm_600x64x20000", 43120, 36759, {600, 64, 20000}},
    {products_64, "gemm_600x64x30000", 60870, 52059, {600, 64, 30000}},
    {products_64, "gemm_1000x64x10000", 34947, 29172, {1000, 64, 10000}},
    {products_64, "gemm_1000x64x20000", 63031, 53924, {1000, 64, 20000}},
    {products_64, "gemm_1000x64x30000", 91397, 76353, {1000, 64, 30000}},
    {grouped_products, "bert_grouped_12x128x64x128", 13105, 13215, {12, 128, 64, 128, 2}},
    {grouped_products, "bert_grouped_16x512x64x512", 70689, 58372, {16, 512, 64, 512, 2}},
    {recurrent, "gru_16_25_1024_1024_half", 479905, 432853, {1, 16, 25, 1024}},
    {recurrent, "lstm_16_25_1024_1024_half", 408080, 334603, {0, 16, 25, 1024}},
};
static_assert(2 * std::size(vendor_rows) == 116);

}  // namespace fidelity
