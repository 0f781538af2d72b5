// labels: none
// Members of modules that the macro cannot name.
#include "traced.hpp"

struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x * 2.0; }
};

// CASE forty_members
// expect: BOOST_HANA_DEFINE_STRUCT_IMPL_
struct Forty {
  BOOST_HANA_DEFINE_STRUCT(Forty, (Scale, m0), (Scale, m1), (Scale, m2), (Scale, m3), (Scale, m4), (Scale, m5), (Scale, m6),
                           (Scale, m7), (Scale, m8), (Scale, m9), (Scale, m10), (Scale, m11), (Scale, m12), (Scale, m13),
                           (Scale, m14), (Scale, m15), (Scale, m16), (Scale, m17), (Scale, m18), (Scale, m19), (Scale, m20),
                           (Scale, m21), (Scale, m22), (Scale, m23), (Scale, m24), (Scale, m25), (Scale, m26), (Scale, m27),
                           (Scale, m28), (Scale, m29), (Scale, m30), (Scale, m31), (Scale, m32), (Scale, m33), (Scale, m34),
                           (Scale, m35), (Scale, m36), (Scale, m37), (Scale, m38), (Scale, m39));
};
