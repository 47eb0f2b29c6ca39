import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { createAdmin, reportReader } from "#admin/index.ts";
import {
  AlertSender,
  AlertWatch,
  createAlertLog,
  createAlertSettings,
  createReportRuns,
  createScheduledReports,
  ReportWatch,
} from "#alerts/index.ts";
import { type ApiDependencies, createAsKey, endpointsOf, untranslatedEndpointsOf } from "#api/index.ts";
import type { ConfigSnapshot } from "#core/index.ts";
import { AgentSignIn, agentSettingsBy, createSetup, IssuerRecheck, type SharedSetup } from "#identity/index.ts";
import { createMailer } from "#mail/index.ts";
import type { Rehearsals } from "#rehearsal/index.ts";
import { openStaticFiles, type StaticRoot } from "#storage/index.ts";
import { isBuilt } from "#system/index.ts";
import { webhookSecretOf, webhookSecretsOf } from "./control.ts";
import { openFocus } from "./focus-copies.ts";
import { ledgerExportFacts } from "./ledger-export.ts";
import { consoleUrl, type Listeners } from "./listeners.ts";
import type { Base } from "./open-base.ts";
import type { Calls } from "./open-calls.ts";
import type { Data } from "./open-data.ts";
import type { Governance } from "./open-governance.ts";
import { openApiFile } from "./openapi-file.ts";
import { inTurn, listProcesses } from "./processes.ts";
import { openReconciliation } from "./reconciliation.ts";
import { logFailedRevocations } from "./sign-in.ts";

/** State of the shutdown. */
export interface Leaving {
  /** `/readyz` fails, and calls are still served. */
  isLeaving: boolean;
  /** Another worker replaced this one. */
  isReplaced: boolean;
  /** Calls are refused. */
  isDraining: boolean;
}

/** Opens the console and the admin API. `api`: dependencies of the ports. */
export async function openControlPlane(
  base: Base,
  data: Data,
  governance: Governance,
  calls: Calls,
  listeners: Listeners,
  leaving: Leaving,
) {
  const { options, environment, control, configSnapshot, observer, metrics, ending, clock } = base;
  const { signIn } = data;
  const { authenticator, uploadTokens, countCall, keyUsage, periodSpend, limitUsage } = governance;
  const { relay, media, explainer, bodies, memory, connections, spool } = calls;
  const agentSignIn = openAgentSignIn(base, data);
  const agentSettings = agentSettingsBy(control.agents, base.agentTelemetry);
  const callsUrl = (): string | null => listeners.callsUrl;
  const ready = readiness(base, data, governance, leaving);
  const callDependencies: Omit<ApiDependencies, "admin"> = {
    ...{ agentSignIn, agentSettings, agentTelemetry: base.agentTelemetry },
    consoleUrl: () => listeners.consoleUrl,
    ...{ authenticator, uploadTokens, countCall, keyUsage, periodSpend, limitUsage },
    ...{
      relay,
      videos: media.videos,
      assets: media.assets,
      batches: calls.batches,
      files: media.files,
      explainer,
      bodies,
      memory,
      connections,
      spool,
    },
    ...{ clock, ids: base.ids, observer, ...base.tracing },
    publicUrl: callsUrl,
    configSnapshot: () => configSnapshot.current,
    journal: data.journal,
    draining: () => leaving.isDraining,
    leaving: () => leaving.isLeaving || leaving.isReplaced,
    handshakeProblem: metrics.handshakeProblem,
    ...ready,
    metricsText: () => base.numbers.text(),
    ...{ metricsType: metrics.contentType, metricsKey: environment.metricsKey },
  };
  const alerts = openAlerts(base, data, governance, calls, () => listeners.consoleUrl);
  const { unready, remark } = ready;
  const setup = await createSetup({
    ...{ signIn, people: control.people, ...sharedSetup(base), randomToken: options.randomToken },
    ...(options.onSetUp === undefined ? {} : { onCompleted: options.onSetUp }),
  });
  const admin = createAdmin({
    files: await openStaticFiles(staticRoots()),
    openApi: openApiFile({ publicUrl: callsUrl, clock, observer }),
    ...{ setup, clock, observer, openTries: control.openTries, version: options.version },
    publicUrl: consoleUrl(environment),
    randomToken: options.randomToken,
    demo: () => [...configSnapshot.current.providers.values()].every((provider) => provider.kind === "demo"),
    console: {
      ...consoleBase(base),
      ...control,
      ...data,
      ...governance,
      ...calls,
      ...media,
      workspaceFiles: media.files,
      reconciliation: openReconciliation(base, data, governance, calls),
      ...alerts.parts,
      rehearsals: openRehearsals(base),
      ...{ agentSignIn, agentSettings, callsUrl, focus: openFocus(control, ending) },
      certificateEndsAt: () => listeners.certificateEndsAt,
      gatewayProblems: () => [unready(), remark()].filter((problem) => problem !== null),
      answerAs: createAsKey(callDependencies),
    },
  });
  alerts.watch.start();
  ending.defer("alerts", () => alerts.watch.stop());
  alerts.reportWatch.start();
  ending.defer("scheduled reports", () => alerts.reportWatch.stop());
  return { setup, api: { ...callDependencies, admin: admin.fetch } satisfies ApiDependencies };
}

