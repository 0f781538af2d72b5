#include <tilewright/tilewright.hpp>

static_assert(tilewright::Shape({2, 3}).nelms() == 6);

int main() {}
