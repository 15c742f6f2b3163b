"""A chip that runs C: a small RISC-V core at every node of an exported network.

::

    app.c ──► object ──► calls it makes ──► schedules ──► programs, their places in memory
                 │                                              │
                 └─────────────► linked with the runtime ◄──────┘
                                          │
    network's Verilog + cores' Verilog ──►│ simulator ──► console, cycles of every call
"""
