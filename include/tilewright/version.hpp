#pragma once
// The version of the library: 10000 * major + 100 * minor + patch, so 0.3.0 is 300. The version is a macro, because a program for
// several versions needs #if to leave out lines with names that one of them lacks. docs/reference/stability.md says how long a
// name is kept.
#define TILEWRIGHT_VERSION 300
