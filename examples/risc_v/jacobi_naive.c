/* The same with its sums in software. */
#define NAIVE
#include "jacobi.c"
