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

const anthropic = { "anthropic-version": "2023-06-01" };
const googles = { "x-goog-api-client": "google-genai-sdk/3.3.0" };

const unknown: readonly [method: string, path: string, headers: Record<string, string>, provider: string][] = [
  ["POST", "/v1/files", {}, "openai"],
  ["POST", "/v1/batches", {}, "openai"],
  ["GET", "/v1/vector_stores", {}, "openai"],
  ["POST", "/v1/realtime/client_secrets", {}, "openai"],
  ["POST", "/v1/files", anthropic, "claude"],
  ["GET", "/v1/skills", anthropic, "claude"],
  ["POST", "/v1/messages/batches", anthropic, "claude"],
  ["POST", "/v1beta/cachedContents", {}, "google"],
  ["GET", "/v1beta/files", googles, "google"],
  ["POST", "/v1beta/models/gem:batchGenerateContent", {}, "google"],
  ["POST", "/v1beta/models/veo:predictLongRunning", {}, "google"],
  ["POST", "/v1/models/gem:batchGenerateContent", googles, "google"],
];

function ask(method: string, path: string, headers: Record<string, string>, key: string | null): Promise<Response> {
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  return fetch(`${gateway.url}${path}`, { method, headers: { ...authorization, ...headers } });
}

/** The message and the shape in which each vendor's clients read errors. */
async function told(response: Response): Promise<{ readonly message: string; readonly shape: string }> {
  const body = (await response.json()) as {
    type?: string;
    error: { message: string; status?: string; code?: unknown };
  };
  const shape = body.type === "error" ? "claude" : body.error.status === undefined ? "openai" : "google";
  return { message: body.error.message, shape };
}

describe("an unknown path", () => {
  test.each(unknown)(
    "%s %s names the provider's own API, in the caller's dialect",
    async (method, path, headers, provider) => {
      const response = await ask(method, path, headers, aliceKey);
      expect(response.status).toBe(404);
      const { message, shape } = await told(response);
      expect(shape).toBe(provider);
      expect(message).toBe(
        `There is no ${method} ${path}. The provider's own API is at /v1/providers/${provider}${path}.`,
      );
    },
  );

  test.each(unknown)(
    "%s %s tells a key without a grant whom to ask, and no provider",
    async (method, path, headers) => {
      const { message } = await told(await ask(method, path, headers, bobKey));
      expect(message).toContain(`at /v1/providers/{provider}${path}.`);
      for (const id of granted) expect(message).not.toContain(`/${id}/`);
    },
  );

  test("suggests the path behind a wrong base URL, even without a key", async () => {
    const meant = "Did you mean /v1/chat/completions?";
    for (const path of ["/chat/completions", "/v1/v1/chat/completions", "/v1/chat/completions/"]) {
      for (const key of [aliceKey, null]) {
        const response = await ask("POST", path, {}, key);
        expect(response.status).toBe(404);
        expect((await response.text()).includes(`There is no POST ${path}. ${meant}`)).toBe(true);
      }
    }
    const other = await (await ask("POST", "/v1/chat/completion", {}, null)).text();
    expect(other).not.toContain("Did you mean");
  });

  test("shows nothing else without a key", async () => {
    for (const key of [null, "sk-nobody-0123456789abcdefghij"]) {
      const response = await ask("POST", "/v1/files", {}, key);
      expect(response.status).toBe(404);
      expect(await told(response)).toEqual({ message: "There is no POST /v1/files.", shape: "openai" });
    }
  });

  test("exists at the suggested address", async () => {
    const { message } = await told(await ask("GET", "/v1/vector_stores", {}, aliceKey));
    const place = /at (\/v1\/providers\/\S+)\.$/.exec(message)?.[1] ?? "";
    const passed = await ask("GET", place, {}, aliceKey);
    // The simulated vendor has no such path either, and says so itself.
    expect(passed.headers.get("x-sluice-attempts")).toBe("1");
  });
});

test("a WebSocket at another path gets the right path", async () => {
  const response = await ask("GET", "/v1/realtime", { upgrade: "websocket", connection: "upgrade" }, aliceKey);
  expect(response.status).toBe(404);
  expect((await told(response)).message).toBe("There is no WebSocket at /v1/realtime. One is at /v1/responses.");
});

test("another method gets the allowed methods, and the provider's own API", async () => {
  const response = await ask("GET", "/v1/chat/completions", {}, aliceKey);
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("POST");
  expect((await told(response)).message).toBe(
    "Method GET not allowed. Use POST. The provider's own API is at /v1/providers/openai/v1/chat/completions.",
  );
  const model = await ask("DELETE", "/v1/models/gpt-test", {}, null);
  expect((await told(model)).message).toBe("Method DELETE not allowed. Use GET.");
});
