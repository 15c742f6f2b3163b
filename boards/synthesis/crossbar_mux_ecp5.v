// The crossbar's multiplexer in cells of an ECP5: 4 or 8 inputs, 2 for each LUT, joined by the
// multiplexers beside the LUTs, of which yosys makes LUTs of more inputs and no others.
(* techmap_celltype = "eyecast_crossbar_mux" *)
module eyecast_crossbar_mux_ecp5 (WINS, GROUP, CANDIDATES, VALUES, VALUE);
  parameter GROUPS = 1;
  parameter MEMBERS = 1;
  parameter WIDTH = 1;
  // Bits of WINS that are constant: those groups never win.
  parameter _TECHMAP_CONSTMSK_WINS_ = 0;
  input [GROUPS-1:0] WINS;
  input [$clog2(GROUPS)+1:0] GROUP;
  input [GROUPS*MEMBERS-1:0] CANDIDATES;
  input [GROUPS*MEMBERS*WIDTH-1:0] VALUES;
  output [WIDTH-1:0] VALUE;

  localparam [GROUPS-1:0] NEVER = _TECHMAP_CONSTMSK_WINS_;

  // How many groups before this one may win.
  function integer live_before(input integer group);
    integer other;
    begin
      live_before = 0;
      for (other = 0; other < group; other = other + 1)
        live_before = live_before + !NEVER[other];
    end
  endfunction

  localparam LIVE = live_before(GROUPS);
  localparam BLOCKS = (LIVE + 3) / 4;
  localparam FILLED = 4 * BLOCKS;

  // Of each live group two values, and which of them: of more than two members only the candidate.
  wire [FILLED:0] wins, second;
  wire [WIDTH*(FILLED+1)-1:0] first_value, second_value;
  wire [WIDTH*(BLOCKS+1)-1:0] result;
  genvar group, k, b;
  generate
    for (group = 0; group < GROUPS; group = group + 1) begin : groups
      if (!NEVER[group]) begin : live
        localparam PLACE = live_before(group);
        localparam FROM = group * MEMBERS;
        wire [WIDTH*(MEMBERS+1)-1:0] chosen;
        assign chosen[WIDTH-1:0] = {WIDTH{1'b0}};
        for (k = 0; k < MEMBERS; k = k + 1) begin : members
          assign chosen[(k+1)*WIDTH +: WIDTH] = chosen[k*WIDTH +: WIDTH]
            | (VALUES[(FROM+k)*WIDTH +: WIDTH] & {WIDTH{CANDIDATES[FROM+k]}});
        end
        assign wins[PLACE] = WINS[group];
        assign second[PLACE] = MEMBERS == 2 ? CANDIDATES[FROM+MEMBERS-1] : 1'b0;
        assign first_value[PLACE*WIDTH +: WIDTH] =
          MEMBERS <= 2 ? VALUES[FROM*WIDTH +: WIDTH] : chosen[MEMBERS*WIDTH +: WIDTH];
        assign second_value[PLACE*WIDTH +: WIDTH] = VALUES[(FROM+MEMBERS-1)*WIDTH +: WIDTH];
      end
    end
    for (k = LIVE; k < FILLED; k = k + 1) begin : fill
      assign wins[k] = 1'b0;
      assign second[k] = 1'b0;
      assign first_value[k*WIDTH +: WIDTH] = {WIDTH{1'b0}};
      assign second_value[k*WIDTH +: WIDTH] = {WIDTH{1'b0}};
    end
    assign result[WIDTH-1:0] = {WIDTH{1'b0}};
    for (k = 0; k < FILLED; k = k + 4) begin : blocks
      wire [1:0] number;
      wire [WIDTH-1:0] of_block;
      // The number is there before "wins" is, but counts all groups.
      assign number = GROUPS <= 4 && LIVE == GROUPS ? GROUP[1:0]
        : {wins[k+2] | wins[k+3], wins[k+1] | wins[k+3]};
      for (b = 0; b < WIDTH; b = b + 1) begin : bits
        if (MEMBERS != 2 && LIVE - k <= 2)
          assign of_block[b] = wins[k+1] ? first_value[(k+1)*WIDTH+b] : first_value[k*WIDTH+b];
        else if (MEMBERS != 2)
          eyecast_mux4 mux (
            .A(first_value[k*WIDTH+b]), .B(first_value[(k+1)*WIDTH+b]),
            .C(first_value[(k+2)*WIDTH+b]), .D(first_value[(k+3)*WIDTH+b]),
            .LOW(number[0]), .HIGH(number[0]), .TOP(number[1]), .Z(of_block[b])
          );
        else if (LIVE - k <= 2)
          eyecast_mux4 mux (
            .A(first_value[k*WIDTH+b]), .B(second_value[k*WIDTH+b]),
            .C(first_value[(k+1)*WIDTH+b]), .D(second_value[(k+1)*WIDTH+b]),
            .LOW(second[k]), .HIGH(second[k+1]), .TOP(wins[k+1]), .Z(of_block[b])
          );
        else
          eyecast_mux8 mux (
            .A(first_value[k*WIDTH+b]), .B(second_value[k*WIDTH+b]),
            .C(first_value[(k+1)*WIDTH+b]), .D(second_value[(k+1)*WIDTH+b]),
            .E(first_value[(k+2)*WIDTH+b]), .F(second_value[(k+2)*WIDTH+b]),
            .G(first_value[(k+3)*WIDTH+b]), .H(second_value[(k+3)*WIDTH+b]),
            .S0(second[k]), .S1(second[k+1]), .S2(second[k+2]), .S3(second[k+3]),
            .MIDDLE(number[0]), .TOP(number[1]), .Z(of_block[b])
          );
      end
      assign result[(k/4+1)*WIDTH +: WIDTH] = result[k/4*WIDTH +: WIDTH]
        | (of_block & {WIDTH{BLOCKS == 1 | (|wins[k+3:k])}});
    end
  endgenerate
  assign VALUE = result[BLOCKS*WIDTH +: WIDTH];
endmodule
