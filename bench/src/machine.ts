import { readFileSync } from "node:fs";
import { arch, release, totalmem } from "node:os";
import { rootDirectory } from "./run.ts";

/** Facts about the machine that readers need to judge the figures, without identifying it. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly versions: Readonly<Record<string, string>>;
  /** The measured commit, with `+` if there are uncommitted changes. */
  readonly commit: string;
}

export function describeMachine(): Machine {
  return {
    cores: navigator.hardwareConcurrency,
    processor: processorName(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: `${process.platform} ${release()} ${arch()}`,
    versions: {
      bun: Bun.version,
      nginx:
        outputMatch(["nginx", "-v"], /nginx\/(\S+)/) ??
        outputMatch(["/usr/sbin/nginx", "-v"], /nginx\/(\S+)/) ??
        "missing",
      wrk: outputMatch(["wrk", "-v"], /wrk (\S+)/) ?? "missing",
    },
    commit: commit(),
  };
}

function processorName(): string {
  try {
    return /model name\s*:\s*(.+)/.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}

function commit(): string {
  const head = outputMatch(["git", "-C", rootDirectory, "rev-parse", "--short=12", "HEAD"], /^(\w+)/) ?? "unknown";
  const changed = outputMatch(
    ["git", "-C", rootDirectory, "status", "--porcelain", "--", "gateway", "contract"],
    /(\S)/,
  );
  return changed === null ? head : `${head}+`;
}

function outputMatch(command: readonly string[], pattern: RegExp): string | null {
  try {
    const { stdout, stderr } = Bun.spawnSync([...command], { timeout: 5_000 });
    return pattern.exec(`${stdout}${stderr}`)?.[1] ?? null;
  } catch {
    return null;
  }
}
