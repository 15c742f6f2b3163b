"""Faults to plant in a package's Verilog; its bench must detect each."""

import re
from pathlib import Path
from typing import NamedTuple

FIRST_FAULT = ("faults = faults + 1;", "faults = faults + 1; fail;")
"""The bench's count of faults, and what ends it with its first one."""
NEW_REGISTERS = {"late": "reg late", "last": "reg [31:0] last"}


class Fault(NamedTuple):
    """A pattern in the Verilog, and its faulty replacement.

    ``module`` is a pattern of file names without their prefix and suffix; in each such file the
    first ``count`` matches of ``pattern`` are replaced. The registers ``late`` (one bit) and
    ``last`` (32 bits) are declared if a replacement needs them.
    """

    module: str
    pattern: str
    replacement: str
    count: int = 1

    def plant(self, package: Path) -> None:
        """Put the fault into a package; ``pattern`` must match."""
        planted = 0
        for path in (package / "rtl").glob(f"eyecast_{self.module}.v"):
            text, found = re.subn(
                self.pattern, self.replacement, path.read_text(), count=self.count, flags=re.DOTALL
            )
            planted += found
            for name, declared in NEW_REGISTERS.items():
                if found and re.search(rf"\b{name} <=", self.replacement):
                    text = text.replace(");\n", f");\n  {declared};\n", 1)
            path.write_text(text)
        assert planted, f"{self.pattern} is not in {self.module}"


