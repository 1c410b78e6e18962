"""Joins put to other programs: rows of two tables change, and whose joined rows are to be told as others?"""
