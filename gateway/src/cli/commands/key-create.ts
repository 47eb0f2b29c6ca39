import { randomBytes } from "node:crypto";
import type { BudgetConfig } from "@sluice/contract";
import { defaultGroupName } from "@sluice/contract/words";
import type { Command } from "commander";
import { Secret } from "#core/index.ts";
import type { NewKey, StoredWorkspace, TenantStore } from "#ports/index.ts";
import { CommandFailed, CommandWrong } from "../command-failed.ts";
import { keyView } from "../key-view.ts";
import { auditSource, withControl } from "../open.ts";
import { addressList, budget, expiry, nameList, positiveInteger } from "../option-readers.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { workspaceNamed } from "../workspace-named.ts";

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

const secretBytes = 32;

export function addKeyCreate(key: Command, terminal: Terminal): void {
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
      const { makeKeySecret } = await import("#identity/index.ts");
      const secret = new Secret(makeKeySecret(randomBytes(secretBytes)));
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

export async function workspaceOf(store: TenantStore, slug: string | undefined): Promise<StoredWorkspace> {
  if (slug !== undefined) return await workspaceNamed(store, slug);
  const { data } = await store.workspaces({ ids: null }, null, 2);
  const [only, ...others] = data;
  if (only === undefined)
    throw new CommandFailed("there is no workspace yet; make one: sluice workspace create <slug>");
  if (others.length === 0) return only;
  throw new CommandFailed("there is more than one workspace; name one with --workspace");
}
