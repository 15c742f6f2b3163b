"""The judge: cases with their prediction, and whether a run of the hardware agrees with it."""
