"""``burstlens watch --picture``: the newest picture in the terminal itself.

The libraries that do this (textual-image, term-image) ask the terminal while they are imported and
lose keys that are typed then, or send the whole picture with every refresh; over a slow ssh both
hurt. What is left to write is small: the answer to three questions, and three encodings.
"""
