import { readdirSync, readFileSync } from "node:fs";

/**
 * What Linux tells of a process and everything below it. A process that ends while it is looked at counts as nothing.
 * Source: proc(5).
 */
const ticksPerSecond = 100;

/** The process and its descendants that live now. */
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

/** Processor time of the tree so far, user and system, in milliseconds; to 10 ms. Children that have ended count too. */
export function treeCpuMs(root: number): number {
  let ticks = 0;
  for (const pid of processTree(root)) {
    // The second field is the name in parentheses and may itself hold spaces and parentheses.
    const fields = readOr(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
    for (const index of [11, 12, 13, 14]) ticks += Number(fields[index] ?? 0);
  }
  return (ticks * 1000) / ticksPerSecond;
}

export interface Memory {
  /** Resident now and at most, in KB. */
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

/** Open file descriptors of the tree. */
export function treeFiles(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + listOr(`/proc/${pid}/fd`).length, 0);
}

/** Busy processor time of the whole machine so far, in milliseconds, with what the hypervisor took away. */
export function machineBusyMs(): number {
  const [, user, nice, system, , , irq, softirq, steal] = readOr("/proc/stat").split("\n", 1)[0]?.split(/\s+/) ?? [];
  const ticks = [user, nice, system, irq, softirq, steal].reduce((sum, field) => sum + Number(field ?? 0), 0);
  return (ticks * 1000) / ticksPerSecond;
}

/** Processor time so far that the hypervisor gave to others while we could have run, in milliseconds. */
export function machineStolenMs(): number {
  const [, , , , , , , , steal] = readOr("/proc/stat").split("\n", 1)[0]?.split(/\s+/) ?? [];
  return (Number(steal ?? 0) * 1000) / ticksPerSecond;
}

/** From now on: the share of the machine that belongs to nobody in this bench. */
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
