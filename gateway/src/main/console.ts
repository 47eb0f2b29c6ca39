import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type AdminConsole, NoticeSender, NoticeWatch, type ProcessFacts, type RequestTail } from "#admin/index.ts";
import { type createAsKey, endpointsOf, untranslatedEndpointsOf } from "#api/index.ts";
import type { Environment } from "#config/index.ts";
import { type AgentSettingsOf, AgentSignIn, type Authenticator, IssuerRecheck } from "#identity/index.ts";
import type { Admission } from "#limits/index.ts";
import { createMailer } from "#mail/index.ts";
import type { ExplainStore, Leadership, Observer, ReportStore, SignIn, Transport } from "#ports/index.ts";
import { type ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import type { Router } from "#routing/index.ts";
import { createNoticeStore } from "#storage/index.ts";
import type { Metrics } from "#telemetry/index.ts";
import type { ConfigFile } from "./config-facts.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import type { Control } from "./control.ts";
import { ledgerExportFacts } from "./ledger-export.ts";
import { consoleUrl } from "./listeners.ts";
import type { Media } from "./media.ts";
import { listProcesses } from "./processes.ts";
import { tellKept } from "./sign-in.ts";
import { webhookSecretOf, webhookSecretsOf } from "./webhook-secret.ts";

export interface ConsoleDependencies {
  readonly environment: Environment;
  readonly control: Control;
  readonly configSnapshot: ConfigSnapshotHolder;
  readonly router: Router;
  readonly admission: Admission;
  readonly transport: Transport;
  readonly providerClient: ProviderClient;
  readonly signIn: SignIn;
  readonly authenticator: Authenticator;
  readonly observer: Observer;
  readonly media: Media;
  readonly reports: ReportStore;
  readonly explain: ExplainStore;
  readonly tail: RequestTail;
  readonly configFile: ConfigFile;
  readonly processFacts: ProcessFacts;
  readonly version: string;
  /** What callers use; null: the address that they came to. */
  readonly callsUrl: () => string | null;
  readonly agentSettings: AgentSettingsOf;
  readonly answerAs: ReturnType<typeof createAsKey>;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
  readonly leadership: Leadership;
  readonly metrics: Pick<Metrics, "counts">;
}

/** What the console's calls stand on, and who tells of budgets. */
export function openConsole(dependencies: ConsoleDependencies): {
  readonly console: AdminConsole;
  readonly notices: NoticeWatch;
  readonly agentSignIn: AgentSignIn;
} {
  const { environment, control, transport, configSnapshot } = dependencies;
  const { clock, vault, controlStore } = control;
  const { mail } = environment;
  const mailer = mail === null ? null : createMailer(mail);
  const store = createNoticeStore({ database: control.database, vault, clock, ids: control.ids });
  const webhookSecret = (workspaceId: string) => webhookSecretOf(vault, workspaceId);
  const noticeSender = new NoticeSender({
    transport,
    mailer,
    clock,
    webhookSecrets: (workspaceId) => webhookSecretsOf(vault, workspaceId, clock.now()),
  });
  const current = () => configSnapshot.current;
  const { admission, observer } = dependencies;
  const recheck = new IssuerRecheck({ rights: control.rights, signIn: dependencies.signIn, clock, observer });
  dependencies.metrics.counts({
    sluice_issuer_rechecks_total: () => recheck.counted.asked,
    sluice_issuer_rechecks_silent_total: () => recheck.counted.silent,
  });
  const agentSignIn = new AgentSignIn({ ...control, randomBytes: (size) => randomBytes(size), recheck });
  return {
    agentSignIn,
    console: {
      agentSignIn,
      onRightsKept: (problems) => tellKept(problems, observer),
      ...control,
      ...dependencies,
      ...dependencies.media,
      configSnapshot: current,
      publicUrl: consoleUrl(environment),
      mailer,
      mailFrom: mail?.from ?? null,
      ledgerExport: ledgerExportFacts(environment, control, () => current().settings.ledgerExport),
      notices: store,
      noticeSender,
      webhookSecret,
      probe: new ProviderProbe(dependencies.providerClient, clock),
      endpointsOf,
      untranslatedEndpointsOf,
      randomBytes: (size) => randomBytes(size),
      configFacts: dependencies.configFile,
      databaseKind: control.database.flavour.name,
      host: hostname(),
      listProcesses: () => listProcesses(control),
    },
    notices: new NoticeWatch({
      store,
      sender: noticeSender,
      admission,
      controlStore,
      people: control.people,
      configSnapshot: current,
      clock,
      observer,
      leadership: dependencies.leadership,
    }),
  };
}
