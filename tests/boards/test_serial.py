"""The serial host of a board: replies to good frames and to anything else."""

import random

import numpy as np
import pytest
from helpers.amaranth_simulation import simulate
from helpers.refusals import refusal_of
from helpers.simulated_lines import (
    BYTE_CYCLES,
    PERIOD,
    TIMEOUT,
    HostBesideMemory,
    LossyLine,
    SimulatedLine,
)

from eyecast.boards.serial.computer import Pace, SerialHost
from eyecast.boards.serial.frame import (
    CRC_BYTES,
    REPLY_MARK,
    REQUEST_MARK,
    Control,
    Outcome,
    Request,
    RequestKind,
    crc,
    decode_reply,
    identity,
    require_boardable,
    word_bytes,
)
from eyecast.boards.serial.uart import UartReceiver
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line, mesh

SPACE = 2
SEEDS = pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)


class Bench:
    """A serial host with a memory behind it, and the computer's end of its line."""

    def __init__(self, width=16):
        self.config = NetworkConfig(
            topology=mesh((4, 4)), flit_width=width, message_words=16, steps=7, signature=True
        )
        self.word_bytes = word_bytes(self.config)
        self.line = SimulatedLine(HostBesideMemory(self.config))
        self.host = SerialHost(self.line, word_bytes=self.word_bytes)

    def frame(self, request, sequence=1):
        return request.encode(sequence, self.word_bytes)

    def answers(self, data):
        """Send ``data``; return the bytes that come before a silence of twice the time limit."""
        self.line.write(data)
        answer = b""
        while more := self.line.read(1 << 12, 2 * TIMEOUT * PERIOD):
            answer += more
        return answer


def test_the_checksum_is_the_usual_one():
    # The check value of CRC-16/MCRF4XX in the catalogues of CRCs.
    assert crc(b"123456789") == 0x6F91


@pytest.mark.parametrize(
    "width", [20, *(pytest.param(width, marks=pytest.mark.slow) for width in (10, 64))]
)
def test_words_are_written_and_read_back(width):
    bench = Bench(width)
    words = np.array([random.Random(width + i).getrandbits(width) for i in range(6)], np.uint64)
    for address, word in enumerate(words.tolist()):
        bench.host.write_word(5, SPACE, address, word)
    bench.host.write_word(6, SPACE, 0, 3)
    assert (bench.host.read_words(5, SPACE, 6) == words).all()
    assert bench.host.read_words(6, SPACE, 1) == [3]


def test_a_read_may_be_as_long_as_a_frame_can_say_and_longer():
    bench = Bench()
    for address in range(16):
        bench.host.write_word(0, 0, address, 0x1000 + address)
    # The memory of the bench repeats 16 words of a space.
    expected = 0x1000 + np.arange(260) % 16
    assert (bench.host.read_words(0, 0, 260) == expected).all()


def test_control_is_what_was_set_last_and_the_status_says_so():
    bench = Bench()
    first = bench.host.status()
    assert first.control == Control.RESET | Control.BARRIER
    assert (first.identity, first.cycle) == (identity(bench.config), 0x12345678)
    assert first.outcome == Outcome(0)
    bench.host.control(Control.HALF_DUPLEX)
    assert bench.host.status().control == Control.HALF_DUPLEX
    assert bench.host.status().outcome == Outcome.DONE


def test_words_are_written_in_reset_only():
    bench = Bench()
    bench.host.write_word(1, SPACE, 1, 7)
    bench.host.control(Control.BARRIER)
    bench.host.write_word(1, SPACE, 1, 8)
    bench.host.control(Control.BARRIER | Control.RESET)
    assert bench.host.read_words(1, SPACE, 2)[1] == 7


def test_a_repeated_request_is_answered_again_and_changes_nothing_more():
    bench = Bench()
    write = bench.frame(
        Request(kind=RequestKind.WRITE, space=SPACE, node=3, word=0xABCD), sequence=9
    )
    first, second = bench.answers(write), bench.answers(write)
    assert first == second
    assert decode_reply(first, 9) == b""
    assert bench.host.read_words(3, SPACE, 1) == [0xABCD]


