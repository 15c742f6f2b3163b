/* The temperature of a plate by Jacobi's method: every tile has SIDE x SIDE points of the plate. Its
   edges go to the neighbours, and all stop when the change of all points together is small. */
#include <ey.h>

#include "drawn.h"
#include "naive.h"

enum { SIDE = 4, COLUMNS = 4, LIMIT = 25000, MOST = 100 };
static float plate[SIDE + 2][SIDE + 2], next[SIDE][SIDE];
static float edges[4][SIDE], halo[4][SIDE];

static void share_edges(void) {
    for (int i = 0; i < SIDE; i++) {
        edges[0][i] = plate[i + 1][SIDE], edges[1][i] = plate[i + 1][1];
        edges[2][i] = plate[SIDE][i + 1], edges[3][i] = plate[1][i + 1];
    }
    ey_neighbours(edges, 4, EY_FLOAT, halo);
    for (int i = 0; i < SIDE; i++) {
        plate[i + 1][SIDE + 1] = halo[0][i], plate[i + 1][0] = halo[1][i];
        plate[SIDE + 1][i + 1] = halo[2][i], plate[0][i + 1] = halo[3][i];
    }
}

static float relax(void) {
    float change = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            float around = plate[y][x + 1] + plate[y + 2][x + 1];
            next[y][x] = (around + plate[y + 1][x] + plate[y + 1][x + 2]) / 4;
            float moved = next[y][x] - plate[y + 1][x + 1];
            change += moved * moved;
        }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) plate[y + 1][x + 1] = next[y][x];
    return change;
}

int main(void) {
    /* The upper side is hot: it is the halo of the tiles without a neighbour above. */
    for (int i = 0; ey_rank() < COLUMNS && i < SIDE; i++) halo[3][i] = 100;
    for (int run = 0; run < RUNS; run++) {
        int steps = 0;
        float change[1];
        seed(run);
        for (int y = 1; y <= SIDE; y++)
            for (int x = 1; x <= SIDE; x++) plate[y][x] = drawn(100);
        do {
            share_edges();
            *change = relax();
            SUM(change, 1, EY_FLOAT);
            steps++;
        } while (*change > LIMIT && steps < MOST);
        ey_print("%d steps, %f degrees, digest %x\n", steps, next[0][0], digest(next, SIDE * SIDE));
    }
    return 0;
}
