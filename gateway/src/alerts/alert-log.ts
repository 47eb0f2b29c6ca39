import type { AlertFacts, AlertKind, AlertSeverity } from "@sluice/contract/words";
import { sql } from "kysely";
import { type Connection, cutPage, type Row } from "#storage/tables.ts";
import { type AlertLogOptions, createDeliveryQueue, type NewDelivery } from "./delivery-queue.ts";
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

/** The state of an alert's condition. */
export type AlertState = Pick<StoredAlert, "severity" | "level" | "facts">;

/**
 * How an alert ends. Only channels that got a message about it get one about its end: PagerDuty always, to resolve its incident; others
 * if `sendResolved`.
 */
export interface AlertEnd {
  readonly sendResolved: boolean;
  /** The end of quiet hours; null: now. */
  readonly quietEnd: number | null;
  /** Why it ends although its condition may hold. */
  readonly reason?: "rule_disabled" | "rule_deleted";
}

export type AlertLog = ReturnType<typeof createAlertLog>;

/** The most alerts that an inbox lists, and that it counts as unread. */
const inboxMax = 30;
const unreadMax = 100;
const inboxMs = 7 * 86_400_000;
/** Open alerts that are read at once: the findings of a rule, and alerts that are about to resolve. */
const openAlertsMax = 2 * findingsMax;

/** Alerts and their messages. Each change is one transaction with its messages, so that none is lost and none is created twice. */
export function createAlertLog({ database, clock, ids }: AlertLogOptions) {
  const { kysely } = database;
  const { insertDeliveries, dropQuiet, ...queue } = createDeliveryQueue({ database, clock, ids });

  const open = () =>
    kysely
      .selectFrom("alerts")
      .selectAll("alerts")
      .where("resolved_at", "is", null)
      .orderBy("subject")
      .limit(openAlertsMax);

  const visible = (viewer: AlertViewer) => {
    const query = kysely.selectFrom("alerts");
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
    ...queue,
    /** Open alerts of a rule. */
    async openOf(ruleId: string): Promise<readonly StoredAlert[]> {
      return (await open().where("rule_id", "=", ruleId).execute()).map(alertOf);
    },
    /** Open alerts of rules that were deleted or disabled, and how they end. */
    async openWithoutRule(): Promise<readonly { readonly alert: StoredAlert; readonly end: AlertEnd }[]> {
      const rows = await open()
        .leftJoin("alert_rules", "alert_rules.id", "alerts.rule_id")
        .select("alert_rules.send_resolved as rule_sends")
        .where((eb) => eb.or([eb("enabled", "is", null), eb("enabled", "=", 0)]))
        .execute();
      return rows.map((row) => ({
        alert: alertOf(row),
        end: {
          sendResolved: (row.rule_sends ?? row.send_resolved) === 1,
          quietEnd: null,
          reason: row.rule_sends === null ? "rule_deleted" : "rule_disabled",
        },
      }));
    },
    /** The number of open alerts by kind or by rule. */
    async countOpen(by: "kind" | "rule_id"): Promise<ReadonlyMap<string, number>> {
      const rows = await kysely
        .selectFrom("alerts")
        .select((eb) => [eb.ref(by).as("value"), eb.fn.countAll<number>().as("count")])
        .where("resolved_at", "is", null)
        .groupBy(by)
        .execute();
      return new Map(rows.map(({ value, count }) => [value, Number(count)]));
    },
    /** Opens an alert, unless one with its rule and subject is open. `notified`: false while the rule is muted. */
    async openAlert(
      rule: { readonly id: string; readonly name: string | null; readonly send_resolved?: boolean },
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
            send_resolved: rule.send_resolved === false ? 0 : 1,
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
      event: "opened" | "worse" | "reminder",
      state: AlertState,
      deliveries: readonly NewDelivery[],
      notified: boolean,
    ): Promise<void> {
      const now = clock.now();
      const { facts, severity, level } = state;
      await kysely.transaction().execute(async (transaction) => {
        const updated = await unchanged(transaction, alert)
          .set({ changed_at: now, last_seen_at: now, notified_at: notified ? now : null })
          .set({ facts: JSON.stringify(facts), severity, level })
          .returning("id")
          .executeTakeFirst();
        if (updated !== undefined) {
          await insertDeliveries(transaction, { id: alert.id, facts, severity }, event, deliveries);
        }
      });
    },
    /** Resolves an open alert. Does nothing if it changed since it was read. */
    async resolve(alert: StoredAlert, { sendResolved, quietEnd, reason }: AlertEnd): Promise<void> {
      const now = clock.now();
      const { id, severity } = alert;
      const facts = reason === undefined ? alert.facts : { ...alert.facts, ended: reason };
      await kysely.transaction().execute(async (transaction) => {
        const updated = await unchanged(transaction, alert)
          .set({ changed_at: now, resolved_at: now, facts: JSON.stringify(facts) })
          .returning("id")
          .executeTakeFirst();
        if (updated === undefined) return;
        const deliveries = (await dropQuiet(transaction, id)).flatMap((channel): NewDelivery[] => {
          // Sent at once also in quiet hours: resolving an incident does not page anyone.
          if (channel.kind === "pagerduty") return [{ channel, dueAt: now, quiet: false }];
          return sendResolved ? [{ channel, dueAt: quietEnd ?? now, quiet: quietEnd !== null }] : [];
        });
        await insertDeliveries(transaction, { id, facts, severity }, "resolved", deliveries);
      });
    },
    /** Stores that the condition of open alerts still holds. */
    async seen(alerts: readonly (AlertState & { readonly id: string })[]) {
      const now = clock.now();
      for (const { id, severity, level, facts } of alerts) {
        await kysely
          .updateTable("alerts")
          .set({ last_seen_at: now, facts: JSON.stringify(facts), severity, level })
          .where("id", "=", id)
          .where("resolved_at", "is", null)
          .execute();
      }
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
    /** Ids of the alerts that the user has read since they last changed. */
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

/** An update of an open alert, unless it changed since it was read. */
function unchanged(connection: Connection, { id, changedAt, level, notifiedAt }: StoredAlert) {
  return connection
    .updateTable("alerts")
    .where("id", "=", id)
    .where("resolved_at", "is", null)
    .where("changed_at", "=", changedAt)
    .where("level", "=", level)
    .where("notified_at", notifiedAt === null ? "is" : "=", notifiedAt);
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
