import type { Clock } from "#ports/index.ts";
import type { Database } from "#storage/tables.ts";
import type { AlertLog } from "./alert-log.ts";
import type { StoredChannel } from "./alert-settings.ts";
import { decided, type Finding, type Findings, type Watched } from "./finding.ts";

export interface DeliverySources {
  readonly database: Database;
  readonly log: Pick<AlertLog, "lastDeliveries">;
  readonly clock: Clock;
  readonly slugOf: (workspaceId: string) => string;
}

/** A first retry is normal. */
const triesMin = 3;
/** An older failure is no longer reported. */
const channelMs = 86_400_000;
const pendingMax = 10_000;

/** Webhooks of tasks that wait after several attempts, by workspace, and channels that did not accept their last message. */
export async function deliveryFindings(
  { workspaceId, condition }: Watched<"delivery_failure">,
  { database, log, clock, slugOf }: DeliverySources,
  channels: readonly StoredChannel[],
): Promise<Findings> {
  let pending = database.reading
    .selectFrom("webhook_deliveries")
    .select(["workspace_id", "last_error", "tries"])
    .where("due_at", "is not", null)
    .where("tries", ">=", triesMin)
    .limit(pendingMax);
  if (workspaceId !== null) pending = pending.where("workspace_id", "=", workspaceId);
  const rows = await database.reading
    .selectFrom(pending.as("pending"))
    .select((eb) => ["workspace_id", eb.fn.countAll<number>().as("failures"), eb.fn.max("last_error").as("problem")])
    .groupBy("workspace_id")
    .execute();
  const webhooks = rows
    .filter(({ failures }) => Number(failures) >= condition.failures)
    .map((row): Finding => {
      const facts = { target: "webhook", failures: Number(row.failures), problem: row.problem ?? "" };
      return findingOf(`webhooks ${row.workspace_id}`, row.workspace_id, {
        ...facts,
        workspace: slugOf(row.workspace_id),
      });
    });
  const watched = channels.filter((channel) => {
    return channel.enabled && (workspaceId === null || channel.workspaceId === workspaceId);
  });
  const last = await log.lastDeliveries(watched.map(({ id }) => id));
  const now = clock.now();
  const failing = watched.flatMap((channel): Finding[] => {
    const latest = last.get(channel.id);
    if (latest === undefined || latest.ok || latest.tries < triesMin || now - latest.at > channelMs) return [];
    const facts = { target: "channel", name: channel.name, failures: latest.tries, problem: latest.problem ?? "" };
    return [findingOf(`channel ${channel.id}`, channel.workspaceId, facts)];
  });
  return decided([...webhooks, ...failing]);
}

function findingOf(subject: string, workspaceId: string | null, facts: Finding["facts"]): Finding {
  return { kind: "delivery_failure", subject, workspaceId, personId: null, level: 1, severity: "warning", facts };
}
