import type { Notice, NoticeChannel } from "@sluice/contract/console";
import { limitScopes, storedRemark } from "@sluice/contract/words";
import { endingTokenId } from "#core/index.ts";
import type { DueNotice, NoticeFields, StoredNotice, Vault } from "#ports/index.ts";
import type { AuditedObject } from "../changes/audited-rows.ts";
import type { Row } from "../database/schema.ts";
import { sealedAgain } from "../vault/sealed-columns.ts";

export type NoticeRow = Row<"notices">;
export type ToldRow = Row<"notices_told">;

export const channelSeal = (id: string) => `notice:${id}:channel`;

/** `sealedBefore`: the channel as it is stored; the same one again stays the same text. */
export function noticeRow(
  vault: Vault,
  place: Pick<NoticeRow, "id" | "workspace_id" | "created_at"> & { readonly sealedBefore: string | null },
  fields: NoticeFields,
): NoticeRow {
  const { sealedBefore, id } = place;
  return {
    id,
    workspace_id: place.workspace_id,
    name: fields.name,
    percent: JSON.stringify([...new Set(fields.percent)].sort((a, b) => a - b)),
    scope: fields.scope,
    scope_id: fields.scope === null ? null : fields.scope_id,
    sealed_channel: sealedAgain(vault, channelSeal(id), sealedBefore, JSON.stringify(fields.channel)),
    enabled: fields.enabled ? 1 : 0,
    created_at: place.created_at,
  };
}

export function noticeOf(vault: Vault, row: NoticeRow, last: ToldRow | undefined): StoredNotice {
  const percent: number[] = JSON.parse(row.percent);
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    percent,
    scope: scopeOf(row.scope),
    scope_id: row.scope_id,
    channel: channelOf(vault, row.id, row.sealed_channel),
    enabled: row.enabled === 1,
    created_at: row.created_at,
    last: last === undefined ? null : lastOf(last),
    lastScope: last === undefined ? null : lastScopeOf(last),
  };
}

export function dueOf(row: ToldRow, leasedUntil: number): DueNotice {
  return {
    leasedUntil,
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

/** Notices as every writer writes them. No process keeps them: nobody is told. */
export function noticeObject(vault: Vault): AuditedObject<"notices"> {
  return {
    table: "notices",
    idColumn: "id",
    label: (row) => `notice ${row.name}`,
    view: ({ sealed_channel, ...rest }) => ({
      ...rest,
      percent: JSON.parse(rest.percent),
      // Where messages go is said by kind only, since an address may open by itself.
      channel: channelOf(vault, rest.id, sealed_channel).kind,
    }),
    workspaceOf: (row) => row.workspace_id,
    notify: () => undefined,
  };
}

function channelOf(vault: Vault, id: string, sealed: string): NoticeChannel {
  return JSON.parse(vault.open(sealed, channelSeal(id)).reveal());
}

function lastOf(row: ToldRow): Notice["last"] {
  const { percent, label, problem } = row;
  const fault = storedRemark("alert", problem);
  const about = endingTokenId(row) === null ? ("budget" as const) : ("service_token" as const);
  return { at: row.sent_at ?? row.at, about, budget: label, percent, ok: row.sent_at !== null, problem, fault };
}

/** As `crossingsOf` names a budget. */
function lastScopeOf(row: ToldRow): StoredNotice["lastScope"] {
  const [named = "", id] = row.budget.split(" ");
  const kind = endingTokenId(row) === null ? scopeOf(named) : null;
  return kind === null || id === undefined ? null : { kind, id };
}

function scopeOf(text: string | null): Notice["scope"] {
  return limitScopes.find((scope) => scope === text) ?? null;
}
