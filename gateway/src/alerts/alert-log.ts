import type { AlertDelivery } from "@sluice/contract/console";
import {
  type AlertChannelKind,
  type AlertEvent,
  type AlertFacts,
  type AlertKind,
  type AlertSeverity,
  remarkSentence,
  storedRemark,
} from "@sluice/contract/words";
import { sql } from "kysely";
import type { Clock, Ids } from "#ports/index.ts";
import { type Connection, cutPage, type Database, isLeasedUntil, type Row, updateDue } from "#storage/tables.ts";
import { type Finding, findingsMax } from "./finding.ts";

export interface StoredAlert {
  readonly id: string;
  readonly ruleId: string;
  readonly ruleName: string | null;
  readonly workspaceId: string | null;
  readonly kind: AlertKind;
  readonly subject: string;
  readonly severity: AlertSeverity;
  readonly level: number;
  readonly facts: AlertFacts;
  readonly openedAt: number;
  readonly changedAt: number;
  readonly lastSeenAt: number;
  readonly notifiedAt: number | null;
  readonly resolvedAt: number | null;
}

/** Which alerts a user may see. `workspaces` null: all, also alerts of the installation. */
export interface AlertViewer {
  readonly userId: string;
  /** `seesPeople`: also alerts about other users. */
  readonly workspaces: readonly { readonly id: string; readonly seesPeople: boolean }[] | null;
}

export interface AlertFilter {
  readonly id?: string;
  readonly workspaceId?: string;
  readonly state?: "open" | "resolved";
  readonly kind?: AlertKind;
}

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
  readonly alertId: string;
  readonly channelId: string;
  readonly event: AlertEvent;
  readonly facts: AlertFacts;
  readonly severity: AlertSeverity;
  readonly at: number;
  readonly tries: number;
  readonly leasedUntil: number;
}

/** A change of an alert, with its messages. The alert is unchanged if another process changed it first. */
type AlertChange =
  | { readonly event: "worse"; readonly finding: Finding }
  | { readonly event: "opened" | "reminder" | "resolved" };

interface LogOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

export type AlertLog = ReturnType<typeof createAlertLog>;

/** Alerts in an inbox, and how many are counted as unread. */
const inboxMax = 30;
const unreadMax = 100;
const inboxMs = 7 * 86_400_000;
/** Open alerts that are read at once: the findings of a rule, and alerts that are about to resolve. */
const openAlertsMax = 2 * findingsMax;

