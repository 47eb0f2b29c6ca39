import { createMemoryCounter } from "#coordination/index.ts";
import {
  type ConfigSnapshot,
  type LedgerEntry,
  type Principal,
  personOf,
  policiesOf,
  policyCaller,
  scopesOf,
} from "#core/index.ts";
import { callableModels, mayCall } from "#identity/index.ts";
import { Admission } from "#limits/index.ts";
import type { AnswerBody, OutboundAnswer, OutboundRequest } from "#ports/index.ts";
import { openaiChat, openaiChatCodec, openaiChatWire } from "#protocols/index.ts";
import type { Database } from "#storage/index.ts";
import { callerKeys, keyOf } from "#storage/tables.ts";
import { wireCalls } from "../../src/main/open-calls.ts";
import { quietCallParts } from "../call-parts.ts";
import { FakeClock } from "../fake-clock.ts";
import { sentText } from "../outbound.ts";
import { transportOf } from "../sending-transport.ts";
import { JournalInMemory } from "../simulation/journal-in-memory.ts";
import { seededChance } from "../simulation/seeded-chance.ts";

/** One call of the traffic. It begins at an even and ends at an odd millisecond, so that no call ends when another begins. */
export interface TrafficCall {
  readonly number: number;
  readonly at: number;
  readonly durationMs: number;
  readonly key: string;
  readonly model: string;
  readonly team: string;
  readonly outputMax: number;
  readonly output: number;
}

export interface RunResult {
  /** Without refused calls. */
  readonly entries: readonly LedgerEntry[];
  /** What refused each call, by the call's number: `rpm key acme/ci`. */
  readonly refusals: ReadonlyMap<number, string>;
}

export function requestIdOf(number: number): string {
  return `req_${String(number).padStart(6, "0")}`;
}

/** Plays traffic through the relay, its limits and grants, on a pretend clock. The upstream does the same in each run. */
export async function runTraffic(
  calls: readonly TrafficCall[],
  configSnapshot: ConfigSnapshot,
  database: Database,
  startMs: number,
): Promise<RunResult> {
  const clock = new FakeClock(startMs);
  const chance = seededChance(1);
  let count = 0;
  const ids = { next: (prefix: string) => `${prefix}${String(++count).padStart(6, "0")}` };
  const journal = new JournalInMemory();
  const faults: string[] = [];
  const policies = () => configSnapshot.budgetPolicies;
  const admission = new Admission({ counter: createMemoryCounter({ clock }), clock, policies });
  const byNumber = new Map(calls.map((call) => [call.number, call]));
  const transport = transportOf(async (request) => {
    const call = byNumber.get(numberIn(request));
    if (call === undefined) throw new Error("an unknown call was sent");
    await new Promise<void>((resolve) => void clock.after(call.durationMs, resolve));
    return answer(call.output);
  });
  const { relay } = wireCalls({
    ...quietCallParts(),
    configSnapshot: () => configSnapshot,
    steady: clock,
    ...{ admission, journal, transport, ids, clock, chance },
    observer: {
      log: (level, message) => void (level === "error" && faults.push(message)),
      attemptEnd: () => {},
      requestEnd: () => {},
      breakerChange: () => {},
      configReload: () => {},
    },
  });
  const callers = await principals(configSnapshot, database);
  const refusals = new Map<number, string>();
  let running = 0;
  const begin = async (call: TrafficCall): Promise<void> => {
    const principal = callers.get(call.key);
    if (principal === undefined) throw new Error(`there is no key ${call.key}`);
    const models = callableModels(configSnapshot, principal, call.model);
    if (models.length === 0) {
      refusals.set(call.number, "models");
      return;
    }
    running++;
    const body = new TextEncoder().encode(
      JSON.stringify({
        model: call.model,
        messages: [{ role: "user", content: `call ${call.number}.` }],
        max_tokens: call.outputMax,
      }),
    );
    const result = await relay.run({
      ...{ requestId: requestIdOf(call.number), signal: new AbortController().signal, startedMs: clock.monotonic() },
      ...{
        principal,
        mayCall: (model: string) => mayCall(principal, model),
        protocol,
        facts: openaiChatWire.readRequest(body, null),
        body,
        models,
      },
      ...{
        marks: null,
        query: "",
        headers: new Headers(),
        bodyWaitMs: 0,
        userAgent: "",
        tags: { team: call.team },
        session: null,
      },
      streamEnd: () => {},
    });
    running--;
    if (!("failure" in result)) return;
    const { reachedLimit, code } = result.failure;
    if (code === "no_deployment_available" || code === "unsupported_by_model") {
      refusals.set(call.number, "deployments");
      return;
    }
    if (reachedLimit === undefined) throw result.failure;
    refusals.set(call.number, `${reachedLimit.kind} ${reachedLimit.scope} ${reachedLimit.scopeId}`);
  };
  const times = new Map<number, TrafficCall | null>();
  for (const call of calls) {
    times.set(call.at, call);
    times.set(call.at + call.durationMs, null);
  }
  for (const [at, call] of [...times].toSorted(([one], [other]) => one - other)) {
    clock.advance(at - clock.now());
    if (call !== null) void begin(call);
    // Everything that this moment causes happens before the next one.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  if (running > 0) throw new Error(`${running} calls never ended`);
  if (faults.length + journal.faults.length > 0) throw new Error([...faults, ...journal.faults].join("; "));
  return { entries: journal.entries.filter(({ outcome }) => outcome !== "rejected"), refusals };
}

const protocol = {
  endpoint: "chat",
  wireDialect: "openai-chat",
  dialect: openaiChat,
  wire: openaiChatWire,
  codec: openaiChatCodec,
} as const;

/** By the key's name. */
async function principals(configSnapshot: ConfigSnapshot, database: Database) {
  const { workspaces, groups } = configSnapshot;
  const found = new Map<string, Principal>();
  for (const row of await callerKeys(database.kysely).execute()) {
    const key = keyOf(row);
    const workspace = workspaces.get(key.workspaceId);
    const group = groups.get(key.groupId);
    if (workspace === undefined || group === undefined) continue;
    const caller = { key, group, workspace, person: personOf(key) };
    const policies = policiesOf(configSnapshot.budgetPolicies, policyCaller(caller));
    const scopes = scopesOf(workspace, group, key);
    found.set(key.name, { ...caller, scopes, ...(policies === undefined ? {} : { policies }) });
  }
  return found;
}

function numberIn({ body }: OutboundRequest): number {
  const text = sentText(body);
  return Number(/call (\d+)\./.exec(text)?.[1]);
}

function answer(output: number): OutboundAnswer {
  const message = { role: "assistant", content: "x" };
  const bytes = new TextEncoder().encode(
    JSON.stringify({
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: output },
    }),
  );
  const body: AnswerBody = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
  return { status: 200, headers: new Headers({ "content-type": "application/json" }), body };
}
