"""Questions about the past: rows at a moment, back-tests, replays."""
