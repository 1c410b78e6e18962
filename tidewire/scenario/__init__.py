"""Scenarios: files of steps that drive tidewire from outside and say what each subscriber must see."""
