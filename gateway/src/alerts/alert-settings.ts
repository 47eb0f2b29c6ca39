import type { AlertChannel, AlertCondition, AlertQuietHours, AlertRule, AlertTarget } from "@sluice/contract/console";
import { type AlertChannelKind, type ConsoleLanguage, isConsoleLanguage } from "@sluice/contract/words";
import { orNotFound } from "#core/index.ts";
import type { AuditSource, Clock, Ids, Vault } from "#ports/index.ts";
import {
  type AuditedObject,
  auditedWrite,
  channelSealId,
  type Database,
  findRow,
  findRows,
  insertRows,
  type Row,
  removeRows,
  sealIfChanged,
  updateRow,
} from "#storage/tables.ts";

/** `workspaceId` null: the installation. */
export interface StoredRule extends Omit<AlertRule, "workspace" | "open"> {
  readonly workspaceId: string | null;
}

export interface StoredChannel extends Omit<AlertChannel, "workspace" | "destination" | "last"> {
  readonly workspaceId: string | null;
}

export type RuleFields = Omit<StoredRule, "id" | "workspaceId" | "created_at">;

export interface ChannelFields extends Pick<StoredChannel, "name" | "language" | "enabled"> {
  readonly target: AlertTarget;
}

interface SettingsOptions {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ids: Ids;
}

export type AlertSettings = ReturnType<typeof createAlertSettings>;

/** Alert rules and channels. Writes are audited; the audit log has no address of a channel. */
export function createAlertSettings(options: SettingsOptions) {
  const { database, vault, clock, ids } = options;
  const { kysely } = database;
  const channelObject = channelObjectOf(vault);
  return {
    async rules(): Promise<readonly StoredRule[]> {
      return (await findRows(kysely, "alert_rules", {}, "created_at", "id")).map(ruleOf);
    },
    async rule(id: string): Promise<StoredRule | null> {
      const row = await findRow(kysely, "alert_rules", { id });
      return row === undefined ? null : ruleOf(row);
    },
    async channels(): Promise<readonly StoredChannel[]> {
      return (await findRows(kysely, "alert_channels", {}, "created_at", "id")).map(channelOf);
    },
    async channel(id: string): Promise<StoredChannel | null> {
      const row = await findRow(kysely, "alert_channels", { id });
      return row === undefined ? null : channelOf(row);
    },
    /** Contains secrets. null: the channel was deleted. */
    async target(channelId: string): Promise<AlertTarget | null> {
      const row = await findRow(kysely, "alert_channels", { id: channelId });
      return row === undefined ? null : targetOf(vault, row);
    },
    /** Addresses without secrets, by the id of the channel. */
    async destinations(channelIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
      if (channelIds.length === 0) return new Map();
      const rows = await kysely
        .selectFrom("alert_channels")
        .selectAll()
        .where("id", "in", [...channelIds])
        .execute();
      return new Map(rows.map((row) => [row.id, destinationOf(targetOf(vault, row))]));
    },
    async createRule(workspaceId: string | null, fields: RuleFields, auditSource: AuditSource): Promise<StoredRule> {
      const place = { id: ids.next("rule_"), workspace_id: workspaceId, created_at: clock.now() };
      const row = ruleRow(place, fields);
      await auditedWrite(options, auditSource, (context) => insertRows(context, ruleObject, [row]));
      return ruleOf(row);
    },
    async updateRule(id: string, fields: Partial<RuleFields>, auditSource: AuditSource): Promise<StoredRule> {
      return await auditedWrite(options, auditSource, async (context) => {
        const before = orNotFound((await findRow(context.transaction, "alert_rules", { id })) ?? null, "alert rule");
        const after = ruleRow(before, { ...ruleOf(before), ...fields });
        await updateRow(context, ruleObject, { before, after });
        return ruleOf(after);
      });
    },
    async removeRule(id: string, auditSource: AuditSource): Promise<void> {
      await auditedWrite(options, auditSource, async (context) => {
        const row = await findRow(context.transaction, "alert_rules", { id });
        if (row !== undefined) await removeRows(context, ruleObject, [row]);
      });
    },
    async createChannel(
      workspaceId: string | null,
      fields: ChannelFields,
      auditSource: AuditSource,
    ): Promise<StoredChannel> {
      const place = { id: ids.next("chan_"), workspace_id: workspaceId, created_at: clock.now() };
      const row = channelRow(vault, place, fields);
      await auditedWrite(options, auditSource, (context) => insertRows(context, channelObject, [row]));
      return channelOf(row);
    },
    async updateChannel(id: string, fields: Partial<ChannelFields>, auditSource: AuditSource): Promise<StoredChannel> {
      return await auditedWrite(options, auditSource, async (context) => {
        const found = await findRow(context.transaction, "alert_channels", { id });
        const before = orNotFound(found ?? null, "alert channel");
        const after = channelRow(vault, before, {
          ...channelOf(before),
          target: targetOf(vault, before),
          ...fields,
        });
        await updateRow(context, channelObject, { before, after });
        return channelOf(after);
      });
    },
    /** Rules that use the channel no longer send to it. */
    async removeChannel(id: string, auditSource: AuditSource): Promise<void> {
      await auditedWrite(options, auditSource, async (context) => {
        const row = await findRow(context.transaction, "alert_channels", { id });
        if (row !== undefined) await removeRows(context, channelObject, [row]);
      });
    },
    /** Languages of users by email address, in lower case. Only of users who chose a language. */
    async languagesOf(addresses: readonly string[]): Promise<ReadonlyMap<string, ConsoleLanguage>> {
      const rows = await kysely
        .selectFrom("auth_users")
        .select(["email", "language"])
        .where(
          "email",
          "in",
          addresses.map((address) => address.toLowerCase()),
        )
        .execute();
      return new Map(
        rows.flatMap(({ email, language }) => (isConsoleLanguage(language) ? [[email.toLowerCase(), language]] : [])),
      );
    },
  };
}

