"""Checkrein: the tool-call boundary for coding agents.

A harness owns an agent loop and its model only proposes tool calls; Checkrein decides each call before anything can run
it. The packages are floors, from the ground up: `vocab`; `wire`, `shell`, `profiles`; `classify`, `policy`, `replay`;
`judge`; `turns`; `edges`; `viewer`; `cli`. A floor imports only floors below it, and everything under `edges` is pure.
"""

__version__ = "0.1.0"
