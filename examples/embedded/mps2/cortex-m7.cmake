# A tool chain and a board: mps2-an500 of QEMU. For another board, change the flags and the memory.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_PREFIX_PATH /usr)  # headers of Boost and xtensor
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)
set(BOARD_FLAGS -mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16)
set(BOARD_MEMORY ${CMAKE_CURRENT_LIST_DIR}/mps2.ld)
