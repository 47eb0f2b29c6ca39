import type { AlertCondition, AlertDelivery } from "@sluice/contract";
import { alertPage, alertSentence, meets, productName, storedRemark } from "@sluice/contract/words";
import type { AlertViewer, ChannelFields, RuleFields, StoredAlert, StoredChannel, StoredRule } from "#alerts/index.ts";
import {
  type Actor,
  bounds,
  Failure,
  invalidRequest,
  orNotFound,
  personOf,
  roleIn,
  type Workspace,
  withoutUndefined,
} from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { mailRateLimit } from "../throttle.ts";
import { workspaceNamed } from "./callers.ts";
import { type Handlers, pageSize } from "./calls.ts";

/** The most messages in the answer about an alert. */
const deliveriesMax = 200;

export function alertHandlers(dependencies: ConsoleDependencies) {
  const { alertLog, alertSettings, alertSender, configSnapshot, clock } = dependencies;
  const tests = mailRateLimit("alert-test", dependencies.openTries);
  const workspaceView = (id: string | null) =>
    id === null ? null : { id, slug: configSnapshot().workspaces.get(id)?.slug ?? id };
  const alertViews = async (alerts: readonly StoredAlert[], actor: Actor) => {
    const read = await alertLog.readOf(actor.userId, alerts);
    return alerts.map((alert) => {
      const workspace = workspaceView(alert.workspaceId);
      return {
        id: alert.id,
        ...{ kind: alert.kind, severity: alert.severity, workspace, facts: alert.facts },
        state: alert.resolvedAt === null ? ("open" as const) : ("resolved" as const),
        rule: { id: alert.ruleId, name: alert.ruleName },
        text: alertSentence(alert, "en"),
        page: alertPage(alert, workspace?.slug ?? null),
        opened_at: alert.openedAt,
        changed_at: alert.changedAt,
        last_seen_at: alert.lastSeenAt,
        resolved_at: alert.resolvedAt,
        unread: !read.has(alert.id),
      };
    });
  };
  const ruleView = ({ workspaceId, ...rule }: StoredRule, open = 0) => ({
    ...rule,
    workspace: workspaceView(workspaceId),
    open,
  });
  const channelViews = async (channels: readonly StoredChannel[], actor: Actor) => {
    const shown = channels.filter(({ workspaceId }) => mayChange(actor, workspaceId)).map(({ id }) => id);
    const destinations = await alertSettings.destinations(shown);
    const latest = await alertLog.lastDeliveries(channels.map(({ id }) => id));
    return channels.map(({ workspaceId, ...channel }) => {
      const last = latest.get(channel.id);
      return {
        ...channel,
        workspace: workspaceView(workspaceId),
        destination: destinations.get(channel.id) ?? null,
        last:
          last === undefined
            ? null
            : { at: last.at, ok: last.ok, problem: last.problem, fault: storedRemark("alert", last.problem) },
      };
    });
  };
  /** Only administrators see messages to channels of the installation. */
  const visibleDeliveries = async (deliveries: readonly AlertDelivery[], actor: Actor) => {
    if (actor.administrator) return deliveries;
    const channels = (await alertSettings.channels()).filter(({ workspaceId }) => mayView(actor, workspaceId));
    return deliveries.filter(({ channel }) => channels.some(({ id }) => id === channel.id));
  };
  const channelView = async (channel: StoredChannel, actor: Actor) => {
    const [view] = await channelViews([channel], actor);
    return orNotFound(view ?? null, "alert channel");
  };
  return {
    "alerts.list": async ({ actor, query }) => {
      const { workspace, state, kind, cursor = null, limit = pageSize } = query;
      const place = workspace === undefined ? null : workspaceNamed(workspace, actor, configSnapshot());
      const filter = withoutUndefined({ state, kind, workspaceId: place?.id });
      const { data, next } = await alertLog.page(viewerOf(actor), filter, cursor, limit);
      return { data: await alertViews(data, actor), next };
    },
    "alerts.show": async ({ actor, params }) => {
      const { data } = await alertLog.page(viewerOf(actor), { id: params.alert }, null, 1);
      const alert = orNotFound(data[0] ?? null, "alert");
      const [view] = await alertViews([alert], actor);
      const deliveries = await alertLog.deliveries(alert.id, deliveriesMax);
      return { ...orNotFound(view ?? null, "alert"), deliveries: await visibleDeliveries(deliveries, actor) };
    },
    "inbox.show": async ({ actor }) => {
      const { unread, alerts } = await alertLog.inbox(viewerOf(actor));
      return { unread, data: await alertViews(alerts, actor) };
    },
    "inbox.read": async ({ actor, body }) => {
      await alertLog.markRead(viewerOf(actor), body.alerts);
    },
    "alertRules.list": async ({ actor }) => {
      const open = await alertLog.countOpen("rule_id");
      const rules = await visibleRules(await alertSettings.rules(), actor, dependencies);
      return { data: rules.map((rule) => ruleView(rule, open.get(rule.id))), next: null };
    },
    "alertRules.create": async ({ workspace, body, auditSource }) => {
      const home = workspace?.id ?? null;
      const rules = await alertSettings.rules();
      refuseTooMany(rules, home, bounds.alertRulesMax, "alert rules");
      await checkRule(dependencies, workspace, body);
      return ruleView(await alertSettings.createRule(home, body, auditSource));
    },
    "alertRules.update": async ({ workspace, params, body, auditSource }) => {
      const rule = ownOf(await alertSettings.rule(params.rule), workspace, "alert rule");
      const fields = withoutUndefined(body);
      await checkRule(dependencies, workspace, { ...rule, ...fields });
      const updated = await alertSettings.updateRule(rule.id, fields, auditSource);
      return ruleView(updated, (await alertLog.countOpen("rule_id")).get(rule.id));
    },
    "alertRules.remove": async ({ workspace, params, auditSource }) => {
      const rule = ownOf(await alertSettings.rule(params.rule), workspace, "alert rule");
      await alertSettings.removeRule(rule.id, auditSource);
    },
    "alertChannels.list": async ({ actor }) => {
      const channels = (await alertSettings.channels()).filter(({ workspaceId }) => mayView(actor, workspaceId));
      return { data: await channelViews(channels, actor), next: null };
    },
    "alertChannels.create": async ({ actor, workspace, body, auditSource }) => {
      const home = workspace?.id ?? null;
      refuseTooMany(await alertSettings.channels(), home, bounds.alertChannelsMax, "alert channels");
      return await channelView(await alertSettings.createChannel(home, body, auditSource), actor);
    },
    "alertChannels.update": async ({ actor, workspace, params, body, auditSource }) => {
      const channel = ownOf(await alertSettings.channel(params.channel), workspace, "alert channel");
      const fields: Partial<ChannelFields> = withoutUndefined(body);
      return await channelView(await alertSettings.updateChannel(channel.id, fields, auditSource), actor);
    },
    "alertChannels.remove": async ({ workspace, params, auditSource }) => {
      const channel = ownOf(await alertSettings.channel(params.channel), workspace, "alert channel");
      await alertSettings.removeChannel(channel.id, auditSource);
    },
    "alertChannels.test": async ({ workspace, params, signal }) => {
      const channel = ownOf(await alertSettings.channel(params.channel), workspace, "alert channel");
      await tests.take(workspace?.id ?? null);
      const began = clock.monotonic();
      const now = clock.now();
      const base = dependencies.consoleUrl();
      const message = {
        ...({ id: `${channel.id}.test.${now}`, alertId: `test-${channel.id}`, event: "test", kind: "budget" } as const),
        ...({ severity: "warning", facts: {}, at: now, ruleName: channel.name } as const),
        product: productName(configSnapshot().settings),
        workspace: workspace?.slug ?? null,
        url: base === null ? null : `${base}/console/alerts?tab=channels`,
      };
      const problem = await alertSender.send(channel, message, signal);
      return {
        ok: problem === null,
        problem,
        fault: storedRemark("alert", problem),
        ms: clock.monotonic() - began,
      };
    },
  } satisfies Partial<Handlers>;
}

