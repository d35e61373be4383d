"""cuDNN 9, loaded when a call first asks for it: never before, and never needed.

It takes arrays of CuPy that are dense in the memory of the current device.
"""
