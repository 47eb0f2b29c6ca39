import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Check, type Finding, ok, warn } from "./finding.ts";

const openFilesWanted = 10_000;
const openFilesLow = 1_024;
/** Nothing of this program is older. */
const earliest = Date.UTC(2026, 0, 1);
const latest = Date.UTC(2100, 0, 1);

/** The clock is plausible, and enough files may be open for the streams of a busy gateway. */
export const machineCheck: Check = async ({ clock }) => [clockFinding(clock.now()), openFiles()];

function clockFinding(now: number): Finding {
  const shown = new Date(now).toISOString();
  if (now >= earliest && now < latest) return ok("clock", shown);
  return warn("clock", `says ${shown}`, "set the clock: keys expire and budgets begin by it");
}

function openFiles(): Finding {
  const text = limitShown();
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number.parseInt(text, 10);
  if (Number.isNaN(limit)) return warn("open files", "the limit is not known", "check `ulimit -n`");
  const detail = `at most ${text}; every stream needs two`;
  if (limit >= openFilesWanted) return ok("open files", detail);
  const advice = `raise it (ulimit -n ${openFilesWanted}, or LimitNOFILE in a systemd unit)`;
  return limit > openFilesLow ? ok("open files", detail) : warn("open files", detail, advice);
}

/** The shell is asked because the limit it shows is the one that children inherit; an image may have none. */
function limitShown(): string {
  const { stdout } = spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8", timeout: 5_000 });
  if (typeof stdout === "string" && stdout.trim() !== "") return stdout.trim();
  try {
    return /^Max open files +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? "";
  } catch {
    return "";
  }
}
