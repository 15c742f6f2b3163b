"""Verilog that people read: components as modules of their own, each written once."""
