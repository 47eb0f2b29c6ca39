import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { answersOutsideMatrix, literalsIn } from "./matrix/answers-to-check.ts";
import type { Caller, Exchange } from "./matrix/call-spec.ts";
import { latestCallers, matrixCallers } from "./matrix/callers.ts";
import { failingPurposes, failureCases } from "./matrix/cases-failure.ts";
import { textCases } from "./matrix/cases-text.ts";
import { toolCases } from "./matrix/cases-tools.ts";
import { checkVendorTypes, distinct } from "./matrix/check-vendor-types.ts";
import { type Untranslatable, untranslatable } from "./matrix/known-limits.ts";
import { movedConversations } from "./matrix/moved-conversations.ts";
import { matrixTable } from "./matrix/print-matrix.ts";
import { failingName, type PairResult, runMatrix } from "./matrix/run-matrix.ts";
import { awsSecret, matrixConfig, matrixUpstreams } from "./matrix/upstreams.ts";
import type { Literal } from "./matrix/vendor-literals.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

/** The latest version of every official SDK with every kind of upstream. Each pair is one test with many cases. */
const cases = [...textCases, ...toolCases, ...failureCases];
const rows = matrixCallers({ url: "", key: "" });
const latestNames = new Set(latestCallers({ url: "", key: "" }).map(({ name }) => name));
/** Answers are written in the caller's dialect, so one upstream of each dialect suffices for an SDK's previous version. */
const upstreamsOfPrevious = ["chat", "responses", "anthropic", "bedrock-nova", "gemini", "interactions"];
const upstreamsOf = ({ name }: Caller) =>
  matrixUpstreams.filter((upstream) => latestNames.has(name) || upstreamsOfPrevious.includes(upstream.name));
const purposes = rows.flatMap((caller) => failingPurposes.map((purpose) => failingName(caller, purpose)));

let setup: TestSetup;
let results: readonly PairResult[] = [];
const exchanges: Exchange[] = [];

beforeAll(async () => {
  setup = await openSetup((simulatorUrl) => matrixConfig(simulatorUrl, purposes));
  for (const { upstreamModel } of matrixUpstreams.filter(({ name }) => name.startsWith("bedrock"))) {
    await setup.simulator.script({ aws_secret: awsSecret }, { model: upstreamModel });
  }
  const access = { url: setup.gateway.url, key: keys.main };
  const latest = latestCallers({ ...access, onExchange: (entry) => void exchanges.push(entry) });
  const callers = matrixCallers(access).map((caller) => latest.find(({ name }) => name === caller.name) ?? caller);
  results = await runMatrix(setup, callers, cases, upstreamsOf);
  console.log(`\n${matrixTable(results)}\n`);
});
afterAll(() => setup?.close());

describe.each(rows.map((row) => [row.name, row] as const))("%s", (caller, row) => {
  test.each(upstreamsOf(row).map((upstream) => upstream.name))(`works on %s: ${cases.length} cases`, (upstream) => {
    const result = results.find((entry) => entry.caller === caller && entry.upstream === upstream);
    expect(result?.total).toBe(cases.length);
    expect(result?.faults.map((fault) => `${fault.case}: ${fault.what}`)).toEqual([]);
  });
});

describe("a conversation can continue at any other upstream, in the middle of a tool loop with reasoning", () => {
  test.each(latestCallers({ url: "", key: "" }).map((caller) => caller.name))("with %s", async (name) => {
    const access = { url: setup.gateway.url, key: keys.main };
    const caller = latestCallers(access).find((entry) => entry.name === name);
    if (caller === undefined) throw new Error(`no caller ${name}`);
    expect(await movedConversations(caller)).toEqual([]);
  });
});

describe("fields that another upstream cannot serve are never dropped silently", () => {
  const rows = untranslatable.flatMap((row) => row.upstreams.map((name): [string, Untranslatable] => [name, row]));
  test.each(rows.map(([name, row]): [string, string, string, Untranslatable] => [row.path, row.what, name, row]))(
    "%s: %s, on %s",
    async (path, _, upstream, { body, expected }) => {
      const answer = await fetch(setup.gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": keys.main, "anthropic-version": "2023-06-01" },
        body: JSON.stringify({ model: `matrix/${upstream}/main`, ...body }),
      });
      const text = await answer.text();
      if ("warnedOf" in expected) {
        expect(answer.status, text).toBe(200);
        expect(answer.headers.get("x-sluice-warnings") ?? "").toMatch(expected.warnedOf);
        return;
      }
      expect(answer.status, text).toBe(400);
      const { error } = JSON.parse(text);
      expect(error.param ?? error.message).toMatch(expected.refusedFor);
    },
  );
});

/**
 * Compares every answer of the matrix, whole bodies and each event of streams, with the vendors' published types. The compiler
 * checks the answers as literals, so it finds missing, unknown and mistyped fields.
 */
describe("answers to a vendor's SDK", () => {
  let literals: readonly Literal[] = [];
  let faults: readonly string[] = [];
  beforeAll(async () => {
    literals = distinct([...exchanges.flatMap(literalsIn), ...(await answersOutsideMatrix(setup.gateway.url))]);
    // All at once, so that the compiler reads the vendors' types only once.
    faults = await checkVendorTypes([...literals, ...wrongLiterals(literals)]);
  });
  const wrongLiteralIn = (fault: string) => /^\w+ from (missing|unknown|mistyped):/.exec(fault)?.[1];

  test("every answer has its vendor's published type", () => {
    const types = new Set(literals.map((literal) => literal.type));
    expect(types.size).toBeGreaterThan(7);
    for (const { name } of matrixUpstreams)
      expect(literals.some((literal) => literal.from.endsWith(` ${name}`))).toBe(true);
    expect(faults.filter((fault) => wrongLiteralIn(fault) === undefined)).toEqual([]);
  });

  test("the check finds missing, unknown and mistyped fields", () => {
    expect(faults.flatMap((fault) => wrongLiteralIn(fault) ?? [])).toEqual(["missing", "unknown", "mistyped"]);
  });
});

function wrongLiterals(literals: readonly Literal[]): readonly Literal[] {
  const whole = literals.find((literal) => literal.type === "Message");
  const chunk = literals.find((literal) => literal.type === "ChatCompletionChunk");
  if (whole === undefined || chunk === undefined) throw new Error("no answer was recorded");
  const { usage: _usage, ...missing } = whole.json as Record<string, unknown>;
  return [
    { ...whole, from: "missing", json: missing },
    { ...whole, from: "unknown", json: { ...(whole.json as object), of_next_year: 1 } },
    { ...chunk, from: "mistyped", json: { ...(chunk.json as object), created: "today" } },
  ];
}
