import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CallerDialect, Taped } from "./matrix/ask.ts";
import { latestCallers } from "./matrix/callers.ts";
import { failingPurposes, failureCases } from "./matrix/cases-failure.ts";
import { textCases } from "./matrix/cases-text.ts";
import { toolCases } from "./matrix/cases-tools.ts";
import { checkVendorTypes, distinct } from "./matrix/check-vendor-types.ts";
import { failingName, runMatrix } from "./matrix/run-matrix.ts";
import { matrixConfig, matrixUpstreams } from "./matrix/upstreams.ts";
import { type Literal, literalsOf, type VendorType } from "./matrix/vendor-literals.ts";
import { type House, openHouse } from "./open-house.ts";
import { keys } from "./test-config.ts";

/**
 * Every answer that the matrix brings about, whole bodies and each event of streams, against the types that the vendors
 * have published. The compiler reads the answers as literals, so that a missing, unknown or mistyped member is found.
 */
let house: House;
let literals: readonly Literal[] = [];

beforeAll(async () => {
  const purposes = latestCallers({ url: "", key: "" }).flatMap((caller) =>
    failingPurposes.map((purpose) => failingName(caller, purpose)),
  );
  house = await openHouse((url) => matrixConfig(url, purposes));
  const taped: Taped[] = [];
  const door = { url: house.gateway.url, key: keys.main, onExchange: (one: Taped) => void taped.push(one) };
  await runMatrix(house, latestCallers(door), [...textCases, ...toolCases, ...failureCases]);
  literals = distinct([...taped.flatMap(literalsIn), ...(await besideTheMatrix())]);
});
afterAll(() => house?.close());

test("every answer has the type that its vendor has published", async () => {
  const types = new Set(literals.map((literal) => literal.type));
  expect(types.size).toBeGreaterThan(7);
  for (const { name } of matrixUpstreams)
    expect(literals.some((literal) => literal.from.endsWith(` ${name}`))).toBe(true);
  expect(await checkVendorTypes(literals)).toEqual([]);
});

test("the check finds what is missing, unknown or of another type", async () => {
  const whole = literals.find((literal) => literal.type === "Message");
  const chunk = literals.find((literal) => literal.type === "ChatCompletionChunk");
  if (whole === undefined || chunk === undefined) throw new Error("nothing was taped");
  const { usage: _usage, ...missing } = whole.json as Record<string, unknown>;
  const faults = await checkVendorTypes([
    { ...whole, from: "missing", json: missing },
    { ...whole, from: "unknown", json: { ...(whole.json as object), of_next_year: 1 } },
    { ...chunk, from: "mistyped", json: { ...(chunk.json as object), created: "today" } },
    whole,
  ]);
  expect(faults.map((fault) => /from (\w+)/.exec(fault)?.[1])).toEqual(["missing", "unknown", "mistyped"]);
});

/** Answers that no case of the matrix asks for. */
async function besideTheMatrix(): Promise<readonly Literal[]> {
  const version = { "anthropic-version": "2023-06-01" };
  const model = "matrix/responses/main";
  const found: Literal[] = [];
  const ask = async (type: VendorType, path: string, headers: Record<string, string>, body?: object): Promise<void> => {
    const answer = await fetch(house.gateway.url + path, {
      headers: { "x-api-key": keys.main, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    found.push({ type, from: `${path} ${answer.status}`, json: await answer.json() });
  };
  await ask("ModelPage", "/v1/models", {});
  await ask("Model", `/v1/models/${model}`, {});
  await ask("ModelInfoPage", "/v1/models?limit=1000", version);
  await ask("ModelInfo", `/v1/models/${model}`, version);
  await ask("Embeddings", "/v1/embeddings", {}, { model: "matrix/chat/main", input: "one two" });
  await ask("ErrorObject", "/v1/chat/completions", {}, { model: "nobody", messages: [] });
  await ask("ErrorObject", "/v1/responses", { "x-api-key": "sk-nobody-knows-this-0001" }, {});
  await ask("ErrorObject", "/v1/nowhere", {});
  await ask("ErrorResponse", "/v1/messages", version, { model: "nobody", max_tokens: 1, messages: [] });
  await ask("ErrorResponse", "/v1/messages", {}, {});
  await ask("ErrorResponse", "/v1/messages/count_tokens", { ...version, "x-api-key": "sk-nobody-knows-this-0001" }, {});
  return found;
}

function literalsIn(exchange: Taped): readonly Literal[] {
  const { pathname } = new URL(exchange.url);
  const upstream = /matrix\/([\w-]+)\//.exec(pathname + exchange.sent)?.[1] ?? "";
  if (isUpstreamsOwnFault(exchange, upstream)) return [];
  const body = exchange.body();
  const from = `${pathname.replace(/\/models\/.*/, "")} on ${upstream}`;
  if (pathname.endsWith("/count_tokens")) return [{ type: "MessageTokensCount", from, json: JSON.parse(body) }];
  return literalsOf(dialectAt(pathname), from, exchange.status, body);
}

/** Bytes of the caller's own dialect pass as they are: what such an upstream leaves out on purpose stays left out. */
function isUpstreamsOwnFault({ url, sent, status }: Taped, upstream: string): boolean {
  const speaksMessages = ["anthropic", "bedrock-claude", "vertex-claude"].includes(upstream);
  if (speaksMessages && url.includes("/v1/messages") && sent.includes("no_usage")) return true;
  // Azure's own short form of an error.
  return upstream === "azure" && status === 429;
}

function dialectAt(path: string): CallerDialect {
  if (/^\/v1(?:beta)?\/models\/.+:/.test(path)) return "generate";
  if (path === "/v1/messages") return "messages";
  return path === "/v1/responses" ? "responses" : "chat";
}
