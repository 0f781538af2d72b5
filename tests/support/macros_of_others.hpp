#pragma once
// Names that headers of other libraries define as macros. The dependencies that headers include come first: what they do with
// such a name is theirs. Each use after this is an error, also where the text of the real macro would compile and mean something
// else.
#include <boost/hana.hpp>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <ranges>
#include <thread>
#include <valarray>
#include <xsimd/xsimd.hpp>

#include "tilewright/core/xtensor.hpp"
#include "tilewright/xtensor.hpp"

// Qt
#define emit )))
#define foreach )))
#define forever )))
#define signals )))
#define slots )))

// windows.h
#define CONST )))
#define DELETE )))
#define ERROR )))
#define FALSE )))
#define IN )))
#define NO_ERROR )))
#define OPTIONAL )))
#define OUT )))
#define STRICT )))
#define THIS )))
#define TRUE )))
#define VOID )))
#define cdecl )))
#define far )))
#define hyper )))
#define interface )))
#define near )))
#define pascal )))
#define small )))

// X11
#define Above )))
#define Always )))
#define Below )))
#define Bool )))
#define Complex )))
#define Convex )))
#define CursorShape )))
#define False )))
#define KeyPress )))
#define None )))
#define Status )))
#define Success )))
#define True )))
#define Unsorted )))

// complex.h
#define I )))
#define complex )))
#define imaginary )))

// termios.h, curses, Arduino
#define B0 )))
#define ECHO )))
#define HIGH )))
#define INPUT )))
#define LOW )))
#define OUTPUT )))
#define PI )))

// GCC without -std=c++20
#undef linux
#undef unix
#define linux )))
#define unix )))

// windows.h
#define max(...) )))
#define min(...) )))

// macOS
#define check(...) )))
#define check_noerr(...) )))
#define require(...) )))
#define require_noerr(...) )))
#define verify(...) )))
#define verify_noerr(...) )))

// sys/sysmacros.h
#define major(...) )))
#define makedev(...) )))
#define minor(...) )))
