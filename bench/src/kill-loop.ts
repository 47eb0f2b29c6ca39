import { join } from "node:path";
import { parseArgs } from "node:util";
import { type ChildOptions, endChildrenWithUs, startChild } from "./child.ts";
import { within } from "./deadline.ts";
import { keepResult } from "./keep-result.ts";
import { describeMachine } from "./machine.ts";
import { rootDirectory } from "./run.ts";

/**
 * A longer run of the acceptance suite's kill loop, with every durability that must survive a killed process, each time with another
 * seed.
 *
 *     bun bench/src/kill-loop.ts [--minutes 15] [--clients 24] [--seed N]
 */
interface Report {
  readonly kills: number;
  readonly calls: number;
  readonly finishedCalls: number;
  readonly missing: number;
  readonly doubled: number;
  readonly wrongTokens: number;
  readonly wrongCost: number;
  /** Difference between budgets and the sum of the ledger. */
  readonly budgetErrorNanoUsd: number;
  readonly verifyStatus: number;
  readonly faults: readonly unknown[];
}

const durabilities = ["process", "disk", "strict"] as const;
const program = join(rootDirectory, "test", "acceptance", "kill-loop.ts");
/** Additional time for startup, settlement, drain and comparison. */
const slackMs = 180_000;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "15" },
      clients: { type: "string", default: "24" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
    },
  });
  endChildrenWithUs();
  const startedAt = new Date();
  const minutes = Math.min(24 * 60, Math.max(0.5, Number(values.minutes)));
  const seconds = Math.ceil((minutes * 60) / durabilities.length);
  const reports: Report[] = [];
  for (const [index, durability] of durabilities.entries()) {
    const seed = Number(values.seed) + index;
    const flags = { seconds, clients: values.clients, seed, durability };
    const command = [
      process.execPath,
      program,
      ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, `${value}`]),
    ];
    const report = await runToEnd({ command, cores: [] }, seconds * 1000 + slackMs);
    reports.push(report);
    console.log(`${durability} (seed ${seed}): ${sentence(report)}`);
  }
  await keepResult("kill-loop", startedAt, { minutes, machine: describeMachine(), reports });
  return reports.every(clean);
}

/** Runs the program and returns its report, which it prints on several lines. */
async function runToEnd(options: ChildOptions, timeoutMs: number): Promise<Report> {
  const child = startChild(options);
  try {
    const lines: string[] = [];
    const reading = (async () => {
      for (let line = await child.line(); line !== null; line = await child.line()) lines.push(line);
    })();
    await within(reading, timeoutMs, "the kill loop");
    return reportIn(lines);
  } finally {
    await child.stop();
  }
}

/** Reads the report at the end of the output: a JSON object on several lines, with its braces on separate lines. */
function reportIn(lines: readonly string[]): Report {
  const start = lines.lastIndexOf("{");
  const end = lines.lastIndexOf("}");
  if (start === -1 || end < start) {
    throw new Error(`the kill loop ended without a report${lines.map((line) => `\n  ${line}`).join("")}`);
  }
  const report: Report = JSON.parse(lines.slice(start, end + 1).join("\n"));
  return report;
}

function clean(report: Report): boolean {
  const { missing, doubled, wrongTokens, wrongCost, budgetErrorNanoUsd, verifyStatus, faults } = report;
  return [missing, doubled, wrongTokens, wrongCost, budgetErrorNanoUsd, verifyStatus, faults.length].every(
    (count) => count === 0,
  );
}

function sentence(report: Report): string {
  const { kills, calls, finishedCalls, missing, doubled, wrongTokens, wrongCost, verifyStatus } = report;
  const budgets = report.budgetErrorNanoUsd === 0 ? "exact" : `off by ${report.budgetErrorNanoUsd} nano-USD`;
  return (
    `${clean(report) ? "clean" : "NOT CLEAN"}: ${kills} kills, ${calls} calls, ${finishedCalls} finished; ` +
    `missing ${missing}, doubled ${doubled}, wrong tokens ${wrongTokens}, wrong cost ${wrongCost}, budgets ${budgets}, verify ${verifyStatus}`
  );
}

const isClean = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return false;
});
process.exit(isClean ? 0 : 1);
