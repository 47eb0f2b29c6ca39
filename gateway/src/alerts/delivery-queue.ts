import type { AlertDelivery } from "@sluice/contract/console";
import {
  type AlertChannelKind,
  type AlertEvent,
  type AlertFacts,
  type AlertSeverity,
  remarkSentence,
  storedRemark,
} from "@sluice/contract/words";
import { sql } from "kysely";
import type { Clock, Ids } from "#ports/index.ts";
import { type Connection, type Database, isLeasedUntil, type Row, updateDue } from "#storage/tables.ts";

/** A message to create. `dueAt`: when to send it. */
export interface NewDelivery {
  readonly channel: { readonly id: string; readonly name: string; readonly kind: AlertChannelKind };
  readonly dueAt: number;
  /** It waits for the end of quiet hours. */
  readonly quiet: boolean;
}

/** A message to send, leased until `leasedUntil`. `tries`: attempts so far. */
export interface DueDelivery {
  readonly id: string;
  readonly channelId: string;
  readonly about: DueAlert | DueRun;
  readonly tries: number;
  readonly leasedUntil: number;
}

/** `at`: time of the event. */
export interface DueAlert {
  readonly alertId: string;
  readonly event: AlertEvent;
  readonly facts: AlertFacts;
  readonly severity: AlertSeverity;
  readonly at: number;
}

/** A run of a scheduled report. */
interface DueRun {
  readonly runId: string;
}

interface LastDelivery {
  readonly at: number;
  readonly tries: number;
  readonly ok: boolean;
  readonly problem: string | null;
}

export interface AlertLogOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Messages about alerts and runs of scheduled reports, from their creation to the result of their last attempt. */
export function createDeliveryQueue({ database, clock, ids }: AlertLogOptions) {
  const { kysely } = database;
  return {
    async insertDeliveries(
      transaction: Connection,
      alert: { readonly id: string; readonly facts: AlertFacts; readonly severity: AlertSeverity },
      event: AlertEvent,
      deliveries: readonly NewDelivery[],
    ): Promise<void> {
      if (deliveries.length === 0) return;
      const about = { alert_id: alert.id, event, facts: JSON.stringify(alert.facts), severity: alert.severity };
      const rows = deliveries.map((delivery) => deliveryRow({ ids, clock }, delivery, about));
      await transaction.insertInto("alert_deliveries").values(rows).execute();
    },
    /** Drops the messages about a resolved alert that wait for the end of quiet hours. Returns the channels that got a message before. */
    async dropQuiet(transaction: Connection, alertId: string): Promise<readonly NewDelivery["channel"][]> {
      await transaction
        .updateTable("alert_deliveries")
        .set({ due_at: null, problem: remarkSentence("alert", { code: "resolved_while_quiet", params: {} }) })
        .where("alert_id", "=", alertId)
        .where("quiet", "=", 1)
        .where("due_at", "is not", null)
        .execute();
      const rows = await transaction
        .selectFrom("alert_deliveries")
        .select(["channel_id as id", "channel_name as name", "channel_kind as kind"])
        .where("alert_id", "=", alertId)
        .where("quiet", "=", 0)
        .orderBy("id")
        .execute();
      return [...new Map(rows.map((row) => [row.id, { ...row, kind: row.kind as AlertChannelKind }])).values()];
    },
    /**
     * Messages that are due, oldest first, in turn from each workspace. A message waits for earlier ones of the same alert to the same
     * channel.
     */
    async leaseDue(now: number, leaseMs: number, limit: number): Promise<readonly DueDelivery[]> {
      const leasedUntil = now + leaseMs;
      // The workspace of a deleted channel is unknown, so each deleted channel takes separate turns.
      const place = sql`case when channel.id is null then waiting.channel_id else coalesce(channel.workspace_id, '') end`;
      const only = sql<boolean>`id in (select id from (
        select waiting.id, due_at, row_number() over (partition by ${place} order by due_at, waiting.id) as turn
        from alert_deliveries waiting left join alert_channels channel on channel.id = waiting.channel_id
        where due_at <= ${now} and not exists (select 1 from alert_deliveries earlier
          where earlier.alert_id = waiting.alert_id and earlier.channel_id = waiting.channel_id
            and earlier.due_at is not null and earlier.id < waiting.id)
        ) as turns order by turn, due_at, id limit ${limit})`;
      const rows = await updateDue(database, kysely, "alert_deliveries", { now, limit, only })
        .set({ due_at: leasedUntil, quiet: 0 })
        .returning(["id", "alert_id", "run_id", "channel_id", "event", "facts", "severity", "at", "tries"])
        .execute();
      return rows.map((row) => ({
        ...{ id: row.id, channelId: row.channel_id, about: aboutOf(row), tries: row.tries, leasedUntil },
      }));
    },
    /** Stores the result of an attempt. `dueAt` null: sent, or given up. A failure is stored only while the lease is valid. */
    async recordSend(
      { id, leasedUntil }: Pick<DueDelivery, "id" | "leasedUntil">,
      result: {
        readonly tries: number;
        readonly dueAt: number | null;
        readonly sentAt: number | null;
        readonly problem: string | null;
      },
    ): Promise<void> {
      const update = kysely
        .updateTable("alert_deliveries")
        .set({ tries: result.tries, due_at: result.dueAt, sent_at: result.sentAt, problem: result.problem })
        .where("id", "=", id)
        .where("sent_at", "is", null);
      await (result.sentAt === null ? update.where(isLeasedUntil(leasedUntil)) : update).execute();
    },
    /** The latest attempted message of each channel. */
    async lastDeliveries(channelIds: readonly string[]): Promise<ReadonlyMap<string, LastDelivery>> {
      if (channelIds.length === 0) return new Map();
      const rows = await kysely
        .selectFrom("alert_channels")
        .innerJoin("alert_deliveries", (join) =>
          join.on((eb) =>
            eb(
              "alert_deliveries.id",
              "=",
              eb
                .selectFrom("alert_deliveries as last")
                .select("last.id")
                .whereRef("last.channel_id", "=", "alert_channels.id")
                .where("last.tries", ">", 0)
                .orderBy("last.id", "desc")
                .limit(1),
            ),
          ),
        )
        .select(["alert_deliveries.channel_id", "at", "tries", "sent_at", "problem"])
        .where("alert_channels.id", "in", [...channelIds])
        .execute();
      return new Map(
        rows.map(({ channel_id, at, tries, sent_at, problem }) => [
          channel_id,
          { at: sent_at ?? at, tries, ok: sent_at !== null, problem },
        ]),
      );
    },
    /** Messages about an alert, newest first. */
    async deliveries(alertId: string, limit: number): Promise<readonly AlertDelivery[]> {
      const rows = await kysely
        .selectFrom("alert_deliveries")
        .selectAll()
        .where("alert_id", "=", alertId)
        .orderBy("id", "desc")
        .limit(limit)
        .execute();
      return rows.map(deliveryOf);
    },
  };
}

