/* A matrix times a vector: tile 0 has the vector, every tile ROWS rows, and all get the product. In
   software, the same takes a message to tile 0 and one back for every tile. */
#include <ey.h>

enum { ROWS = 4, TILES = 16, SIZE = ROWS * TILES };
static int product[SIZE], own[ROWS];

int main(void) {
    int rank = ey_rank();
    int *vector = (int *)EY_WORDS(bcast, 64, 0);
    for (int k = 0; rank == 0 && k < SIZE; k++) vector[k] = 3 * k - 50;
    ey_bcast(vector, 64, EY_INT, 0);
    for (int row = 0; row < ROWS; row++) {
        own[row] = 0;
        for (int k = 0; k < SIZE; k++) own[row] += (7 * (ROWS * rank + row) + k) % 11 * vector[k];
    }
    ey_allgather(own, 4, EY_INT, product);
    int sum = 0;
    for (int row = 0; row < SIZE; row++) sum = 31 * sum + product[row];
    ey_print("y[0] = %d, y[63] = %d, all: %x\n", product[0], product[SIZE - 1], sum);
    return 0;
}
