// Block RAM, multiplier and reset of ECP5 as simulation models. yosys ships those of the other
// cells, which are included here, and knows these three by their ports alone.

`define NO_INCLUDES
`include "common_sim.vh"
`include "ccu2c_sim.vh"

// Flip-flops begin with their reset values anyway (TRELLIS_FF), and the designs here ask no more of
// the global reset.
module SGSR(input CLK, input GSR);
endmodule

// 1024 words of 18 bits with two ports, as yosys uses it: without output registers, and selected
// always. A port is 1, 2, 4, 9 or 18 bits wide; at 36 bits port A only writes and port B only reads,
// and both bring their data pins together, those of A below.
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG",
    parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC", GSR = "ENABLED",
    parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000",
    parameter CLKAMUX = "CLKA", CLKBMUX = "CLKB",
    parameter WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
    // Sixteen words each, one in every 20 bits.
    parameter [319:0]
        INITVAL_00 = 0, INITVAL_01 = 0, INITVAL_02 = 0, INITVAL_03 = 0, INITVAL_04 = 0,
        INITVAL_05 = 0, INITVAL_06 = 0, INITVAL_07 = 0, INITVAL_08 = 0, INITVAL_09 = 0,
        INITVAL_0A = 0, INITVAL_0B = 0, INITVAL_0C = 0, INITVAL_0D = 0, INITVAL_0E = 0,
        INITVAL_0F = 0, INITVAL_10 = 0, INITVAL_11 = 0, INITVAL_12 = 0, INITVAL_13 = 0,
        INITVAL_14 = 0, INITVAL_15 = 0, INITVAL_16 = 0, INITVAL_17 = 0, INITVAL_18 = 0,
        INITVAL_19 = 0, INITVAL_1A = 0, INITVAL_1B = 0, INITVAL_1C = 0, INITVAL_1D = 0,
        INITVAL_1E = 0, INITVAL_1F = 0, INITVAL_20 = 0, INITVAL_21 = 0, INITVAL_22 = 0,
        INITVAL_23 = 0, INITVAL_24 = 0, INITVAL_25 = 0, INITVAL_26 = 0, INITVAL_27 = 0,
        INITVAL_28 = 0, INITVAL_29 = 0, INITVAL_2A = 0, INITVAL_2B = 0, INITVAL_2C = 0,
        INITVAL_2D = 0, INITVAL_2E = 0, INITVAL_2F = 0, INITVAL_30 = 0, INITVAL_31 = 0,
        INITVAL_32 = 0, INITVAL_33 = 0, INITVAL_34 = 0, INITVAL_35 = 0, INITVAL_36 = 0,
        INITVAL_37 = 0, INITVAL_38 = 0, INITVAL_39 = 0, INITVAL_3A = 0, INITVAL_3B = 0,
        INITVAL_3C = 0, INITVAL_3D = 0, INITVAL_3E = 0, INITVAL_3F = 0
) (
    input CLKA, CEA, OCEA, WEA, RSTA, CSA2, CSA1, CSA0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
        DIA4, DIA3, DIA2, DIA1, DIA0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0,
    input CLKB, CEB, OCEB, WEB, RSTB, CSB2, CSB1, CSB0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
        DIB4, DIB3, DIB2, DIB1, DIB0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0
);
    reg [17:0] memory [0:1023];
    reg [17:0] out_a = 0, out_b = 0;

    wire [13:0] address_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3,
        ADA2, ADA1, ADA0};
    wire [17:0] in_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7,
        DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0} = out_a;
    wire [13:0] address_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3,
        ADB2, ADB1, ADB0};
    wire [17:0] in_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7,
        DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0} = out_b;

    // Where in a word of 18 bits a narrower one is: each half has 8 bits for widths up to 4.
    function integer place(input integer width, input [3:0] low);
        case (width)
            1: place = 9 * low[3] + low[2:0];
            2: place = 9 * low[3] + 2 * low[2:1];
            4: place = 9 * low[3] + 4 * low[2];
            9: place = 9 * low[3];
            default: place = 0;
        endcase
    endfunction

    // Which bits of a word are written: of a whole one each half by itself.
    function [17:0] written(input integer width, input [3:0] low);
        if (width >= 18) written = {{9{low[1]}}, {9{low[0]}}};
        else written = ((18'd1 << width) - 18'd1) << place(width, low);
    endfunction

    function [17:0] merged(input [17:0] old, input [17:0] new_, input [17:0] mask);
        merged = (old & ~mask) | (new_ & mask);
    endfunction

    localparam PAIR_A = DATA_WIDTH_A == 36, PAIR_B = DATA_WIDTH_B == 36;
    wire [9:0] word_a = PAIR_A ? {address_a[13:5], 1'b0} : address_a[13:4];
    wire [9:0] word_b = PAIR_B ? {address_b[13:5], 1'b1} : address_b[13:4];
    wire [17:0] next_a = merged(memory[word_a], in_a << place(DATA_WIDTH_A, address_a[3:0]),
        written(DATA_WIDTH_A, address_a[3:0]));
    wire [17:0] next_b = merged(memory[word_b], in_b << place(DATA_WIDTH_B, address_b[3:0]),
        written(DATA_WIDTH_B, address_b[3:0]));
    wire clock_a = CLKAMUX == "INV" ? ~CLKA : CLKA;
    wire clock_b = CLKBMUX == "INV" ? ~CLKB : CLKB;
    wire clear_a = RESETMODE == "ASYNC" && RSTA, clear_b = RESETMODE == "ASYNC" && RSTB;

    always @(posedge clock_a)
        if (CEA && WEA) begin
            memory[word_a] <= next_a;
            if (PAIR_A)
                memory[word_a | 1] <= merged(memory[word_a | 1], in_b, written(36, address_a[3:2]));
        end

    always @(posedge clock_b)
        if (CEB && WEB && !PAIR_A && !PAIR_B) memory[word_b] <= next_b;

    generate
        if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG")
            DP16KD_MODE_WITHOUT_MODEL error();
        if (PAIR_B)
            always @(posedge clock_b, posedge clear_b)
                if (clear_b || RSTB) {out_b, out_a} <= 0;
                else if (CEB) {out_b, out_a} <= {memory[word_b], memory[word_b & ~10'd1]};
        if (!PAIR_A && !PAIR_B)
            always @(posedge clock_a, posedge clear_a)
                if (clear_a || RSTA) out_a <= 0;
                else if (CEA && WEA && WRITEMODE_A == "WRITETHROUGH")
                    out_a <= next_a >> place(DATA_WIDTH_A, address_a[3:0]);
                else if (CEA && (!WEA || WRITEMODE_A == "READBEFOREWRITE"))
                    out_a <= memory[word_a] >> place(DATA_WIDTH_A, address_a[3:0]);
        if (!PAIR_B)
            always @(posedge clock_b, posedge clear_b)
                if (clear_b || RSTB) out_b <= 0;
                else if (CEB && WEB && WRITEMODE_B == "WRITETHROUGH")
                    out_b <= next_b >> place(DATA_WIDTH_B, address_b[3:0]);
                else if (CEB && (!WEB || WRITEMODE_B == "READBEFOREWRITE"))
                    out_b <= memory[word_b] >> place(DATA_WIDTH_B, address_b[3:0]);
    endgenerate

    integer i;
    wire [20479:0] start = {
        INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39,
        INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32,
        INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B,
        INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24,
        INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D,
        INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16,
        INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F,
        INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
        INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
        INITVAL_00
    };
    initial for (i = 0; i < 1024; i = i + 1) memory[i] = start[20 * i +: 18];
endmodule

// A multiplier as yosys uses it, without registers: none of the other inputs is looked at.
module MULT18X18D(
    input
        A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
    input
        B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
    input
        C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
    input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    output
        P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
        P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);
    wire [17:0] a = {
        A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0
    };
    wire [17:0] b = {
        B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0
    };
    wire signed [35:0] wide_a = {{18{SIGNEDA & a[17]}}, a};
    wire signed [35:0] wide_b = {{18{SIGNEDB & b[17]}}, b};
    assign {
        P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
        P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
    } = wide_a * wide_b;
endmodule
