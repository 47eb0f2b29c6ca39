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
const hourMs = dayMs / 24;
const pageRows = 50;

/** Every filter alone and the common ones combined, in one workspace and in all workspaces. */
export function consoleQuestions(filled: Filled): readonly Question[] {
  return [
    ...requestQuestions(filled, "", filled.workspace),
    ...requestQuestions(filled, " of all workspaces", null),
    ...keyQuestions(filled, "", filled.workspace),
    ...keyQuestions(filled, " of all workspaces", null),
    ...sumQuestions(filled),
    ...pageQuestions(filled),
  ];
}

function hourOf(at: number): number {
  return at - (at % hourMs);
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
      ask: (reports) => reports.requestsWithText(day, "x", null, pageRows),
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
    "of a user": { userId: "nobody" },
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

/** Of the pages of usage, keys, sessions, people and attention, and of alerts. */
function pageQuestions(filled: Filled): Question[] {
  const { now, workspace, group, person, session, sessionKey, sampleRequest } = filled;
  const hours = { from: hourOf(now) - 30 * dayMs, to: hourOf(now) };
  const compared = { from: hours.from - 30 * dayMs, to: hours.from };
  const order = { visiblePerson: null };
  const list = (name: string, ask: Question["ask"]): Question => ({ name, list: true, ask });
  const both = (name: string, ask: (id: string | null) => Question["ask"]) => [
    list(name, ask(workspace)),
    list(`${name} of all workspaces`, ask(null)),
  ];
  const weeks = (from: number) =>
    [0, 1, 2, 3, 4].map((n) => ({ from: from - n * 7 * dayMs, to: hourOf(now) + hourMs - n * 7 * dayMs }));
  const place = { workspaceId: workspace, keyId: sessionKey, session };
  return [
    ...both(
      "usage rows by person",
      (workspaceId) => (reports) =>
        reports.usageRows({ workspaceId, ...hours, compared, by: "person", sort: "-cost_usd" }, null, pageRows),
    ),
    ...both(
      "usage rows by model of a person",
      (workspaceId) => (reports) =>
        reports.usageRows({ workspaceId, ...hours, by: "model", personId: person, sort: "-cost_usd" }, null, pageRows),
    ),
    ...both(
      "usage rows by key of a user agent",
      (workspaceId) => (reports) =>
        reports.usageRows({ workspaceId, ...hours, by: "key", userAgent: "codex", sort: "-cost_usd" }, null, pageRows),
    ),
    ...both(
      "usage of a month of a person by model",
      (workspaceId) => (reports) =>
        reports.usage({ workspaceId, ...hours, stepMs: dayMs, by: "model", personId: person }),
    ),
    ...both("names of tags of a month", (workspaceId) => (reports) => reports.usageTags({ workspaceId, ...hours })),
    ...both("costs of a month", (workspaceId) => (reports) => reports.costs({ workspaceId, ...hours })),
    ...(["-spend", "-budget", "-used", "name", "state"] as const).flatMap((sort) =>
      both(
        `list of keys, ${sort}`,
        (workspaceId) => (reports) => reports.keyList({ workspaceId, now }, { ...order, sort }, null, pageRows),
      ),
    ),
    list("list of keys of a person, -spend", (reports) =>
      reports.keyList({ workspaceId: workspace, now, ownerId: person }, { ...order, sort: "-spend" }, null, pageRows),
    ),
    list("list of keys of a group, -spend", (reports) =>
      reports.keyList({ workspaceId: workspace, now, groupId: group }, { ...order, sort: "-spend" }, null, pageRows),
    ),
    ...(["-last_at", "-cost_usd"] as const).flatMap((sort) => [
      ...both(
        `sessions of a week, ${sort}`,
        (workspaceId) => (reports) => reports.sessions({ workspaceId, from: now - 7 * dayMs, sort }, null, pageRows),
      ),
      ...both(
        `sessions of a day, ${sort}`,
        (workspaceId) => (reports) => reports.sessions({ workspaceId, from: now - dayMs, sort }, null, pageRows),
      ),
    ]),
    list("sessions of a week of a person", (reports) =>
      reports.sessions(
        { workspaceId: workspace, from: now - 7 * dayMs, personId: person, sort: "-last_at" },
        null,
        pageRows,
      ),
    ),
    list("sessions of a month of a key", (reports) =>
      reports.sessions(
        { workspaceId: workspace, from: now - 30 * dayMs, keyId: sessionKey, sort: "-last_at" },
        null,
        pageRows,
      ),
    ),
    ...both(
      "sessions by the beginning of their id",
      (workspaceId) => (reports) =>
        reports.sessions({ workspaceId, search: session.slice(0, -1), sort: "-last_at" }, null, pageRows),
    ),
    list("one session", (reports) => reports.session(place)),
    list("requests of a session", (reports) => reports.sessionRequests(place, null, pageRows)),
    list("the session of a request", (reports) => reports.requestSession({ workspaceId: workspace }, sampleRequest)),
    ...both(
      "requests of a person",
      (workspaceId) => (reports) => reports.requests({ workspaceId, personId: person }, null, pageRows),
    ),
    ...both(
      "requests of a month with a tag",
      (workspaceId) => (reports) =>
        reports.requests({ workspaceId, ...hours, tag: { name: "team", value: "team-11" } }, null, pageRows),
    ),
    ...both("totals of a month", (workspaceId) => (reports) => reports.requestTotals({ workspaceId, ...hours })),
    ...both(
      "totals of a day of a person",
      (workspaceId) => (reports) => reports.requestTotals({ workspaceId, from: now - dayMs, personId: person }),
    ),
    ...both(
      "totals of a day, unsuccessful",
      (workspaceId) => (reports) => reports.requestTotals({ workspaceId, from: now - dayMs, outcome: "unsuccessful" }),
    ),
    ...both("error rates of the last hours, for attention", (workspaceId) => async (reports) => {
      const from = hourOf(now) - hourMs;
      const filter = { workspaceId, stepMs: hourMs, by: workspaceId === null ? "workspace" : "none" } as const;
      await reports.usage({ ...filter, from, to: from + 2 * hourMs });
      await reports.usage({ ...filter, from: from - dayMs, to: from });
    }),
    list("usage of models in 30 days, for attention", (reports) => reports.modelUsage(null, now - 30 * dayMs, now)),
    list("daily spend of a month of all workspaces", (reports) => reports.dailySpend(null, now - 30 * dayMs)),
    ...both(
      "alert: requests of ten minutes",
      (workspaceId) => (reports) => reports.alertTraffic({ workspaceId, from: now - 600_000, to: now }),
    ),
    ...both(
      "alert: requests of an hour",
      (workspaceId) => (reports) => reports.alertTraffic({ workspaceId, from: now - hourMs, to: now }),
    ),
    list("alert: providers of an hour", (reports) => reports.alertProviders(now - hourMs, now)),
    ...both(
      "alert: spend of an hour and of four weeks before",
      (workspaceId) => (reports) => reports.alertSpend({ workspaceId }, weeks(hourOf(now) - hourMs), 1),
    ),
    ...both(
      "alert: spend of a day and of four weeks before",
      (workspaceId) => (reports) => reports.alertSpend({ workspaceId }, weeks(now - (now % dayMs)), 1),
    ),
  ];
}
