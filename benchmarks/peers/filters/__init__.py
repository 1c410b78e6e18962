"""Filters put to other programs: rows change, and whose filters are to be told?"""
