"""The time on a processor and the memory of processes, as the kernel counts them."""
import os


def family(pid):
    """A process and those below it."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while True:
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def cpu_ms(*roots):
    """The time of these processes and those below them. Threads and children that ended are counted to 10 ms, others exactly."""
    total = 0.0
    for pid in set().union(*map(family, roots)):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            own, ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
            exact = 0
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                    exact += int(file.read().split()[0])
        except OSError:
            continue
        hertz = os.sysconf("SC_CLK_TCK")
        # Threads that ended are missing in the exact figure.
        total += max(exact / 1e6, own * 1000 / hertz - 10) + ended * 1000 / hertz
    return total


def memory(pid, field):
    """`VmHWM`, the peak, or `VmRSS`, the present size, in bytes."""
    with open(f"/proc/{pid}/status") as file:
        line = next(line for line in file if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def forget_peak(pid):
    """Begins a new peak."""
    with open(f"/proc/{pid}/clear_refs", "w") as file:
        file.write("5")
