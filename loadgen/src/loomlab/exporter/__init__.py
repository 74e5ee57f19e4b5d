"""CPU, memory and threads of containers as the engine tells them, where cAdvisor sees none."""