/** Alerts and their messages. Each change is one transaction with its messages, so that none is lost and none is created twice. */
export function createAlertLog({ database, clock, ids }: LogOptions) {
  const { kysely } = database;

  const insertDeliveries = async (
    transaction: Connection,
    alert: Pick<StoredAlert, "id" | "facts" | "severity">,
    event: AlertEvent,
    deliveries: readonly NewDelivery[],
  ): Promise<void> => {
    if (deliveries.length === 0) return;
    const rows = deliveries.map(({ channel, dueAt, quiet }) => ({
      id: ids.next("msg_"),
      alert_id: alert.id,
      channel_id: channel.id,
      channel_name: channel.name,
      channel_kind: channel.kind,
      event,
      facts: JSON.stringify(alert.facts),
      severity: alert.severity,
      at: clock.now(),
      quiet: quiet ? 1 : 0,
      due_at: dueAt,
    }));
    await transaction.insertInto("alert_deliveries").values(rows).execute();
  };

  const open = () =>
    kysely.selectFrom("alerts").selectAll().where("resolved_at", "is", null).orderBy("subject").limit(openAlertsMax);

  const visible = (viewer: AlertViewer, connection: Connection = kysely) => {
    const query = connection.selectFrom("alerts");
    const { workspaces, userId } = viewer;
    if (workspaces === null) return query;
    if (workspaces.length === 0) return query.where(sql<boolean>`1 = 0`);
    const all = workspaces.filter(({ seesPeople }) => seesPeople).map(({ id }) => id);
    const own = workspaces.filter(({ seesPeople }) => !seesPeople).map(({ id }) => id);
    return query.where((eb) =>
      eb.or([
        ...(all.length === 0 ? [] : [eb("workspace_id", "in", all)]),
        ...(own.length === 0
          ? []
          : [
              eb.and([
                eb("workspace_id", "in", own),
                eb.or([eb("person_id", "is", null), eb("person_id", "=", userId)]),
              ]),
            ]),
      ]),
    );
  };

  const unread = (viewer: AlertViewer) =>
    visible(viewer)
      .where("changed_at", ">=", clock.now() - inboxMs)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom("alert_reads")
              .select("alert_id")
              .where("user_id", "=", viewer.userId)
              .whereRef("alert_id", "=", "alerts.id")
              .whereRef("read_at", ">=", "alerts.changed_at"),
          ),
        ),
      );

  return {
    /** Open alerts of a rule. */
    async openOf(ruleId: string): Promise<readonly StoredAlert[]> {
      return (await open().where("rule_id", "=", ruleId).execute()).map(alertOf);
    },
    /** Open alerts of rules that were deleted or disabled. */
    async openWithoutRule(): Promise<readonly StoredAlert[]> {
      const watched = sql<boolean>`exists (select 1 from alert_rules where id = alerts.rule_id and enabled = 1)`;
      return (
        await open()
          .where((eb) => eb.not(watched))
          .execute()
      ).map(alertOf);
    },
    /** The number of open alerts by kind. */
    async openByKind(): Promise<ReadonlyMap<string, number>> {
      const rows = await kysely
        .selectFrom("alerts")
        .select(["kind", (eb) => eb.fn.countAll<number>().as("count")])
        .where("resolved_at", "is", null)
        .groupBy("kind")
        .execute();
      return new Map(rows.map(({ kind, count }) => [kind, Number(count)]));
    },
    /** Opens an alert, unless one with its rule and subject is open. `notified`: false while the rule is muted. */
    async openAlert(
      rule: { readonly id: string; readonly name: string | null },
      { subject, workspaceId, personId, kind, severity, level, facts }: Finding,
      deliveries: readonly NewDelivery[],
      notified: boolean,
    ): Promise<void> {
      const now = clock.now();
      const id = ids.next("alert_");
      await kysely.transaction().execute(async (transaction) => {
        const inserted = await transaction
          .insertInto("alerts")
          .values({
            ...{ id, rule_id: rule.id, rule_name: rule.name, workspace_id: workspaceId, person_id: personId },
            ...{ kind, subject, severity, level, facts: JSON.stringify(facts) },
            ...{ opened_at: now, changed_at: now, last_seen_at: now, notified_at: notified ? now : null },
          })
          .onConflict((conflict) =>
            conflict.columns(["rule_id", "subject"]).where("resolved_at", "is", null).doNothing(),
          )
          .returning("id")
          .executeTakeFirst();
        if (inserted !== undefined) await insertDeliveries(transaction, { id, facts, severity }, "opened", deliveries);
      });
    },
    /** Changes an open alert. Does nothing if it changed since it was read. `notified`: false while the rule is muted. */
    async change(
      alert: StoredAlert,
      change: AlertChange,
      deliveries: readonly NewDelivery[],
      notified = true,
    ): Promise<void> {
      const now = clock.now();
      const { finding } = "finding" in change ? change : { finding: null };
      const { facts, severity, level } = finding ?? alert;
      await kysely.transaction().execute(async (transaction) => {
        const update = transaction
          .updateTable("alerts")
          .set({ changed_at: now, facts: JSON.stringify(facts), severity, level })
          .set(
            change.event === "resolved"
              ? { resolved_at: now }
              : { last_seen_at: now, notified_at: notified ? now : null },
          )
          .where("id", "=", alert.id)
          .where("resolved_at", "is", null)
          .where("changed_at", "=", alert.changedAt)
          .where("level", "=", alert.level);
        const updated = await (alert.notifiedAt === null
          ? update.where("notified_at", "is", null)
          : update.where("notified_at", "=", alert.notifiedAt)
        )
          .returning("id")
          .executeTakeFirst();
        if (updated === undefined) return;
        const silenced = change.event === "resolved" ? await dropQuiet(transaction, alert.id) : new Set<string>();
        const needed = deliveries.filter(({ channel }) => !silenced.has(channel.id));
        await insertDeliveries(transaction, { id: alert.id, facts, severity }, change.event, needed);
      });
    },
    /** The condition of open alerts still holds. */
    async seen(alerts: readonly { readonly id: string; readonly level: number; readonly facts: AlertFacts }[]) {
      const now = clock.now();
      for (const { id, level, facts } of alerts) {
        await kysely
          .updateTable("alerts")
          .set({ last_seen_at: now, facts: JSON.stringify(facts), level })
          .where("id", "=", id)
          .where("resolved_at", "is", null)
          .execute();
      }
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
        .returning(["id", "alert_id", "channel_id", "event", "facts", "severity", "at", "tries"])
        .execute();
      return rows.map((row) => ({
        id: row.id,
        alertId: row.alert_id,
        channelId: row.channel_id,
        event: row.event as AlertEvent,
        facts: JSON.parse(row.facts) as AlertFacts,
        severity: row.severity as AlertSeverity,
        at: row.at,
        tries: row.tries,
        leasedUntil,
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

    async find(id: string): Promise<StoredAlert | null> {
      const row = await kysely.selectFrom("alerts").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? null : alertOf(row);
    },
    /** Newest first. */
    async page(viewer: AlertViewer, filter: AlertFilter, cursor: string | null, limit: number) {
      let query = visible(viewer)
        .selectAll()
        .orderBy("id", "desc")
        .limit(limit + 1);
      if (filter.id !== undefined) query = query.where("id", "=", filter.id);
      if (filter.workspaceId !== undefined) query = query.where("workspace_id", "=", filter.workspaceId);
      if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
      if (filter.state !== undefined) {
        query = query.where("resolved_at", filter.state === "open" ? "is" : "is not", null);
      }
      if (cursor !== null) query = query.where("id", "<", cursor);
      const { page, next } = cutPage(await query.execute(), limit, ({ id }) => id);
      return { data: page.map(alertOf), next };
    },
    /** Open alerts, and alerts that changed within the last seven days; the latest change first. */
    async inbox(viewer: AlertViewer): Promise<{ readonly unread: number; readonly alerts: readonly StoredAlert[] }> {
      const rows = await visible(viewer)
        .selectAll()
        .where((eb) => eb.or([eb("changed_at", ">=", clock.now() - inboxMs), eb("resolved_at", "is", null)]))
        .orderBy("changed_at", "desc")
        .orderBy("id", "desc")
        .limit(inboxMax)
        .execute();
      const some = await unread(viewer).select("id").limit(unreadMax).execute();
      return { unread: some.length, alerts: rows.map(alertOf) };
    },
    /** Which of these alerts the user has read since they last changed. */
    async readOf(userId: string, alerts: readonly StoredAlert[]): Promise<ReadonlySet<string>> {
      if (alerts.length === 0) return new Set();
      const rows = await kysely
        .selectFrom("alert_reads")
        .innerJoin("alerts", "alerts.id", "alert_reads.alert_id")
        .select("alerts.id")
        .where("user_id", "=", userId)
        .where(
          "alert_id",
          "in",
          alerts.map(({ id }) => id),
        )
        .whereRef("read_at", ">=", "alerts.changed_at")
        .execute();
      return new Set(rows.map(({ id }) => id));
    },
    /** Marks alerts as read if the user may see them. `alertIds` null: the whole inbox. */
    async markRead(viewer: AlertViewer, alertIds: readonly string[] | null): Promise<void> {
      const now = clock.now();
      const rows = await (alertIds === null ? unread(viewer) : visible(viewer).where("id", "in", [...alertIds]))
        .select("id")
        .orderBy("id", "desc")
        .limit(1_000)
        .execute();
      if (rows.length === 0) return;
      await kysely
        .insertInto("alert_reads")
        .values(rows.map(({ id }) => ({ user_id: viewer.userId, alert_id: id, read_at: now })))
        .onConflict((conflict) => conflict.columns(["user_id", "alert_id"]).doUpdateSet({ read_at: now }))
        .execute();
    },
    /** In the order of their events. */
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
    /** The number of open alerts by rule. */
    async openByRule(): Promise<ReadonlyMap<string, number>> {
      const rows = await kysely
        .selectFrom("alerts")
        .select(["rule_id", (eb) => eb.fn.countAll<number>().as("count")])
        .where("resolved_at", "is", null)
        .groupBy("rule_id")
        .execute();
      return new Map(rows.map(({ rule_id, count }) => [rule_id, Number(count)]));
    },
    /** Deletes resolved alerts that last changed before a time, with their messages. */
    async prune(beforeMs: number, limit: number): Promise<void> {
      await kysely
        .deleteFrom("alerts")
        .where("id", "in", (eb) =>
          eb
            .selectFrom("alerts")
            .select("id")
            .where("resolved_at", "is not", null)
            .where("changed_at", "<", beforeMs)
            .limit(limit),
        )
        .execute();
    },
  };
}

interface LastDelivery {
  readonly at: number;
  readonly tries: number;
  readonly ok: boolean;
  readonly problem: string | null;
}

/** Messages that wait for the end of quiet hours are not sent about an alert that has resolved. Returns their channels. */
async function dropQuiet(transaction: Connection, alertId: string): Promise<ReadonlySet<string>> {
  const rows = await transaction
    .updateTable("alert_deliveries")
    .set({ due_at: null, problem: remarkSentence("alert", { code: "resolved_while_quiet", params: {} }) })
    .where("alert_id", "=", alertId)
    .where("quiet", "=", 1)
    .where("due_at", "is not", null)
    .returning(["channel_id", "event"])
    .execute();
  // Who got the first message gets the last one too.
  return new Set(rows.filter(({ event }) => event === "opened").map(({ channel_id }) => channel_id));
}

function alertOf(row: Row<"alerts">): StoredAlert {
  return {
    id: row.id,
    ruleId: row.rule_id,
    ruleName: row.rule_name,
    workspaceId: row.workspace_id,
    kind: row.kind as AlertKind,
    subject: row.subject,
    severity: row.severity as AlertSeverity,
    level: row.level,
    facts: JSON.parse(row.facts) as AlertFacts,
    openedAt: row.opened_at,
    changedAt: row.changed_at,
    lastSeenAt: row.last_seen_at,
    notifiedAt: row.notified_at,
    resolvedAt: row.resolved_at,
  };
}

function deliveryOf(row: Row<"alert_deliveries">): AlertDelivery {
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