export function viewerOf(actor: Actor): AlertViewer {
  const { userId, administrator, roles } = actor;
  const workspaces = [...roles].map(([id, role]) => ({ id, seesPeople: meets(role, "admin") }));
  return { userId, workspaces: administrator ? null : workspaces };
}

function mayView(actor: Actor, workspaceId: string | null): boolean {
  return workspaceId === null ? actor.administrator : roleIn(actor, workspaceId) !== null;
}

function mayChange(actor: Actor, workspaceId: string | null): boolean {
  return workspaceId === null ? actor.administrator : meets(roleIn(actor, workspaceId) ?? "signed-in", "admin");
}

/** Members and viewers do not see rules on budgets and keys of other users. */
async function visibleRules(
  rules: readonly StoredRule[],
  actor: Actor,
  { controlStore }: ConsoleDependencies,
): Promise<readonly StoredRule[]> {
  const seen: StoredRule[] = [];
  for (const rule of rules) {
    if (!mayView(actor, rule.workspaceId)) continue;
    if (mayChange(actor, rule.workspaceId)) {
      seen.push(rule);
      continue;
    }
    const { person, key } = subjectsOf(rule.condition);
    const found = key === undefined ? null : await controlStore.keyById(key);
    const owner = person ?? (found === null ? null : personOf(found));
    if (owner === null || owner === actor.userId) seen.push(rule);
  }
  return seen;
}

