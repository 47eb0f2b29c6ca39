import { randomBytes } from "node:crypto";
import type { BudgetConfig, ConsoleKey } from "@sluice/contract";
import { defaultGroupName } from "@sluice/contract/words";
import { Secret, withoutUndefined } from "#core/index.ts";
import type { ControlStore, NewKey, StoredWorkspace } from "#directory/index.ts";
import { type CliCommand, table, timeText } from "../cli-command.ts";
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
  readonly enforceModels: boolean;
  readonly allowIp?: readonly string[];
  readonly enforceAllowedIps: boolean;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly budget?: BudgetConfig;
}

const expiresIn = (text: string) => expiry(text, Date.now());

/** How the commands of API keys and of service tokens differ. */
interface KeyKind {
  readonly noun: "key" | "service token";
  readonly title: string;
  /** Name of the members in JSON. */
  readonly plural: "keys" | "tokens";
  readonly defaultExpiry: string | null;
  readonly defaultGrace: string | null;
  readonly argument: readonly [name: string, help: string];
  readonly fields: Partial<NewKey>;
  accepts(key: ConsoleKey): boolean;
}

const apiKey: KeyKind = {
  noun: "key",
  title: "Key",
  plural: "keys",
  defaultExpiry: null,
  defaultGrace: null,
  argument: ["<key>", "id, name (`ci` or `acme/ci`), or the beginning of the secret as shown by `key list`"],
  fields: { fillsDeclared: true },
  accepts: () => true,
};

const serviceToken: KeyKind = {
  noun: "service token",
  title: "Service token",
  plural: "tokens",
  defaultExpiry: "90d",
  defaultGrace: "24h",
  argument: ["<token>", "id, or the beginning of the secret as shown by `token service list`"],
  fields: { fillsDeclared: false, service: true },
  accepts: (key) => key.service,
};

export function addKeys(program: CliCommand): void {
  const key = program.command("key").description("create, list, show, rotate and revoke API keys");
  addKeyCommands(key, apiKey);
  key
    .command("show")
    .description("show a key without its secret")
    .argument(...apiKey.argument)
    .onControl(async ({ controlStore }, text: string) => {
      const found = await findKey(controlStore, apiKey, text);
      const lastUsed = found.last_used_at === null ? null : timeText(found.last_used_at);
      const view = { ...keyView(found), state: found.state, last_used_at: lastUsed };
      const lines = Object.entries({ ...view, secret: shownSecret(found), state: shownState(found) }).map(
        ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
      );
      return [view, lines];
    });
}

/** `sluice token service …`: keys for CI that expire and belong to no user. */
export function addServiceTokens(token: CliCommand): void {
  const service = token
    .command("service")
    .description("create, list, rotate and revoke service tokens: keys for CI that expire and belong to no user");
  addKeyCommands(service, serviceToken);
}

