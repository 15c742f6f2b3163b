/* Clusters by k-means: every tile has POINTS points, the sums of all clusters are one all-reduce,
   and all stop when no centre moves. */
#include <ey.h>

#include "drawn.h"
#include "naive.h"

enum { POINTS = 24, CLUSTERS = 4, MOST = 50 };
static int x[POINTS], y[POINTS], centre[CLUSTERS][2];

static int nearest(int px, int py) {
    int best = 0, least = 0x7fffffff;
    for (int c = 0; c < CLUSTERS; c++) {
        int dx = px - centre[c][0], dy = py - centre[c][1], far = dx * dx + dy * dy;
        if (far < least) least = far, best = c;
    }
    return best;
}

static int step(void) {
    int sums[3 * CLUSTERS] = {0}, moved = 0;
    for (int p = 0; p < POINTS; p++) {
        int *sum = sums + 3 * nearest(x[p], y[p]);
        sum[0] += x[p], sum[1] += y[p], sum[2]++;
    }
    SUM(sums, 12, EY_INT);
    for (int c = 0; c < CLUSTERS; c++)
        for (int axis = 0; axis < 2 && sums[3 * c + 2]; axis++) {
            int mean = sums[3 * c + axis] / sums[3 * c + 2];
            moved |= mean != centre[c][axis];
            centre[c][axis] = mean;
        }
    return moved;
}

int main(void) {
    for (int run = 0; run < RUNS; run++) {
        seed(run);
        for (int p = 0; p < POINTS; p++) {
            int cluster = drawn(CLUSTERS);
            x[p] = cluster % 2 * 600 + drawn(300);
            y[p] = cluster / 2 * 600 + drawn(300);
        }
        for (int c = 0; c < CLUSTERS; c++) {
            centre[c][0] = 200 + 150 * c;
            centre[c][1] = 200 + 100 * c;
        }
        int steps = 1;
        while (step() && steps < MOST) steps++;
        ey_print("%d steps:", steps);
        for (int c = 0; c < CLUSTERS; c++) ey_print(" (%d, %d)", centre[c][0], centre[c][1]);
        ey_print("\n");
    }
    return 0;
}
