import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RawUpstream } from "../raw-upstream.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import {
  calls,
  type DialectName,
  dialects,
  event,
  type Piece,
  providerAt,
  scripts,
  startScriptedUpstream,
} from "./scripted-upstream.ts";

const kinds = ["overloaded", "rate_limit", "insufficient_quota", "authentication"] as const;
type Kind = (typeof kinds)[number];

const openaiErrors: Readonly<Record<Kind, object>> = {
  overloaded: { type: "service_unavailable_error", code: "server_is_overloaded" },
  rate_limit: { type: "requests", code: "rate_limit_exceeded" },
  insufficient_quota: { type: "insufficient_quota", code: "insufficient_quota" },
  authentication: { type: "authentication_error", code: "invalid_api_key" },
};
const anthropicTypes: Readonly<Record<Kind, string>> = {
  overloaded: "overloaded_error",
  rate_limit: "rate_limit_error",
  insufficient_quota: "billing_error",
  authentication: "authentication_error",
};
const googleErrors: Readonly<Record<Kind, object>> = {
  overloaded: { code: 503, status: "UNAVAILABLE" },
  rate_limit: { code: 429, status: "RESOURCE_EXHAUSTED" },
  insufficient_quota: { code: 429, status: "RESOURCE_EXHAUSTED" },
  authentication: { code: 401, status: "UNAUTHENTICATED" },
};
const interactionCodes: Readonly<Record<Kind, string>> = {
  overloaded: "unavailable",
  rate_limit: "resource_exhausted",
  insufficient_quota: "resource_exhausted",
  authentication: "unauthenticated",
};
const vendorMessage = { message: "as the vendor words it" };

/** An error of each kind as each vendor sends it in an event. */
const errorEvents: Readonly<Record<DialectName, (kind: Kind) => string>> = {
  chat: (kind) => event({ error: { ...openaiErrors[kind], ...vendorMessage } }),
  messages: (kind) => event({ type: "error", error: { type: anthropicTypes[kind], ...vendorMessage } }),
  responses: (kind) =>
    event({ type: "error", ...openaiErrors[kind], ...vendorMessage, param: null }).replace(
      /"type":"[a-z_]+"/g,
      '"type":"error"',
    ),
  gemini: (kind) => event({ error: { ...googleErrors[kind], ...vendorMessage } }),
  interactions: (kind) => event({ event_type: "error", error: { code: interactionCodes[kind], ...vendorMessage } }),
};

interface CallerError {
  readonly status: number;
  readonly name: string | undefined;
}

/** The error that callers of each dialect get: the status, and the code or type that their clients read. */
const callerKinds: Readonly<Record<DialectName, Readonly<Record<Kind, CallerError>>>> = {
  chat: {
    overloaded: { status: 503, name: "overloaded" },
    rate_limit: { status: 429, name: "rate_limit_exceeded" },
    insufficient_quota: { status: 429, name: "insufficient_quota" },
    authentication: { status: 502, name: "upstream_error" },
  },
  messages: {
    overloaded: { status: 529, name: "overloaded_error" },
    rate_limit: { status: 429, name: "rate_limit_error" },
    insufficient_quota: { status: 429, name: "rate_limit_error" },
    authentication: { status: 502, name: "api_error" },
  },
  responses: {
    overloaded: { status: 503, name: "overloaded" },
    rate_limit: { status: 429, name: "rate_limit_exceeded" },
    insufficient_quota: { status: 429, name: "insufficient_quota" },
    authentication: { status: 502, name: "upstream_error" },
  },
  gemini: {
    overloaded: { status: 503, name: "UNAVAILABLE" },
    rate_limit: { status: 429, name: "RESOURCE_EXHAUSTED" },
    insufficient_quota: { status: 429, name: "RESOURCE_EXHAUSTED" },
    authentication: { status: 502, name: "UNAVAILABLE" },
  },
  interactions: {
    overloaded: { status: 503, name: "overloaded" },
    rate_limit: { status: 429, name: "rate_limit_exceeded" },
    insufficient_quota: { status: 429, name: "insufficient_quota" },
    authentication: { status: 502, name: "upstream_error" },
  },
};
/** Interactions has no list of codes, so its callers get the vendor's. */
const rateLimitCodes: Readonly<Record<DialectName, string>> = {
  chat: "rate_limit_exceeded",
  messages: "rate_limit_error",
  responses: "rate_limit_exceeded",
  gemini: "resource_exhausted",
  interactions: "resource_exhausted",
};

/** The exceptions, where a vendor's error is more or less specific than its kind. */
function callerErrorFor(upstream: DialectName, caller: DialectName, kind: Kind): CallerError {
  const error = callerKinds[caller][kind];
  const isAnthropic = upstream === "messages";
  const isGoogle = upstream === "gemini" || upstream === "interactions";
  const isQuotaOfGoogle = isGoogle && kind === "insufficient_quota";
  if (caller === "interactions" && (kind === "rate_limit" || isQuotaOfGoogle)) {
    return { status: 429, name: rateLimitCodes[upstream] };
  }
  if (kind !== "insufficient_quota") return error;
  // Anthropic uses this error for the credit of the account.
  if (isAnthropic) return callerKinds[caller].authentication;
  return isGoogle && error.name === "insufficient_quota" ? callerKinds[caller].rate_limit : error;
}

