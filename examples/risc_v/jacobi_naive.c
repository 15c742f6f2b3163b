/* The same with its collectives in software. */
#define NAIVE
#include "jacobi.c"
