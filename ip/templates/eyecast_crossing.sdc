# Two clocks that know nothing of each other: of the buses and of the engine. Give each its period,
# and the shorter one to the paths between them.
create_clock -name clk -period 10.0 [get_ports clk]
create_clock -name engine_clk -period 10.0 [get_ports engine_clk]

# All bits of a FIFO's pointer must cross within one period; one of them changes at a time.
set_max_delay 10.0 -from [get_clocks clk] -to [get_clocks engine_clk]
set_max_delay 10.0 -from [get_clocks engine_clk] -to [get_clocks clk]
set_false_path -hold -from [get_clocks clk] -to [get_clocks engine_clk]
set_false_path -hold -from [get_clocks engine_clk] -to [get_clocks clk]

set_input_delay 2.0 -clock clk [get_ports {
@INPUTS@
}]
set_output_delay 2.0 -clock clk [get_ports {
@OUTPUTS@
}]
set_input_delay 2.0 -clock engine_clk [get_ports {
@ENGINE_INPUTS@
}]
set_output_delay 2.0 -clock engine_clk [get_ports {
@ENGINE_OUTPUTS@
}]