/** The address without its secret: mail addresses, or the host of a URL. */
function destinationOf(target: AlertTarget): string {
  if (target.kind === "email") return target.to.join(", ");
  if (target.kind === "pagerduty") return pagerDutyHosts[target.region];
  return URL.canParse(target.url) ? new URL(target.url).host : "";
}

export const pagerDutyHosts = { us: "events.pagerduty.com", eu: "events.eu.pagerduty.com" } as const;

type RuleRow = Row<"alert_rules">;
type ChannelRow = Row<"alert_channels">;

function ruleRow(
  { id, workspace_id, created_at }: Pick<RuleRow, "id" | "workspace_id" | "created_at">,
  fields: RuleFields,
): RuleRow {
  return {
    ...{ id, workspace_id, created_at, name: fields.name, kind: fields.condition.kind },
    condition: JSON.stringify(fields.condition),
    channels: JSON.stringify([...new Set(fields.channels)]),
    quiet_hours: fields.quiet_hours === null ? null : JSON.stringify(fields.quiet_hours),
    repeat_hours: fields.repeat_hours,
    send_resolved: fields.send_resolved ? 1 : 0,
    enabled: fields.enabled ? 1 : 0,
    muted_until: fields.muted_until,
  };
}

function ruleOf(row: RuleRow): StoredRule {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    condition: JSON.parse(row.condition) as AlertCondition,
    channels: JSON.parse(row.channels) as string[],
    quiet_hours: row.quiet_hours === null ? null : (JSON.parse(row.quiet_hours) as AlertQuietHours),
    repeat_hours: row.repeat_hours,
    send_resolved: row.send_resolved === 1,
    enabled: row.enabled === 1,
    muted_until: row.muted_until,
    created_at: row.created_at,
  };
}

/** The sealed address of `before` is kept if it does not change. */
function channelRow(
  vault: Vault,
  before: Pick<ChannelRow, "id" | "workspace_id" | "created_at"> & Partial<ChannelRow>,
  { name, target, language, enabled }: ChannelFields,
): ChannelRow {
  const { id, workspace_id, created_at, sealed_target = null } = before;
  return {
    ...{ id, workspace_id, created_at, name, kind: target.kind, language },
    sealed_target: sealIfChanged(vault, channelSealId(id), sealed_target, JSON.stringify(target)),
    enabled: enabled ? 1 : 0,
  };
}

function channelOf(row: ChannelRow): StoredChannel {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    kind: row.kind as AlertChannelKind,
    language: isConsoleLanguage(row.language) ? row.language : "en",
    enabled: row.enabled === 1,
    created_at: row.created_at,
  };
}

function targetOf(vault: Vault, { id, sealed_target }: ChannelRow): AlertTarget {
  return JSON.parse(vault.open(sealed_target, channelSealId(id)).reveal()) as AlertTarget;
}

/** Rules and channels are not cached, so there are no caches to invalidate. */
const ruleObject: AuditedObject<"alert_rules"> = {
  table: "alert_rules",
  idColumn: "id",
  label: (row) => `alert rule ${row.name ?? row.kind}`,
  view: (row) => ({
    ...row,
    condition: JSON.parse(row.condition),
    channels: JSON.parse(row.channels),
    quiet_hours: row.quiet_hours === null ? null : JSON.parse(row.quiet_hours),
  }),
  workspaceOf: (row) => row.workspace_id,
  notify: () => undefined,
};

function channelObjectOf(vault: Vault): AuditedObject<"alert_channels"> {
  return {
    table: "alert_channels",
    idColumn: "id",
    label: (row) => `alert channel ${row.name}`,
    view: ({ sealed_target, ...rest }, before) => ({
      ...rest,
      destination: destinationOf(targetOf(vault, { ...rest, sealed_target })),
      ...(before !== null && before.sealed_target !== sealed_target ? { address: "replaced" } : {}),
    }),
    workspaceOf: (row) => row.workspace_id,
    notify: () => undefined,
  };
}
