import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "./prometheus.ts";

const nanosecondsPerSecond = 1e9;
/** Each look wakes a process that has nothing else to do: fifty times a second was a third of a per cent of a core. */
const delayLookMs = 100;

/** Memory, CPU and event-loop delay of this process, read at scrape; names as Prometheus clients have them. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: delayLookMs });
  delay.enable();
  new Gauge({
    name: "sluice_event_loop_delay_seconds",
    help: "Longest delay of the event loop since the last scrape.",
    registers,
    aggregator: "max",
    collect() {
      this.set(delay.max / nanosecondsPerSecond);
      delay.reset();
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since the Unix epoch in seconds.",
    registers,
    aggregator: "min",
  }).set(Math.round(performance.timeOrigin / 1000));
}