interface Sources extends Pick<AlertLogOptions, "ids" | "clock"> {}

/** Messages about a run of a scheduled report. */
export async function insertRunDeliveries(
  transaction: Connection,
  sources: Sources,
  runId: string,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  const about = { alert_id: null, run_id: runId, event: "report", facts: "{}", severity: "" };
  const rows = deliveries.map((delivery) => deliveryRow(sources, delivery, about));
  await transaction.insertInto("alert_deliveries").values(rows).execute();
}

function deliveryRow<About extends object>(
  { ids, clock }: Sources,
  { channel, dueAt, quiet }: NewDelivery,
  about: About,
) {
  return {
    ...{ id: ids.next("msg_"), channel_id: channel.id, channel_name: channel.name, channel_kind: channel.kind },
    ...about,
    ...{ at: clock.now(), quiet: quiet ? 1 : 0, due_at: dueAt },
  };
}

function aboutOf(
  row: Pick<Row<"alert_deliveries">, "alert_id" | "run_id" | "event" | "facts" | "severity" | "at">,
): DueAlert | DueRun {
  if (row.run_id !== null) return { runId: row.run_id };
  return {
    alertId: row.alert_id ?? "",
    event: row.event as AlertEvent,
    facts: JSON.parse(row.facts) as AlertFacts,
    severity: row.severity as AlertSeverity,
    at: row.at,
  };
}

export function deliveryOf(row: Row<"alert_deliveries">): AlertDelivery {
  return {
    channel: { id: row.channel_id, name: row.channel_name, kind: row.channel_kind as AlertChannelKind },
    event: row.event as AlertEvent,
    at: row.at,
    tries: row.tries,
    sent_at: row.sent_at,
    next_at: row.due_at,
    problem: row.problem,
    fault: storedRemark("alert", row.problem),
  };
}
