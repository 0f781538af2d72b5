// labels: none
// Errors of dtypes, and numbers that they have or have not.
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

namespace {

struct Tensors {
  Ir& ir;
  Tensor x = ir.variable(tw::ones(), {2, 3}, tw::float32, "x");
  Tensor small = ir.variable(tw::ones(), {2, 3}, tw::float8_143, "small");
  Tensor k = ir.variable(tw::zeros(), {1}, tw::int32, "k");
};
/// Whether the model fails with the text.
constexpr bool fails(std::string_view text, void (*model)(Ir&, Tensor x, Tensor small, Tensor k)) {
  Ir ir(tw::OnError::record);
  const Tensors t{ir};
  model(ir, t.x, t.small, t.k);
  return ir.failure() == text;
}

static_assert(fails("constant: 300 as float8_143: a number from -240 to 240 expected",
                    [](Ir& ir, Tensor, Tensor, Tensor) { ir.constant({300}, {1}, tw::float8_143); }));
static_assert(fails("variable: 'v': 320 as float8_143: a number from -240 to 240 expected", [](Ir& ir, Tensor, Tensor, Tensor) {
  ir.variable(tw::pow2scaled(tw::values({20}), 4), {1}, tw::float8_143, "v");
}));
static_assert(fails("Sub: (2, 3) bool: a dtype other than bool expected: cast it first",
                    [](Ir&, Tensor x, Tensor, Tensor) { x.cast(tw::boolean) - x.cast(tw::boolean); }));
static_assert(fails("Div: (2, 3) bool: a dtype other than bool expected: cast it first",
                    [](Ir&, Tensor x, Tensor, Tensor) { x.cast(tw::boolean) / x.cast(tw::boolean); }));
static_assert(fails("ReduceSum: (2, 3) bool: a dtype other than bool expected: cast it first",
                    [](Ir&, Tensor x, Tensor, Tensor) { ops::sum(x.cast(tw::boolean)); }));
static_assert(fails("constant: -1 as uint64: a whole number from 0 to 1.84467440737e+19 expected",
                    [](Ir& ir, Tensor, Tensor, Tensor) { ir.constant(-1, tw::uint64); }));
static_assert(fails("Add: 9.22337203685e+18 as int64: a whole number from -9.22337203685e+18 to 9.22337203685e+18 expected",
                    [](Ir&, Tensor x, Tensor, Tensor) { x.cast(tw::int64) + (18446744073709551615u / 2 + 2); }));
static_assert(fails("constant: a generator of 9.00719925474e+15 as int64: numbers below 2^53 expected",
                    [](Ir& ir, Tensor, Tensor, Tensor) { ir.constant(tw::range(0x1p53), {3}, tw::int64); }));

// names and flags
static_assert(tw::dtype_from_name("bool") == tw::boolean && tw::dtype_from_name("half") == tw::float16);
static_assert(tw::is_floating_point(tw::float8_143) && !tw::is_int(tw::float8_143) && tw::is_signed(tw::float8_152));
static_assert(tw::is_signed(tw::int8) && !tw::is_signed(tw::uint8) && !tw::is_signed(tw::boolean) && !tw::is_int(tw::boolean));
static_assert(tw::is_complex(tw::complex64) && !tw::is_complex(tw::float64) && !tw::is_floating_point(tw::complex128));
static_assert(tw::size_of(tw::float8_143) == 1 && tw::size_of(tw::complex128) == 16);
static_assert(tw::dtype_of<tw::float8_143_t> == tw::float8_143 &&
              tw::floating_point_dtypes() == "float16, float32, float64 or bfloat16");

}  // namespace
