  // A bit of a word that lies in a memory, which no bus reaches, is flipped: the word is damaged.
  task damage(input [1:0] region, input integer node, input integer address);
    case ({region, node})
@DAMAGES@
      default: check(0, "there is no such memory");
    endcase
  endtask

  // A run that reads a damaged word fails at its node.
  task run_damaged(input integer node);
    begin
      changing = 1;
      command(START);
      now = 0;
      while (busy === 1 && now < 2 * MOST_RUN) begin
        @(negedge clk);
        now = now + 1;
      end
      untold = 1;
      changing = 0;
      repeat (AFTERWARDS + 8) @(negedge clk);
      check(error === 1 && done === 0, "a run of damaged words does not fail");
      read_word(CONTROLLER, 0, RESULT_AT,
                (node << 16) + (PROGRAM << 12) + (1 << 11) + (FAILED << 8) + 2);
      changing = 1;
      command(ACKNOWLEDGE);
      untold = 0;
      changing = 0;
    end
  endtask
