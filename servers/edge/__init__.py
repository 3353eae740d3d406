"""`wasmer-edge-echo`: notes and friction reports in Postgres, served over MCP."""

NAME = "wasmer-edge-echo"
VERSION = "0.1.0"