interface ErrorBody {
  readonly error?: { readonly code?: string | number; readonly type?: string; readonly status?: string };
}

function nameIn(caller: DialectName, { error }: ErrorBody): string | undefined {
  if (caller === "messages") return error?.type;
  return caller === "gemini" ? error?.status : String(error?.code);
}

let first: RawUpstream & { script: readonly Piece[] };
let gateway: StartedGateway;
let callCount = 0;
const cases = kinds.flatMap((kind) =>
  dialects.flatMap((upstream) => dialects.map((caller) => [kind, upstream, caller] as const)),
);

beforeAll(async () => {
  first = await startScriptedUpstream();
  gateway = await startGateway({
    providers: () => dialects.map((dialect) => providerAt(dialect, scripts[dialect].kind, first)),
    models: dialects.flatMap((dialect) =>
      cases.map((_, index) => ({
        name: `of-${dialect}-${index}`,
        deployments: [{ provider: dialect, upstream_model: scripts[dialect].upstreamModel }],
      })),
    ),
  });
});
afterAll(async () => {
  await gateway.stop();
  first.stop();
});

async function ask(upstream: DialectName, caller: DialectName, script: readonly string[]) {
  first.script = script;
  const [path, body] = calls[caller](`of-${upstream}-${callCount++ % cases.length}`);
  const answer = await gateway.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
  return { status: answer.status, id: answer.headers.get("x-request-id") ?? "", text: await answer.text() };
}

describe("the kind of an upstream's error is preserved", () => {
  test.each(cases)("%s from %s as the first event, for a caller of %s", async (kind, upstream, caller) => {
    const { status, text } = await ask(upstream, caller, [errorEvents[upstream](kind)]);
    const expected = callerErrorFor(upstream, caller, kind);
    expect({ status, name: nameIn(caller, JSON.parse(text)) }).toEqual(expected);
    // Errors about the gateway's own account do not include the vendor's message.
    if (kind === "authentication") expect(text).not.toContain(vendorMessage.message);
  });

  test.each(cases.filter(([, upstream, caller]) => upstream !== caller))(
    "%s from %s in the middle of a stream, for a caller of %s",
    async (kind, upstream, caller) => {
      const { preamble, content } = scripts[upstream];
      const { status, id, text } = await ask(upstream, caller, [...preamble, content, errorEvents[upstream](kind)]);
      const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]): ErrorBody => JSON.parse(json));
      const error = events.findLast((one) => one.error !== undefined && one.error !== null) ?? {};
      expect([status, nameIn(caller, error)]).toEqual([200, callerErrorFor(upstream, caller, kind).name]);
      if (kind === "authentication") expect(text).not.toContain(vendorMessage.message);
      if (caller === "gemini") expect(JSON.stringify(error)).toContain(`"requestId":"${id}"`);
    },
  );
});

/** The same errors as complete answers with status 200, which some proxies send. */
const errorReplies: Readonly<Record<Exclude<DialectName, "responses">, (kind: Kind) => object>> = {
  chat: (kind) => ({ error: { ...openaiErrors[kind], ...vendorMessage } }),
  messages: (kind) => ({ type: "error", error: { type: anthropicTypes[kind], ...vendorMessage } }),
  gemini: (kind) => ({ error: { ...googleErrors[kind], ...vendorMessage } }),
  interactions: (kind) => ({ error: { code: interactionCodes[kind], ...vendorMessage } }),
};
const replyDialects = ["chat", "messages", "gemini", "interactions"] as const;
const replyCases = replyDialects.flatMap((upstream) =>
  kinds.flatMap((kind) => dialects.map((caller) => [kind, upstream, caller] as const)),
);

describe("the kind of an error in a complete answer with status 200 is preserved", () => {
  let reply: object = {};
  let server: Bun.Server<undefined>;
  let gateway: StartedGateway;
  const modelName = (upstream: DialectName, kind: Kind, caller: DialectName): string => `${upstream}-${kind}-${caller}`;
  beforeAll(async () => {
    server = Bun.serve({ idleTimeout: 0, port: 0, hostname: "127.0.0.1", fetch: () => Response.json(reply) });
    const at = { url: `http://127.0.0.1:${server.port}` };
    gateway = await startGateway({
      providers: () => replyDialects.map((dialect) => providerAt(dialect, scripts[dialect].kind, at)),
      // A separate model per case, because a failed deployment is skipped for a while.
      models: replyCases.map(([kind, upstream, caller]) => ({
        name: modelName(upstream, kind, caller),
        deployments: [{ provider: upstream, upstream_model: `${scripts[upstream].upstreamModel}-${kind}-${caller}` }],
      })),
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await server.stop(true);
  });

  test.each(replyCases)("%s from %s, for a caller of %s", async (kind, upstream, caller) => {
    reply = errorReplies[upstream](kind);
    const [path, body] = calls[caller](modelName(upstream, kind, caller));
    const unstreamedPath = path.replace(":streamGenerateContent?alt=sse", ":generateContent");
    const answer = await gateway.post(
      unstreamedPath,
      { ...body, stream: false },
      { headers: { "anthropic-version": "2023-06-01" } },
    );
    const received = { status: answer.status, name: nameIn(caller, (await answer.json()) as ErrorBody) };
    expect(received).toEqual(callerErrorFor(upstream, caller, kind));
  });
});
