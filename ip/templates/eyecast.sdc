# One clock, and no input or output without one: every port of the network belongs to "clk".
# The period is 10 ns here; Eyecast's docs and tables have the clocks that FPGAs reach.
create_clock -name clk -period 10.0 [get_ports clk]

# "rst" is sampled by a register like any other input, so it is also relative to the clock.
set_input_delay 2.0 -clock clk [get_ports {
@INPUTS@
}]
set_output_delay 2.0 -clock clk [all_outputs]