IN_BOTH = {
    "credits are not counted": Fault(
        "credit_counter", r"assign available = [^;]*;", "assign available = 1'b1;"
    ),
    "a credit is lost": Fault("credit_counter", r"if \(spend \^ earn\)", "if (spend)"),
    "no turn moves on": Fault(
        "arbiter*", r"from_turn_(\d+) <= ", r"from_turn_\1 <= 1'b1 ? from_turn_\1 : ", 9
    ),
    "a turn is forgotten in a pause": Fault("arbiter*", r"if \(granted & begins\)", "if (1'b1)"),
    "a stop does nothing": Fault(
        "run_control",
        r"if \(stop\) begin\n      state <= IDLE;",
        "if (1'b0) begin\n      state <= IDLE;",
    ),
    "a stop leaves the queue": Fault(
        "run_control",
        r"if \(stop\) begin\n      queued <= 1'h0;",
        "if (1'b0) begin\n      queued <= 1'h0;",
    ),
    "there is no limit": Fault(
        "run_control", r"nodes__heard & \(next_cycle == (\{1'h0, run__limit\})\)", r"1'b0 & \1"
    ),
    "the limit is a cycle later": Fault(
        "run_control", r"next_cycle == (\{1'h0, run__limit\})", r"next_cycle == \1 + 1"
    ),
    "the culprit is another": Fault(
        "run_control", r"culprit <= nodes__first_unfinished", "culprit <= nodes__first_flagged"
    ),
    "a failed run is done": Fault("run_control", r"state <= FAILED", "state <= DONE"),
    "nothing is queued": Fault("run_control", r"queued <= 1'h1", "queued <= 1'h0", 2),
    "a header under way outlives a reset": Fault(
        "arrival_[1-9]", r"(if \(rst\) begin\n) +under_way <= 1'h0;\n", r"\1"
    ),
    "an end outlives a reset": Fault(
        "run_control", r"(if \(rst\) begin\n) +ended <= 1'h0;\n", r"\1"
    ),
    "the interrupt is never": Fault(
        "controller", r"assign interrupt = [^;]*", "assign interrupt = 0"
    ),
    "the interrupt is always enabled": Fault(
        "controller", r"assign interrupt = ([^;]*) & enable", r"assign interrupt = \1"
    ),
    "nothing is acknowledged": Fault("run_control", r"if \(acknowledge\)", "if (1'b0)"),
    "the culprit's flags are not read": Fault(
        "controller", r"flags <= tiles__read_data\[7:0\]", "flags <= 8'h0"
    ),
    "the limit cannot be read back": Fault("directory", r"\(field == 2'h3\)( \? limit)", r"1'b0\1"),
    "the image is not looked at": Fault("request_check", r"\(image != 32'h\w+\) \|", ""),
    "a program beyond its table is started": Fault(
        "request_check", r"> 33'h\w+", "> 33'h1ffffffff"
    ),
    "a program of no words is started": Fault("request_check", r"\(words == 32'h0\)", "1'b0"),
    "a table in use is written": Fault("request_check", r"busy & \(request", "1'b0 & (request"),
    "a turn stays at a link behind which the interface waits": Fault(
        "arbiter_1", r"(from_turn_\d+ <= \{+[^}]*\} < \d'h3, \{[^}]*\} < \d'h)2", r"\g<1>3"
    ),
    "a word behind the last register is read": Fault(
        "request_check",
        r"\(request__address < (\d+'h\w+)\) & \(entry",
        r"(request__address <= \1) & (entry",
    ),
    "an entry in use is written": Fault(
        "request_check", r"\(busy & \(program_chosen", "(1'b0 & (program_chosen"
    ),
    "a second program is queued": Fault("request_check", r"\|\s+queued\);", "| 1'b0);"),
    "half-duplex is not looked at": Fault(
        "step_keeper", r"causes__send_and_receive = half_duplex", "causes__send_and_receive = 1'b0"
    ),
    "a word beyond the memory sets no flag": Fault(
        "receiver", r"assign causes__bad_write = [^;]*", "assign causes__bad_write = 1'b0"
    ),
    "a doorbell does not ring": Fault("doorbell", r"arrived_2 <= ", "arrived_2 <= 1'b0 & "),
    "a doorbell rings late": Fault(
        "doorbell",
        r"assign arrived = arrived_2",
        "always @(posedge clk) late <= arrived_2;\n  assign arrived = late",
    ),
    "a doorbell tells another step": Fault("doorbell", r"step <= (\w+);", r"step <= \1 ^ 1;"),
    "no tile holds its node": Fault(
        "network_interface", r"steps__held <= tile__hold", "steps__held <= 1'b0"
    ),
    "a tile's hold is a cycle late": Fault(
        "network_interface",
        r"steps__held <= tile__hold;",
        "late <= tile__hold;\n    steps__held <= late;",
    ),
    "done and error are exchanged": Fault(
        "engine", r"\.done\(done\),(\s+)\.error\(error\)", r".done(error),\1.error(done)"
    ),
    "the cycle leads nowhere": Fault("engine", r"\.cycle\(cycle\)", ".cycle()"),
    "busy is inverted": Fault("run_control", r"assign busy = ([^;]*);", r"assign busy = !(\1);"),
    "two nodes' holds are exchanged": Fault(
        "engine", r"\.tile_0__hold\(tile_0__hold\)", ".tile_0__hold(tile_1__hold)"
    ),
    "two nodes' doorbells are exchanged": Fault(
        "engine", r"\.tile_1__arrived\(tile_1__arrived\)", ".tile_1__arrived(tile_0__arrived)"
    ),
    "a node is always finished": Fault(
        "engine", r"\.tile_1__finished\(tile_1__finished\)", ".tile_1__finished()"
    ),
    "a node's step leads nowhere": Fault(
        "engine", r"\.tile_1__step\(tile_1__step\)", ".tile_1__step()"
    ),
    "a node does not run": Fault(
        "engine", r"\.tile_1__running\(tile_1__running\)", ".tile_1__running()"
    ),
    "the tile comes before the network": Fault(
        "shared_memory", r"assign write_free = [^;]*", "assign write_free = 1'b1"
    ),
    "a tile's read takes the network's": Fault(
        "shared_memory", r"assign tile_read_ready = [^;]*", "assign tile_read_ready = 1'b1"
    ),
    "the host's read takes the network's": Fault(
        "shared_memory", r"assign read_free = [^;]*", "assign read_free = 1'b1"
    ),
    "parts of a word are written": Fault(
        "bus_access", r"\(!\(&access__bytes\)\)", "(access__bytes == 0)"
    ),
    "what is refused is not kept": Fault(
        "bus_access", r"if \(access__answered & \(access__refusal != 2'h0\)\)", "if (1'b0)"
    ),
    "a refusal keeps another address": Fault(
        "bus_access",
        r"access__address\[(\d+):2\], access__refusal",
        r"access__address[\1:2] ^ 1'b1, access__refusal",
    ),
    "node and word are exchanged": Fault(
        "bus_access",
        r"assign host__node = (\w+)",
        r"assign host__node = \1 ^ 1",
    ),
}

