/* A matrix times a vector: tile 0 has the vector, every tile ROWS rows, and all get the product. */
#include <ey.h>

#include "drawn.h"
#include "naive.h"

enum { ROWS = 2, TILES = 16, SIZE = ROWS * TILES };
static int rows[ROWS][SIZE], vector[SIZE], product[SIZE], own[ROWS];

int main(void) {
    for (int run = 0; run < RUNS; run++) {
        seed(run);
        for (int k = 0; ey_rank() == 0 && k < SIZE; k++) vector[k] = drawn(1000) - 500;
        for (int row = 0; row < ROWS; row++)
            for (int k = 0; k < SIZE; k++) rows[row][k] = drawn(1000) - 500;
        BCAST(vector, 32, EY_INT);
        for (int row = 0; row < ROWS; row++) {
            own[row] = 0;
            for (int k = 0; k < SIZE; k++) own[row] += rows[row][k] * vector[k];
        }
        ALLGATHER(own, 2, EY_INT, product, 32);
        ey_print("%d ... %d, digest %x\n", product[0], product[SIZE - 1], digest(product, SIZE));
    }
    return 0;
}
