import { randomBytes } from "node:crypto";
import type { ConsoleKey } from "@sluice/contract";
import { defaultGroupName } from "@sluice/contract/words";
import type { Command } from "commander";
import { Secret } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import { CommandFailed } from "../command-failed.ts";
import { auditSource, withControl } from "../open.ts";
import { budget, expiry, graceTime, nameList } from "../option-readers.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import {
  type KeyCreateOptions,
  keyNamed,
  keyView,
  newKey,
  refuseWrongFields,
  shownSecret,
  shownState,
  workspaceOf,
} from "./keys.ts";
import { workspaceNamed } from "./workspaces.ts";

const fromNow = (text: string) => expiry(text, Date.now());
const usualExpiry = "90d";
const usualGrace = "24h";
const expires = `a time from now (12h, 90d, 8w) or a date (default: ${usualExpiry})`;

/** `sluice token service …`: keys of CI and other programs, which expire and belong to nobody. */
export function addServiceTokens(token: Command, terminal: Terminal): void {
  const service = token
    .command("service")
    .description("make, list, rotate and revoke service tokens: keys for CI that expire and belong to nobody");
  addCreate(service, terminal);
  addList(service, terminal);
  addRotate(service, terminal);
  addRevoke(service, terminal);
}

function addCreate(service: Command, terminal: Terminal): void {
  service
    .command("create")
    .description("make a service token; its secret is shown once")
    .requiredOption("--name <name>", "what the token is called")
    .option("--workspace <slug>", "whose token it is (may be left out when there is one workspace)")
    .option("--group <name>", "which group's models and limits it has", defaultGroupName)
    .option("--expires <when>", expires, fromNow)
    .option("--models <names>", "only these of the group's models, with commas; * stands for any characters", nameList)
    .option("--budget <usd/period>", "such as 50/month (day, week, month, total)", budget)
    .action(async (options: KeyCreateOptions, command: Command) => {
      await refuseWrongFields(options);
      const secret = await newSecret();
      const made = await withControl(terminal.variables, async ({ controlStore }) => {
        const { id } = await workspaceOf(controlStore, options.workspace);
        const expiresAt = options.expires ?? fromNow(usualExpiry);
        const wanted = { ...newKey(options, secret), fillsDeclared: false, service: true, expires_at: expiresAt };
        return await controlStore.addKey(id, wanted, auditSource);
      });
      await report(terminal, command, { secret: secret.reveal(), ...keyView(made) }, [
        `Service token ${shownPlace(made)} (${made.id}), valid until ${shownEnd(made)}.`,
        "Its secret is shown this once and kept nowhere:",
        "",
        secret.reveal(),
      ]);
    });
}

function addList(service: Command, terminal: Terminal): void {
  service
    .command("list")
    .description("show service tokens, without their secrets")
    .option("--workspace <slug>", "only those of this workspace")
    .action(async ({ workspace }: { readonly workspace?: string }, command: Command) => {
      const tokens = await withControl(terminal.variables, async ({ controlStore }) => {
        const place = workspace === undefined ? null : (await workspaceNamed(controlStore, workspace)).id;
        return (await controlStore.listKeys(place)).filter((key) => key.service);
      });
      const rows = tokens.map((each) => [
        each.id,
        `${each.workspace.slug}/${each.group.name}`,
        each.name,
        shownSecret(each),
        shownState(each),
        each.last_used_at === null ? "never" : new Date(each.last_used_at).toISOString(),
      ]);
      const heads = ["ID", "GROUP", "NAME", "SECRET", "STATE", "LAST USED"];
      const lines = tokens.length === 0 ? ["no service tokens"] : columns([heads, ...rows]);
      await report(terminal, command, { tokens: tokens.map(keyView) }, lines);
    });
}

interface RotateOptions {
  readonly grace?: number;
  readonly expires?: number;
}

function addRotate(service: Command, terminal: Terminal): void {
  service
    .command("rotate")
    .description("give a service token a new secret, which is shown once, and a new end")
    .argument("<token>", "its id, or the beginning of its secret as `token service list` shows it")
    .option(
      "--grace <time>",
      `how long the old secret still opens, such as 30m or 7d (default: ${usualGrace})`,
      graceTime,
    )
    .option("--expires <when>", expires, fromNow)
    .action(async (named: string, options: RotateOptions, command: Command) => {
      const secret = await newSecret();
      const rotated = await withControl(terminal.variables, async ({ controlStore }) => {
        const { workspace, id } = await serviceToken(controlStore, named);
        const graceMs = options.grace ?? graceTime(usualGrace);
        const rotation = { secret, graceMs, expiresAt: options.expires ?? fromNow(usualExpiry) };
        return await controlStore.rotateKey(workspace.id, id, rotation, auditSource);
      });
      const { old_secret_until: until } = rotated;
      const oldUntil = until === null ? null : new Date(until).toISOString();
      const data = { secret: secret.reveal(), ...keyView(rotated), old_secret_until: oldUntil };
      await report(terminal, command, data, [
        `Service token ${shownPlace(rotated)} (${rotated.id}) has a new secret, valid until ${shownEnd(rotated)}.`,
        oldUntil === null ? "The old one no longer opens." : `The old one opens until ${oldUntil}.`,
        "The new one is shown this once and kept nowhere:",
        "",
        secret.reveal(),
      ]);
    });
}

function addRevoke(service: Command, terminal: Terminal): void {
  service
    .command("revoke")
    .description("end a service token for good; a running gateway refuses it within two seconds")
    .argument("<token>", "its id, or the beginning of its secret")
    .action(async (named: string, _options: object, command: Command) => {
      const revoked = await withControl(terminal.variables, async ({ controlStore }) => {
        const { workspace, id } = await serviceToken(controlStore, named);
        return await controlStore.endKey(workspace.id, id, auditSource);
      });
      const line = `revoked ${shownPlace(revoked)} (${revoked.id}, ${shownSecret(revoked)})`;
      await report(terminal, command, keyView(revoked), [line]);
    });
}

async function newSecret(): Promise<Secret> {
  const { keySecretBytes, makeKeySecret } = await import("#identity/index.ts");
  return new Secret(makeKeySecret(randomBytes(keySecretBytes)));
}

async function serviceToken(store: Pick<ControlStore, "keyNamed">, idOrPrefix: string): Promise<ConsoleKey> {
  const key = await keyNamed(store, idOrPrefix);
  if (key.service) return key;
  throw new CommandFailed(`${key.name} is no service token but a key; see \`sluice key\``);
}

function shownPlace({ name, workspace, group }: ConsoleKey): string {
  return `${name} of ${workspace.slug}/${group.name}`;
}

function shownEnd({ expires_at: at }: ConsoleKey): string {
  return at === null ? "-" : new Date(at).toISOString();
}
