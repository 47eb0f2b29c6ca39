import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghij";
const granted = ["openai", "claude", "google"];

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai" }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("google", simulator, { kind: "gemini" }),
      upstream("other", simulator, { kind: "openai" }),
      upstream("main", simulator),
    ],
    workspace: {
      pass_through: granted,
      groups: [{ name: "default", pass_through: granted }],
      keys: [
        { name: "alice", secret: aliceKey, pass_through: granted },
        { name: "bob", secret: bobKey },
      ],
    },
  });
});
afterAll(() => gateway.stop());

const anthropicHeaders = { "anthropic-version": "2023-06-01" };
const googleHeaders = { "x-goog-api-client": "google-genai-sdk/3.3.0" };

const unknownPaths: readonly [method: string, path: string, headers: Record<string, string>, provider: string][] = [
  ["GET", "/v1/fine_tuning/jobs", {}, "openai"],
  ["POST", "/v1/evals", {}, "openai"],
  ["POST", "/v1/realtime/client_secrets", {}, "openai"],
  ["GET", "/v1/agents", anthropicHeaders, "claude"],
  ["POST", "/v1/sessions", anthropicHeaders, "claude"],
  ["POST", "/v1beta/cachedContents", {}, "google"],
  ["GET", "/v1beta/fileSearchStores", googleHeaders, "google"],
  ["POST", "/v1beta/models/veo:predictLongRunning", {}, "google"],
  ["POST", "/v1/models/veo:predictLongRunning", googleHeaders, "google"],
];

function ask(method: string, path: string, headers: Record<string, string>, key: string | null): Promise<Response> {
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  return fetch(`${gateway.url}${path}`, { method, headers: { ...authorization, ...headers } });
}

/** The message of an error, and the vendor whose error format it has. */
async function errorIn(response: Response): Promise<{ readonly message: string; readonly shape: string }> {
  const body = (await response.json()) as {
    type?: string;
    error: { message: string; status?: string; code?: unknown };
  };
  const shape = body.type === "error" ? "claude" : body.error.status === undefined ? "openai" : "google";
  return { message: body.error.message, shape };
}

describe("an unknown path", () => {
  test.each(unknownPaths)(
    "%s %s suggests the provider's own API, in the caller's error format",
    async (method, path, headers, provider) => {
      const response = await ask(method, path, headers, aliceKey);
      expect(response.status).toBe(404);
      const { message, shape } = await errorIn(response);
      expect(shape).toBe(provider);
      expect(message).toBe(
        `There is no ${method} ${path}. The provider's own API is at /v1/providers/${provider}${path}.`,
      );
    },
  );

  test.each(unknownPaths)(
    "%s %s refers a key without a grant to an administrator and names no provider",
    async (method, path, headers) => {
      const { message } = await errorIn(await ask(method, path, headers, bobKey));
      expect(message).toContain(`at /v1/providers/{provider}${path}.`);
      for (const id of granted) expect(message).not.toContain(`/${id}/`);
    },
  );

  test("suggests the path for a wrong base URL, even without a key", async () => {
    const suggestions = {
      "/messages": "/v1/messages",
      "/v1/v1/chat/completions": "/v1/chat/completions",
      "/v1/chat/completions/": "/v1/chat/completions",
    };
    for (const [path, suggested] of Object.entries(suggestions)) {
      for (const key of [aliceKey, null]) {
        const response = await ask("POST", path, {}, key);
        expect(response.status).toBe(404);
        expect(await response.text()).toContain(`There is no POST ${path}. Did you mean ${suggested}?`);
      }
    }
    const other = await (await ask("POST", "/v1/chat/completion", {}, null)).text();
    expect(other).not.toContain("Did you mean");
  });

  test("suggests nothing else without a key", async () => {
    for (const key of [null, "sk-nobody-0123456789abcdefghij"]) {
      const response = await ask("POST", "/v1/evals", {}, key);
      expect(response.status).toBe(404);
      expect(await errorIn(response)).toEqual({ message: "There is no POST /v1/evals.", shape: "openai" });
    }
  });

  test("is available at the suggested address", async () => {
    const { message } = await errorIn(await ask("GET", "/v1/fine_tuning/jobs", {}, aliceKey));
    const address = /at (\/v1\/providers\/\S+)\.$/.exec(message)?.[1] ?? "";
    const answer = await ask("GET", address, {}, aliceKey);
    // The simulated vendor does not have this path either and refuses it itself.
    expect(answer.headers.get("x-sluice-attempts")).toBe("1");
  });
});

test("suggests the correct path for a WebSocket", async () => {
  const response = await ask("GET", "/v1/realtime", { upgrade: "websocket", connection: "upgrade" }, aliceKey);
  expect(response.status).toBe(404);
  expect((await errorIn(response)).message).toBe("There is no WebSocket at /v1/realtime. One is at /v1/responses.");
});

test("lists the allowed methods and suggests the provider's own API for another method", async () => {
  const response = await ask("GET", "/v1/chat/completions", {}, aliceKey);
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("POST");
  expect((await errorIn(response)).message).toBe(
    "Method GET not allowed. Use POST. The provider's own API is at /v1/providers/openai/v1/chat/completions.",
  );
  const model = await ask("DELETE", "/v1/models/gpt-test", {}, null);
  expect((await errorIn(model)).message).toBe("Method DELETE not allowed. Use GET.");
});
