// The crossbar's multiplexer (rtl/parts/crossbar.py) as yosys sees it while constants spread, so that the
// family's file, which then takes its place, knows which groups are never granted: no link.
(* blackbox *)
module eyecast_crossbar_mux #(
  parameter GROUPS = 1,
  parameter MEMBERS = 1,
  parameter WIDTH = 1
) (
  input [GROUPS-1:0] WINS,
  input [$clog2(GROUPS)+1:0] GROUP,
  input [GROUPS*MEMBERS-1:0] CANDIDATES,
  input [GROUPS*MEMBERS*WIDTH-1:0] VALUES,
  output [WIDTH-1:0] VALUE
);
endmodule
