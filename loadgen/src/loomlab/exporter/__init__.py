"""CPU, memory and threads of containers from the kernel's cgroup files, where cAdvisor sees none."""
