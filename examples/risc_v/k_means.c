/* Clusters by k-means: every tile has POINTS points, the sums of all clusters are one all-reduce,
   and all stop when no centre moves. */
#include <ey.h>

#include "naive.h"

enum { POINTS = 24, CLUSTERS = 4, MOST = 50 };
static int x[POINTS], y[POINTS], centre[CLUSTERS][2];

static unsigned drawn(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static int nearest(int px, int py) {
    int best = 0, least = 0x7fffffff;
    for (int c = 0; c < CLUSTERS; c++) {
        int dx = px - centre[c][0], dy = py - centre[c][1], far = dx * dx + dy * dy;
        if (far < least) least = far, best = c;
    }
    return best;
}

int main(void) {
    unsigned state = ey_rank() + 1;
    int sums[CLUSTERS][3];
    for (int p = 0; p < POINTS; p++) {
        int cluster = drawn(&state) % CLUSTERS;
        x[p] = cluster % 2 * 600 + drawn(&state) % 300;
        y[p] = cluster / 2 * 600 + drawn(&state) % 300;
    }
    for (int c = 0; c < CLUSTERS; c++) centre[c][0] = 200 + 150 * c, centre[c][1] = 200 + 100 * c;
    int moved = 1, step = 0;
    for (; moved && step < MOST; step++) {
        for (int c = 0; c < CLUSTERS; c++) sums[c][0] = sums[c][1] = sums[c][2] = 0;
        for (int p = 0; p < POINTS; p++) {
            int *sum = sums[nearest(x[p], y[p])];
            sum[0] += x[p], sum[1] += y[p], sum[2]++;
        }
        SUM((int *)sums, 12, EY_INT);
        moved = 0;
        for (int c = 0; c < CLUSTERS; c++)
            for (int axis = 0; axis < 2 && sums[c][2]; axis++) {
                int mean = sums[c][axis] / sums[c][2];
                moved |= mean != centre[c][axis];
                centre[c][axis] = mean;
            }
    }
    ey_print("%d steps:", step);
    for (int c = 0; c < CLUSTERS; c++) ey_print(" (%d, %d)", centre[c][0], centre[c][1]);
    ey_print("\n");
    return 0;
}
