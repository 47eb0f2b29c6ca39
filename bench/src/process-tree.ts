import { readdirSync, readFileSync } from "node:fs";

/**
 * Reads CPU time, memory and files of a process and its descendants from proc(5). A process that ends meanwhile counts as zero.
 */
const ticksPerSecond = 100;

/** The process and its running descendants. */
export function processTree(root: number): number[] {
  const found = [root];
  for (const pid of found) {
    for (const thread of listOr(`/proc/${pid}/task`)) {
      const children = readOr(`/proc/${pid}/task/${thread}/children`);
      for (const child of children.split(" ")) if (child !== "") found.push(Number(child));
    }
  }
  return found;
}

/** User and system CPU time of the tree in milliseconds, with a resolution of 10 ms. Includes ended children. */
export function treeCpuMs(root: number): number {
  let ticks = 0;
  for (const pid of processTree(root)) {
    // The second field is the name in parentheses, which may contain spaces and parentheses.
    const fields = readOr(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
    for (const index of [11, 12, 13, 14]) ticks += Number(fields[index] ?? 0);
  }
  return (ticks * 1000) / ticksPerSecond;
}

export interface Memory {
  /** Current and peak resident memory, in KB. */
  readonly residentKb: number;
  readonly peakKb: number;
}

export function treeMemory(root: number): Memory {
  let residentKb = 0;
  let peakKb = 0;
  for (const pid of processTree(root)) {
    const status = readOr(`/proc/${pid}/status`);
    residentKb += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
    peakKb += Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
  }
  return { residentKb, peakKb };
}

/** Number of open file descriptors of the tree. */
export function treeFiles(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + listOr(`/proc/${pid}/fd`).length, 0);
}

/** Busy CPU time of the whole machine in milliseconds, including stolen time. */
export function machineBusyMs(): number {
  const [, user, nice, system, , , irq, softirq, steal] = readOr("/proc/stat").split("\n", 1)[0]?.split(/\s+/) ?? [];
  const ticks = [user, nice, system, irq, softirq, steal].reduce((sum, field) => sum + Number(field ?? 0), 0);
  return (ticks * 1000) / ticksPerSecond;
}

/** CPU time stolen by the hypervisor so far, in milliseconds. */
export function machineStolenMs(): number {
  const [, , , , , , , , steal] = readOr("/proc/stat").split("\n", 1)[0]?.split(/\s+/) ?? [];
  return (Number(steal ?? 0) * 1000) / ticksPerSecond;
}

/** Starts measuring the share of the machine used by processes outside this bench. */
export function othersShare(): () => number {
  const begin = { busyMs: machineBusyMs(), oursMs: treeCpuMs(process.pid), at: performance.now() };
  return () => {
    const othersMs = machineBusyMs() - begin.busyMs - (treeCpuMs(process.pid) - begin.oursMs);
    return Math.max(0, othersMs) / ((performance.now() - begin.at) * navigator.hardwareConcurrency);
  };
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function listOr(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
