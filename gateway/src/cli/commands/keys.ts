import { randomBytes } from "node:crypto";
import type { BudgetConfig, ConsoleKey } from "@sluice/contract";
import { defaultGroupName } from "@sluice/contract/words";
import type { Command } from "commander";
import { Secret } from "#core/index.ts";
import type { ControlStore, NewKey, StoredWorkspace } from "#directory/index.ts";
import { CommandFailed, CommandWrong } from "../command-failed.ts";
import { auditSource, withControl } from "../open.ts";
import { addressList, budget, expiry, graceTime, nameList, positiveInteger } from "../option-readers.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { workspaceNamed } from "./workspaces.ts";

export function addKeys(program: Command, terminal: Terminal): void {
  const key = program.command("key").description("create, list, show, rotate and revoke API keys");
  addKeyCreate(key, terminal);
  addKeyList(key, terminal);
  addKeyShow(key, terminal);
  addKeyRotate(key, terminal);
  addKeyRevoke(key, terminal);
}

export interface KeyCreateOptions {
  readonly workspace?: string;
  readonly group: string;
  readonly name: string;
  readonly expires?: number;
  readonly models?: readonly string[];
  readonly passThrough?: readonly string[];
  readonly allowIp?: readonly string[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly budget?: BudgetConfig;
}

function addKeyCreate(key: Command, terminal: Terminal): void {
  key
    .command("create")
    .description("make a key; its secret is shown once")
    .requiredOption("--name <name>", "what the key is called")
    .option("--workspace <slug>", "whose key it is (may be left out when there is one workspace)")
    .option("--group <name>", "which group's models and limits it has", defaultGroupName)
    .option("--expires <when>", "a time from now (12h, 90d, 8w) or a date", (text) => expiry(text, Date.now()))
    .option("--models <names>", "only these of the group's models, with commas; * stands for any characters", nameList)
    .option(
      "--pass-through <providers>",
      "providers whose own API it may use whole, with commas; default none",
      nameList,
    )
    .option("--allow-ip <range>", "only callers from this address or range; may be repeated", addressList)
    .option("--rpm <n>", "requests per minute", positiveInteger)
    .option("--tpm <n>", "tokens per minute", positiveInteger)
    .option("--concurrency <n>", "requests at the same time", positiveInteger)
    .option("--budget <usd/period>", "such as 50/month (day, week, month, total)", budget)
    .action(async (options: KeyCreateOptions, command: Command) => {
      await refuseWrongFields(options);
      const { keySecretBytes, makeKeySecret } = await import("#identity/index.ts");
      const secret = new Secret(makeKeySecret(randomBytes(keySecretBytes)));
      const made = await withControl(terminal.variables, async ({ controlStore }) => {
        const { id } = await workspaceOf(controlStore, options.workspace);
        return await controlStore.addKey(id, newKey(options, secret), auditSource);
      });
      const until = made.expires_at === null ? "" : `, valid until ${new Date(made.expires_at).toISOString()}`;
      await report(terminal, command, { secret: secret.reveal(), ...keyView(made) }, [
        `Key ${made.name} of ${made.workspace.slug}/${made.group.name} (${made.id})${until}.`,
        "Its secret is shown this once and kept nowhere:",
        "",
        secret.reveal(),
      ]);
    });
}

/** The rules that a key of the config file has. */
export async function refuseWrongFields(options: KeyCreateOptions): Promise<void> {
  const { keySchema } = await import("@sluice/contract/config-file");
  const parsed = keySchema.safeParse({
    name: options.name,
    group: options.group,
    ...(options.models === undefined ? {} : { models: [...options.models] }),
    ...(options.passThrough === undefined ? {} : { pass_through: [...options.passThrough] }),
    ...(options.allowIp === undefined ? {} : { allowed_ips: [...options.allowIp] }),
  });
  const issue = parsed.error?.issues[0];
  if (issue !== undefined) throw new CommandWrong(`--${String(issue.path[0])}: ${issue.message}`);
}

export function newKey(options: KeyCreateOptions, secret: Secret): NewKey {
  return {
    group: options.group,
    name: options.name,
    secret,
    createdBy: null,
    fillsDeclared: true,
    expires_at: options.expires ?? null,
    models: options.models === undefined ? null : [...options.models],
    pass_through: [...(options.passThrough ?? [])],
    allowed_ips: options.allowIp === undefined ? null : [...options.allowIp],
    limits: {
      ...(options.rpm === undefined ? {} : { rpm: options.rpm }),
      ...(options.tpm === undefined ? {} : { tpm: options.tpm }),
      ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    },
    budget: options.budget === undefined ? null : { usd: options.budget.usd, period: options.budget.period },
  };
}

export async function workspaceOf(store: ControlStore, slug: string | undefined): Promise<StoredWorkspace> {
  if (slug !== undefined) return await workspaceNamed(store, slug);
  const { data } = await store.workspaces({ ids: null }, null, 2);
  const [only, ...others] = data;
  if (only === undefined)
    throw new CommandFailed("there is no workspace yet; make one: sluice workspace create <slug>");
  if (others.length === 0) return only;
  throw new CommandFailed("there is more than one workspace; name one with --workspace");
}

function addKeyList(key: Command, terminal: Terminal): void {
  key
    .command("list")
    .description("show keys, without their secrets")
    .option("--workspace <slug>", "only those of this workspace")
    .action(async (options: { readonly workspace?: string }, command: Command) => {
      await withControl(terminal.variables, async ({ controlStore }) => {
        const { workspace } = options;
        const place = workspace === undefined ? null : (await workspaceNamed(controlStore, workspace)).id;
        const keys = await controlStore.listKeys(place);
        const rows = keys.map((each) => [
          each.id,
          `${each.workspace.slug}/${each.group.name}`,
          each.name,
          shownSecret(each),
          shownState(each),
          each.last_used_at === null ? "never" : new Date(each.last_used_at).toISOString().slice(0, 10),
          each.managed_by,
        ]);
        const lines =
          keys.length === 0
            ? ["no keys"]
            : columns([["ID", "GROUP", "NAME", "SECRET", "STATE", "LAST USED", "MANAGED BY"], ...rows]);
        await report(terminal, command, { keys: keys.map(keyView) }, lines);
      });
    });
}

function addKeyShow(key: Command, terminal: Terminal): void {
  key
    .command("show")
    .description("show one key, without its secret")
    .argument("<key>", "its id, its name (`ci`, or `acme/ci`), or the beginning of its secret as `key list` shows it")
    .action(async (text: string, _options: object, command: Command) => {
      const found = await withControl(terminal.variables, ({ controlStore }) => keyNamed(controlStore, text));
      const view = { ...keyView(found), state: found.state, last_used_at: momentText(found.last_used_at) };
      const lines = Object.entries({ ...view, secret: shownSecret(found), state: shownState(found) }).map(
        ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
      );
      await report(terminal, command, view, lines);
    });
}

function momentText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function addKeyRotate(key: Command, terminal: Terminal): void {
  key
    .command("rotate")
    .description("give a key a new secret, which is shown once; it stays the same key otherwise")
    .argument("<key>", "its id, its name (`ci`, or `acme/ci`), or the beginning of its secret as `key list` shows it")
    .option(
      "--grace <time>",
      "how long the old secret still opens, such as 30m, 24h or 7d (default: not at all)",
      graceTime,
    )
    .action(async (idOrPrefix: string, options: { readonly grace?: number }, command: Command) => {
      const { keySecretBytes, makeKeySecret } = await import("#identity/index.ts");
      const secret = new Secret(makeKeySecret(randomBytes(keySecretBytes)));
      const graceMs = options.grace ?? 0;
      const rotated = await withControl(terminal.variables, async ({ controlStore }) => {
        const { workspace, id } = await keyNamed(controlStore, idOrPrefix);
        return await controlStore.rotateKey(workspace.id, id, { secret, graceMs }, auditSource);
      });
      const oldUntil = rotated.old_secret_until === null ? null : new Date(rotated.old_secret_until).toISOString();
      const data = { secret: secret.reveal(), ...keyView(rotated), old_secret_until: oldUntil };
      await report(terminal, command, data, [
        `Key ${rotated.name} of ${rotated.workspace.slug}/${rotated.group.name} (${rotated.id}) has a new secret.`,
        oldUntil === null ? "The old one no longer opens." : `The old one opens until ${oldUntil}.`,
        "The new one is shown this once and kept nowhere:",
        "",
        secret.reveal(),
      ]);
    });
}

function addKeyRevoke(key: Command, terminal: Terminal): void {
  key
    .command("revoke")
    .description("end a key for good; a running gateway refuses it within two seconds")
    .argument("<key>", "its id, its name (`ci`, or `acme/ci`), or the beginning of its secret as `key list` shows it")
    .action(async (idOrPrefix: string, _options: object, command: Command) => {
      const revoked = await withControl(terminal.variables, async ({ controlStore }) => {
        const { workspace, id } = await keyNamed(controlStore, idOrPrefix);
        return await controlStore.endKey(workspace.id, id, auditSource);
      });
      await report(terminal, command, keyView(revoked), [
        `revoked ${revoked.workspace.slug}/${revoked.name} (${revoked.id}, ${shownSecret(revoked)})`,
      ]);
    });
}

/** The key that an argument names: by its id, its name (`ci`, `acme/ci`), or the beginning of its secret. */
export async function keyNamed(store: Pick<ControlStore, "keyNamed">, text: string): Promise<ConsoleKey> {
  const found = await store.keyNamed(text);
  // The argument is not repeated: somebody may have given the whole secret.
  if (found === null) throw new CommandFailed("there is no such key; see `sluice key list`");
  return found;
}

/** A key as `--json` shows it; never its secret. Times are ISO 8601. */
export function keyView(key: ConsoleKey) {
  return {
    id: key.id,
    workspace: key.workspace.slug,
    group: key.group.name,
    name: key.name,
    prefix: key.prefix,
    last_four: key.last_four,
    enabled: key.enabled && key.revoked_at === null,
    models: key.models,
    pass_through: key.pass_through,
    allowed_ips: key.allowed_ips,
    limits: key.limits,
    budget: key.budget === null ? null : { usd: key.budget.usd, period: key.budget.period },
    created_at: new Date(key.created_at).toISOString(),
    expires_at: key.expires_at === null ? null : new Date(key.expires_at).toISOString(),
    service: key.service,
    managed_by: key.managed_by,
  };
}

/** `sk-sluice-AbCd…wxyz`, or that there is no secret yet. */
export function shownSecret(key: ConsoleKey): string {
  return key.last_four === "" ? "no secret yet" : `${key.prefix}…${key.last_four}`;
}

export function shownState(key: ConsoleKey): string {
  const day = key.expires_at === null ? null : new Date(key.expires_at).toISOString().slice(0, 10);
  if (key.state === "expired") return `expired ${day}`;
  if (key.state === "active") return day === null ? "active" : `until ${day}`;
  return key.state.replaceAll("_", " ");
}
