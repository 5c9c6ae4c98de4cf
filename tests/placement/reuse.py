"""Run as the first process of a namespace: gives a number that was observed to another process."""

from __future__ import annotations

import subprocess
from pathlib import Path

from burstlens.workflows.look.observer.observer import Observer

first = subprocess.Popen(["sleep", "60"])
observer = Observer(pid=first.pid, allow_stop=True)
first.kill()
first.wait()
Path("/proc/sys/kernel/ns_last_pid").write_text(str(first.pid - 1))
second = subprocess.Popen(["sleep", "61"])
print("same number" if second.pid == first.pid else f"{first.pid} and {second.pid}")
print("has ended" if "has ended" in observer.stop(now=True) else "a signal was sent")
observer.look(0.0, None)
try:
    print(f"ended with {second.wait(1)}")
except subprocess.TimeoutExpired:
    print("still runs")
second.kill()