function consoleBase(base: Base) {
  const { environment, control, configSnapshot, observer, processes } = base;
  const { vault } = control;
  return {
    ...{ environment, observer, tail: base.tail, transport: base.transport, leadership: processes.leadership },
    configSnapshot: () => configSnapshot.current,
    configFacts: base.configFile,
    processFacts: base.numbers,
    version: processes.instance.version,
    publicUrl: consoleUrl(environment),
    ledgerExport: ledgerExportFacts(environment, control, () => configSnapshot.current.settings["ledger.export"]),
    webhookSecret: (workspaceId: string | null) => webhookSecretOf(vault, workspaceId ?? installation),
    onRevocationFailed: (problems: readonly string[]) => logFailedRevocations(problems, observer),
    ...{ endpointsOf, untranslatedEndpointsOf },
    randomBytes: (size: number) => randomBytes(size),
    databaseKind: control.database.flavour.name,
    host: hostname(),
    listProcesses: () => listProcesses(control),
  };
}

function openAgentSignIn({ control, metrics, observer, clock }: Base, { signIn }: Data): AgentSignIn {
  const recheck = new IssuerRecheck({ rights: control.rights, signIn, clock, observer });
  metrics.numbers({
    sluice_issuer_rechecks_total: () => recheck.counts.started,
    sluice_issuer_recheck_failures_total: () => recheck.counts.failed,
  });
  return new AgentSignIn({ ...control, randomBytes: (size) => randomBytes(size), recheck });
}

/** Rehearsals are rare, so their code is loaded with the first. */
function openRehearsals({ control, configSnapshot, observer, clock, processes, ending }: Base) {
  const { database, place, ids } = control;
  let opened: Promise<Rehearsals> | null = null;
  const open = async (): Promise<Rehearsals> => {
    const { RehearsalStore, Rehearsals } = await import("#rehearsal/index.ts");
    const slugOf = (id: string): string => configSnapshot.current.workspaces.get(id)?.slug ?? id;
    const store = new RehearsalStore({ database, clock, ids, process: processes.instance.id, slugOf });
    return new Rehearsals({ place, database, store, clock, observer, configSnapshot: () => configSnapshot.current });
  };
  ending.defer("rehearsals", async () => await (await opened)?.close());
  return (): Promise<Rehearsals> => {
    opened ??= open();
    return opened;
  };
}

/** Derives the secret that signs alerts of the installation, in place of a workspace's id. */
const installation = "installation";

/** Opens alert rules and their messages, by mail and HTTP. */
function openAlerts(
  base: Base,
  { reports }: Data,
  { admission }: Governance,
  { router }: Calls,
  consoleUrl: () => string | null,
) {
  const { environment, control, configSnapshot, observer, clock, processes, transport, metrics } = base;
  const { vault, controlStore, people, database, ids } = control;
  const { mail } = environment;
  const mailer = mail === null ? null : createMailer(mail);
  const webhookSecrets = (workspaceId: string | null) =>
    webhookSecretsOf(vault, workspaceId ?? installation, clock.now());
  const settings = createAlertSettings({ database, vault, clock, ids });
  const log = createAlertLog({ database, clock, ids });
  const scheduledReports = createScheduledReports({ database, clock, ids });
  const runs = createReportRuns({ database, clock, ids });
  const sender = new AlertSender({ settings, transport, mailer, clock, webhookSecrets, openTries: control.openTries });
  const current = () => configSnapshot.current;
  const watch = new AlertWatch({
    ...{ settings, log, runs, sender, admission, controlStore, people, database, reports, clock, observer, consoleUrl },
    configSnapshot: current,
    slugOf: (workspaceId) => current().workspaces.get(workspaceId)?.slug ?? workspaceId,
    openProviders: () => providersOpen(current(), router.states()),
    leadership: processes.leadership,
  });
  metrics.alerts(watch.counts);
  const readReport = reportReader({ people, reports, configSnapshot: current });
  const reportWatch = new ReportWatch({ reports: scheduledReports, runs, settings, readReport, clock, observer });
  const stores = { alertSettings: settings, alertLog: log, scheduledReports, reportRuns: runs };
  const parts = { ...stores, alertSender: sender, consoleUrl };
  return { watch, reportWatch, parts: { ...parts, mailer, mailFrom: mail?.from ?? null } };
}

