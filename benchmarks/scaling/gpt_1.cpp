// A step of W8 with one replica.
#include "measure.hpp"

int main() { measure<train_gpt<1>, 1>(4, 1, 128, 1, 128, GptBlock::width); }
