import { afterEach, beforeEach, expect, test } from "bun:test";
import { type RequestRow, tailPath } from "@sluice/contract";
import { type AgentFixture, startAgentFixture } from "../agents/agent-fixture.ts";
import { ask, done, finished, never, price, settled } from "../background-fixture.ts";
import { MovedClock } from "../moved-clock.ts";
import { aliceKey, upstream } from "../started-gateway.ts";

const heldUsd = 0.070_036;

let clock: MovedClock;
let fixture: AgentFixture;
beforeEach(async () => {
  clock = new MovedClock();
  fixture = await startAgentFixture({
    clock,
    providers: (simulator) => [upstream("main", simulator, { kind: "openai" })],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 1, period: "total" } }],
    models: [{ name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price }],
  });
});
afterEach(() => fixture.stop());

async function create(script: typeof done): Promise<{ readonly id: string; readonly requestId: string }> {
  const made = await fixture.gateway.post("/v1/responses", ask, { script });
  const { id } = (await made.json()) as { readonly id: string };
  // Its task is read from the journal.
  await fixture.gateway.entries();
  return { id, requestId: made.headers.get("x-request-id") ?? "" };
}

async function listed(query: string): Promise<readonly RequestRow[]> {
  const { status, body } = await fixture.ada.call("GET", `/api/workspaces/acme/requests?${query}`);
  expect(status).toBe(200);
  return body.data;
}

test("lists a pending background response with its hold, and as an ordinary row when it ends", async () => {
  const { id, requestId } = await create(done);
  const pending = { request_id: requestId, outcome: "pending", cost_usd: 0, input_tokens: 0, output_tokens: 0 };
  for (const query of ["", "outcome=pending", `search=${requestId}`, `search=${id}`, "endpoint=responses"]) {
    const [row, ...more] = await listed(query);
    expect([row?.key.name, row?.workspace.slug, more.length]).toEqual(["alice", "acme", 0]);
    expect(row).toMatchObject(pending);
    expect(row?.held_usd).toBeCloseTo(heldUsd, 4);
  }
  for (const query of ["outcome=succeeded", "outcome=unsuccessful", "model=none"])
    expect(await listed(query)).toEqual([]);
  await finished(fixture.gateway, id);
  await settled(fixture.gateway, clock, 1);
  expect(await listed("outcome=pending")).toEqual([]);
  expect(await listed("")).toMatchObject([
    { request_id: requestId, outcome: "succeeded", held_usd: null, output_tokens: 7_003 },
  ]);
});

test("the request's page shows when the response was created and what is held", async () => {
  const { requestId } = await create(never);
  const { body } = await fixture.ada.call("GET", `/api/workspaces/acme/requests/${requestId}`);
  expect(body.attempts).toMatchObject([{ outcome: "pending", cost_usd: 0, usage_source: "none" }]);
  expect(body.attempts[0].held_usd).toBeCloseTo(heldUsd, 4);
  expect(body.attempts[0].at).toBe(body.at);
});

test("a live view shows the response when it begins and again when it ends", async () => {
  const origin = `http://localhost:${fixture.gateway.gateway.consolePort}`;
  const leaving = new AbortController();
  const { cookie } = fixture.ada;
  const view = await fetch(`${origin}${tailPath("acme")}`, { headers: { cookie, origin }, signal: leaving.signal });
  expect(view.status).toBe(200);
  const reader = view.body?.getReader();
  let text = "";
  const nextRow = async (): Promise<RequestRow> => {
    for (;;) {
      const event = /^id: .*\ndata: (.*)\n\n/m.exec(text);
      if (event !== null) {
        text = text.slice(event.index + event[0].length);
        return JSON.parse(event[1] ?? "");
      }
      const piece = await reader?.read();
      if (piece === undefined || piece.done) throw new Error("the view ended");
      text += new TextDecoder().decode(piece.value);
    }
  };
  const { id, requestId } = await create(done);
  const begun = await nextRow();
  expect(begun).toMatchObject({ request_id: requestId, outcome: "pending", cost_usd: 0, output_tokens: 0 });
  expect(begun.held_usd).toBeCloseTo(heldUsd, 4);
  await finished(fixture.gateway, id);
  await settled(fixture.gateway, clock, 1);
  const { attempt_id: attemptId } = begun;
  expect(await nextRow()).toMatchObject({ attempt_id: attemptId, outcome: "succeeded", output_tokens: 7_003 });
  leaving.abort();
});
