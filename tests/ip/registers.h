/* Accesses of the driver, as functions of the program that plays the engine. */
#include <stdint.h>
uint64_t read_register(uint32_t address);
void write_register(uint32_t address, uint64_t word);
#define EYECAST_READ(engine, address) ((void)(engine), read_register(address))
#define EYECAST_WRITE(engine, address, word) ((void)(engine), write_register(address, word))