function addKeyCommands(parent: CliCommand, kind: KeyKind): void {
  const { noun, defaultExpiry, defaultGrace } = kind;
  const expiresHelp = `a duration (12h, 90d, 8w) or a date (default: ${defaultExpiry ?? "never"})`;
  const defaultExpiresAt = () => (defaultExpiry === null ? undefined : expiresIn(defaultExpiry));
  parent
    .command("create")
    .description(`create a ${noun}; its secret is shown once`)
    .requiredOption("--name <name>", `name of the ${noun}`)
    .option("--workspace <slug>", `workspace of the ${noun} (optional if there is only one)`)
    .option("--group <name>", "group with its models and limits", defaultGroupName)
    .option("--expires <when>", expiresHelp, expiresIn)
    .option("--models <names>", "restrict it to these models, separated by commas; * matches any characters", nameList)
    .option(
      "--pass-through <providers>",
      "providers with pass-through access, separated by commas (default: none)",
      nameList,
    )
    .option("--allow-ip <range>", "restrict callers to this address or range; may be repeated", addressList)
    .option("--no-enforce-models", "shadow mode of --models: only record calls of other models")
    .option("--no-enforce-allowed-ips", "shadow mode of --allow-ip: only record calls from other addresses")
    .option("--rpm <n>", "requests per minute", positiveInteger)
    .option("--tpm <n>", "tokens per minute", positiveInteger)
    .option("--concurrency <n>", "concurrent requests", positiveInteger)
    .option("--budget <usd/period>", "such as 50/month (hour, day, week, month, total), or 5/rolling-hour", budget)
    .hook("preAction", refuseWrongFields)
    .onControl(async ({ controlStore }, options: KeyCreateOptions) => {
      const secret = await newSecret();
      const { id } = await workspaceOf(controlStore, options.workspace);
      const wanted = {
        ...newKey(options),
        ...kind.fields,
        secret,
        expires_at: options.expires ?? defaultExpiresAt() ?? null,
      };
      const created = await controlStore.addKey(id, wanted, auditSource);
      return [
        { secret: secret.reveal(), ...keyView(created) },
        [
          `${kind.title} ${labelOf(created)}${validUntil(created)}.`,
          "The secret is shown only once and not stored:",
          "",
          secret.reveal(),
        ],
      ];
    });
  parent
    .command("list")
    .description(`list ${noun}s without their secrets`)
    .option("--workspace <slug>", "of this workspace only")
    .onControl(async ({ controlStore }, { workspace }: { readonly workspace?: string }) => {
      const workspaceId = workspace === undefined ? null : (await workspaceNamed(controlStore, workspace)).id;
      const keys = (await controlStore.listKeys(workspaceId)).filter(kind.accepts);
      const names = ["ID", "GROUP", "NAME", "SECRET", "STATE", "LAST USED", "MANAGED BY"];
      const rows = keys.map((key) => [
        key.id,
        placeOf(key),
        key.name,
        shownSecret(key),
        shownState(key),
        key.last_used_at === null ? "never" : timeText(key.last_used_at).slice(0, 10),
        key.managed_by,
      ]);
      return [{ [kind.plural]: keys.map(keyView) }, table(names, rows, `no ${noun}s`)];
    });
  parent
    .command("rotate")
    .description(
      `replace the secret of a ${noun}${defaultExpiry === null ? "" : " and extend it"}; the new one is shown once`,
    )
    .argument(...kind.argument)
    .option(
      "--grace <time>",
      `how long the old secret stays valid, such as 30m, 24h or 7d (default: ${defaultGrace ?? "not at all"})`,
      graceTime,
    )
    .option(
      "--expires <when>",
      `a duration (12h, 90d, 8w) or a date (default: ${defaultExpiry ?? "unchanged"})`,
      expiresIn,
    )
    .onControl(
      async ({ controlStore }, text: string, options: { readonly grace?: number; readonly expires?: number }) => {
        const { workspace, id } = await findKey(controlStore, kind, text);
        const secret = await newSecret();
        const graceMs = options.grace ?? (defaultGrace === null ? 0 : graceTime(defaultGrace));
        const expiresAt = options.expires ?? defaultExpiresAt();
        const rotated = await controlStore.rotateKey(workspace.id, id, { secret, graceMs, expiresAt }, auditSource);
        const oldUntil = rotated.old_secret_until === null ? null : timeText(rotated.old_secret_until);
        return [
          { secret: secret.reveal(), ...keyView(rotated), old_secret_until: oldUntil },
          [
            `${kind.title} ${labelOf(rotated)} has a new secret${validUntil(rotated)}.`,
            oldUntil === null ? "The old one is no longer valid." : `The old one is valid until ${oldUntil}.`,
            "The new one is shown only once and not stored:",
            "",
            secret.reveal(),
          ],
        ];
      },
    );
  parent
    .command("revoke")
    .description(`revoke a ${noun} permanently; a running gateway refuses it within two seconds`)
    .argument(...kind.argument)
    .onControl(async ({ controlStore }, text: string) => {
      const { workspace, id } = await findKey(controlStore, kind, text);
      const revoked = await controlStore.revokeKey(workspace.id, id, auditSource);
      return [keyView(revoked), [`revoked ${labelOf(revoked)}: ${shownSecret(revoked)}`]];
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

function newKey({ name, group, rpm, tpm, concurrency, ...options }: KeyCreateOptions) {
  return {
    group,
    name,
    createdBy: null,
    models: options.models === undefined ? null : [...options.models],
    enforce_models: options.enforceModels,
    pass_through: [...(options.passThrough ?? [])],
    allowed_ips: options.allowIp === undefined ? null : [...options.allowIp],
    enforce_allowed_ips: options.enforceAllowedIps,
    limits: withoutUndefined({ rpm, tpm, concurrency }),
    budget: options.budget ?? null,
  };
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

async function findKey(store: ControlStore, kind: KeyKind, text: string): Promise<ConsoleKey> {
  const found = await store.resolveKey(text);
  // Does not repeat the argument, which may be a complete secret.
  if (found === null) throw new CommandFailed("key not found; see `sluice key list`");
  if (kind.accepts(found)) return found;
  throw new CommandFailed(`${found.name} is an API key, not a service token; see \`sluice key\``);
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
    enforce_models: key.enforce_models,
    pass_through: key.pass_through,
    allowed_ips: key.allowed_ips,
    enforce_allowed_ips: key.enforce_allowed_ips,
    limits: key.limits,
    budget: key.budget === null ? null : { usd: key.budget.usd, period: key.budget.period },
    created_at: timeText(key.created_at),
    expires_at: key.expires_at === null ? null : timeText(key.expires_at),
    service: key.service,
    managed_by: key.managed_by,
  };
}

function placeOf({ workspace, group }: ConsoleKey): string {
  return `${workspace.slug}/${group.name}`;
}

function labelOf(key: ConsoleKey): string {
  return `${key.name} of ${placeOf(key)} (${key.id})`;
}

function validUntil({ expires_at: at }: ConsoleKey): string {
  return at === null ? "" : `, valid until ${timeText(at)}`;
}

/** `sk-sluice-AbCd…wxyz`, or that there is no secret yet. */
function shownSecret(key: ConsoleKey): string {
  return key.state === "without_secret" ? "no secret yet" : `${key.prefix}…${key.last_four}`;
}

function shownState(key: ConsoleKey): string {
  const day = key.expires_at === null ? null : timeText(key.expires_at).slice(0, 10);
  if (key.state === "expired") return `expired ${day}`;
  if (key.state === "active") return day === null ? "active" : `until ${day}`;
  return key.state.replaceAll("_", " ");
}
