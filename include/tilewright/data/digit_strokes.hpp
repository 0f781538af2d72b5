#pragma once
#include <array>
#include <initializer_list>

#include "tilewright/core/fixed_vector.hpp"
#include "tilewright/data/canvas.hpp"

namespace tilewright::data::handwriting {

/// A FixedVector that is written as a list.
template <class T, int Capacity> struct List : FixedVector<T, Capacity> {
  constexpr List(std::initializer_list<T> listed = {}) {
    for (const T& item : listed) this->push_back(item);
  }
};

/// Points that the pen passes in a smooth curve, in a square of side 100: x to the right, y down.
using Stroke = List<Point, 11>;
/// One form of a digit. A corner is where one stroke ends and the next begins.
using Form = List<Stroke, 3>;
using Forms = List<Form, 3>;

/// Common forms of the digits 0 to 9.
inline constexpr std::array<Forms, 10> digit_forms = {
    // 0: an oval; a round one whose end crosses its beginning
    Forms{Form{Stroke{{54, 0}, {32, 10}, {20, 48}, {30, 87}, {50, 100}, {70, 87}, {80, 50}, {70, 13}, {50, 1}}},
          Form{Stroke{{62, 6}, {34, 8}, {12, 36}, {16, 78}, {46, 98}, {80, 82}, {90, 42}, {68, 10}, {42, 0}}}},
    // 1: a stroke; with a flag; with a flag and a foot
    Forms{Form{Stroke{{52, 0}, {50, 50}, {49, 100}}},
          Form{Stroke{{30, 25}, {42, 15}, {54, 0}}, Stroke{{54, 0}, {52, 50}, {50, 100}}},
          Form{Stroke{{32, 22}, {44, 12}, {52, 2}}, Stroke{{52, 2}, {51, 50}, {50, 98}}, Stroke{{22, 98}, {50, 98}, {80, 96}}}},
    // 2: with a straight foot; with a loop; with a corner above and below
    Forms{Form{Stroke{{22, 24}, {40, 2}, {68, 8}, {76, 30}, {55, 62}, {20, 98}}, Stroke{{20, 98}, {50, 96}, {82, 97}}},
          Form{Stroke{{22, 20}, {45, 0}, {74, 14}, {68, 48}, {40, 86}, {20, 94}, {22, 78}, {42, 80}, {60, 95}, {86, 92}}},
          Form{Stroke{{16, 12}, {46, 5}, {78, 8}}, Stroke{{78, 8}, {56, 46}, {18, 90}}, Stroke{{18, 90}, {50, 86}, {94, 88}}}},
    // 3: with two bows; with a flat top; in one curve with a knot
    Forms{
        Form{Stroke{{22, 13}, {48, 0}, {74, 14}, {66, 38}, {42, 48}}, Stroke{{42, 48}, {72, 56}, {80, 78}, {56, 100}, {20, 90}}},
        Form{Stroke{{22, 3}, {50, 4}, {76, 2}}, Stroke{{76, 2}, {60, 22}, {44, 42}},
             Stroke{{44, 42}, {76, 54}, {78, 82}, {52, 100}, {20, 90}}},
        Form{Stroke{
            {20, 10}, {56, 2}, {76, 18}, {60, 40}, {38, 50}, {40, 42}, {68, 50}, {82, 72}, {64, 94}, {34, 100}, {14, 86}}}},
    // 4: open; closed; open with a low bar and a short stem
    Forms{Form{Stroke{{26, 2}, {18, 35}, {25, 55}, {50, 57}, {80, 50}}, Stroke{{72, 5}, {70, 50}, {66, 100}}},
          Form{Stroke{{62, 0}, {40, 30}, {16, 62}}, Stroke{{16, 62}, {50, 63}, {86, 60}}, Stroke{{62, 0}, {62, 50}, {60, 100}}},
          Form{Stroke{{30, 4}, {24, 30}, {14, 60}}, Stroke{{14, 60}, {50, 62}, {92, 56}}, Stroke{{70, 20}, {66, 55}, {60, 100}}}},
    // 5: with a bar; in one curve; with a short bar and a wide bow
    Forms{Form{Stroke{{76, 2}, {50, 3}, {30, 4}}, Stroke{{30, 4}, {27, 25}, {25, 44}},
               Stroke{{25, 44}, {50, 38}, {76, 52}, {78, 78}, {54, 100}, {20, 90}}},
          Form{Stroke{{82, 2}, {56, 4}, {36, 16}, {34, 36}, {54, 50}, {70, 68}, {60, 92}, {36, 100}, {16, 90}}},
          Form{Stroke{{40, 8}, {34, 25}, {26, 46}}, Stroke{{26, 46}, {60, 46}, {72, 70}, {50, 96}, {12, 96}},
               Stroke{{40, 8}, {62, 8}, {88, 4}}}},
    // 6: upright; leaning with a small bow
    Forms{Form{Stroke{{66, 2}, {42, 20}, {24, 55}, {28, 88}, {52, 100}, {76, 84}, {68, 58}, {46, 54}, {27, 74}}},
          Form{Stroke{{52, 0}, {34, 24}, {20, 60}, {22, 88}, {44, 100}, {74, 92}, {82, 74}, {62, 64}, {36, 76}, {28, 92}}}},
    // 7: plain; with a bar; with a drop at the left and a bent stem
    Forms{Form{Stroke{{18, 6}, {50, 6}, {80, 3}}, Stroke{{80, 3}, {60, 45}, {42, 100}}},
          Form{Stroke{{18, 8}, {50, 5}, {80, 3}}, Stroke{{80, 3}, {60, 45}, {42, 100}}, Stroke{{36, 52}, {56, 49}, {76, 46}}},
          Form{Stroke{{14, 24}, {16, 14}, {20, 6}}, Stroke{{20, 6}, {50, 6}, {76, 4}},
               Stroke{{76, 4}, {74, 30}, {62, 66}, {56, 100}}}},
    // 8: in one curve; of two rings; in one curve with an open top
    Forms{Form{Stroke{
              {73, 16}, {50, 0}, {28, 14}, {38, 38}, {66, 58}, {76, 82}, {50, 100}, {24, 82}, {36, 58}, {62, 40}, {74, 18}}},
          Form{Stroke{{50, 46}, {30, 32}, {32, 8}, {52, 0}, {70, 10}, {68, 34}, {50, 46}},
               Stroke{{50, 46}, {26, 62}, {24, 88}, {50, 100}, {76, 88}, {74, 62}, {50, 46}}},
          Form{Stroke{
              {80, 6}, {50, 2}, {26, 18}, {42, 42}, {64, 64}, {62, 92}, {40, 100}, {26, 84}, {40, 60}, {66, 36}, {86, 10}}}},
    // 9: with a straight stem; with a hooked stem; in one curve
    Forms{
        Form{Stroke{{72, 18}, {50, 2}, {27, 16}, {28, 42}, {50, 50}, {70, 36}, {74, 12}}, Stroke{{74, 12}, {72, 55}, {66, 100}}},
        Form{Stroke{{72, 20}, {50, 2}, {27, 16}, {28, 42}, {50, 50}, {70, 36}, {74, 12}},
             Stroke{{74, 12}, {76, 60}, {60, 96}, {32, 92}}},
        Form{Stroke{{76, 10}, {50, 6}, {22, 24}, {26, 44}, {52, 42}, {74, 24}, {76, 8}, {70, 40}, {58, 76}, {50, 100}}}},
};

}  // namespace tilewright::data::handwriting
