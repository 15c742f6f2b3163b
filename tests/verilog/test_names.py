"""Names in the Verilog: of records' fields, of states, and of intermediate values."""

import enum
import re

from amaranth.hdl import Module, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.rtl.controller import Controller
from eyecast.rtl.sender import Sender
from eyecast.verilog.hierarchy import Division
from eyecast.verilog.text import module_texts


class Color(enum.Enum):
    """An enumeration whose names appear in the Verilog."""

    RED = 0
    GREEN = 2


class Counter(Component):
    """A component with a record, a state machine, and a register of an enumeration."""

    def __init__(self) -> None:
        ports = {"step": In(4), "go": In(1), "same": Out(1), "sum": Out(4)}
        super().__init__({**ports, "color": Out(Color)})

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        row = Signal(data.StructLayout({"step": 4, "left": 4}))
        m.d.comb += [
            self.same.eq((row.step == self.step) & self.go & (row.left[1:3] == 3)),
            self.sum.eq(row.left),
        ]
        with m.FSM():
            with m.State("READ"):
                m.d.sync += [row.step.eq(self.step), row.left.eq(8), self.color.eq(Color.GREEN)]
                with m.If(self.go):
                    m.next = "SEND"
            with m.State("SEND"):
                m.d.sync += row.left.eq(row.left - (self.step + row.step)[1:])
                with m.If((row.left == 1) | (row.left == 14)):
                    m.d.sync += self.color.eq(Color.RED)
                    m.next = "READ"
        return m


WRITTEN = """\
module counter (
    input wire [3:0] step,
    input wire go,
    input wire clk,
    input wire rst,
    output wire same,
    output wire [3:0] sum,
    output reg [1:0] color
);
  localparam READ = 1'h0;
  localparam SEND = 1'h1;
  localparam [1:0] RED = 2'h0;
  localparam [1:0] GREEN = 2'h2;
  reg [7:0] row;
  initial row = 8'h0;
  wire [3:0] row__step = row[3:0];
  wire [3:0] row__left = row[7:4];
  reg fsm_state;
  initial fsm_state = READ;
  initial color = RED;
  wire [4:0] row__left_sum;
  wire color_either;
  assign color_either = (row__left == 4'h1) | (row__left == 4'he);
  assign sum = row__left;
  assign same = (row__step == step) & go & (row__left[2:1] == 2'h3);
  assign row__left_sum = {1'h0, step} + {1'h0, row__step};
  always @(posedge clk) begin
    if (fsm_state == READ) begin
      row[3:0] <= step;
      row[7:4] <= 4'h8;
    end else if (fsm_state == SEND) begin
      row[7:4] <= row__left - row__left_sum[4:1];
    end
    if (fsm_state == READ) begin
      color <= GREEN;
    end else if (fsm_state == SEND) begin
      if (color_either) begin
        color <= RED;
      end
    end
    if (fsm_state == READ) begin
      if (go) begin
        fsm_state <= SEND;
      end
    end else if (fsm_state == SEND) begin
      if (color_either) begin
        fsm_state <= READ;
      end
    end
    if (rst) begin
      row <= 8'h0;
      color <= RED;
      fsm_state <= READ;
    end
  end
  wire unused = &{1'b0, row__left_sum[0]};
endmodule
"""


def test_fields_states_and_values_have_names() -> None:
    division = Division()
    division.add(Counter(), "counter")
    (text,) = module_texts(division).values()
    assert text.partition("\n")[2] == WRITTEN


STATED = re.compile(r"state (?:==|<=) \w+|assign state =[^;]*|initial \w*state =[^;]*")
"""Comparisons with a state, and assignments to it."""


def test_states_are_compared_and_assigned_by_name() -> None:
    config = NetworkConfig(topology=line(2), programs=1, parity=True)
    division = Division()
    division.add(Controller(config), "controller")
    division.add(Sender(config, ports=range(1, 3)), "sender")
    found = STATED.findall("".join(module_texts(division).values()))
    assert {
        "state <= RUNNING",
        "state == STARTING",
        "state == EXPECT",
        "state <= READY",
    } <= {*found}
    assert not [each for each in found if re.search(r"\W\d", each)]
