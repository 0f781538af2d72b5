#include "generation.hpp"

int main(int argc, char** argv) { return generation::run<generation::size_124m(tilewright::float16)>(argc, argv); }
