import { randomBytes } from "node:crypto";
import type { Environment } from "#config/index.ts";
import { type ConfigSnapshot, Secret, shortRevision } from "#core/index.ts";
import type { FirstSecrets } from "#storage/index.ts";
import { isBuilt } from "#system/index.ts";
import type { Control } from "./control.ts";
import { firstKey } from "./first-start.ts";
import type { Gateway } from "./gateway.ts";
import { shownOrigin } from "./listeners.ts";
import { inTurn, type Processes } from "./processes.ts";

interface AnnouncementOptions extends Pick<BannerFacts, "found" | "unused" | "version" | "revision" | "refused"> {
  readonly environment: Environment;
  readonly control: Control;
  readonly processes: Processes;
  readonly gateway: Gateway;
  readonly secrets: FirstSecrets;
  /** A person reads what is printed, and nobody collects it. */
  readonly interactive: boolean;
}

/**
 * Makes the first key, now that the port is open and it will be shown: a start that fails must not leave a key whose secret
 * nobody has seen. Gives what is to be printed. Secrets stand in it on a terminal only; elsewhere they go into files, because
 * what is printed there is collected and read by others.
 */
export async function announcement(dependencies: AnnouncementOptions): Promise<string> {
  const { environment, control, gateway, secrets } = dependencies;
  const json = environment.logFormat === "json";
  const shows = dependencies.interactive && !json;
  let key: FirstSecret | null = null;
  const { leadership } = dependencies.processes;
  const keySecret = await inTurn({ leadership, clock: control.clock }, "first start", () =>
    firstKey(control.controlStore, randomBytes, (secret) => {
      key = shows ? { shown: secret } : { file: secrets.keepKey(secret.reveal()) };
    }),
  );
  if (keySecret !== null) await gateway.configSnapshot.refresh();
  else key = await keptKey(control, secrets);
  const url = environment.publicUrl ?? shownOrigin(environment, environment.host, gateway.server.port);
  const { admin } = environment;
  const console = admin === null ? url : (admin.url ?? shownOrigin(environment, admin.host, gateway.consolePort));
  const token = gateway.setup.token();
  const facts: BannerFacts = {
    url,
    consoleUrl: console,
    version: dependencies.version,
    revision: dependencies.revision,
    setup: token === null ? null : setupLink(`${console}/console/#setup=${token}`, shows, secrets),
    firstKey: key,
    found: dependencies.found,
    unused: dependencies.unused,
    configSnapshot: gateway.configSnapshot.current,
    dataDir: environment.dataDir,
    upgrade: control.upgrade,
    configFile: environment.configFile,
    refused: dependencies.refused,
    recovered: gateway.recovered,
  };
  return json ? bannerLine(facts, control.clock.now()) : banner(facts);
}

/**
 * The first key of an earlier start, which may have ended before it could say so: on a full disk, say. It is in its file until
 * somebody has set the installation up.
 */
async function keptKey({ controlStore, vault }: Control, secrets: FirstSecrets): Promise<FirstSecret | null> {
  const kept = secrets.keptKey();
  if (kept === null || (await controlStore.find(vault.digest(kept.secret))) === null) return null;
  return { file: kept.file };
}

/** Takes the place of the link of an earlier run. That of another process that runs stays: then there is none to show here. */
function setupLink(link: string, shows: boolean, secrets: FirstSecrets): FirstSecret {
  if (!shows) return { file: secrets.keepLink(link) };
  secrets.removeLink();
  return { shown: new Secret(link) };
}

/** A secret of the first start: itself, where a person at a terminal reads it, else the file that it is in. */
type FirstSecret = { readonly shown: Secret } | { readonly file: string };

interface BannerFacts {
  /** What callers use. */
  readonly url: string;
  /** The same, unless the console has a port of its own. */
  readonly consoleUrl: string;
  readonly version: string;
  readonly revision: string;
  readonly setup: FirstSecret | null;
  readonly firstKey: FirstSecret | null;
  readonly found: readonly string[];
  /** Variables with provider keys that were not taken. */
  readonly unused: readonly string[];
  readonly configSnapshot: ConfigSnapshot;
  readonly dataDir: string;
  readonly configFile: string | null;
  /** Why the config file was refused; what was applied before is in force. */
  readonly refused: string | null;
  /** What was done to bring the database up to this version. */
  readonly upgrade: { readonly ran: readonly string[]; readonly copy: string | null };
  readonly recovered: number;
}

