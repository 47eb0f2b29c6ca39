import type { Notice, NoticeChannel } from "@sluice/contract/console";
import { Secret } from "#core/index.ts";
import type { DueNotice, NoticeFields, StoredNotice, Vault } from "#ports/index.ts";
import type { Row } from "../database/schema.ts";

export type NoticeRow = Row<"notices">;
export type ToldRow = Row<"notices_told">;

const channelSeal = (id: string) => `notice:${id}:channel`;

export function noticeRow(
  vault: Vault,
  id: string,
  workspaceId: string,
  fields: NoticeFields,
  createdAt: number,
): NoticeRow {
  return {
    id,
    workspace_id: workspaceId,
    name: fields.name,
    percent: JSON.stringify([...new Set(fields.percent)].sort((a, b) => a - b)),
    scope: fields.scope,
    scope_id: fields.scope === null ? null : fields.scope_id,
    sealed_channel: vault.seal(new Secret(JSON.stringify(fields.channel)), channelSeal(id)),
    enabled: fields.enabled ? 1 : 0,
    created_at: createdAt,
  };
}

export function noticeOf(vault: Vault, row: NoticeRow, last: ToldRow | undefined): StoredNotice {
  const percent: number[] = JSON.parse(row.percent);
  const channel: NoticeChannel = JSON.parse(vault.open(row.sealed_channel, channelSeal(row.id)).reveal());
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    percent,
    scope: scopeOf(row.scope),
    scope_id: row.scope_id,
    channel,
    enabled: row.enabled === 1,
    created_at: row.created_at,
    last: last === undefined ? null : lastOf(last),
  };
}

export function dueOf(row: ToldRow): DueNotice {
  return {
    noticeId: row.notice_id,
    budget: row.budget,
    periodStart: row.period_start,
    percent: row.percent,
    label: row.label,
    usedUsd: row.used_usd,
    limitUsd: row.limit_usd,
    at: row.at,
    tries: row.tries,
  };
}

/** What an audit row shows: where messages go is said by kind only, since an address may open by itself. */
export function noticeView(row: NoticeRow, fields: Pick<NoticeFields, "channel">) {
  const { sealed_channel: _sealed, ...rest } = row;
  return { ...rest, percent: JSON.parse(row.percent), channel: fields.channel.kind };
}

function lastOf(row: ToldRow): Notice["last"] {
  const { percent, label, problem } = row;
  return { at: row.sent_at ?? row.at, budget: label, percent, ok: row.sent_at !== null, problem };
}

function scopeOf(text: string | null): Notice["scope"] {
  return text === "workspace" || text === "group" || text === "key" ? text : null;
}