/** Ids of objects of a workspace in a condition. */
function subjectsOf(
  condition: AlertCondition,
): Readonly<Partial<Record<"workspace" | "group" | "person" | "key", string>>> {
  if (condition.kind === "budget") {
    return condition.scope === null || condition.scope_id === null ? {} : { [condition.scope]: condition.scope_id };
  }
  const { group, key } = condition as { readonly group?: string; readonly key?: string };
  return withoutUndefined({ group, key });
}

function refuseTooMany(
  all: readonly { readonly workspaceId: string | null }[],
  workspaceId: string | null,
  max: number,
  what: string,
): void {
  if (all.filter((each) => each.workspaceId === workspaceId).length < max) return;
  const place = workspaceId === null ? "The installation" : "A workspace";
  throw new Failure("conflict", `${place} can have at most ${max} ${what}.`);
}

function ownOf<Item extends { readonly workspaceId: string | null }>(
  item: Item | null,
  workspace: Workspace | null,
  what: "alert rule" | "alert channel",
): Item {
  return orNotFound(item !== null && item.workspaceId === (workspace?.id ?? null) ? item : null, what);
}

/** A workspace may also watch the guardrails that it inherits. */
async function checkGuardrail(
  controlStore: ConsoleDependencies["controlStore"],
  workspace: Workspace | null,
  condition: AlertCondition,
): Promise<void> {
  const id = "guardrail" in condition ? condition.guardrail : undefined;
  if (id === undefined) return;
  const own = await controlStore.guardrails(workspace?.id ?? null);
  const inherited = workspace === null ? [] : await controlStore.inheritedGuardrails(workspace.id);
  if ([...own, ...inherited].some((guardrail) => guardrail.id === id)) return;
  throw notFoundHere("guardrail", workspace);
}

function notFoundHere(what: string, workspace: Workspace | null): Failure {
  const text = `${what.charAt(0).toUpperCase()}${what.slice(1)} not found`;
  return invalidRequest("condition", workspace === null ? `${text}.` : `${text} in this workspace.`);
}

/** The objects and channels of a rule must belong to its workspace. Rules of the installation may watch objects of any workspace. */
async function checkRule(
  { configSnapshot, controlStore, people, alertSettings }: ConsoleDependencies,
  workspace: Workspace | null,
  { condition, channels }: Pick<RuleFields, "condition" | "channels">,
): Promise<void> {
  if (condition.kind === "provider_down" && workspace !== null) {
    throw invalidRequest("condition", "Only rules of the installation can watch providers.");
  }
  const owners = {
    workspace: async (id: string) => configSnapshot().workspaces.get(id)?.id,
    group: async (id: string) => configSnapshot().groups.get(id)?.workspaceId,
    key: async (id: string) => (await controlStore.keyById(id))?.workspaceId,
    person: async (id: string) => {
      const { workspaces = [] } = (await people.user(id)) ?? {};
      return (workspaces.find((each) => workspace === null || each.id === workspace.id) ?? workspaces[0])?.id;
    },
  };
  for (const [scope, id] of Object.entries(subjectsOf(condition))) {
    const owner = await owners[scope as keyof typeof owners](id);
    if (owner === undefined || (workspace !== null && owner !== workspace.id)) {
      throw notFoundHere(scope, workspace);
    }
  }
  await checkGuardrail(controlStore, workspace, condition);
  const own = (await alertSettings.channels()).filter((each) => each.workspaceId === (workspace?.id ?? null));
  if (channels.some((id) => !own.some((channel) => channel.id === id))) {
    throw invalidRequest("channels", "A channel does not exist here.");
  }
}
