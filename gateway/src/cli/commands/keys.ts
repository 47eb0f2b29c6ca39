import { randomBytes } from "node:crypto";
import type { BudgetConfig, ConsoleKey } from "@sluice/contract";
import { defaultGroupName } from "@sluice/contract/words";
import { Secret, withoutUndefined } from "#core/index.ts";
import type { ControlStore, NewKey, StoredWorkspace } from "#directory/index.ts";
import { type Answer, type CliCommand, table, timeText } from "../cli-command.ts";
import { auditSource } from "../open.ts";
import { addressList, budget, expiry, graceTime, nameList, positiveInteger } from "../option-readers.ts";
import { CommandFailed, UsageError } from "../terminal.ts";
import { workspaceNamed } from "./workspaces.ts";

interface KeyCreateOptions {
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

const fromNow = (text: string) => expiry(text, Date.now());
const keyArgument = "id, name (`ci` or `acme/ci`), or the beginning of the secret as shown by `key list`";
const modelsHelp = "restrict it to these models, separated by commas; * matches any characters";
const groupHelp = "group with its models and limits";
const budgetHelp = "such as 50/month (day, week, month, total)";

export function addKeys(program: CliCommand): void {
  const key = program.command("key").description("create, list, show, rotate and revoke API keys");
  key
    .command("create")
    .description("create a key; its secret is shown once")
    .requiredOption("--name <name>", "name of the key")
    .option("--workspace <slug>", "workspace of the key (optional if there is only one)")
    .option("--group <name>", groupHelp, defaultGroupName)
    .option("--expires <when>", "a duration (12h, 90d, 8w) or a date", fromNow)
    .option("--models <names>", modelsHelp, nameList)
    .option(
      "--pass-through <providers>",
      "providers whose own API it may use, separated by commas (default: none)",
      nameList,
    )
    .option("--allow-ip <range>", "restrict callers to this address or range; may be repeated", addressList)
    .option("--rpm <n>", "requests per minute", positiveInteger)
    .option("--tpm <n>", "tokens per minute", positiveInteger)
    .option("--concurrency <n>", "concurrent requests", positiveInteger)
    .option("--budget <usd/period>", budgetHelp, budget)
    .hook("preAction", refuseWrongFields)
    .onControl(async ({ controlStore }, options: KeyCreateOptions) => {
      const { made, told } = await addKey(controlStore, options, {});
      const until = made.expires_at === null ? "" : `, valid until ${timeText(made.expires_at)}`;
      return told(`Key ${made.name} of ${placeOf(made)} (${made.id})${until}.`);
    });
  key
    .command("list")
    .description("list keys without their secrets")
    .option("--workspace <slug>", "of this workspace only")
    .onControl(async ({ controlStore }, options: { readonly workspace?: string }) => {
      const keys = await keysOf(controlStore, options.workspace);
      const names = ["ID", "GROUP", "NAME", "SECRET", "STATE", "LAST USED", "MANAGED BY"];
      const rows = keys.map((each) => [
        ...rowOf(each),
        each.last_used_at === null ? "never" : timeText(each.last_used_at).slice(0, 10),
        each.managed_by,
      ]);
      return [{ keys: keys.map(keyView) }, table(names, rows, "no keys")];
    });
  key
    .command("show")
    .description("show a key without its secret")
    .argument("<key>", keyArgument)
    .onControl(async ({ controlStore }, text: string) => {
      const found = await keyNamed(controlStore, text);
      const lastUsed = found.last_used_at === null ? null : timeText(found.last_used_at);
      const view = { ...keyView(found), state: found.state, last_used_at: lastUsed };
      const lines = Object.entries({ ...view, secret: shownSecret(found), state: shownState(found) }).map(
        ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
      );
      return [view, lines];
    });
  key
    .command("rotate")
    .description("replace the secret of a key; the new one is shown once")
    .argument("<key>", keyArgument)
    .option(
      "--grace <time>",
      "how long the old secret stays valid, such as 30m, 24h or 7d (default: not at all)",
      graceTime,
    )
    .onControl(async ({ controlStore }, text: string, options: { readonly grace?: number }) => {
      const { rotated, told } = await rotateKey(controlStore, await keyNamed(controlStore, text), {
        graceMs: options.grace ?? 0,
      });
      return told(`Key ${rotated.name} of ${placeOf(rotated)} (${rotated.id}) has a new secret.`);
    });
  key
    .command("revoke")
    .description("revoke a key permanently; a running gateway refuses it within two seconds")
    .argument("<key>", keyArgument)
    .onControl(async ({ controlStore }, text: string) => {
      const { workspace, id } = await keyNamed(controlStore, text);
      const revoked = await controlStore.revokeKey(workspace.id, id, auditSource);
      const line = `revoked ${workspace.slug}/${revoked.name} (${id}, ${shownSecret(revoked)})`;
      return [keyView(revoked), [line]];
    });
}

const usualExpiry = "90d";
const usualGrace = "24h";

/** `sluice token service …`: keys for CI that expire and belong to no user. */
export function addServiceTokens(token: CliCommand): void {
  const expiresHelp = `a duration (12h, 90d, 8w) or a date (default: ${usualExpiry})`;
  const service = token
    .command("service")
    .description("create, list, rotate and revoke service tokens: keys for CI that expire and belong to no user");
  service
    .command("create")
    .description("create a service token; its secret is shown once")
    .requiredOption("--name <name>", "name of the token")
    .option("--workspace <slug>", "workspace of the token (optional if there is only one)")
    .option("--group <name>", groupHelp, defaultGroupName)
    .option("--expires <when>", expiresHelp, fromNow)
    .option("--models <names>", modelsHelp, nameList)
    .option("--budget <usd/period>", budgetHelp, budget)
    .hook("preAction", refuseWrongFields)
    .onControl(async ({ controlStore }, options: KeyCreateOptions) => {
      const expires_at = options.expires ?? fromNow(usualExpiry);
      const { made, told } = await addKey(controlStore, options, { fillsDeclared: false, service: true, expires_at });
      return told(`Service token ${made.name} of ${placeOf(made)} (${made.id}), valid until ${endOf(made)}.`);
    });
  service
    .command("list")
    .description("list service tokens without their secrets")
    .option("--workspace <slug>", "of this workspace only")
    .onControl(async ({ controlStore }, options: { readonly workspace?: string }) => {
      const tokens = (await keysOf(controlStore, options.workspace)).filter((key) => key.service);
      const rows = tokens.map((each) => [
        ...rowOf(each),
        each.last_used_at === null ? "never" : timeText(each.last_used_at),
      ]);
      const names = ["ID", "GROUP", "NAME", "SECRET", "STATE", "LAST USED"];
      return [{ tokens: tokens.map(keyView) }, table(names, rows, "no service tokens")];
    });
  service
    .command("rotate")
    .description("replace the secret of a service token and extend it; the new one is shown once")
    .argument("<token>", "id, or the beginning of the secret as shown by `token service list`")
    .option(
      "--grace <time>",
      `how long the old secret stays valid, such as 30m or 7d (default: ${usualGrace})`,
      graceTime,
    )
    .option("--expires <when>", expiresHelp, fromNow)
    .onControl(
      async ({ controlStore }, text: string, options: { readonly grace?: number; readonly expires?: number }) => {
        const { rotated, told } = await rotateKey(controlStore, await serviceToken(controlStore, text), {
          graceMs: options.grace ?? graceTime(usualGrace),
          expiresAt: options.expires ?? fromNow(usualExpiry),
        });
        const { id, name } = rotated;
        return told(
          `Service token ${name} of ${placeOf(rotated)} (${id}) has a new secret, valid until ${endOf(rotated)}.`,
        );
      },
    );
  service
    .command("revoke")
    .description("revoke a service token permanently; a running gateway refuses it within two seconds")
    .argument("<token>", "id, or the beginning of the secret")
    .onControl(async ({ controlStore }, text: string) => {
      const { workspace, id } = await serviceToken(controlStore, text);
      const revoked = await controlStore.revokeKey(workspace.id, id, auditSource);
      const line = `revoked ${revoked.name} of ${placeOf(revoked)} (${id}, ${shownSecret(revoked)})`;
      return [keyView(revoked), [line]];
    });
}

/** Applies the rules of the config file before anything is opened. */
async function refuseWrongFields(command: Pick<CliCommand, "opts">): Promise<void> {
  const { name, group, models, passThrough, allowIp } = command.opts<KeyCreateOptions>();
  const { keySchema } = await import("@sluice/contract/config-file");
  const parsed = keySchema.safeParse({ name, group, models, pass_through: passThrough, allowed_ips: allowIp });
  const issue = parsed.error?.issues[0];
  if (issue !== undefined) throw new UsageError(`--${String(issue.path[0])}: ${issue.message}`);
}

async function newSecret(): Promise<Secret> {
  const { keySecretBytes, makeKeySecret } = await import("#identity/index.ts");
  return new Secret(makeKeySecret(randomBytes(keySecretBytes)));
}

async function addKey(store: ControlStore, options: KeyCreateOptions, more: Partial<NewKey>) {
  const { rpm, tpm, concurrency } = options;
  const secret = await newSecret();
  const { id } = await workspaceOf(store, options.workspace);
  const wanted: NewKey = {
    group: options.group,
    name: options.name,
    secret,
    createdBy: null,
    fillsDeclared: true,
    expires_at: options.expires ?? null,
    models: options.models === undefined ? null : [...options.models],
    pass_through: [...(options.passThrough ?? [])],
    allowed_ips: options.allowIp === undefined ? null : [...options.allowIp],
    limits: withoutUndefined({ rpm, tpm, concurrency }),
    budget: options.budget ?? null,
    ...more,
  };
  const made = await store.addKey(id, wanted, auditSource);
  const told = (line: string): Answer => [
    { secret: secret.reveal(), ...keyView(made) },
    [line, "The secret is shown only once and not stored:", "", secret.reveal()],
  ];
  return { made, told };
}

async function rotateKey(
  store: ControlStore,
  { workspace, id }: ConsoleKey,
  rotation: { readonly graceMs: number; readonly expiresAt?: number },
) {
  const secret = await newSecret();
  const rotated = await store.rotateKey(workspace.id, id, { secret, ...rotation }, auditSource);
  const oldUntil = rotated.old_secret_until === null ? null : timeText(rotated.old_secret_until);
  const told = (line: string): Answer => [
    { secret: secret.reveal(), ...keyView(rotated), old_secret_until: oldUntil },
    [
      line,
      oldUntil === null ? "The old one is no longer valid." : `The old one is valid until ${oldUntil}.`,
      "The new one is shown only once and not stored:",
      "",
      secret.reveal(),
    ],
  ];
  return { rotated, told };
}

async function workspaceOf(store: ControlStore, slug: string | undefined): Promise<StoredWorkspace> {
  if (slug !== undefined) return await workspaceNamed(store, slug);
  const { data } = await store.workspaces({ ids: null }, null, 2);
  const [only, ...others] = data;
  if (only === undefined)
    throw new CommandFailed("there is no workspace yet; create one with `sluice workspace create <slug>`");
  if (others.length === 0) return only;
  throw new CommandFailed("there are several workspaces; choose one with --workspace");
}

async function keysOf(store: ControlStore, slug: string | undefined): Promise<readonly ConsoleKey[]> {
  return await store.listKeys(slug === undefined ? null : (await workspaceNamed(store, slug)).id);
}

/** By id, name (`ci`, `acme/ci`), or the beginning of the secret. */
async function keyNamed(store: ControlStore, text: string): Promise<ConsoleKey> {
  const found = await store.resolveKey(text);
  // Does not repeat the argument, which may be a complete secret.
  if (found === null) throw new CommandFailed("there is no such key; see `sluice key list`");
  return found;
}

async function serviceToken(store: ControlStore, text: string): Promise<ConsoleKey> {
  const key = await keyNamed(store, text);
  if (key.service) return key;
  throw new CommandFailed(`${key.name} is an API key, not a service token; see \`sluice key\``);
}

/** As printed with `--json`, without the secret. Times are ISO 8601. */
function keyView(key: ConsoleKey) {
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
    created_at: timeText(key.created_at),
    expires_at: key.expires_at === null ? null : timeText(key.expires_at),
    service: key.service,
    managed_by: key.managed_by,
  };
}

function rowOf(key: ConsoleKey): readonly string[] {
  return [key.id, placeOf(key), key.name, shownSecret(key), shownState(key)];
}

function placeOf({ workspace, group }: ConsoleKey): string {
  return `${workspace.slug}/${group.name}`;
}

function endOf({ expires_at: at }: ConsoleKey): string {
  return at === null ? "-" : timeText(at);
}

/** `sk-sluice-AbCd…wxyz`, or that there is no secret yet. */
function shownSecret(key: ConsoleKey): string {
  return key.last_four === "" ? "no secret yet" : `${key.prefix}…${key.last_four}`;
}

function shownState(key: ConsoleKey): string {
  const day = key.expires_at === null ? null : timeText(key.expires_at).slice(0, 10);
  if (key.state === "expired") return `expired ${day}`;
  if (key.state === "active") return day === null ? "active" : `until ${day}`;
  return key.state.replaceAll("_", " ");
}
