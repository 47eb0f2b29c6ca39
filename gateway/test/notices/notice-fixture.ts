import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile } from "@sluice/contract";
import { NoticeSender, NoticeWatch } from "#admin/index.ts";
import { createMemoryCounter } from "#coordination/index.ts";
import { bounds, type ConfigSnapshot, type LimitScope, usdToNano } from "#core/index.ts";
import { createControlStore, createNoticeStore, createPeopleStore, type NoticeFields } from "#directory/index.ts";
import { Admission } from "#limits/index.ts";
import type { Mailer, OutboundRequest } from "#ports/index.ts";
import { openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { openMigrated } from "../migrated.ts";
import { transportOf } from "../sending-transport.ts";

const auditSource = { actor: "ada@example.com", ip: "127.0.0.1" };

/** A workspace with a daily budget of 10 USD, notices in a real database, and a recorder of everything sent. */
export async function noticeFixture(options: { readonly mailer?: Mailer } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-notices-"));
  const clock = new FakeClock();
  const ids = createIds(clock);
  const vault = openVault({ masterKey: "test-master-key-0123456789-0123456789", dataDir: directory });
  const database = await openMigrated(join(directory, "sluice.db"));
  const controlStore = createControlStore({ database, vault, clock, ids, kindDefaults: () => ({ baseUrl: "" }) });
  await controlStore.apply(config, "test");
  const configSnapshot: ConfigSnapshot = await controlStore.configSnapshot();
  const counter = createMemoryCounter({ clock });
  const admission = new Admission({ counter, clock });
  const sent: OutboundRequest[] = [];
  let status = 204;
  const transport = transportOf(async (request) => {
    sent.push(request);
    return {
      status,
      headers: new Headers(),
      body: { read: async () => null, readAll: async () => new Uint8Array(), cancel: () => {} },
    };
  });
  const store = createNoticeStore({ database, vault, clock, ids });
  const sender = new NoticeSender({
    transport,
    mailer: options.mailer ?? null,
    clock,
    webhookSecrets: () => [`whsec_${Buffer.from("secret of the workspace").toString("base64")}`],
  });
  const observer = {
    log: () => {},
    attemptEnd: () => {},
    requestEnd: () => {},
    breakerChange: () => {},
    configReload: () => {},
  };
  const watch = new NoticeWatch({
    store,
    sender,
    admission,
    controlStore,
    people: createPeopleStore({ database, clock, ids }),
    configSnapshot: () => configSnapshot,
    clock,
    observer,
  });
  const workspace = [...configSnapshot.workspaces.values()][0];
  if (workspace === undefined) throw new Error("the fixture has no workspace");
  const budgetKeys = async (scope: LimitScope, usd: number) => {
    // A budget counts from its first read; earlier spending would be in a ledger, which does not exist here.
    await admission.limitUsages([scope]);
    const permit = await admission.hold(
      { scopes: [scope] } as unknown as Parameters<typeof admission.hold>[0],
      usdToNano(usd),
      true,
    );
    const scopes = { workspaceId: scope.id, groupId: "grp_1", keyId: "key_1" };
    admission.settled({ attemptId: ids.next("att_"), at: clock.now(), ...scopes, costNanoUsd: usdToNano(usd) });
    permit.settle(0);
  };
  return {
    clock,
    store,
    watch,
    sent,
    database,
    workspace,
    configSnapshot,
    bodies: () => sent.map((request) => JSON.parse(new TextDecoder().decode(request.body as Uint8Array))),
    answer: (next: number) => {
      status = next;
    },
    spend: (usd: number) => budgetKeys(workspace.scope, usd),
    notice: (fields: Partial<NoticeFields> = {}) => store.create(workspace.id, { ...standard, ...fields }, auditSource),
    lookMs: bounds.noticeCheckMs,
    close: async () => {
      await watch.stop();
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const standard: NoticeFields = {
  name: "to the team",
  percent: [50, 80, 100],
  scope: null,
  scope_id: null,
  channel: { kind: "webhook", url: "https://chat.example.com/hook/secret-path" },
  enabled: true,
};

const config: ConfigFile = {
  workspaces: [
    {
      slug: "acme",
      name: "Acme",
      budget: { usd: 10, period: "day" },
      groups: [{ name: "default" }],
      keys: [{ name: "ci", secret: "sk-test-0123456789-0123456789", budget: { usd: 1, period: "month" } }],
    },
  ],
};