OF_AXI = {
    "no response to a write": Fault("axi4_lite", r"bus__bvalid <= 1'h1", "bus__bvalid <= 1'h0"),
    "a response that does not wait": Fault("axi4_lite", r"if \(bus__bready\)", "if (1'b1)"),
    "every write is OKAY": Fault(
        "axi4_lite", r"bus__bresp <= bus__bresp_chosen", "bus__bresp <= 2'h0"
    ),
    "every read is OKAY": Fault(
        "axi4_lite", r"bus__rresp <= bus__bresp_chosen", "bus__rresp <= 2'h0"
    ),
    "an answer that does not wait": Fault("axi4_lite", r"if \(bus__rready\)", "if (1'b1)"),
    "no such word is not now": Fault("axi4_lite", r"\? 2'h3 :", "? 2'h2 :"),
    "a write without its data": Fault(
        "axi4_lite", r"bus__awvalid & bus__wvalid & ", "bus__awvalid & "
    ),
    "a second write before the response": Fault(
        "axi4_lite", r"bus__wvalid & !bus__bvalid", "bus__wvalid"
    ),
    "reads before writes": Fault(
        "axi4_lite",
        r"access__access__write <= (\w+);\n    end\n    if \(bus",
        r"access__access__write <= \1 & !may_read;\n    end\n    if (bus",
    ),
    "the last answer is read": Fault(
        "axi4_lite",
        r"bus__rdata <= access__access__read_data",
        "last <= access__access__read_data;\n      bus__rdata <= last",
    ),
    "the engine's responses lead nowhere": Fault("engine", r"s_axi_bresp\)", ")"),
    "a parity bit is not looked at by the bus": Fault(
        "controller", r"\.tiles__damaged\(tiles__damaged\)", ".tiles__damaged(1'b0)"
    ),
    "a parity bit is not looked at by the sender": Fault(
        "shared_memory", r"assign reads__0__damaged = [^;]*", "assign reads__0__damaged = 1'b0"
    ),
    "no tlast": Fault("stream_reader", r"stream__tlast <= left", "stream__tlast <= 1'b0 & left"),
    "no tuser": Fault("stream_reader", r"is_beyond <= now__beyond", "is_beyond <= 1'b0"),
    "a word of a stream is not kept": Fault(
        "stream_reader", r"kept <= \w+ \? kept : data", "kept <= data"
    ),
    "a word of a stream does not wait": Fault(
        "stream_reader", r"(\w+) <= stream__tvalid & !stream__tready", r"\1 <= 1'b0"
    ),
    "a damaged word is not told to a tile": Fault(
        "stream_reader",
        r"assign stream__tuser = is_beyond \|",
        "assign stream__tuser = is_beyond; //",
    ),
    "a damaged word does not interrupt": Fault(
        "controller", r"assign interrupt = \((\w+) \| damaged\)", r"assign interrupt = \1"
    ),
    "a command is one word short": Fault(
        "stream_reader",
        r"left <= commands__tdata\[31:16\]",
        "left <= |commands__tdata[31:16] ? commands__tdata[31:16] - 1 : 0",
    ),
    "words of a message go to one address": Fault(
        "stream_writer", r"now__address \+ \d+'h1", "now__address"
    ),
    "a message never ends": Fault("stream_writer", r"!stream__tlast", "1'b1"),
    "a word beyond the memory is not told": Fault(
        "stream_writer", r"refused <= stream", "refused <= 1'b0 & stream"
    ),
    "a word is taken before it is written": Fault("stream_writer", r" \| ready;", " | 1'b1;"),
    "a command without its stream": Fault(
        "stream_reader", r"assign now_both = (\w+) & (\w+)", r"assign now_both = \1"
    ),
    "two tiles' streams are exchanged": Fault(
        "engine",
        r"stream__tvalid\(s_axis_write_0_tvalid\)",
        "stream__tvalid(s_axis_write_1_tvalid)",
    ),
    "two tiles' words are exchanged": Fault("engine", r"reader_0__data\)", "reader_1__data)"),
}

