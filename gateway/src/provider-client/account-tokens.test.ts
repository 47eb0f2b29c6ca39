import { beforeEach, expect, test } from "bun:test";
import { defaultTimeouts, type Provider, Secret } from "#core/index.ts";
import { type CredentialContext, type Issued, noIdentity } from "#credentials/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { transportOf } from "../../test/sending-transport.ts";
import { noWorkload } from "../../test/workload-fixture.ts";
import { AccountTokens } from "./account-tokens.ts";

const provider: Provider = {
  id: "cloud",
  kind: "vertex",
  baseUrl: "https://cloud.example",
  secret: null,
  allowPrivateNetwork: false,
  timeouts: defaultTimeouts,
  disconnect: "cancel",
  settings: {},
  enabled: true,
};
const issue = async (context: CredentialContext): Promise<Issued> => {
  const { status, text } = await context.send({ to: "the issuer", url: "https://cloud.example/token" });
  if (status !== 200) throw noIdentity("no token");
  return { credential: text, expiresInMs: 1_000_000 };
};
const staying = new AbortController().signal;

let clock = new FakeClock();
let sent = 0;
let status = 200;
/** Resolves the exchanges that are under way. */
let gate = Promise.withResolvers<void>();
let tokens = new AccountTokens(transportOf(refuse), clock, noWorkload);

function refuse(): never {
  throw new Error("replaced below");
}

beforeEach(() => {
  clock = new FakeClock();
  sent = 0;
  status = 200;
  gate = Promise.withResolvers();
  gate.resolve();
  const transport = transportOf(async () => {
    const number = ++sent;
    await gate.promise;
    const bytes = new TextEncoder().encode(`token-${number}`);
    const body = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
    return { status, headers: new Headers(), body };
  });
  tokens = new AccountTokens(transport, clock, noWorkload);
});

const ask = (signal = staying) => tokens.tokenOf(provider, issue, signal);

test("concurrent calls share one token exchange", async () => {
  const all = await Promise.all(Array.from({ length: 50 }, () => ask()));
  expect([new Set(all), sent]).toEqual([new Set(["token-1"]), 1]);
  expect([await ask(), sent]).toEqual(["token-1", 1]);
});

/** Lets exchanges that need no timer end. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

test("renews a token in the background before it expires", async () => {
  await ask();
  clock.advance(660_000);
  expect([await ask(), sent]).toEqual(["token-1", 1]);
  clock.advance(10_000);
  gate = Promise.withResolvers();
  expect([await Promise.all([ask(), ask()]), sent]).toEqual([["token-1", "token-1"], 2]);
  gate.resolve();
  await settled();
  expect([await ask(), sent]).toEqual(["token-2", 2]);
});

test("calls wait for the next token when the current one is about to expire", async () => {
  await ask();
  clock.advance(980_000);
  expect(await Promise.all([ask(), ask()])).toEqual(["token-2", "token-2"]);
});

test("gives up an exchange that takes too long", async () => {
  gate = Promise.withResolvers();
  const late = Promise.resolve(ask()).catch((thrown: unknown) => thrown);
  clock.advance(30_000);
  expect(await late).toMatchObject({ code: "upstream_error", retry: "other", accountFault: "identity" });
});

test("a refused exchange fails the calls that waited for it, and the next call tries again", async () => {
  status = 403;
  const refused = await Promise.allSettled([ask(), ask(), ask()]);
  expect([refused.map((one) => one.status), sent]).toEqual([["rejected", "rejected", "rejected"], 1]);
  status = 200;
  expect(await ask()).toBe("token-2");
});

test("uses the previous token until it expires while renewals fail", async () => {
  await ask();
  status = 503;
  clock.advance(900_000);
  expect([await ask(), sent]).toEqual(["token-1", 2]);
  await settled();
  expect([await ask(), sent]).toEqual(["token-1", 2]);
  clock.advance(11_000);
  expect([await ask(), sent]).toEqual(["token-1", 3]);
  await settled();
  clock.advance(100_000);
  await expect(Promise.resolve(ask())).rejects.toThrow("no token");
});

test("continues the exchange for others after a caller leaves", async () => {
  gate = Promise.withResolvers();
  const leaving = new AbortController();
  const gone = Promise.resolve(ask(leaving.signal)).catch((thrown: unknown) => thrown);
  const stays = ask();
  leaving.abort();
  expect(await gone).toMatchObject({ code: "client_closed" });
  gate.resolve();
  expect([await stays, sent]).toEqual(["token-1", 1]);
});

test("equal accounts share a token; another or changed account gets its own", async () => {
  const of = (changes: Partial<Provider>) => tokens.tokenOf({ ...provider, ...changes }, issue, staying);
  expect([await ask(), await of({}), await of({ timeouts: { ...defaultTimeouts, connectMs: 1 } }), sent]).toEqual([
    "token-1",
    "token-1",
    "token-1",
    1,
  ]);
  const others: readonly Partial<Provider>[] = [
    { id: "other" },
    { secret: new Secret("new") },
    { settings: { project: "other" } },
    { baseUrl: "https://other.example" },
    { allowPrivateNetwork: true },
  ];
  const had = await Promise.all(others.map(of));
  expect(new Set(had).size).toBe(others.length);
});

test("a refused exchange is not cached for an equal account", async () => {
  status = 403;
  const again = { ...provider };
  await Promise.allSettled([ask(), tokens.tokenOf(again, issue, staying)]);
  expect(sent).toBe(1);
  status = 200;
  expect([await tokens.tokenOf(again, issue, staying), await ask(), sent]).toEqual(["token-2", "token-2", 2]);
});

test("renews a token that the upstream refused, and keeps it if the renewal fails", async () => {
  await ask();
  tokens.tokenRefused(provider);
  expect([await ask(), sent]).toEqual(["token-1", 1]);
  clock.advance(11_000);
  tokens.tokenRefused({ ...provider });
  expect([await ask(), sent]).toEqual(["token-1", 1]);
  tokens.tokenRefused(provider);
  status = 503;
  expect([await ask(), await ask(), sent]).toEqual(["token-1", "token-1", 2]);
  status = 200;
  clock.advance(11_000);
  expect([await ask(), sent]).toEqual(["token-3", 3]);
});

test("hides the current token in an upstream's text", async () => {
  await tokens.tokenOf(provider, async () => ({ credential: "opaque token with words", expiresInMs: 1_000 }), staying);
  const quoted = new TextEncoder().encode("Invalid token: opaque token with words.");
  expect(new TextDecoder().decode(tokens.redacted(provider, quoted))).toBe("Invalid token: [redacted].");
  expect(tokens.redacted({ ...provider, id: "other" }, quoted)).toBe(quoted);
});
