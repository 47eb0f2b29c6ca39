import type { ScopeKind } from "../../gateway/src/core/index.ts";
import type { ReportStore } from "../../gateway/src/ports/index.ts";
import { type Filled, rareError, rareModel, rareProvider } from "./console-rows.ts";

/** A query of the console. `list`: a list or search, which must be fast while the user types. */
export interface Question {
  readonly name: string;
  readonly list: boolean;
  readonly ask: (reports: ReportStore) => Promise<unknown>;
}

const dayMs = 86_400_000;
const pageRows = 50;

/** Every filter alone and the common ones combined, in one workspace and in all workspaces. */
export function consoleQuestions(filled: Filled): readonly Question[] {
  return [
    ...requestQuestions(filled, "", filled.workspace),
    ...requestQuestions(filled, " of all workspaces", null),
    ...keyQuestions(filled, "", filled.workspace),
    ...keyQuestions(filled, " of all workspaces", null),
    ...sumQuestions(filled),
  ];
}

function hourOf(at: number): number {
  return at - (at % (dayMs / 24));
}

function requestQuestions(filled: Filled, where: string, workspaceId: string | null): Question[] {
  const { now, key, group, sampleRequest, sampleUpstream } = filled;
  const filters: Readonly<Record<string, object>> = {
    "the newest": {},
    "of a model": { model: "model-3" },
    "of a rare model": { model: rareModel },
    "of a model there is not": { model: "no such model" },
    "of a rare provider": { provider: rareProvider },
    "of a key": { keyId: key },
    "of a group": { groupId: group },
    "of an endpoint": { endpoint: "images" },
    unsuccessful: { outcome: "unsuccessful" },
    "with a status": { status: 429 },
    "with a rare error": { errorCode: rareError },
    "longer than 100 s": { minMs: 100_000 },
    "of a model, unsuccessful": { model: "model-5", outcome: "unsuccessful" },
    "of a provider, with an error": { provider: "provider-2", errorCode: "upstream_timeout" },
    "of a key, unsuccessful": { keyId: key, outcome: "unsuccessful" },
    "of a day, longer than 100 s": { from: now - 20 * dayMs, to: now - 19 * dayMs, minMs: 100_000 },
    "with a rare tag": { tag: { name: "team", value: "no such team" } },
    "of a user agent": { userAgent: "no such agent" },
    "that cost a lot": { minCostUsd: 1_000_000 },
    "by a request's id": { search: sampleRequest },
    "by how a request's id begins": { search: sampleRequest.slice(0, 14) },
    "by an upstream's id": { search: sampleUpstream },
    "by an id there is not": { search: "no-such-id" },
  };
  const day = { workspaceId, from: now - dayMs };
  return [
    ...Object.entries(filters).map(([name, filter]) => ({
      name: `requests ${name}${where}`,
      list: true,
      ask: (reports: ReportStore) => reports.requests({ workspaceId, ...filter }, null, pageRows),
    })),
    {
      name: `requests of a day by cost${where}`,
      list: false,
      ask: (reports) => reports.sortedRequests(day, "-cost_usd", null, pageRows),
    },
    { name: `totals of a day${where}`, list: false, ask: (reports) => reports.requestTotals(day) },
    {
      name: `requests with a text${where}`,
      list: true,
      ask: (reports) => reports.requestsWithText(day, "x", null, 50),
    },
  ];
}

function keyQuestions({ now, key, group }: Filled, where: string, workspaceId: string | null): Question[] {
  const filters: Readonly<Record<string, object>> = {
    "by name": {},
    "with a part of the name": { search: "zz9" },
    "with a name there is not": { search: "no such name" },
    "by how the secret begins": { search: "sk-sluice-0a" },
    "by how the secret ends": { search: "1abc" },
    "that are disabled": { state: "disabled" },
    "that are expired": { state: "expired" },
    "of a group": { groupId: group },
    "of a maker": { userId: "nobody" },
    "by id": { keyId: key },
  };
  return Object.entries(filters).map(([name, filter]) => ({
    name: `keys ${name}${where}`,
    list: true,
    ask: (reports) => reports.keys({ workspaceId, now, ...filter }, null, pageRows),
  }));
}

function sumQuestions({ now, workspace, group, key, sampleRequest }: Filled): Question[] {
  const month = { from: now - 30 * dayMs, to: now, stepMs: dayMs };
  const hours = { from: hourOf(month.from), to: hourOf(now) };
  const compared = { from: hours.from - 30 * dayMs, to: hours.from };
  const months = [2, 1, 0].map((n) => ({ from: hours.to - (n + 1) * 30 * dayMs, to: hours.to - n * 30 * dayMs }));
  const sum = (name: string, ask: Question["ask"]): Question => ({ name, list: false, ask });
  return [
    { name: "one request", list: true, ask: (reports) => reports.attempts(workspace, sampleRequest) },
    sum("usage of a day by model", (reports) =>
      reports.usage({ workspaceId: workspace, from: now - dayMs, to: now, stepMs: dayMs / 24, by: "model" }),
    ),
    sum("usage of a month by model", (reports) => reports.usage({ workspaceId: workspace, ...month, by: "model" })),
    sum("usage of a month by key", (reports) => reports.usage({ workspaceId: workspace, ...month, by: "key" })),
    ...(["user_agent", "endpoint", "tag", "group"] as const).flatMap((by) =>
      [workspace, null].map((id) =>
        sum(`usage of a month by ${by}${id === null ? " of all workspaces" : ""}`, (reports) =>
          reports.usage({ workspaceId: id, ...month, by, tag: "team" }),
        ),
      ),
    ),
    sum("usage of a month by key, of a value of a tag", (reports) =>
      reports.usage({ workspaceId: workspace, ...month, by: "key", tag: "team", tagValue: "team-3" }),
    ),
    sum("usage of a month by model, of a time zone", (reports) =>
      reports.usage({ workspaceId: workspace, ...month, by: "model", zone: [{ until: now, offsetMs: dayMs / 3 }] }),
    ),
    ...(["key", "model", "tag"] as const).flatMap((by) =>
      (["-cost_usd", "-request_latency_p95_ms"] as const).map((sort) =>
        sum(`a list of a month's usage by ${by}, ${sort}`, (reports) =>
          reports.usageRows({ workspaceId: null, ...hours, compared, by, tag: "team", sort }, null, pageRows),
        ),
      ),
    ),
    sum("a chargeback report of three months by tag", (reports) =>
      reports.chargeback({ workspaceId: null, by: "tag", tag: "team", months }),
    ),
    sum("usage of a month of one key", (reports) =>
      reports.usage({ workspaceId: workspace, ...month, by: "none", keyId: key }),
    ),
    sum("usage of a month by key of all workspaces", (reports) =>
      reports.usage({ workspaceId: null, ...month, by: "key" }),
    ),
    sum("a week's spend by day", (reports) => reports.dailySpend(null, now - 7 * dayMs)),
    sum("an hour's use of deployments", (reports) => reports.deploymentUse(now - dayMs / 24)),
    sum("a month's usage of models", (reports) => reports.modelUsage(null, month.from, month.to)),
    ...Object.entries({ workspace, group, key }).map(([kind, id]) =>
      sum(`spending of a ${kind} in a month`, (reports) =>
        reports.spending([{ kind: kind as ScopeKind, id, from: hourOf(month.from), to: null }], now - 60_000),
      ),
    ),
    sum("a key's own usage of a month", (reports) => reports.keyUsage(key, { from: month.from, to: month.to })),
    sum("how many entries there are", (reports) => reports.facts()),
  ];
}
