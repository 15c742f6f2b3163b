  // Flip a parity bit of a memory word directly, without the bus: the word is damaged.
  task damage(input [1:0] region, input integer node, input integer address, input integer bit_at);
    case ({region, node})
@DAMAGES@
      default: check(0, "there is no such memory");
    endcase
  endtask

  // A damaged word is refused, and interrupts until acknowledged. The tile is told, too.
  task read_damaged(input integer node, input integer address,
                    input [64*PIECES-1:0] word);
    begin
      changing = 1;
      for (flipped = 0; flipped < PIECES; flipped = flipped + 1) begin
        refuse(0, byte_address(MESSAGE, node, (address << PIECE_BITS) + flipped), 0, ALL_BYTES,
               DAMAGED);
        damage_is_told;
      end
      if (STREAMS != 0) begin
        ask_for(node, address, 1);
        take(node, word, 1, 1);
        damage_is_told;
      end
      changing = 0;
    end
  endtask

  task damage_is_told;
    begin
      repeat (AFTERWARDS) @(negedge clk);
      check(interrupt === interrupt_enabled, "a damaged word does not interrupt");
      read_word(CONTROLLER, 0, ENABLE_AT, 2 + interrupt_enabled);
      command(ACKNOWLEDGE);
      read_word(CONTROLLER, 0, ENABLE_AT, interrupt_enabled);
      check(interrupt === 0, "a damaged word is not acknowledged");
    end
  endtask
