"""What holds for all tests."""

import signal

# Whoever starts them in the background may have interrupts ignored, which Python then leaves as it is.
signal.signal(signal.SIGINT, signal.default_int_handler)
