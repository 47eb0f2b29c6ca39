import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, eventStream, startEchoUpstream } from "./echo-upstream.ts";
import { secret } from "./guardrail-fixture.ts";
import { placeDialects as dialects } from "./place-cases.ts";

/*
 * One secret in each place of each dialect, whole and streamed. `endpoint-cases.ts` has every endpoint; `every-endpoint.test.ts` every
 * dialect at every upstream; `conversations.test.ts` stored conversations; `sdk-texts.test.ts` every member.
 */

let echo: EchoUpstream;
let gateway: StartedGateway;
beforeAll(async () => {
  echo = startEchoUpstream();
  const kinds = ["openai", "anthropic", "gemini"] as const;
  gateway = await startGateway({
    providers: (simulator) => kinds.map((kind) => upstream(kind, simulator, { kind, base_url: echo.url })),
    models: kinds.map((kind) => ({ name: kind, deployments: [{ provider: kind, upstream_model: `${kind}-model` }] })),
    guardrails: [{ name: "keys", check: { kind: "credentials" }, action: "block" }],
  });
});
afterAll(async () => {
  await gateway.stop();
  echo.stop();
});
beforeEach(() => {
  echo.requests.length = 0;
  echo.respond = null;
});

const headers = { "anthropic-version": "2023-06-01" };
const requests = Object.entries(dialects).flatMap(([name, { base, path, requests: places }]) =>
  Object.entries(places).map(([place, body]) => [name, place, path(false), { ...base, ...body(secret) }] as const),
);

test.each(requests)("refuses a request of %s with a credential as its %s", async (_dialect, _place, path, body) => {
  const { status, text } = await gateway
    .post(path, body, { headers })
    .then(async (made) => ({ status: made.status, text: await made.text() }));
  expect([status, text.includes('"keys'), text.includes(secret), echo.requests]).toEqual([400, true, false, []]);
});

test("refuses each of them over a WebSocket", async () => {
  const socket = await openSocket(gateway);
  for (const [name, place, , body] of requests) {
    if (name !== "responses" || place === "in the background") continue;
    const frames = JSON.stringify(await socket.ask({ type: "response.create", ...body }));
    expect([place, frames.includes("guardrail_blocked"), frames.includes(secret)]).toEqual([place, true, false]);
  }
  socket.close();
  expect(echo.requests).toEqual([]);
});

const answers = Object.entries(dialects).flatMap(([name, dialect]) =>
  Object.entries(dialect.answers).map(([place, answer]) => [name, place, dialect, answer] as const),
);

describe.each(answers)("an answer of %s with a credential as its %s", (_name, _place, { base, path }, answer) => {
  const ask = async (isStream: boolean): Promise<string> =>
    await (await gateway.post(path(isStream), { ...base, stream: isStream || undefined }, { headers })).text();

  test("is refused whole", async () => {
    echo.respond = () => Response.json(answer.whole(`It is ${secret}.`));
    const text = await ask(false);
    expect([text.includes('"keys'), text.includes(secret)]).toEqual([true, false]);
  });

  test("is refused in a stream, split anywhere", async () => {
    for (let at = 1; at < secret.length; at++) {
      echo.respond = () => eventStream(answer.events(["It is ", secret.slice(0, at), secret.slice(at), " ok."]));
      const text = await ask(true);
      expect([at, text.includes('"keys') || text.includes('\\"keys'), text.includes(secret)]).toEqual([
        at,
        true,
        false,
      ]);
      // Nothing that is longer than the beginning of every such credential.
      if (at > 5) expect(text).not.toContain(secret.slice(0, at));
    }
  });
});
