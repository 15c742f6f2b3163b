// The crossbar's multiplexer in cells of an iCE40: 2 inputs for each LUT but the first of 8, where
// yosys finds 1 or 1.5. A LUT passes on what the one before it says, or, if the grant is its own,
// takes that as the number of one of its two inputs. Up to 3 inputs are plainly gated. Where nothing
// is granted the value is 0.
(* techmap_celltype = "eyecast_crossbar_mux" *)
module eyecast_crossbar_mux_ice40 (WINS, GROUP, CANDIDATES, VALUES, VALUE);
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

  localparam LIVE = live_before(GROUPS) * MEMBERS;
  localparam PAIRS = (LIVE + 1) / 2;
  localparam CHAIN = 4;

  wire [2*PAIRS:0] granted;
  wire [WIDTH*(2*PAIRS+1)-1:0] values;
  wire [PAIRS:0] odd, pair;
  wire [WIDTH*(PAIRS+1)-1:0] so_far;
  wire [WIDTH*(PAIRS+1)-1:0] result;
  genvar group, member, p, b;
  generate
    for (group = 0; group < GROUPS; group = group + 1) begin : groups
      if (!NEVER[group])
        for (member = 0; member < MEMBERS; member = member + 1) begin : members
          localparam PLACE = live_before(group) * MEMBERS + member;
          localparam FROM = group * MEMBERS + member;
          assign granted[PLACE] = WINS[group] & (MEMBERS == 1 | CANDIDATES[FROM]);
          assign values[PLACE*WIDTH +: WIDTH] = VALUES[FROM*WIDTH +: WIDTH];
          if (MEMBERS == 2 && member == 0) assign pair[PLACE/2] = WINS[group];
        end
    end
    if (LIVE % 2) begin : fill
      assign granted[LIVE] = 1'b0;
      assign values[LIVE*WIDTH +: WIDTH] = {WIDTH{1'b0}};
    end
    for (p = 0; p < PAIRS; p = p + 1) begin : pairs
      if (MEMBERS != 2) assign pair[p] = granted[2*p] | granted[2*p+1];
      assign odd[p] = granted[2*p+1];
    end
    for (p = 0; p < PAIRS; p = p + 1) begin : luts
      localparam LAST = p / CHAIN * CHAIN + CHAIN < PAIRS ? p / CHAIN * CHAIN + CHAIN : PAIRS;
      for (b = 0; b < WIDTH; b = b + 1) begin : bits
        if (LIVE == 1)
          assign so_far[b] = granted[0] & values[b];
        else if (LIVE <= 3 && p == 0)
          SB_LUT4 #(.LUT_INIT(16'hECA0)) lut (
            .I0(values[b]), .I1(values[WIDTH+b]), .I2(granted[0]), .I3(granted[1]),
            .O(so_far[b])
          );
        else if (p % CHAIN == 0)
          SB_LUT4 #(.LUT_INIT(16'hF0CA)) lut (
            .I0(values[2*p*WIDTH+b]), .I1(values[(2*p+1)*WIDTH+b]),
            .I2(|odd[LAST-1:p]), .I3(~pair[p]), .O(so_far[p*WIDTH+b])
          );
        else
          SB_LUT4 #(.LUT_INIT(16'hE4AA)) lut (
            .I0(so_far[(p-1)*WIDTH+b]),
            .I1(values[2*p*WIDTH+b]), .I2(values[(2*p+1)*WIDTH+b]), .I3(pair[p]),
            .O(so_far[p*WIDTH+b])
          );
      end
    end
    // A chain without the grant says 0.
    assign result[WIDTH-1:0] = {WIDTH{1'b0}};
    for (p = 0; p < PAIRS; p = p + 1) begin : results
      if (p % CHAIN == CHAIN - 1 || p == PAIRS - 1)
        assign result[(p+1)*WIDTH +: WIDTH] = result[p*WIDTH +: WIDTH] | so_far[p*WIDTH +: WIDTH];
      else
        assign result[(p+1)*WIDTH +: WIDTH] = result[p*WIDTH +: WIDTH];
    end
  endgenerate
  assign VALUE = result[PAIRS*WIDTH +: WIDTH];
endmodule