/** Providers with an open or half-open circuit breaker at every deployment. */
function providersOpen(
  { models, providers }: ConfigSnapshot,
  states: readonly { readonly deploymentId: string; readonly breaker: string }[],
): readonly string[] {
  const closed = new Set<string>();
  const broken = new Set(states.filter(({ breaker }) => breaker !== "closed").map(({ deploymentId }) => deploymentId));
  if (broken.size === 0) return [];
  const found = new Set<string>();
  for (const { deployments } of models.values()) {
    for (const deployment of deployments) {
      if (!deployment.enabled || !deployment.provider.enabled) continue;
      (broken.has(deployment.id) ? found : closed).add(deployment.provider.id);
    }
  }
  return [...found].filter((id) => providers.has(id) && !closed.has(id));
}

/** `unready`: why no call can be served; `remark`: other problems. Both are null if there is nothing to report. */
function readiness(
  { control, configSnapshot, configFile, clock }: Base,
  { journal, databaseWatch, feed }: Data,
  { counting }: Governance,
  leaving: Leaving,
): Pick<ApiDependencies, "unready" | "remark"> {
  const { breaker } = control.database;
  return {
    unready() {
      if (leaving.isLeaving) return "draining";
      if (!journal.healthy) return "the ledger cannot be written";
      const keysStaleMaxMs = configSnapshot.current.settings["keys.stale_max"] * 1_000;
      const isStale = breaker?.isOpen === true && clock.monotonic() - feed.currentAtMs >= keysStaleMaxMs;
      return isStale ? "the database has been unreachable for longer than keys.stale_max" : databaseWatch.problem;
    },
    remark() {
      const remarks = [databaseWatch.remark, counting.remark(), configFile.remark].filter((remark) => remark !== null);
      return remarks.length === 0 ? null : remarks.join("; ");
    },
  };
}

const setupFact = "setup.link";

/** All processes accept one setup link, which the first one shows. Not needed with a single process. */
function sharedSetup({ control, processes: { leadership } }: Base): { readonly shared?: SharedSetup } {
  const { clock, facts, instanceId, instances, vault, database } = control;
  if (database.flavour.name === "sqlite") return {};
  const read = async (): Promise<ShownLink | null> => {
    const text = await facts.read(setupFact);
    return text === null ? null : (JSON.parse(text) as ShownLink);
  };
  const shared: SharedSetup = {
    claim: (token) =>
      inTurn({ leadership, clock }, "first start", async () => {
        const shown = await read();
        // The link of a process that ended may be lost, so it is replaced.
        if (shown !== null && shown.by !== instanceId && (await instances.isAlive(shown.by))) return false;
        await facts.write(
          setupFact,
          JSON.stringify({ by: instanceId, digest: vault.digest(token) } satisfies ShownLink),
        );
        return true;
      }),
    matches: async (token) => (await read())?.digest === vault.digest(token),
  };
  return { shared };
}

interface ShownLink {
  readonly by: string;
  readonly digest: string;
}

/** Folders with the console's build and the API reference. */
function staticRoots(): readonly StaticRoot[] {
  const built = join(import.meta.dir, "static");
  if (isBuilt) return ["console", "docs"].map((prefix) => ({ prefix, directory: join(built, prefix) }));
  const swaggerUi = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  return [
    { prefix: "console", directory: join(import.meta.dir, "..", "..", "..", "console", "dist") },
    { prefix: "docs", directory: join(import.meta.dir, "..", "admin", "docs") },
    { prefix: "docs", directory: swaggerUi, only: ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"] },
  ];
}
