// The multiplexers of crossbar_mux_ecp5.v in cells.
module eyecast_mux4 (input A, B, C, D, LOW, HIGH, TOP, output Z);
  wire low, high;
  LUT4 #(.INIT(16'hCACA)) low_lut (.A(A), .B(B), .C(LOW), .D(1'b0), .Z(low));
  LUT4 #(.INIT(16'hCACA)) high_lut (.A(C), .B(D), .C(HIGH), .D(1'b0), .Z(high));
  PFUMX top (.BLUT(low), .ALUT(high), .C0(TOP), .Z(Z));
endmodule

module eyecast_mux8 (
  input A, B, C, D, E, F, G, H, S0, S1, S2, S3, MIDDLE, TOP, output Z
);
  wire low, high;
  eyecast_mux4 low_mux (
    .A(A), .B(B), .C(C), .D(D), .LOW(S0), .HIGH(S1), .TOP(MIDDLE), .Z(low)
  );
  eyecast_mux4 high_mux (
    .A(E), .B(F), .C(G), .D(H), .LOW(S2), .HIGH(S3), .TOP(MIDDLE), .Z(high)
  );
  L6MUX21 top (.D0(low), .D1(high), .SD(TOP), .Z(Z));
endmodule
