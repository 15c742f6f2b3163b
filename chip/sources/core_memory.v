// A core's own memory: the same contents in all tiles, from the file program.hex.
module core_memory #(
    parameter WORDS = 16384
) (
    input clk,
    input reads,
    input [29:0] read_address,
    input [29:0] address,
    input [3:0] write,
    input [31:0] write_data,
    output reg [31:0] read_data
);
    reg [31:0] words [0:WORDS-1];
    integer place;
    initial $readmemh("program.hex", words);
    always @(posedge clk) begin
        if (reads) read_data <= words[read_address];
        for (place = 0; place < 4; place = place + 1)
            if (write[place]) words[address][8*place +: 8] <= write_data[8*place +: 8];
    end
endmodule
