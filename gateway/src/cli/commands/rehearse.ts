import type { RehearsalResult } from "@sluice/contract";
import { InvalidArgumentError } from "commander";
import { ConfigInvalid, loadChange, type ParsedChange } from "#config/index.ts";
import type { Control } from "#main.ts";
import { systemClock } from "#system/index.ts";
import { type CliCommand, table, timeText } from "../cli-command.ts";
import { withControl } from "../open.ts";
import { pointInTime } from "../option-readers.ts";
import { CommandFailed, UsageError } from "../terminal.ts";
import { workspaceNamed } from "./workspaces.ts";

interface RehearseOptions {
  readonly from?: number;
  readonly to?: number;
  readonly workspace?: string;
  readonly failIf?: readonly Condition[];
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** `refused>0` */
interface Condition {
  readonly text: string;
  readonly measure: keyof typeof measures;
  readonly holds: (value: number) => boolean;
}

const dayMs = 86_400_000;

/** Figures that a condition may compare. Money in USD. */
const measures = {
  refused: ({ refused }: RehearsalResult) => refused,
  people: ({ people_touched }: RehearsalResult) => people_touched,
  keys: ({ keys_touched }: RehearsalResult) => keys_touched,
  streams_ended: ({ streams_ended }: RehearsalResult) => streams_ended,
  allowed: ({ allowed }: RehearsalResult) => allowed,
  blocked: (result: RehearsalResult) => sumOf(result, "blocked"),
  masked: (result: RehearsalResult) => sumOf(result, "masked"),
  flagged: (result: RehearsalResult) => sumOf(result, "flagged"),
  moved: ({ moved }: RehearsalResult) => moved.reduce((sum, { calls }) => sum + calls, 0),
  cost_usd: ({ rehearsed_nano_usd }: RehearsalResult) => usdOf(rehearsed_nano_usd),
  difference_usd: ({ difference_nano_usd }: RehearsalResult) => usdOf(difference_nano_usd),
} as const;

export function addRehearse(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("rehearse")
    .description("calculate the effect of a change of the config file on past calls; nothing is changed")
    .argument("<change>", "YAML or JSON: the parts of a config file that would change")
    .option("--from <time>", "calls from this date or time (default: 7 days before --to)", pointInTime)
    .option("--to <time>", "calls before this date or time (default: now)", pointInTime)
    .option("--workspace <slug>", "calls of this workspace only")
    .option(
      "--fail-if <condition>",
      `exit with 1 if it holds, such as 'refused>0'; of ${Object.keys(measures).join(", ")}; may be repeated`,
      condition,
    )
    .action(async (file: string, options: RehearseOptions, command: CliCommand) => {
      const parsed = await load(file, command);
      const to = options.to ?? systemClock.now();
      const span = { from: options.from ?? to - 7 * dayMs, to };
      if (span.from >= span.to) throw new UsageError("--from must be before --to");
      const result = await withControl(terminal.variables, (control) => rehearse(control, file, parsed, span, options));
      await command.report({ ...span, ...result }, linesOf(result, span));
      const held = (options.failIf ?? []).filter(({ measure, holds }) => holds(measures[measure](result)));
      if (held.length === 0) return;
      const found = held.map(({ text, measure }) => `${text} (${measures[measure](result)})`);
      throw new CommandFailed(`the rehearsal fails: ${found.join(", ")}`);
    });
}

async function load(file: string, command: CliCommand): Promise<ParsedChange> {
  try {
    return await loadChange(file);
  } catch (thrown) {
    if (!(thrown instanceof ConfigInvalid)) throw thrown;
    const count = thrown.problems.length + thrown.unlisted;
    await command.report({ file, valid: false, problems: thrown.problems, count }, thrown.lines);
    throw new CommandFailed(`${file} is invalid: ${count} ${count === 1 ? "problem" : "problems"}`);
  }
}

async function rehearse(
  { controlStore, database }: Control,
  file: string,
  { change, problemAt }: ParsedChange,
  span: Span,
  { workspace }: RehearseOptions,
): Promise<RehearsalResult> {
  const { ChangeFault, RehearsalRun, resolveChange } = await import("#rehearsal/index.ts");
  const config = await controlStore.configSnapshot();
  const workspaceId = workspace === undefined ? null : await idOf(controlStore, workspace);
  const resolved = await resolveChange(change, config, database, workspaceId).catch((thrown: unknown) => {
    if (!(thrown instanceof ChangeFault)) throw thrown;
    throw new ConfigInvalid(file, [problemAt(thrown.path, thrown.reason)], 1);
  });
  const run = new RehearsalRun(database, { ...span, now: systemClock.now(), ...resolved, config });
  while (!(await run.step()).isOver);
  return await run.result();
}

async function idOf(controlStore: Control["controlStore"], slug: string): Promise<string> {
  return (await workspaceNamed(controlStore, slug)).id;
}

function condition(text: string, earlier: readonly Condition[] = []): readonly Condition[] {
  const [, name = "", sign = "", number = ""] = /^\s*([a-z_]+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  const measure = (Object.keys(measures) as (keyof typeof measures)[]).find((each) => each === name);
  if (measure === undefined) {
    throw new InvalidArgumentError(`It must compare one of ${Object.keys(measures).join(", ")}, such as refused>0.`);
  }
  return [...earlier, { text: text.trim(), measure, holds: (value) => compare(value, sign, Number(number)) }];
}

function compare(value: number, sign: string, bound: number): boolean {
  if (sign === ">") return value > bound;
  if (sign === ">=") return value >= bound;
  return sign === "<" ? value < bound : value <= bound;
}

function linesOf(result: RehearsalResult, { from, to }: Span): readonly string[] {
  const { calls, refused, refused_anyway: anyway, rules, first, worst, moved, guardrails, unknown } = result;
  const share = calls === 0 ? 0 : (refused / calls) * 100;
  const people = counted(result.people_touched, "person", "people");
  const touched = `${people} and ${counted(result.keys_touched, "key", "keys")}`;
  return [
    `${timeText(from)} to ${timeText(to)}: ${counted(calls, "call", "calls")}`,
    `refused: ${refused} (${share.toFixed(1)} %), of ${touched}`,
    ...(anyway === 0 ? [] : [`refused by limits outside the change: ${anyway}`]),
    ...(result.streams_ended === 0 ? [] : [`streams ended early: ${result.streams_ended}`]),
    `cost: ${usdText(result.recorded_nano_usd)} USD then, ${usdText(result.rehearsed_nano_usd)} USD with the change (${signed(result.difference_nano_usd)})`,
    ...(first === null
      ? []
      : [
          `first: ${timeText(first.at)} ${first.request_id} by the ${first.limit === "guardrail" ? "" : `${first.limit} of `}${first.label}`,
        ]),
    ...(worst === null ? [] : [`worst minute: ${timeText(worst.at)}, ${worst.refused} refused`]),
    ...section(
      ["REFUSED", "LIMIT", "OF"],
      rules.map((rule) => [
        String(rule.calls),
        rule.limit,
        `${rule.label}${rule.changed ? "" : " (outside the change)"}`,
      ]),
    ),
    ...section(
      ["MOVED", "FROM", "TO", "COST"],
      moved.map((row) => [
        String(row.calls),
        `${row.from.model} at ${row.from.provider}`,
        `${row.to.model} at ${row.to.provider}`,
        `${usdText(row.recorded_nano_usd)} -> ${usdText(row.rehearsed_nano_usd)} USD`,
      ]),
    ),
    ...section(
      ["GUARDRAIL", "MODE", "BLOCKED", "MASKED", "FLAGGED", "EXAMINED", "NOT CAPTURED", "LET THROUGH"],
      guardrails.map((each) => [
        each.workspace === null ? each.name : `${each.workspace.slug}/${each.name}`,
        each.not_run === null ? each.mode : `${each.mode} (${each.not_run} is not run)`,
        ...(["blocked", "masked", "flagged"] as const).map((verdict) =>
          String(each.input[verdict] + each.output[verdict]),
        ),
        ...[each.captured, each.calls - each.captured, each.allowed].map(String),
      ]),
    ),
    ...section(
      ["ESTIMATED OR MISSING", "CALLS"],
      unknown.map(({ code, calls: count }) => [code, String(count)]),
    ),
  ];
}

/** Requests and answers of the guardrails in the change. */
function sumOf({ guardrails }: RehearsalResult, verdict: "blocked" | "masked" | "flagged"): number {
  return guardrails.reduce((sum, { input, output }) => sum + input[verdict] + output[verdict], 0);
}

function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

function section(names: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return rows.length === 0 ? [] : ["", ...table(names, rows, "")];
}

function usdOf(nanoUsd: string): number {
  return Number(nanoUsd) / 1e9;
}

function signed(nanoUsd: string): string {
  return `${nanoUsd.startsWith("-") ? "" : "+"}${usdText(nanoUsd)} USD`;
}

/** Exact, with at least two decimals. */
function usdText(nanoUsd: string): string {
  const sign = nanoUsd.startsWith("-") ? "-" : "";
  const digits = nanoUsd.replace("-", "").padStart(10, "0");
  const decimals = digits.slice(-9).replace(/0{1,7}$/, "");
  return `${sign}${digits.slice(0, -9)}.${decimals}`;
}
