import { requestsBounds } from "./requests-bounds.ts";

const mebibyte = 1024 * 1024;

/** Default memory without a setting and a cgroup limit. */
export const memoryBytesDefault = 2048 * mebibyte;
/** The gateway does not work with less. */
export const memoryBytesMin = 512 * mebibyte;

interface MemoryPart {
  readonly name: string;
  readonly what: string;
  /** Upper limit, by the total. */
  readonly bytes: (total: number) => number;
}

/** Memory of a caller's connection with its stream. */
const connectionBytes = 42 * 1024;

/**
 * Parts of a process's memory. `large`, `small`, `connections` and `spool` are enforced; the other parts are reserved for
 * things with their own limits. From 1 GiB on the parts add up to at most SLUICE_MEMORY_MB. `docs/operations/capacity.md` shows the same table.
 */
export const memoryParts = [
  {
    name: "process",
    what: "The runtime, the program, its sign-in library and console files.",
    bytes: () => 150 * mebibyte,
  },
  {
    name: "caches",
    what: "Keys, objects at upstreams, health, counters: bounded by entries.",
    bytes: () => 64 * mebibyte,
  },
  {
    name: "large",
    what: "Held for callers: bodies, messages, answers, events, conversations.",
    bytes: (total) => (total * 5) / 16,
  },
  { name: "small", what: "The same of those up to 256 KiB.", bytes: (total) => total / 16 },
  { name: "connections", what: "Callers' connections with their streams, 42 KiB each.", bytes: (total) => total / 4 },
  { name: "spool", what: "Forms that wait to be sent, before they go to the disk.", bytes: (total) => total / 32 },
  {
    name: "queues",
    what: "Journal, explanations, telemetry and log that wait to be written.",
    bytes: (total) => total / 16,
  },
  {
    name: "threads",
    what: "Code and stacks of threads for bodies, the ledger and reports.",
    bytes: () => 64 * mebibyte,
  },
] as const satisfies readonly MemoryPart[];

/** Limits of a process with that much memory. */
export function memoryLimits(totalBytes: number) {
  const part = (name: (typeof memoryParts)[number]["name"]): number =>
    Math.floor(memoryParts.find((each) => each.name === name)?.bytes(totalBytes) ?? 0);
  return {
    largeBytes: part("large"),
    smallBytes: part("small"),
    // A body counts twice: as it arrived and as it is sent.
    smallBytesMax: Math.min(2 * requestsBounds.bodyAtOnceBytesMax, part("small") / 8),
    spoolBytes: part("spool"),
    connectionsMax: Math.floor(part("connections") / connectionBytes),
  };
}