OF_WISHBONE = {
    "no answer": Fault("wishbone", r"assign bus__ack_o = ", "assign bus__ack_o = 1'b0 & "),
    "every access is acknowledged": Fault(
        "wishbone", r"(\w+) <= access__access__answered & !\w+;", r"\1 <= access__access__answered;"
    ),
    "no error": Fault("wishbone", r"assign bus__err_o = ", "assign bus__err_o = 1'b0 & "),
    "an answer outside of a cycle": Fault("wishbone", r" & bus__cyc_i & bus__stb_i;", ";", 1),
    "stall is stuck": Fault(
        "wishbone", r"assign bus__stall_o = [^;]*", "assign bus__stall_o = 1'b1"
    ),
    "an access begins in its answer": Fault(
        "wishbone", r"bus__stb_i & !bus__stall_o_either", "bus__stb_i"
    ),
    "the last answer is read": Fault(
        "wishbone",
        r"bus__dat_o <= access__access__read_data",
        "last <= access__access__read_data;\n      bus__dat_o <= last",
    ),
    "a refusal outlives a reset": Fault(
        "wishbone", r"(if \(rst\) begin\n[^;]*;\n) +refused <= 1'h0;\n", r"\1"
    ),
    "a cycle without a strobe": Fault(
        "wishbone",
        r"assign access__access__valid = bus__cyc_i & bus__stb_i",
        "assign access__access__valid = bus__cyc_i",
    ),
    "a tile's word is not there": Fault(
        "engine", r"\.tile_1__read_data\(tile_1__read_data\)", ".tile_1__read_data()"
    ),
    "a tile's answer leads nowhere": Fault(
        "engine", r"\.tile_1__read_answered\(tile_1__read_answered\)", ".tile_1__read_answered()"
    ),
    "two tiles' writes are exchanged": Fault(
        "engine",
        r"\.tile_0__write_valid\(tile_0__write_valid\)",
        ".tile_0__write_valid(tile_1__write_valid)",
    ),
}

OF_CIRCUITS = {
    "a lost word sets no flag": Fault(
        "circuit_router*", r"assign lost_word = [^;]*;", "assign lost_word = 1'b0;"
    ),
    "a missing word sets no flag": Fault(
        "circuit_router*", r"assign missing_word = [^;]*;", "assign missing_word = 1'b0;"
    ),
    "a wrong code sets no flag": Fault(
        "circuit_router*", r"bad_route <= (?!1'h0)[^;]*;", "bad_route <= 1'b0;"
    ),
    "half-duplex is not looked at": Fault(
        "circuit_interface*", r"if \(half_duplex & ", "if (1'b0 & "
    ),
    "a run is a cycle too long": Fault("run_table", r"left == 10'h2", "left == 10'h1"),
    "the first entry has another number": Fault(
        "run_table", r"run__number <= (\d+)'h0", r"run__number <= \1'h1"
    ),
    "an entry is damaged unseen": Fault(
        "run_table", r"ahead_damaged <= [^;]*;", "ahead_damaged <= 1'b0;"
    ),
    "a doorbell rings late": Fault(
        "circuit_interface*",
        r"assign tile__arrived = arrived_now",
        "always @(posedge clk) late <= arrived_now;\n  assign tile__arrived = late",
    ),
    "a doorbell does not ring": Fault(
        "circuit_interface*", r"assign tile__arrived = arrived_now", "assign tile__arrived = 1'b0"
    ),
    "a doorbell tells another address": Fault(
        "circuit_interface*",
        r"(assign tile__arrived_address = !rst \? arrived_address)",
        r"\1 ^ 1",
    ),
    "no tile holds its node": Fault("circuit_interface*", r"held <= tile__hold", "held <= 1'b0"),
    "a tile's hold is a cycle late": Fault(
        "circuit_interface*",
        r"held <= tile__hold;",
        "late <= tile__hold;\n    held <= late;",
    ),
    "a tile that never comes is waited for": Fault(
        "run_control", r"if \(ended_both\) begin\n        state <=", "if (1'b0) begin\n state <="
    ),
    "the tile that never comes is another": Fault(
        "run_control", r"culprit <= nodes__first_held", "culprit <= 0"
    ),
}
"""Faults in parts that only circuits have, with tile ports and parity."""
