// The main function of Catch2 2; version 3 links its own.
#define CATCH_CONFIG_MAIN
#include "catch.hpp"