/** What a person needs to see at the start: where the console is, a call that works, and what was found. */
function banner(facts: BannerFacts): string {
  const models = [...facts.configSnapshot.models.keys()];
  const providers = [...facts.configSnapshot.providers.values()].map((provider) => provider.id);
  const model = models[0] ?? "<model>";
  const lines = [
    "",
    `Sluice ${facts.version} (${shortRevision(facts.revision)}) is ready on ${facts.url}`,
    "",
    ...consoleLines(facts),
    `  Reference  ${facts.consoleUrl}/docs`,
    `  Data       ${facts.dataDir}`,
    ...(facts.configFile === null
      ? []
      : [
          `  Config     ${facts.configFile} (${facts.refused === null ? "watched" : "REFUSED; what was applied before is in force"})`,
        ]),
    `  Providers  ${listed(providers, "none yet")}${facts.found.length > 0 ? `, found: ${facts.found.join(", ")}` : ""}`,
    ...(facts.unused.length === 0
      ? []
      : [
          `  Not used   ${listed(facts.unused, "")} (there are providers already; add these in the console or the config file)`,
        ]),
    `  Models     ${listed(models, "none yet")}`,
    ...(facts.upgrade.copy === null
      ? []
      : [`  Upgraded   the database to schema ${facts.upgrade.ran.at(-1)}; as it was before: ${facts.upgrade.copy}`]),
    ...(facts.recovered > 0 ? [`  Recovered  ${facts.recovered} ledger entries of an earlier run`] : []),
    "",
    keyWords(facts.firstKey),
    "",
    `  curl -N ${facts.url}/v1/chat/completions -H 'content-type: application/json' \\`,
    `    -H ${authorization(facts.firstKey)} \\`,
    `    -d '{"model":${JSON.stringify(model)},"stream":true,"messages":[{"role":"user","content":"Hello, Sluice!"}]}'`,
    "",
    "",
  ];
  return lines.join("\n");
}

/** The same for machines: one line of JSON, like the lines of the log. */
function bannerLine(facts: BannerFacts, now: number): string {
  const file = (secret: FirstSecret | null) => (secret !== null && "file" in secret ? secret.file : undefined);
  const line = {
    level: "info",
    time: new Date(now).toISOString(),
    msg: "Sluice is ready.",
    version: facts.version,
    revision: facts.revision,
    url: facts.url,
    console: `${facts.consoleUrl}/console/`,
    reference: `${facts.consoleUrl}/docs`,
    setup_link_file: file(facts.setup),
    first_key_file: file(facts.firstKey),
    data: facts.dataDir,
    config: facts.configFile ?? undefined,
    config_refused: facts.refused ?? undefined,
    providers: [...facts.configSnapshot.providers.keys()],
    models: [...facts.configSnapshot.models.keys()].slice(0, modelsMax),
    found: facts.found,
    not_used: facts.unused,
    upgraded_from_copy: facts.upgrade.copy ?? undefined,
    recovered: facts.recovered,
  };
  return `${JSON.stringify(line)}\n`;
}

const modelsMax = 100;

function consoleLines({ consoleUrl, setup }: BannerFacts): string[] {
  if (setup === null) return [`  Console    ${consoleUrl}/console/`];
  if ("shown" in setup) {
    return [
      `  Console    ${setup.shown.reveal()}`,
      "             (the link makes the first administrator; it works once)",
    ];
  }
  return [
    `  Console    ${consoleUrl}/console/`,
    `  Set-up     the link that makes the first administrator is in ${setup.file}`,
  ];
}

function keyWords(firstKey: FirstSecret | null): string {
  if (firstKey === null) return `Try it, with a key of yours in SLUICE_KEY (make one: ${commandLine} key create):`;
  if ("shown" in firstKey) return `Try it (this key is shown once; create others: ${commandLine} key create):`;
  return `Try it (the first key is in the file until the set-up is done; create others: ${commandLine} key create):`;
}

/** How somebody who has started this runs its commands. */
const commandLine = isBuilt ? "sluice" : "npm run sluice --";

function authorization(firstKey: FirstSecret | null): string {
  if (firstKey === null) return `"authorization: Bearer $SLUICE_KEY"`;
  if ("shown" in firstKey) return `'authorization: Bearer ${firstKey.shown.reveal()}'`;
  return `"authorization: Bearer $(cat '${firstKey.file.replaceAll("'", "'\\''")}')"`;
}

function listed(names: readonly string[], none: string): string {
  if (names.length === 0) return none;
  const shown = names.slice(0, 8).join(", ");
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