def test_a_request_cut_off_is_forgotten_after_the_time_limit():
    bench = Bench()
    status = bench.frame(Request(kind=RequestKind.STATUS))
    for kept in range(1, len(status)):
        assert bench.answers(status[:kept]) == b""
        assert decode_reply(bench.answers(status), 1) is not None, kept


def test_a_request_may_pause_between_its_bytes():
    bench = Bench()
    status = bench.frame(Request(kind=RequestKind.STATUS))
    for byte in status[:-1]:
        bench.line.write(bytes((byte,)))
        bench.line.run((BYTE_CYCLES + TIMEOUT // 2) * PERIOD)
    assert decode_reply(bench.answers(status[-1:]), 1) is not None


def test_no_flipped_bit_is_taken_for_a_request():
    bench = Bench()
    write = bench.frame(Request(kind=RequestKind.WRITE, space=SPACE, node=2, address=1, word=5))
    # Each byte has one or two of its bits flipped.
    for place in range(0, 8 * len(write), 5):
        spoilt = bytearray(write)
        spoilt[place // 8] ^= 1 << place % 8
        # A wrong mark begins no request, but another byte may be a mark and begin one.
        assert bench.answers(bytes(spoilt)) == b"", place
    assert bench.host.read_words(2, SPACE, 2)[1] == 0


@SEEDS
def test_whatever_comes_before_it_a_request_is_answered_and_only_requests_are_carried_out(seed):
    bench, draw = Bench(), random.Random(seed)
    memory = np.zeros((16, 4), np.uint64)
    for _ in range(10):
        node, address = draw.randrange(16), draw.randrange(4)
        request = Request(
            kind=RequestKind.WRITE,
            space=SPACE,
            node=node,
            address=address,
            word=draw.getrandbits(16),
        )
        frame = bench.frame(request, draw.randrange(256))
        match draw.randrange(5):
            case 0:
                bench.answers(draw.randbytes(draw.randrange(1, 40)))
            case 1:
                bench.answers(frame[: draw.randrange(len(frame))])
            case 2:
                spoilt = bytearray(frame)
                spoilt[draw.randrange(len(frame))] ^= 1 << draw.randrange(8)
                bench.answers(bytes(spoilt))
            case 3:
                # Many marks: each may begin a request.
                bench.answers(bytes((REQUEST_MARK,)) * draw.randrange(1, 30))
            case 4:
                bench.answers(frame * draw.randrange(2, 4))
                memory[node, address] = request.word
        frame = bench.frame(Request(kind=RequestKind.STATUS), 77)
        assert decode_reply(bench.answers(frame), 77) is not None
    for node in range(16):
        assert (bench.host.read_words(node, SPACE, 4) == memory[node]).all()


@SEEDS
def test_the_computer_gets_its_way_over_a_line_that_spoils_bytes(seed):
    bench = Bench()
    host = SerialHost(LossyLine(bench.line, seed=seed, rate=0.01), word_bytes=2)
    words = [random.Random(seed + i).getrandbits(16) for i in range(8)]
    for address, word in enumerate(words):
        host.write_word(4, SPACE, address, word)
    for _ in range(3):
        assert host.read_words(4, SPACE, 8).tolist() == words


def test_a_line_that_spoils_everything_is_given_up():
    bench = Bench()
    host = SerialHost(LossyLine(bench.line, seed=1, rate=1.0), word_bytes=2)
    assert refusal_of(host.status) == (
        "serial port simulated must be a line to a board with a network, not silent"
    )


class NoisyLine:
    """A line on which bytes arrive without end."""

    name, pace = "noisy", Pace(byte=1e-4, latency=0.1, silence=0.04)

    def __init__(self, byte):
        self._byte, self._read = byte, 0

    def now(self):
        return self._read * self.pace.byte

    def write(self, data):
        pass

    def read(self, most, _seconds):
        self._read += most
        return bytes((self._byte,)) * most


@pytest.mark.parametrize("byte", [0, REPLY_MARK])
def test_a_line_that_never_falls_silent_is_given_up(byte):
    with pytest.raises(InvalidInput, match="not one with other bytes on it"):
        SerialHost(NoisyLine(byte), word_bytes=2).status()


def test_a_request_sent_back_as_it_came_is_no_reply():
    frame = Request(kind=RequestKind.WRITE).encode(4, 2)
    assert decode_reply(frame, 4) is None
    assert decode_reply(frame[:-CRC_BYTES], 4) is None


def test_a_break_on_the_line_is_no_byte_and_the_next_request_is_answered():
    bench = Bench()
    status = bench.frame(Request(kind=RequestKind.STATUS))
    bench.line.low(20 * BYTE_CYCLES)
    assert decode_reply(bench.answers(status), 1) is not None
    bench.line.low(1)
    assert decode_reply(bench.answers(status), 1) is not None


@pytest.mark.parametrize("percent", [pytest.param(-3, marks=pytest.mark.slow), 3])
def test_a_clock_that_is_a_little_off_is_followed(percent):
    receiver = UartReceiver(100)
    data = bytes(range(0, 256, 50))
    seen = []

    async def send(ctx):
        for byte in data:
            bits = 0x200 | byte << 1
            for place in range(10):
                ctx.set(receiver.rx, bits >> place & 1)
                await ctx.tick().repeat(100 + percent)

    async def receive(ctx):
        bits = []
        while True:
            await ctx.tick()
            if ctx.get(receiver.bit_valid):
                bits.append(ctx.get(receiver.bit))
            if ctx.get(receiver.byte_valid):
                seen.append(sum(bit << place for place, bit in enumerate(bits)))
                bits = []

    simulate(receiver, send, receive)
    assert bytes(seen) == data


class DeafLine:
    """A line that loses the first replies; the board carries out every request."""

    name, pace = "deaf", Pace(byte=1e-4, latency=0.1, silence=0.04)

    def __init__(self, lost):
        self.lost, self.written, self._reply, self._now = lost, 0, b"", 0.0

    def now(self):
        return self._now

    def write(self, data):
        self.written += 1
        body = data[1:2]
        whole = bytes((REPLY_MARK,)) + body + crc(body).to_bytes(CRC_BYTES, "little")
        self._reply = b"" if self.written <= self.lost else whole

    def read(self, most, seconds):
        self._now += seconds
        data, self._reply = self._reply[:most], self._reply[most:]
        return data


def test_what_must_not_be_done_twice_is_not_sent_again_once_it_was_done():
    for lost, was_done, written in ((0, False, 1), (1, True, 1), (2, False, 3)):
        line = DeafLine(lost)
        host = SerialHost(line, word_bytes=4)
        host.write_once(2, 2, 1, was_done=lambda done=was_done: done)
        assert line.written == written
    with pytest.raises(InvalidInput, match="not silent"):
        SerialHost(DeafLine(99), word_bytes=4).write_once(2, 2, 1, was_done=lambda: False)


@pytest.mark.parametrize(
    ("fitting", "limits"),
    [
        # Entries of two words, and words of two pieces.
        ({"table_words": 1 << 15}, {"circuits": True, "flit_width": 17, "message_words": 2}),
        ({"message_words": 1 << 15}, {"flit_width": 128}),
    ],
)
def test_a_request_addresses_all_words_of_a_network_on_a_board(fitting, limits):
    """A request has 16 bits of an address."""
    require_boardable(NetworkConfig(topology=line(2), **fitting, **limits))
    doubled = {name: 2 * words for name, words in fitting.items()}
    with pytest.raises(InvalidInput, match="of at most 16 bits, not 17"):
        require_boardable(NetworkConfig(topology=line(2), **doubled, **limits))
