import { randomBytes } from "node:crypto";
import { createMemoryCounter } from "#coordination/index.ts";
import { createAgentStore } from "#directory/index.ts";
import { Authenticator } from "#identity/index.ts";
import { Admission } from "#limits/index.ts";
import type { ReportStore } from "#ports/index.ts";
import { createChangeFeed } from "#storage/index.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import {
  type ConsoleFixture,
  type FixtureAnswer,
  type FixtureGateway,
  openConsoleFixture,
  type Who,
} from "../console-fixture.ts";

export interface TenantFixture extends ConsoleFixture {
  /** The result of a call with this secret from the real authenticator: the key's id or the error code. */
  authenticate(secret: string, address?: string): Promise<string>;
  /** The owner of this secret's key, or null. */
  personOf(secret: string): Promise<string | null>;
  /** The limits of calls with this secret, widest first. */
  limitsOf(secret: string): Promise<readonly string[]>;
  /** A key created through the API. */
  makeKey(who: Who, body: Readonly<Record<string, unknown>>, workspace?: string): Promise<FixtureAnswer>;
}

/** The API of users, workspaces, groups, keys and access, with an authenticator that follows changes. */
export async function openTenantFixture(
  reports: (gateway: FixtureGateway) => ReportStore = () => unasked,
): Promise<TenantFixture> {
  let feed: ReturnType<typeof createChangeFeed> | null = null;
  let reading: ReportStore = unasked;
  const fixture = await openConsoleFixture((gateway) => {
    feed = createChangeFeed({ database: gateway.database, clock: gateway.clock, observer: silentObserver });
    reading = reports(gateway);
    const admission = new Admission({ counter: createMemoryCounter({ clock: gateway.clock }), clock: gateway.clock });
    return {
      admission,
      reports: reading,
      randomBytes,
      agents: createAgentStore(gateway),
      changesSeen: async () => await feed?.catchUp(),
      observer: silentObserver,
      mailer: null,
    };
  });
  const changes = feed as unknown as ReturnType<typeof createChangeFeed>;
  const authenticator = new Authenticator({
    ...fixture,
    keyStore: fixture.controlStore,
    feedReadAtMs: () => changes.currentAtMs,
  });
  const stop = changes.subscribe((change) => authenticator.changed(change));
  await changes.catchUp();
  const callerOf = async (secret: string, address = "203.0.113.7") =>
    await authenticator.authenticate(new Headers({ authorization: `Bearer ${secret}` }), address);
  return {
    ...fixture,
    personOf: async (secret) => (await callerOf(secret)).person,
    limitsOf: async (secret) => (await callerOf(secret)).scopes.map(({ label }) => label),
    async authenticate(secret, address) {
      try {
        return (await callerOf(secret, address)).key.id;
      } catch (thrown) {
        return (thrown as { code: string }).code;
      }
    },
    makeKey: (who, body, workspace = "acme") => fixture.call(who, "keys.create", { params: { workspace }, body }),
    async [Symbol.asyncDispose]() {
      stop();
      if (reading !== unasked) await reading.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

/** For tests that read no reports. The real reports run in a separate thread. */
const unasked = new Proxy({} as ReportStore, {
  get: (_target, name) => () => {
    throw new Error(`this test does not expect reports.${String(name)}`);
  },
});
