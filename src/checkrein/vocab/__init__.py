"""The words: calls, effects, reasons, verdicts, commands, records, errors. Imports nothing of ours."""
