/* Accesses of the driver, as functions of the program that simulates the engine. */
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
uint32_t axi_read(uint32_t address);
void axi_write(uint32_t address, uint32_t word);
#ifdef __cplusplus
}
#endif
#define EYECAST_READ(engine, address) ((void)(engine), axi_read(address))
#define EYECAST_WRITE(engine, address, word) ((void)(engine), axi_write(address, word))
