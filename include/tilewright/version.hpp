#pragma once
// The version of the library: 10000 * major + 100 * minor + patch, so 0.2.0 is 200. It is a macro, because a program that works with
// several versions must leave out, with #if, the lines that name what one of them lacks. docs/stability.md says how long a name is kept.
#define TILEWRIGHT_VERSION 200
