// A step of W8 with two replicas.
#include "measure.hpp"

int main() { measure<train_gpt<2>, 2>(3, 1, 1, 128, 1, 128, GptBlock::width); }
