// What abc9 must know of the multiplexers of crossbar_mux_ecp5.v to put the LUTs around them in the
// right order: what comes late. In ps; with what the many LUTs at one select signal cost.
(* abc9_box, lib_whitebox *)
module eyecast_mux4 (input A, B, C, D, LOW, HIGH, TOP, output Z);
  assign Z = TOP ? (HIGH ? D : C) : (LOW ? B : A);
  specify
    (A => Z) = 500; (B => Z) = 500; (C => Z) = 500; (D => Z) = 500;
    (LOW => Z) = 1000; (HIGH => Z) = 1000; (TOP => Z) = 800;
  endspecify
endmodule

(* abc9_box, lib_whitebox *)
module eyecast_mux8 (
  input A, B, C, D, E, F, G, H, S0, S1, S2, S3, MIDDLE, TOP, output Z
);
  assign Z = TOP ? (MIDDLE ? (S3 ? H : G) : (S2 ? F : E)) : (MIDDLE ? (S1 ? D : C) : (S0 ? B : A));
  specify
    (A => Z) = 500; (B => Z) = 500; (C => Z) = 500; (D => Z) = 500;
    (E => Z) = 500; (F => Z) = 500; (G => Z) = 500; (H => Z) = 500;
    (S0 => Z) = 1000; (S1 => Z) = 1000; (S2 => Z) = 1000; (S3 => Z) = 1000;
    (MIDDLE => Z) = 800; (TOP => Z) = 800;
  endspecify
endmodule
